//! Which variables of a line hold nothing but numbers.
//!
//! Bash evaluates the value of a name in an expression as an expression of its own, and runs
//! what stands in the index of an array there. So a name in an expression is clear only if
//! the line itself gives it numbers, and nothing else.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use tree_sitter::Node;

use super::builtin::{self, Sets};
use super::word::Word;

/// Variables that bash keeps as numbers, unless a line sets them to something else. What they
/// are set to is evaluated.
pub(super) const COUNTED: &[&str] = &[
    "HISTCMD", "LINENO", "OPTIND", "RANDOM", "SECONDS", "SRANDOM",
];

/// Further ones that are numbers, and cannot be set.
const FIXED: &[&str] = &["BASHPID", "EPOCHSECONDS", "EUID", "PPID", "UID"];

/// Variables that bash itself sets to texts.
const SET_BY_BASH: &[&str] = &[
    "_", "COPROC", "DIRSTACK", "FUNCNAME", "MAPFILE", "OLDPWD", "OPTARG", "PWD", "REPLY",
];

/// What a line says about its variables.
#[derive(Default)]
pub(super) struct Numbers {
    names: HashSet<String>,
    /// Whether a command in it sets a variable whose name is known only when it runs.
    pub(super) sets_unknown: bool,
    /// Whether a command in it runs further lines, which may set any.
    runs_lines: bool,
    /// Arrays: to such a one `declare` gives a text as a list, and runs what is in it.
    arrays: HashSet<String>,
    /// Where outputs of commands stand that are numbers.
    told: Vec<Range<usize>>,
}

impl Numbers {
    /// Looks through all nodes of a line.
    pub(super) fn of(root: Node<'_>, line: &str) -> Self {
        let mut seen = Seen {
            line,
            has_functions: false,
            given: HashMap::new(),
            numbers: Self::default(),
        };
        let mut all = vec![root];
        let mut at = 0;
        while let Some(node) = all.get(at).copied() {
            at += 1;
            all.extend(node.children(&mut node.walk()));
        }
        seen.has_functions = all.iter().any(|node| node.kind() == "function_definition");
        for node in all {
            seen.look(node);
        }
        seen.decided()
    }

    /// Tells whether an expression comes to the same however often it is evaluated.
    pub(super) fn are_all_in(&self, expression: &str) -> bool {
        names_in(expression).is_some_and(|names| names.iter().all(|name| self.has(name)))
    }

    /// The outputs of commands in a part of the line that are numbers whatever happens.
    pub(super) fn told_within(&self, part: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let is_within =
            move |told: &&Range<usize>| part.start <= told.start && told.end <= part.end;
        self.told.iter().filter(is_within).cloned()
    }

    /// Tells whether a place is within such an output.
    pub(super) fn is_told(&self, at: usize) -> bool {
        self.told.iter().any(|told| told.contains(&at))
    }

    pub(super) fn is_array(&self, name: &str) -> bool {
        self.arrays.contains(name) || SET_BY_BASH.contains(&name) || name.starts_with("BASH_")
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains(name) || FIXED.contains(&name)
    }
}

/// The values a line gives, before they are judged.
struct Seen<'l> {
    line: &'l str,
    /// A function may have the name of a program that tells numbers.
    has_functions: bool,
    /// For each name what it is given: nothing for what is no number, otherwise the names that
    /// have to be numbers for it to be one.
    given: HashMap<String, Vec<Option<Vec<String>>>>,
    numbers: Numbers,
}

