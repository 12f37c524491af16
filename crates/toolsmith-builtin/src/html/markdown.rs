//! From a tree to Markdown: from below upwards, each element made of what its content
//! became. What each element becomes is in [`rules`](super::rules).

use url::Url;

use super::escape::escaped;
use super::rules;
use super::space;
use super::table;
use super::tree::{Document, Id, is_block, is_void};

/// How long a text grows at most. Items within items are indented again and again, so
/// a small page can be a long text.
pub(super) const MOST_BYTES: usize = 12 << 20;

/// How many lists and quotations within each other are indented.
const MOST_INDENTS: usize = 10;

/// How many blanks at the end of an element matter.
const MOST_BLANKS: usize = 100;

/// How Markdown is written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MarkdownOptions {
    /// What links are seen from; without one they stay as they are written.
    pub base: Option<Url>,
    /// How the two highest headings are written.
    pub headings: HeadingStyle,
    /// How code blocks are.
    pub code_blocks: CodeBlockStyle,
    /// What a fence is made of.
    pub fence: String,
    /// What a rule is written as.
    pub rule: String,
    /// What stands before items of lists without numbers.
    pub bullet: char,
    /// How many blanks stand between that, or a number, and the item.
    pub item_blanks: usize,
    /// What stands at the end of a line that is broken.
    pub line_break: String,
    /// What stands around emphasis.
    pub emphasis: char,
    /// What stands around what is strong.
    pub strong: String,
    /// How links are written.
    pub links: LinkStyle,
    /// Whether blanks within `code` count.
    pub preformatted_code: bool,
    /// Whether tables, struck text and every `pre` are written as GitHub does.
    pub github: bool,
}

/// How the two highest headings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadingStyle {
    /// With `#` before them.
    Atx,
    /// With a line beneath them.
    Setext,
}

/// How code blocks are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeBlockStyle {
    /// Between fences.
    Fenced,
    /// Four blanks before each line.
    Indented,
}

/// How links are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkStyle {
    /// `[text](address)`.
    Inline,
    /// `[text][1]`, and the addresses at the end.
    Numbered,
    /// `[text][]`, and the addresses at the end.
    Collapsed,
    /// `[text]`, and the addresses at the end.
    Shortcut,
}

impl Default for MarkdownOptions {
    fn default() -> Self {
        Self {
            base: None,
            headings: HeadingStyle::Atx,
            code_blocks: CodeBlockStyle::Fenced,
            fence: "```".to_owned(),
            rule: "---".to_owned(),
            bullet: '-',
            item_blanks: 1,
            line_break: "  ".to_owned(),
            emphasis: '_',
            strong: "**".to_owned(),
            links: LinkStyle::Inline,
            preformatted_code: false,
            github: true,
        }
    }
}

/// Writes a part of a page as Markdown. The page's blanks are changed by it.
pub(crate) fn write(document: &mut Document, from: Id, options: &MarkdownOptions) -> String {
    let keeps_code = options.preformatted_code;
    space::collapse(document, |name| {
        name == "pre" || (keeps_code && name == "code")
    });
    let mut writer = Writer {
        facts: NodeFacts::of(document),
        tables: match options.github {
            true => table::data_tables(document),
            false => Vec::new(),
        },
        document,
        options,
        references: Vec::new(),
    };
    let mut text = writer.run(from);
    if !writer.references.is_empty() {
        text = format!("{}\n\n{}", text.trim_end(), writer.references.join("\n"));
    }
    let trimmed = text.trim_start_matches(['\t', '\r', '\n']).trim_end();
    trimmed.to_owned()
}

/// What is known of each node before anything is written.
pub(super) struct NodeFacts {
    /// Whether there is nothing to see in it.
    is_blank: Vec<bool>,
    /// Which of its parent's children it is, and which of the elements.
    place: Vec<(u32, u32)>,
}

impl NodeFacts {
    fn of(document: &Document) -> Self {
        let mut is_something = vec![false; document.nodes.len()];
        let mut place = vec![(0, 0); document.nodes.len()];
        for id in document.ids().rev() {
            let name = document.name(id);
            let has_text = document
                .text(id)
                .is_some_and(|text| !text.trim().is_empty());
            let is_seen = is_void(name)
                || matches!(
                    name,
                    "a" | "th" | "td" | "iframe" | "script" | "audio" | "video"
                );
            is_something[id as usize] |= has_text || is_seen;
            let (mut number, mut element) = (0, 0);
            for child in document.children(id) {
                is_something[id as usize] |= is_something[*child as usize];
                place[*child as usize] = (number, element);
                number += 1;
                element += u32::from(document.text(*child).is_none());
            }
        }
        Self {
            is_blank: is_something.into_iter().map(|it| !it).collect(),
            place,
        }
    }
}

pub(super) struct Writer<'d> {
    pub(super) document: &'d Document,
    pub(super) options: &'d MarkdownOptions,
    facts: NodeFacts,
    /// By node, the first row of a table that is written as one.
    pub(super) tables: Vec<Option<Id>>,
    pub(super) references: Vec<String>,
}

/// An element that is being written.
struct Frame {
    id: Id,
    next: usize,
    text: String,
    in_code: bool,
    indents: usize,
}

