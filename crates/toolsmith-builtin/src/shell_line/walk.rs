//! The way through the tree of a line: what in it runs, and what it writes to.
//!
//! Every kind of node is either known here or makes the line unclear. Nodes are visited
//! with a list of those still to see, since a hostile line is as deep as it is long.

use toolsmith_core::PlannedCommand;
use tree_sitter::{Node, Tree};

use super::starter::planned;
use super::word::{Word, is_one_word};
use super::{MOST, Unclear};

/// A look at every node of one line.
pub(super) struct Walk<'l> {
    line: &'l str,
    depth: usize,
    found: Vec<(usize, PlannedCommand)>,
}

impl<'l> Walk<'l> {
    pub(super) fn new(line: &'l str, depth: usize) -> Self {
        Self {
            line,
            depth,
            found: Vec::new(),
        }
    }

    /// The commands of the tree, in the order they are written.
    pub(super) fn through(mut self, tree: &Tree) -> Result<Vec<PlannedCommand>, Unclear> {
        let mut leaves = Vec::new();
        let mut ahead = vec![tree.root_node()];
        while let Some(node) = ahead.pop() {
            self.look(node)?;
            // Those within each other hold the same text over and over.
            if self.found.len() > MOST {
                return Err(format!("it holds more than {MOST} commands"));
            }
            let mut cursor = node.walk();
            let before = ahead.len();
            ahead.extend(node.children(&mut cursor));
            if ahead.len() == before || is_whole(node) {
                leaves.push(node.byte_range());
            }
        }
        self.is_all_seen(leaves)?;
        self.found.sort_by_key(|(at, _)| *at);
        Ok(self.found.into_iter().map(|(_, command)| command).collect())
    }

    fn look(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        if ENDS_WITH_ITS_LINE.contains(&node.kind()) && !self.is_one_line(node) {
            return Err("it does not read as bash in full".to_owned());
        }
        match node.kind() {
            "command" => self.command(node),
            "declaration_command" | "unset_command" => {
                let words = self.words(node);
                self.add(node, &words)
            }
            "variable_assignment" if self.hides(node) => {
                Err("a variable in it is given what may be run later".to_owned())
            }
            "variable_assignment" if !is_part_of_command(node) => {
                let words = [self.assignment(node)];
                self.add(node, &words)
            }
            "file_redirect" => self.redirect(node),
            "test_command" => self.expression(node),
            "compound_statement" if node.child(0).is_some_and(|first| first.kind() == "((") => {
                self.expression(node)
            }
            "word" if !is_one_word(&self.line[node.byte_range()]) => {
                Err("it does not read as bash in full".to_owned())
            }
            "heredoc_redirect" => self.heredoc(node),
            "expansion" if !is_plain_expansion(&self.line[node.byte_range()]) => {
                Err("a variable in it is changed by what may run something".to_owned())
            }
            "regex" | "extglob_pattern"
                if self.line[node.byte_range()].contains(['$', '`', '<', '>']) =>
            {
                Err("a pattern in it is known only when it runs".to_owned())
            }
            "arithmetic_expansion" | "c_style_for_statement" | "subscript" => {
                self.hides_nothing(node)
            }
            "command_substitution" => {
                let text = &self.line[node.byte_range()];
                // Within backticks a backslash means something else, and nests them.
                match text.starts_with('`') && text.contains('\\') {
                    true => Err("it holds backslashes within backticks".to_owned()),
                    false => Ok(()),
                }
            }
            kind if !node.is_named() || KNOWN.contains(&kind) => Ok(()),
            kind => Err(format!("it holds what is not known here: {kind}")),
        }
    }

    fn command(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        let words = self.words(node);
        match words.is_empty() {
            true => Ok(()),
            false => self.add(node, &words),
        }
    }

    /// Tells whether no line ends between the words of a command: the grammar takes two
    /// commands for one at times.
    fn is_one_line(&self, node: Node<'_>) -> bool {
        let mut cursor = node.walk();
        let mut end = node.start_byte();
        let mut children = node.children(&mut cursor);
        children.all(|child| {
            let between = self.line.get(end..child.start_byte().max(end));
            end = child.end_byte();
            between.is_some_and(|between| !between.replace("\\\n", "").contains('\n'))
        })
    }

