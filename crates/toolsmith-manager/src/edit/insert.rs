//! What is put where.
//!
//! A place is always behind something that is written, and a new line always begins
//! where one ends: comments stay with what they stand behind.

use serde_json::Value;

use super::tree::{Kind, Mark, Node, Tree, What};
use super::written::{STEP, entry, indented, scalar};
use crate::yaml;

/// Texts and where they go, in order.
pub(super) struct Insertion(Vec<(usize, String)>);

/// A node, and the mapping and the key it stands under.
#[derive(Clone, Copy)]
pub(super) struct Place<'t> {
    pub(super) node: &'t Node,
    pub(super) under: Option<(&'t Node, &'t Node)>,
}

impl Insertion {
    /// One more item of the list a node is. None where there is no good place.
    pub(super) fn item(tree: &Tree<'_>, place: Place<'_>, item: &str) -> Option<Self> {
        let list = place.node;
        match &list.kind {
            Kind::List(_) if list.is_flow => Self::in_flow(tree, list, item),
            Kind::List(items) => {
                let dash = tree.dash_before(items.first()?.range.start)?;
                let after = tree.last_before(list.range.end)?;
                let line = format!("{}- {item}", indent(tree, dash));
                Some(Self::line(tree, after, &line))
            }
            Kind::Scalar(_) if list.is_nothing() => Self::value(tree, place, &format!("- {item}")),
            _ => None,
        }
    }

    /// One more key of the mapping a node is.
    pub(super) fn entry(tree: &Tree<'_>, place: Place<'_>, key: &str, value: &str) -> Option<Self> {
        let mapping = place.node;
        match &mapping.kind {
            Kind::Mapping(_) if mapping.is_flow => {
                let value = in_one_line(value)?;
                let text = format!("{}: {value}", scalar(key));
                Self::in_flow(tree, mapping, &text)
            }
            Kind::Mapping(_) => {
                let after = tree.last_before(mapping.range.end)?;
                let lines = indented(&entry(key, value), mapping.column);
                Some(Self::line(tree, after, &lines))
            }
            Kind::Scalar(_) if mapping.is_nothing() => Self::value(tree, place, &entry(key, value)),
            _ => None,
        }
    }

    /// The content of a document that has none.
    pub(super) fn document(tree: &Tree<'_>, lines: &str) -> Option<Self> {
        match tree.last_before(tree.text.len()) {
            Some(after) => Some(Self::line(tree, after, lines)),
            None => {
                let end = tree.text.len();
                Some(Self(vec![(end, new_line(tree, end, lines))]))
            }
        }
    }

    /// The text with what is new in its places.
    pub(super) fn apply(&self, text: &str) -> String {
        let mut edited = String::new();
        let mut from = 0;
        for (at, new) in &self.0 {
            edited.push_str(&text[from..*at]);
            edited.push_str(new);
            from = *at;
        }
        edited.push_str(&text[from..]);
        edited
    }

    /// Lines after the line something ends on.
    fn line(tree: &Tree<'_>, after: &Mark, lines: &str) -> Self {
        let at = line_end(tree.text, after.range.end);
        Self(vec![(at, new_line(tree, at, lines))])
    }

    /// The value of a key that has none yet, in lines beneath it. Between brackets there
    /// are no lines.
    fn value(tree: &Tree<'_>, place: Place<'_>, lines: &str) -> Option<Self> {
        let (mapping, key) = place.under.filter(|(mapping, _)| !mapping.is_flow)?;
        let colon = tree.first_after(key.range.end, What::Colon)?;
        Some(Self::line(
            tree,
            colon,
            &indented(lines, mapping.column + STEP),
        ))
    }

    /// One more piece within brackets.
    fn in_flow(tree: &Tree<'_>, node: &Node, piece: &str) -> Option<Self> {
        let close = tree.last_before(node.range.end)?;
        let last = tree.last_before(close.range.start)?;
        if close.what != What::Close {
            return None;
        }
        if last.range.start == node.range.start && last.what == What::Open {
            let at = last.range.end;
            return Some(Self(vec![(at, piece.to_owned())]));
        }
        let has_comma = last.what == What::Comma;
        let at = last.range.end;
        let end = line_end(tree.text, at);
        // One piece a line: the next one gets a line too, and comments stay where they are.
        let start = line_start(tree.text, at);
        let first = tree.first_after(start, What::Content);
        let is_alone = start > node.range.start
            && close.range.start >= end
            && first.is_some_and(|first| {
                first.range.start <= at && tree.text[start..first.range.start].trim().is_empty()
            });
        if is_alone {
            let first = first.map_or(start, |first| first.range.start);
            let indent = &tree.text[start..first];
            let comma = if has_comma { "," } else { "" };
            let line = new_line(tree, end, &format!("{indent}{piece}{comma}"));
            let mut texts = vec![(end, line)];
            if !has_comma {
                texts.insert(0, (at, ",".to_owned()));
            }
            return Some(Self(texts));
        }
        let text = if has_comma {
            format!(" {piece}")
        } else {
            format!(", {piece}")
        };
        Some(Self(vec![(at, text)]))
    }
}

/// The indent of an item: what stands before another one's dash, if that is white space.
fn indent(tree: &Tree<'_>, dash: &Mark) -> String {
    let before = &tree.text[line_start(tree.text, dash.range.start)..dash.range.start];
    if before.trim().is_empty() {
        before.to_owned()
    } else {
        " ".repeat(dash.column)
    }
}

/// A value between brackets, which takes JSON.
fn in_one_line(value: &str) -> Option<String> {
    let value: Value = yaml::read("", value.as_bytes()).ok()?;
    Some(value.to_string())
}

/// Lines as they are put at the end of a line, with the line ends of the text.
fn new_line(tree: &Tree<'_>, at: usize, lines: &str) -> String {
    let end = if tree.text.contains("\r\n") {
        "\r\n"
    } else {
        "\n"
    };
    let lines = lines.lines().collect::<Vec<_>>().join(end);
    let before = &tree.text[..at];
    if before.is_empty() || before.ends_with('\n') {
        format!("{lines}{end}")
    } else {
        format!("{end}{lines}")
    }
}

/// Where the next line begins, or the text ends.
fn line_end(text: &str, at: usize) -> usize {
    text[at..]
        .find('\n')
        .map_or(text.len(), |feed| at + feed + 1)
}

/// Where the line begins.
fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |feed| feed + 1)
}
