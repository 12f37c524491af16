//! The way through the tree of a line: what in it runs, and what it writes to.
//!
//! Every kind of node is either known here or makes the line unclear. Nodes are visited
//! with a list of those still to see, since a hostile line is as deep as it is long.

use toolsmith_core::PlannedCommand;
use tree_sitter::{Node, Tree};

use super::builtin;
use super::numbers::{Numbers, is_letter, is_name};
use super::starter::planned;
use super::word::{Word, is_one_word};
use super::{MOST, Unclear};

/// A look at every node of one line.
pub(super) struct Walk<'l> {
    line: &'l str,
    depth: usize,
    numbers: Numbers,
    /// The expression that was judged last, with all that are in it.
    judged: std::ops::Range<usize>,
    found: Vec<(usize, PlannedCommand)>,
}

impl<'l> Walk<'l> {
    pub(super) fn new(line: &'l str, depth: usize) -> Self {
        Self {
            line,
            depth,
            numbers: Numbers::default(),
            judged: 0..0,
            found: Vec::new(),
        }
    }

    /// The commands of the tree, in the order they are written.
    pub(super) fn through(mut self, tree: &Tree) -> Result<Vec<PlannedCommand>, Unclear> {
        self.numbers = Numbers::of(tree.root_node(), self.line);
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
            "comment" | "test_command" if !self.is_apart(node) => {
                Err("it does not read as bash in full".to_owned())
            }
            "command" | "declaration_command" | "unset_command" => self.command(node),
            "variable_assignment" if self.hides(node) => {
                Err("a variable in it is given what may be run later".to_owned())
            }
            "variable_assignment" => self.assigned(node),
            "for_statement" => self.loops(node),
            "file_redirect" => self.redirect(node),
            "test_command" => self.expression(node),
            "compound_statement" if node.child(0).is_some_and(|first| first.kind() == "((") => {
                self.expression(node)
            }
            "word" if !is_one_word(&self.line[node.byte_range()]) => {
                Err("it does not read as bash in full".to_owned())
            }
            "heredoc_redirect" => self.heredoc(node),
            "expansion" if !self.is_plain_expansion(&self.line[node.byte_range()]) => {
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
        let words = words(node, self.line);
        if let Some((program, further)) = builtin::named(&words) {
            if let Some(reason) = builtin::unclear(program, further, &self.numbers) {
                return Err(reason);
            }
            for name in builtin::deciding(program, further) {
                self.sets(node, &name, &Word::Open);
            }
        }
        match words.is_empty() {
            true => Ok(()),
            false => self.add(node, &words),
        }
    }

    fn assigned(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        let name = field(node, "name").map_or("", |name| &self.line[name.byte_range()]);
        let name = name.split('[').next().unwrap_or_default();
        let value = field(node, "value");
        let is_open = value.is_some_and(|value| Word::of(value, self.line) == Word::Open);
        let is_list = value.is_some_and(|value| value.kind() == "array");
        let parent = node.parent().map_or("", |parent| parent.kind());
        // An array takes a text for a list there.
        let is_read_as_list = parent == "declaration_command" && is_open && !is_list;
        let is_evaluated = builtin::runs_value(name, is_open, &self.numbers)
            || is_read_as_list && self.numbers.is_array(name);
        if is_evaluated {
            return Err("a variable in it is given what may be run".to_owned());
        }
        match parent {
            // It is a word of it.
            "command" | "declaration_command" => Ok(()),
            _ => self.add(node, &[assignment(node, self.line)]),
        }
    }

    /// A loop sets its variable to one word after the other.
    fn loops(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        let name = field(node, "variable").map_or("", |name| &self.line[name.byte_range()]);
        let mut cursor = node.walk();
        let values: Vec<_> = node.children_by_field_name("value", &mut cursor).collect();
        let is_run = |value: &Node<'_>| {
            self.has_text(*value, |kind, text| match kind {
                "raw_string" | "ansi_c_string" | "string_content" => text.contains(['`', '$']),
                "word" => text.contains("\\$") || text.contains("\\`"),
                _ => false,
            })
        };
        if values.iter().any(is_run) || builtin::is_expanded(name) {
            return Err("a variable in it is given what may be run later".to_owned());
        }
        if builtin::decides(name) {
            for value in &values {
                self.sets(node, name, &Word::of(*value, self.line));
            }
            if values.is_empty() {
                self.sets(node, name, &Word::Open);
            }
        }
        Ok(())
    }

