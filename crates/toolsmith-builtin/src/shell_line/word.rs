//! Words of a command: what they say with their quotes taken off, or that they are open
//! until the command runs.

use toolsmith_core::PlannedCommand;
use tree_sitter::Node;

/// A word as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// It says this.
    Known(String),
    /// It holds a variable, a substitution, or a choice in braces.
    Open,
}

impl Word {
    /// What a node says.
    pub(super) fn of(node: Node<'_>, line: &str) -> Self {
        let text = &line[node.byte_range()];
        match node.kind() {
            "command_name" => match node.named_child(0) {
                Some(inner) => Self::of(inner, line),
                None => Self::plain(text),
            },
            "word" | "number" | "variable_name" | "test_operator" if node.child_count() == 0 => {
                Self::plain(text)
            }
            "raw_string" => Self::Known(within(text, 1)),
            // Its escapes are many, and a word that is spelled with them has a reason.
            "ansi_c_string" if !text.contains('\\') => {
                Self::Known(within(text.trim_start_matches('$'), 1))
            }
            "string" => Self::quoted(node, text),
            "concatenation" => Self::joined(node, line),
            _ => Self::Open,
        }
    }

    /// The text that stands for it in a command.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Known(text) => text.clone(),
            Self::Open => PlannedCommand::OPEN.to_string(),
        }
    }

    pub(super) fn known(&self) -> Option<&str> {
        match self {
            Self::Known(text) => Some(text),
            Self::Open => None,
        }
    }

    /// A word without quotes. Braces may stand for several words.
    fn plain(text: &str) -> Self {
        if text.contains(['{', '}', '`', '$']) {
            return Self::Open;
        }
        Self::Known(unescaped(text, |_| true))
    }

    fn quoted(node: Node<'_>, text: &str) -> Self {
        let mut cursor = node.walk();
        let mut inner = node.named_children(&mut cursor);
        let inside = within(text, 1);
        // A dollar sign alone is one; with anything behind it bash decides.
        let is_plain = inner.all(|child| child.kind() == "string_content")
            && !inside.replace("\\$", "").contains('$')
            && !inside.replace("\\`", "").contains('`');
        match is_plain {
            true => {
                let is_special = |c| matches!(c, '"' | '\\' | '$' | '`' | '\n');
                Self::Known(unescaped(&inside, is_special))
            }
            false => Self::Open,
        }
    }

    fn joined(node: Node<'_>, line: &str) -> Self {
        let mut cursor = node.walk();
        let mut text = String::new();
        for child in node.children(&mut cursor) {
            match Self::of(child, line) {
                Self::Known(part) if child.is_named() => text += &part,
                _ => return Self::Open,
            }
        }
        // What the grammar takes apart is put together again in full, or is not known.
        Self::Known(text)
    }
}

/// Tells whether bash would take this for one word: whatever separates words or commands
/// in it is escaped.
pub(super) fn is_one_word(text: &str) -> bool {
    let mut is_escaped = false;
    text.chars().all(|c| {
        let separates = matches!(
            c,
            ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>'
        );
        let is_fine = is_escaped || !(separates || matches!(c, '"' | '\'' | '`'));
        is_escaped = c == '\\' && !is_escaped;
        is_fine
    }) && !is_escaped
}

/// Takes off the backslashes in front of what they are special for.
fn unescaped(text: &str, is_special: impl Fn(char) -> bool) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match characters.peek() {
            Some(next) if c == '\\' && is_special(*next) => {
                // A line that goes on below leaves nothing behind.
                let next = characters.next().filter(|next| *next != '\n');
                plain.extend(next);
            }
            _ => plain.push(c),
        }
    }
    plain
}

/// A text without so many bytes at both ends.
fn within(text: &str, ends: usize) -> String {
    let end = text.len().saturating_sub(ends);
    text.get(ends..end).unwrap_or_default().to_owned()
}