impl Seen<'_> {
    fn look(&mut self, node: Node<'_>) {
        let text = &self.line[node.byte_range()];
        match node.kind() {
            "variable_assignment" => {
                let name = node.child_by_field_name("name");
                let name = name.map_or("", |name| &self.line[name.byte_range()]);
                let value = node.child_by_field_name("value");
                if name.contains('[') || value.is_some_and(|value| value.kind() == "array") {
                    self.array(name);
                }
                let value = value.map_or(Some(Vec::new()), |value| self.number(value));
                self.give(name, value);
            }
            "for_statement" => {
                let name = node.child_by_field_name("variable");
                let name = name.map_or("", |name| &self.line[name.byte_range()]);
                let values: Vec<_> = node
                    .children_by_field_name("value", &mut node.walk())
                    .map(|value| self.number(value))
                    .collect();
                if values.is_empty() {
                    self.give(name, None);
                }
                values.into_iter().for_each(|value| self.give(name, value));
            }
            "arithmetic_expansion" | "compound_statement" | "c_style_for_statement" => {
                self.counted(text);
            }
            "command_substitution" if self.tells_a_number(node) => {
                self.numbers.told.push(node.byte_range());
            }
            "expansion" => {
                let inner = text.trim_start_matches("${");
                let name = inner.split([':', '=']).next().unwrap_or_default();
                let rest = &inner[name.len()..];
                if rest.starts_with('=') || rest.starts_with(":=") {
                    self.give(name, None);
                }
            }
            "command" | "declaration_command" => {
                // Assignments that are quoted as a whole.
                let is_quoted = |child: &Node<'_>| {
                    matches!(child.kind(), "string" | "raw_string" | "concatenation")
                };
                if node.kind() == "declaration_command" {
                    let mut cursor = node.walk();
                    for quoted in node.named_children(&mut cursor).filter(is_quoted) {
                        let text = self.line[quoted.byte_range()].trim_matches(['\'', '"']);
                        self.give(text.split('=').next().unwrap_or_default(), None);
                    }
                }
                self.command(&super::walk::words(node, self.line));
            }
            _ => {}
        }
    }

    fn command(&mut self, words: &[Word]) {
        let Some((program, further)) = builtin::named(words) else {
            return;
        };
        if program == "let" {
            further
                .iter()
                .filter_map(Word::known)
                .for_each(|word| self.counted(word));
        }
        match builtin::sets(program, further) {
            Sets::Names(names) => names.iter().for_each(|name| self.give(name, None)),
            Sets::Unknown => self.numbers.sets_unknown = true,
            Sets::Lines => self.numbers.runs_lines = true,
        }
        if builtin::makes_arrays(program, further) {
            let known = further.iter().filter_map(Word::known);
            known.for_each(|word| self.array(word));
        }
    }

    /// What an expression assigns is a number in any case.
    fn counted(&mut self, expression: &str) {
        let mut rest = expression;
        while let Some(at) = rest.find('=') {
            let (before, after) = rest.split_at(at);
            rest = &after[1..];
            let before = before.trim_end();
            let name = before.trim_end_matches(is_letter);
            let name = &before[name.len()..];
            if !rest.starts_with('=') && is_name(name) {
                self.give(name, Some(Vec::new()));
            }
        }
    }

    fn array(&mut self, name: &str) {
        let name = name.split(['[', '=', '+']).next().unwrap_or_default();
        self.numbers.arrays.insert(name.to_owned());
    }

    fn give(&mut self, name: &str, value: Option<Vec<String>>) {
        let name = name.split('[').next().unwrap_or_default();
        self.given.entry(name.to_owned()).or_default().push(value);
    }

    fn decided(mut self) -> Numbers {
        if self.numbers.sets_unknown || self.numbers.runs_lines {
            return self.numbers;
        }
        for name in COUNTED {
            self.given.entry((*name).to_owned()).or_default();
        }
        let is_text =
            |name: &String| SET_BY_BASH.contains(&name.as_str()) || name.starts_with("BASH_");
        let mut names: HashSet<String> = self
            .given
            .keys()
            .filter(|name| !is_text(name))
            .cloned()
            .collect();
        // One that is no number makes others none.
        loop {
            let is_number = |value: &Option<Vec<String>>| {
                let is_known =
                    |name: &String| names.contains(name) || FIXED.contains(&name.as_str());
                value.as_ref().is_some_and(|of| of.iter().all(is_known))
            };
            let is_other = |name: &&String| !self.given[*name].iter().all(is_number);
            let others: Vec<String> = names.iter().filter(is_other).cloned().collect();
            if others.is_empty() {
                break;
            }
            others.iter().for_each(|name| {
                names.remove(name);
            });
        }
        self.numbers.names = names;
        self.numbers
    }

    /// The names that must be numbers for a value to be one; nothing for what may be a text.
    fn number(&self, node: Node<'_>) -> Option<Vec<String>> {
        let text = &self.line[node.byte_range()];
        let digits = |text: &str| {
            let digits = text.strip_prefix('-').unwrap_or(text);
            let is_number = digits.chars().all(|c| c.is_ascii_digit());
            is_number.then(Vec::new)
        };
        match node.kind() {
            "number" | "word" | "string_content" => digits(text),
            "raw_string" => digits(text.trim_matches('\'')),
            "arithmetic_expansion" => Some(Vec::new()),
            "brace_expression" => {
                let is_range = |c: char| c.is_ascii_digit() || "{}-.".contains(c);
                text.chars().all(is_range).then(Vec::new)
            }
            "simple_expansion" | "expansion" => names_in(text),
            "command_substitution" => self.tells_a_number(node).then(Vec::new),
            "string" | "array" => {
                let inner: Vec<_> = node.named_children(&mut node.walk()).collect();
                let covered: usize = inner.iter().map(|inner| inner.byte_range().len()).sum();
                let is_whole = node.kind() == "array" || covered + 2 == text.len();
                let names: Option<Vec<_>> =
                    inner.into_iter().map(|inner| self.number(inner)).collect();
                names.filter(|_| is_whole).map(|names| names.concat())
            }
            _ => None,
        }
    }

    /// Tells whether what stands for the output of a command is a number whatever it finds.
    fn tells_a_number(&self, node: Node<'_>) -> bool {
        let mut last = node;
        // A hostile line is as deep as it is long.
        for _ in 0..4 {
            if last.kind() == "command" {
                break;
            }
            let count = last.named_child_count();
            let is_one = count == 1 || last.kind() == "pipeline";
            last = match (last.kind(), last.child_by_field_name("body")) {
                ("redirected_statement", Some(body)) => body,
                (_, None) if is_one => match last.named_children(&mut last.walk()).last() {
                    Some(child) => child,
                    None => return false,
                },
                _ => return false,
            };
        }
        let words = super::walk::words(last, self.line);
        let words: Option<Vec<&str>> = words.iter().map(Word::known).collect();
        let is_number = |word: &&str| word.chars().all(|c| c.is_ascii_digit() || c == '-');
        !self.has_functions
            && match words.as_deref() {
                Some(["nproc"] | ["date", "+%s" | "+%s%N" | "+%s%3N"]) => true,
                Some(["wc", "-l" | "-c" | "-m" | "-w"] | ["id", "-u" | "-g"]) => true,
                Some(["seq", of @ ..]) => of.iter().all(is_number),
                _ => false,
            }
    }
}