impl Writer<'_> {
    fn run(&mut self, from: Id) -> String {
        let frame = |id, in_code, indents| Frame {
            id,
            next: 0,
            text: String::new(),
            in_code,
            indents,
        };
        let mut open = vec![frame(from, false, 0)];
        loop {
            let Some(top) = open.last_mut() else {
                return String::new();
            };
            if let Some(child) = self.document.children(top.id).get(top.next).copied() {
                top.next += 1;
                match self.document.text(child) {
                    Some(text) if top.in_code => join(&mut top.text, text),
                    Some(text) => join(&mut top.text, &escaped(text)),
                    None => {
                        let name = self.document.name(child);
                        let in_code = top.in_code || name == "code";
                        let indents =
                            top.indents + usize::from(matches!(name, "li" | "blockquote"));
                        let mut next = frame(child, in_code, indents);
                        // Its text is taken as it is, and not gone through at every level.
                        if self.options.github && name == "pre" {
                            next.next = self.document.children(child).len();
                        }
                        open.push(next);
                    }
                }
                continue;
            }
            let Some(done) = open.pop() else {
                return String::new();
            };
            let Some(parent) = open.last_mut() else {
                return done.text;
            };
            let may_indent = done.indents <= MOST_INDENTS;
            let mut written = self.written(done.id, done.text, may_indent);
            if written.len() > MOST_BYTES {
                written.truncate(written.floor_char_boundary(MOST_BYTES));
            }
            join(&mut parent.text, &written);
        }
    }

    /// An element with the blanks around it.
    fn written(&mut self, id: Id, content: String, may_indent: bool) -> String {
        let (leading, trailing) = self.flanks(id);
        if self.facts.is_blank[id as usize] {
            let is_block = is_block(self.document.name(id));
            let breaks = if is_block { "\n\n" } else { "" };
            return format!("{leading}{breaks}{trailing}");
        }
        if leading.is_empty() && trailing.is_empty() {
            return rules::element(self, id, content, may_indent);
        }
        let inner = content.trim().to_owned();
        let inner = rules::element(self, id, inner, may_indent);
        format!("{leading}{inner}{trailing}")
    }

    /// The blanks that stand at the ends of an element's text, and belong around what it
    /// becomes: `**a **b` is no Markdown.
    fn flanks(&self, id: Id) -> (String, String) {
        let name = self.document.name(id);
        if is_block(name) || (self.options.preformatted_code && name == "code") {
            return Default::default();
        }
        let (mut leading, is_all_blank) = self.edge(id, Side::Left);
        let mut trailing = match is_all_blank {
            true => String::new(),
            false => self.edge(id, Side::Right).0,
        };
        let is_ascii = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
        if leading.starts_with(is_ascii) && self.is_flanked(id, Side::Left) {
            leading = leading.trim_start_matches(is_ascii).to_owned();
        }
        if trailing.ends_with(is_ascii) && self.is_flanked(id, Side::Right) {
            trailing = trailing.trim_end_matches(is_ascii).to_owned();
        }
        (leading, trailing)
    }

    /// The blanks at one end of an element's text, and whether there is nothing else.
    fn edge(&self, id: Id, side: Side) -> (String, bool) {
        let mut blanks = String::new();
        let mut open = vec![id];
        while let Some(each) = open.pop() {
            let children = self.document.children(each);
            match side {
                Side::Left => open.extend(children.iter().rev()),
                Side::Right => open.extend(children.iter()),
            }
            let Some(text) = self.document.text(each) else {
                continue;
            };
            let edge = match side {
                Side::Left => &text[..text.len() - text.trim_start().len()],
                Side::Right => &text[text.trim_end().len()..],
            };
            match side {
                Side::Left => blanks.push_str(edge),
                Side::Right => blanks.insert_str(0, edge),
            }
            if edge.len() < text.len() || blanks.len() > MOST_BLANKS {
                return (blanks, false);
            }
        }
        (blanks, true)
    }

    /// Whether a blank stands beside an element already.
    fn is_flanked(&self, id: Id, side: Side) -> bool {
        let beside = match side {
            Side::Left => self.sibling(id, -1),
            Side::Right => self.sibling(id, 1),
        };
        let Some(beside) = beside else {
            return false;
        };
        let name = self.document.name(beside);
        let is_other_code = self.options.preformatted_code && name == "code";
        if is_other_code || is_block(name) {
            return false;
        }
        // The side of the neighbour that is turned here.
        match side {
            Side::Left => self.edge(beside, Side::Right).0.ends_with(' '),
            Side::Right => self.edge(beside, Side::Left).0.starts_with(' '),
        }
    }

    pub(super) fn sibling(&self, id: Id, by: i64) -> Option<Id> {
        let siblings = self.document.children(self.document.parent(id));
        let (place, _) = self.facts.place[id as usize];
        let place = usize::try_from(i64::from(place) + by).ok()?;
        siblings.get(place).copied()
    }

    /// Which of its parent's elements it is.
    pub(super) fn element_number(&self, id: Id) -> u64 {
        u64::from(self.facts.place[id as usize].1)
    }
}

#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

/// Adds a piece to a text, with the greater of the numbers of line breaks between them,
/// and never more than one empty line.
fn join(text: &mut String, piece: &str) {
    let kept = text.trim_end_matches('\n').len();
    let added = piece.trim_start_matches('\n');
    let breaks = (text.len() - kept).max(piece.len() - added.len()).min(2);
    text.truncate(kept);
    text.extend(std::iter::repeat_n('\n', breaks));
    let room = MOST_BYTES.saturating_sub(text.len());
    text.push_str(&added[..added.floor_char_boundary(room)]);
}
