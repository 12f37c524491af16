//! Where everything stands in a YAML text.
//!
//! The parser's events give the nodes, and the scanner's tokens the places between them:
//! dashes, colons, commas and brackets. Comments are neither, and so never in the way.

use std::ops::Range;

use serde_saphyr::granit_parser::{
    Event, Parser, Scanner, Span, StrInput, StructureStyle, TokenType,
};

/// A text and what stands in it.
pub(super) struct Tree<'a> {
    pub(super) text: &'a str,
    /// The document's node; none where the document is empty.
    pub(super) root: Option<Node>,
    /// Everything that is written and no comment, in order.
    marks: Vec<Mark>,
}

/// A node.
pub(super) struct Node {
    pub(super) kind: Kind,
    /// From its first character on; where it ends only what follows it tells.
    pub(super) range: Range<usize>,
    /// The column of its first character, from 0.
    pub(super) column: usize,
    pub(super) is_flow: bool,
}

/// What a node is.
pub(super) enum Kind {
    Scalar(String),
    Alias,
    List(Vec<Node>),
    Mapping(Vec<(Node, Node)>),
}

/// Something that is written.
#[derive(Clone)]
pub(super) struct Mark {
    pub(super) what: What,
    pub(super) range: Range<usize>,
    /// The column of its first character, from 0.
    pub(super) column: usize,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A scalar, an alias or an anchor.
    Content,
    Dash,
    Colon,
    Comma,
    Open,
    Close,
    /// `---`, `...` and directives.
    Document,
}

impl<'a> Tree<'a> {
    /// Reads a text that is known to be good YAML; none where it is not after all.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let mut events = Vec::new();
        for event in Parser::new_from_str(text) {
            events.push(event.ok()?);
        }
        let mut builder = Builder {
            events: events.into_iter(),
        };
        let root = builder.document()?;
        let mut marks = Vec::new();
        for token in Scanner::new(StrInput::new(text)) {
            let token = token.ok()?;
            let before = marks.last().map_or(0, |mark: &Mark| mark.range.end);
            marks.extend(mark(text, before, token.token_type(), token.span())?);
        }
        Some(Self { text, root, marks })
    }

    /// The last thing written before a place.
    pub(super) fn last_before(&self, end: usize) -> Option<&Mark> {
        let count = self.marks.partition_point(|mark| mark.range.start < end);
        count.checked_sub(1).map(|last| &self.marks[last])
    }

    /// The last dash before a place.
    pub(super) fn dash_before(&self, end: usize) -> Option<&Mark> {
        let count = self.marks.partition_point(|mark| mark.range.start < end);
        let before = self.marks[..count].iter().rev();
        before.into_iter().find(|mark| mark.what == What::Dash)
    }

    /// The first thing of a sort at or after a place.
    pub(super) fn first_after(&self, start: usize, what: What) -> Option<&Mark> {
        let first = self.marks.partition_point(|mark| mark.range.start < start);
        self.marks[first..].iter().find(|mark| mark.what == what)
    }
}

impl Node {
    /// Tells whether it is a scalar that says this.
    pub(super) fn is_text(&self, text: &str) -> bool {
        matches!(&self.kind, Kind::Scalar(own) if own == text)
    }

    /// Tells whether nothing is written where it stands.
    pub(super) fn is_nothing(&self) -> bool {
        matches!(&self.kind, Kind::Scalar(text) if text.is_empty()) && self.range.is_empty()
    }
}

/// Makes nodes of events.
struct Builder<'e> {
    events: std::vec::IntoIter<(Event<'e>, Span)>,
}