    /// The words of a command, in order.
    fn words(&self, node: Node<'_>) -> Vec<Word> {
        let mut cursor = node.walk();
        let children = node.children(&mut cursor);
        let words = children.filter_map(|child| match child.kind() {
            "variable_assignment" => Some(self.assignment(child)),
            "file_redirect" | "herestring_redirect" | "heredoc_redirect" | "comment" => None,
            // `declare` and its like, and what the grammar sees as an operator.
            kind if !child.is_named() => Some(Word::Known(kind.to_owned())),
            _ => Some(Word::of(child, self.line)),
        });
        words.collect()
    }

    fn assignment(&self, node: Node<'_>) -> Word {
        let name = node.child_by_field_name("name");
        let name = name.map_or("", |name| &self.line[name.byte_range()]);
        let value = match node.child_by_field_name("value") {
            Some(value) => Word::of(value, self.line),
            None => Word::Known(String::new()),
        };
        // That it is an assignment is known even where its value is not.
        Word::Known(format!("{name}={}", value.text()))
    }

    /// What is written to counts as a command of its own: `> FILE`.
    fn redirect(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        let mut cursor = node.walk();
        let targets: Vec<_> = node
            .children_by_field_name("destination", &mut cursor)
            .collect();
        let operator = node
            .children(&mut node.walk())
            .find(|child| !child.is_named());
        let operator = operator.map_or("", |operator| operator.kind());
        let target = match targets.as_slice() {
            [] => return Ok(()),
            [target] => Word::of(*target, self.line),
            // Words behind a redirection are the command's, and the grammar hides them here.
            _ => return Err("words stand behind a redirection".to_owned()),
        };
        let is_number = |target: &str| {
            let number = target.trim_end_matches('-');
            number.chars().all(|c| c.is_ascii_digit())
        };
        let is_harmless = match target.known() {
            Some("/dev/null") => true,
            // Of anything else here bash expands even what is quoted.
            known if operator.ends_with('&') => match known.is_some_and(is_number) {
                true => true,
                false => return Err("a descriptor in it is no number".to_owned()),
            },
            // To read a file is what any command may do; this opens a connection.
            Some(target) => operator == "<" && !target.starts_with("/dev/"),
            None => operator == "<",
        };
        if !is_harmless {
            let sign = if operator.starts_with('<') { "<" } else { ">" };
            let command = PlannedCommand::new(format!("{sign} {}", target.text()));
            self.found.push((node.start_byte(), command));
        }
        Ok(())
    }

    /// A text that bash looks through for what to run, unless its end is named in quotes.
    /// The grammar sees all of that but backticks.
    fn heredoc(&self, node: Node<'_>) -> Result<(), Unclear> {
        let mut cursor = node.walk();
        let (mut start, mut end) = ("", "");
        for child in node.children(&mut cursor) {
            match child.kind() {
                "heredoc_start" => start = &self.line[child.byte_range()],
                "heredoc_end" => end = &self.line[child.byte_range()],
                _ => {}
            }
        }
        let named = start.replace(['\'', '"', '\\'], "");
        if named.is_empty() || end.trim() != named {
            return Err("a text in it has no end".to_owned());
        }
        let is_quoted = named != start;
        let text = &self.line[node.byte_range()];
        match !is_quoted && (text.contains('`') || text.contains("${")) {
            true => Err("a text in it holds backticks or changed variables".to_owned()),
            false => Ok(()),
        }
    }

    /// `[[ … ]]` and `(( … ))` are commands of one piece.
    fn expression(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        self.hides_nothing(node)?;
        let text = &self.line[node.byte_range()];
        let words: Vec<&str> = text.split_whitespace().collect();
        let command = PlannedCommand::new(words.join(" "));
        self.found.push((node.start_byte(), command));
        Ok(())
    }

    /// Expressions look into arrays, and run what stands in the index, quoted or not.
    fn hides_nothing(&self, node: Node<'_>) -> Result<(), Unclear> {
        let text = &self.line[node.byte_range()];
        let is_unclear = match node.kind() {
            // A comparison of numbers looks into what its words name.
            "test_command" => self.hides(node),
            // Nobody needs quotes in here, and quotes can be taken apart.
            _ => text.contains(['\'', '"', '\\', '`']),
        };
        match is_unclear {
            true => Err("an expression in it may run what stands in its words".to_owned()),
            false => Ok(()),
        }
    }