    /// A variable that decides about commands, set by one or by a loop, counts as assigned.
    fn sets(&mut self, node: Node<'_>, name: &str, value: &Word) {
        let command = PlannedCommand::new(format!("{name}={}", value.text()));
        self.found.push((node.start_byte(), command));
    }

    /// Tells whether a comment, or brackets around a test, begin a word: within one their
    /// signs are letters, and the grammar sees them all the same.
    fn is_apart(&self, node: Node<'_>) -> bool {
        let separates = |c: char| c.is_whitespace() || ";&|()<>`".contains(c);
        let before = self.line[..node.start_byte()].chars().next_back();
        let after = self.line[node.end_byte()..].chars().next();
        let inner = self.line[node.byte_range()].trim_matches(['[', ']']);
        let is_spaced =
            inner.starts_with(char::is_whitespace) && inner.ends_with(char::is_whitespace);
        before.is_none_or(separates)
            && (node.kind() == "comment" || is_spaced && after.is_none_or(separates))
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

    /// What is written to counts as a command of its own: `> FILE`.
    fn redirect(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        // `{NAME}>` sets a variable to the descriptor.
        let before = self.line[..node.start_byte()].strip_suffix('}');
        let named = before.and_then(|before| before.rsplit_once('{'));
        if named
            .is_some_and(|(_, name)| builtin::decides(name) && is_name(name) || name.contains('['))
        {
            return Err("a descriptor in it decides more".to_owned());
        }
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
        // An expression is taken for a command here.
        let is_changed = ["`", "${", "$((", "$["]
            .iter()
            .any(|sign| text.contains(sign));
        match !is_quoted && is_changed {
            true => {
                Err("a text in it holds backticks, expressions or changed variables".to_owned())
            }
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

    /// Expressions look into arrays, and run what stands in the index, quoted or not; and the
    /// value of a name is an expression again.
    fn hides_nothing(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        let range = node.byte_range();
        let is_within = self.judged.start < range.start && range.end <= self.judged.end;
        if node.kind() == "arithmetic_expansion" {
            // To judge each by itself takes the square of their depth.
            if is_within && !self.numbers.is_told(range.start) {
                return Ok(());
            }
            self.judged = range;
        }
        let is_clear = match node.kind() {
            "test_command" => !self.hides(node) && self.compares_numbers(node),
            "subscript" => {
                let index = field(node, "index");
                index.is_none_or(|index| self.is_number(index, index.end_byte()))
            }
            "c_style_for_statement" => {
                let body = field(node, "body").map_or(node.end_byte(), |body| body.start_byte());
                self.is_number(node, body)
            }
            _ => self.is_number(node, node.end_byte()),
        };
        match is_clear {
            true => Ok(()),
            false => Err("an expression in it may run what stands in its words".to_owned()),
        }
    }

    /// Tells whether an expression is made of numbers, as far as it goes.
    fn is_number(&self, node: Node<'_>, end: usize) -> bool {
        let start = node.start_byte();
        let mut text = self.line[start..end].to_owned();
        for range in self.numbers.told_within(start..end) {
            let range = range.start - start..range.end - start;
            text.replace_range(range.clone(), &"0".repeat(range.len()));
        }
        // Nobody needs quotes in here, and quotes can be taken apart.
        self.numbers
            .are_all_in(text.strip_prefix("for").unwrap_or(&text))
    }

    /// A comparison of numbers evaluates its words, and a question for a variable its name.
    fn compares_numbers(&self, node: Node<'_>) -> bool {
        let is_double = self.line[node.byte_range()].starts_with("[[");
        let mut ahead = vec![node];
        while let Some(node) = ahead.pop() {
            let children: Vec<_> = node.named_children(&mut node.walk()).collect();
            let operator = children
                .iter()
                .find(|child| child.kind() == "test_operator");
            let operator = operator.map_or("", |operator| &self.line[operator.byte_range()]);
            let mut words = children
                .iter()
                .filter(|child| child.kind() != "test_operator");
            let is_clear = match operator {
                "-v" => words.all(|word| is_name(&self.line[word.byte_range()])),
                "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" if is_double => words.all(|word| {
                    let quoted = word.kind() == "string" && word.named_child_count() == 1;
                    let word = if quoted {
                        word.named_child(0)
                    } else {
                        Some(*word)
                    };
                    word.is_some_and(|word| self.is_number(word, word.end_byte()))
                }),
                _ => true,
            };
            if !is_clear {
                return false;
            }
            ahead.extend(children);
        }
        true
    }

    /// Tells whether a quoted text in a node names an element of an array, or holds what bash
    /// would run if it looked at it again.
    fn hides(&self, node: Node<'_>) -> bool {
        self.has_text(node, |kind, text| match kind {
            "raw_string" | "string_content" | "word" => text.contains(['[', '`', '$']),
            "ansi_c_string" => text.contains(['[', '`', '\\']),
            _ => false,
        })
    }

    /// Tells whether some node in another is such a text.
    fn has_text(&self, node: Node<'_>, is_such: impl Fn(&str, &str) -> bool) -> bool {
        let mut ahead = vec![node];
        while let Some(node) = ahead.pop() {
            if is_such(node.kind(), &self.line[node.byte_range()]) {
                return true;
            }
            let mut cursor = node.walk();
            ahead.extend(node.named_children(&mut cursor));
        }
        false
    }

    /// Tells whether a variable is taken as it is, or changed by nothing but letters: the
    /// grammar takes what else may stand there for one piece, and bash runs what is in it.
    fn is_plain_expansion(&self, text: &str) -> bool {
        let inner = text
            .strip_prefix("${")
            .and_then(|text| text.strip_suffix('}'));
        let is_plain = |c: char| c.is_alphanumeric() || "_-+=:?#%/.,^@ *".contains(c);
        let Some(inner) = inner.filter(|inner| inner.chars().all(is_plain)) else {
            return false;
        };
        let change = match inner.trim_start_matches(is_letter) {
            // A variable with a sign for a name.
            all if all == inner => inner.get(1..).unwrap_or_default(),
            change => change,
        };
        match change.strip_prefix(':') {
            Some(rest) if !rest.starts_with(['-', '=', '+', '?']) => self.numbers.are_all_in(rest),
            // As a prompt it is expanded again.
            _ => !change.starts_with("@P"),
        }
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

/// The words of a command, in order.
pub(super) fn words(node: Node<'_>, line: &str) -> Vec<Word> {
    let mut cursor = node.walk();
    let children = node.children(&mut cursor);
    let words = children.filter_map(|child| match child.kind() {
        "variable_assignment" => Some(assignment(child, line)),
        "file_redirect" | "herestring_redirect" | "heredoc_redirect" | "comment" => None,
        // `declare` and its like, and what the grammar sees as an operator.
        kind if !child.is_named() => Some(Word::Known(kind.to_owned())),
        _ => Some(Word::of(child, line)),
    });
    words.collect()
}

fn assignment(node: Node<'_>, line: &str) -> Word {
    let name = field(node, "name").map_or("", |name| &line[name.byte_range()]);
    let value = match field(node, "value") {
        Some(value) => Word::of(value, line),
        None => Word::Known(String::new()),
    };
    // That it is an assignment is known even where its value is not.
    Word::Known(format!("{name}={}", value.text()))
}

fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
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