impl Builder<'_> {
    /// The node of the document.
    #[expect(clippy::option_option, reason = "no document is no mistake")]
    fn document(&mut self) -> Option<Option<Node>> {
        loop {
            match self.events.next() {
                None => return Some(None),
                Some((Event::StreamStart | Event::DocumentStart(..), _)) => {}
                Some((Event::StreamEnd | Event::DocumentEnd, _)) => return Some(None),
                Some((event, span)) => {
                    let node = self.node(event, span)?;
                    return Some(Some(node).filter(|node| !node.is_nothing()));
                }
            }
        }
    }

    /// A node from its first event on. What was read before is bounded in depth, and so
    /// is this.
    fn node(&mut self, event: Event<'_>, span: Span) -> Option<Node> {
        let start = span.start.byte_offset()?;
        let mut range = start..span.end.byte_offset()?;
        let mut is_flow = false;
        let kind = match event {
            Event::Scalar(text, _, _, _) => {
                // To YAML nothing is a scalar too: `~`, as it is handed on.
                let text = if range.is_empty() {
                    String::new()
                } else {
                    text.into_owned()
                };
                Kind::Scalar(text)
            }
            Event::Alias(_) => Kind::Alias,
            Event::SequenceStart(style, _, _) => {
                is_flow = style == StructureStyle::Flow;
                let mut items = Vec::new();
                range.end = loop {
                    match self.events.next()? {
                        (Event::SequenceEnd, span) => break end(span, is_flow)?,
                        (event, span) => items.push(self.node(event, span)?),
                    }
                };
                Kind::List(items)
            }
            Event::MappingStart(style, _, _) => {
                is_flow = style == StructureStyle::Flow;
                let mut pairs = Vec::new();
                range.end = loop {
                    match self.events.next()? {
                        (Event::MappingEnd, span) => break end(span, is_flow)?,
                        (event, span) => {
                            let key = self.node(event, span)?;
                            let (event, span) = self.events.next()?;
                            pairs.push((key, self.node(event, span)?));
                        }
                    }
                };
                Kind::Mapping(pairs)
            }
            _ => return None,
        };
        Some(Node {
            kind,
            range,
            column: span.start.col(),
            is_flow,
        })
    }
}

/// Where a collection ends: behind its bracket, or where what follows it begins.
fn end(span: Span, is_flow: bool) -> Option<usize> {
    let marker = if is_flow { span.end } else { span.start };
    marker.byte_offset()
}

/// What a token leaves on the page. The outer option tells whether its place is known.
#[expect(
    clippy::option_option,
    reason = "most tokens leave nothing, which is no mistake"
)]
fn mark(text: &str, before: usize, token: &TokenType<'_>, span: Span) -> Option<Option<Mark>> {
    let what = match token {
        TokenType::Scalar(..) | TokenType::Alias(_) | TokenType::Anchor(_) => What::Content,
        TokenType::BlockEntry => What::Dash,
        TokenType::Value => What::Colon,
        TokenType::FlowEntry => What::Comma,
        TokenType::FlowSequenceStart | TokenType::FlowMappingStart => What::Open,
        TokenType::FlowSequenceEnd | TokenType::FlowMappingEnd => What::Close,
        TokenType::DocumentStart | TokenType::DocumentEnd | TokenType::VersionDirective(..) => {
            What::Document
        }
        _ => return Some(None),
    };
    let (mut start, mut end) = (span.start.byte_offset()?, span.end.byte_offset()?);
    let mut column = span.start.col();
    match what {
        // A block scalar ends where the next line begins; what is written ends before.
        What::Content | What::Document => end = start + text.get(start..end)?.trim_end().len(),
        // The scanner is behind the dash and all that follows it, comments too. On its line
        // a dash is the first thing, or the first after another dash.
        What::Dash => {
            let line = text.get(..start)?.rfind('\n').map_or(0, |feed| feed + 1);
            let gap = text.get(line.max(before)..start)?;
            start -= gap.trim_start().len();
            end = start + 1;
            column = text.get(line..start)?.chars().count();
            if text.get(start..end)? != "-" {
                return None;
            }
        }
        // One character, which the scanner does not always count.
        _ => end = start + 1,
    }
    if end == start {
        return Some(None);
    }
    Some(Some(Mark {
        what,
        range: start..end,
        column,
    }))
}