    /// Tells whether a quoted text in a node names an element of an array, or holds what bash
    /// would run if it looked at it again.
    fn hides(&self, node: Node<'_>) -> bool {
        let mut ahead = vec![node];
        while let Some(node) = ahead.pop() {
            let text = &self.line[node.byte_range()];
            let hides = match node.kind() {
                "raw_string" | "string_content" | "word" => text.contains(['[', '`', '$']),
                "ansi_c_string" => text.contains(['[', '`', '\\']),
                _ => false,
            };
            if hides {
                return true;
            }
            let mut cursor = node.walk();
            ahead.extend(node.named_children(&mut cursor));
        }
        false
    }

    fn add(&mut self, node: Node<'_>, words: &[Word]) -> Result<(), Unclear> {
        let command = planned(words, self.depth)?;
        self.found.push((node.start_byte(), command));
        Ok(())
    }

    /// Between what was seen there may be white space, and lines that go on below.
    fn is_all_seen(&self, mut seen: Vec<std::ops::Range<usize>>) -> Result<(), Unclear> {
        seen.sort_by_key(|range| range.start);
        seen.push(self.line.len()..self.line.len());
        let mut end = 0;
        for range in seen {
            let between = self.line.get(end..range.start.max(end)).unwrap_or("?");
            let goes_on = between.contains("\\\n");
            let between = between.replace("\\\n", "");
            // A word goes on below, where the grammar sees two; or a command has ended above,
            // where it sees one.
            let is_misread = goes_on && (between.is_empty() || between.contains('\n'));
            if is_misread || !between.chars().all(|c| matches!(c, ' ' | '\t' | '\n')) {
                return Err("it does not read as bash in full".to_owned());
            }
            end = end.max(range.end);
        }
        Ok(())
    }
}

/// Tells whether a variable is taken as it is, or changed by nothing but letters: the grammar
/// takes what else may stand there for one piece, and bash runs what is in it.
fn is_plain_expansion(text: &str) -> bool {
    let inner = text
        .strip_prefix("${")
        .and_then(|text| text.strip_suffix('}'));
    let is_plain = |c: char| c.is_alphanumeric() || "_-+=:?#%/.,^@ *".contains(c);
    inner.is_some_and(|inner| inner.chars().all(is_plain))
}

/// Nodes that end where their line does, unless it goes on below.
const ENDS_WITH_ITS_LINE: &[&str] = &[
    "command",
    "declaration_command",
    "redirected_statement",
    "unset_command",
];

/// Nodes whose text is their own, whatever stands between their children.
fn is_whole(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "string" | "heredoc_body" | "translated_string" | "regex" | "extglob_pattern" | "expansion"
    )
}

/// An assignment in front of a command, or a word of `declare`, is a word of it.
fn is_part_of_command(node: Node<'_>) -> bool {
    let parent = node.parent().map(|parent| parent.kind());
    matches!(parent, Some("command" | "declaration_command"))
}

/// Kinds that run nothing by themselves; what is in them is looked at in turn.
const KNOWN: &[&str] = &[
    "ansi_c_string",
    "array",
    "binary_expression",
    "brace_expression",
    "case_item",
    "case_statement",
    "command_name",
    "comment",
    "compound_statement",
    "concatenation",
    "do_group",
    "elif_clause",
    "else_clause",
    "expansion",
    "extglob_pattern",
    "file_descriptor",
    "for_statement",
    "function_definition",
    "heredoc_body",
    "heredoc_content",
    "heredoc_end",
    "heredoc_start",
    "herestring_redirect",
    "if_statement",
    "list",
    "negated_command",
    "number",
    "parenthesized_expression",
    "pipeline",
    "postfix_expression",
    "process_substitution",
    "program",
    "raw_string",
    "redirected_statement",
    "regex",
    "simple_expansion",
    "special_variable_name",
    "string",
    "string_content",
    "subshell",
    "ternary_expression",
    "test_operator",
    "translated_string",
    "unary_expression",
    "variable_assignment",
    "variable_assignments",
    "variable_name",
    "while_statement",
    "word",
];