/// The names in an expression; nothing where more may be in it than names and numbers.
pub(super) fn names_in(expression: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut rest = expression;
    let mut is_behind_dollar = false;
    while let Some(first) = rest.chars().next() {
        let word = rest.trim_start_matches(is_letter);
        let (word, behind) = rest.split_at(rest.len() - word.len());
        let after = &rest[first.len_utf8()..];
        rest = match first {
            '$' => dollar(after, &mut names)?,
            '\'' | '"' | '`' | '\\' => return None,
            _ if word.is_empty() => after,
            _ if first.is_ascii_digit() => {
                behind.trim_start_matches(|c| is_letter(c) || c == '#' || c == '@')
            }
            // What follows makes another name of it.
            _ if behind.starts_with('$') && !is_behind_dollar => return None,
            _ => {
                names.push(word.to_owned());
                behind
            }
        };
        is_behind_dollar = first == '$';
    }
    Some(names)
}

/// What follows a dollar sign, without what belongs to it; the names in that are taken on.
fn dollar<'t>(after: &'t str, names: &mut Vec<String>) -> Option<&'t str> {
    if let Some(rest) = after.strip_prefix(['#', '?', '$', '!']) {
        return Some(rest);
    }
    if after.starts_with("((") || after.starts_with('[') {
        return Some(&after[1..]);
    }
    if after.starts_with(|c| is_letter(c) && !c.is_ascii_digit()) {
        return Some(after);
    }
    let (inner, rest) = after.strip_prefix('{')?.split_once('}')?;
    let name = inner.strip_prefix('#').unwrap_or(inner);
    let element = name.strip_suffix("[@]").or(name.strip_suffix("[*]"));
    match name.len() < inner.len() {
        // How long it is, or how many there are.
        true => is_name(element.unwrap_or(name)).then_some(rest),
        false if is_name(inner) => {
            names.push(inner.to_owned());
            Some(rest)
        }
        false => None,
    }
}

pub(super) fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Tells whether a text is the name of a variable.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(is_letter)
        && !text.starts_with(|c: char| c.is_ascii_digit())
}
