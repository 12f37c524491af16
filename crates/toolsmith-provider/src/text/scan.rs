//! Where a block ends: one pass that remembers where it was.
//!
//! JSON is scanned with its strings in mind, so that marks inside a string end nothing.
//! A quote that was never closed would hide every mark behind it; so the first mark that
//! was passed over is kept, for when the text ends without another. Where no mark closes a
//! block, a line that begins like another block stands for one.

use super::openers::Kind;

/// A scan of one block, kept between pushes. Places count from the block's opener.
#[derive(Clone, Debug)]
pub(super) struct Scan {
    at: usize,
    depth: usize,
    quote: Option<u8>,
    escaped: bool,
    /// Whether strings are minded; `None` until the first character told.
    minded: Option<bool>,
    /// Where the block ends if a string in it was never closed.
    passed_over: Option<End>,
}

/// Where a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    /// Where what it holds ends.
    pub(super) body: usize,
    /// Where the text goes on.
    pub(super) block: usize,
}

/// What a scan found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    End(End),
    /// Nothing yet.
    More,
    /// It is no block after all.
    Nothing,
}

/// The longest name before the arguments of a block that ends with them.
const LONGEST_HEAD: usize = 512;

impl Scan {
    /// A scan that begins behind an opener. `careless` does not mind strings.
    pub(super) fn new(kind: Kind, opener: usize, careless: bool) -> Self {
        let minded = match kind {
            _ if careless && !kind.closers().is_empty() => Some(false),
            Kind::Tag | Kind::Function => None,
            Kind::NamedTag => Some(false),
            _ => Some(true),
        };
        Self {
            at: if kind.is_bare() { 0 } else { opener },
            depth: 0,
            quote: None,
            escaped: false,
            minded,
            passed_over: None,
        }
    }

    /// Where the block ends if a string in it was never closed.
    pub(super) fn passed_over(&self) -> Option<End> {
        self.passed_over
    }

    /// Whether a string is open where the scan stands.
    pub(super) fn is_inside_string(&self) -> bool {
        self.quote.is_some()
    }

    /// Goes on to the end of the block, or of what is there.
    pub(super) fn run(&mut self, text: &str, kind: Kind, ended: bool) -> Found {
        let bytes = text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            if self.escaped {
                self.escaped = false;
                self.at += 1;
                continue;
            }
            if self.minded.is_none() && !byte.is_ascii_whitespace() {
                self.minded = Some(matches!(byte, b'{' | b'['));
            }
            if byte == b'<' && !kind.closers().is_empty() {
                match self.closer(&bytes[self.at..], kind, ended) {
                    Some(Found::Nothing) | None => {}
                    Some(found) => return found,
                }
            }
            if let Some(quote) = self.quote {
                if byte == b'\n' && kind.is_bare() && !self.line(bytes, ended) {
                    return Found::More;
                }
                self.string(bytes, quote, kind);
                continue;
            }
            if self.minded != Some(true) {
                self.at += 1;
                continue;
            }
            match byte {
                b'"' | b'\'' if self.depth > 0 => self.quote = Some(byte),
                b'[' if self.depth == 0 && kind == Kind::Mistral => {
                    match head_mark(&bytes[self.at..]) {
                        Some(0) if !ended => return Found::More,
                        Some(length @ 1..) => {
                            self.at += length;
                            continue;
                        }
                        _ => self.depth += 1,
                    }
                }
                b'{' | b'[' | b'(' => self.depth += 1,
                b'}' | b']' | b')' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 && kind.closers().is_empty() {
                        let end = self.at + 1;
                        return Found::End(End {
                            body: end,
                            block: end,
                        });
                    }
                }
                _ if self.depth == 0 && kind == Kind::Mistral && self.at > LONGEST_HEAD => {
                    return Found::Nothing;
                }
                _ => {}
            }
            self.at += 1;
        }
        Found::More
    }

    /// Goes to the end of a string, or to something in it that may matter.
    fn string(&mut self, bytes: &[u8], quote: u8, kind: Kind) {
        // What stands here was looked at.
        if bytes[self.at] == quote {
            self.quote = None;
            self.at += 1;
            return;
        }
        if bytes[self.at] == b'\\' {
            self.escaped = true;
            self.at += 1;
            return;
        }
        let rest = &bytes[self.at + 1..];
        let mark = if kind.is_bare() { b'\n' } else { b'<' };
        self.at += 1 + memchr::memchr3(quote, b'\\', mark, rest).unwrap_or(rest.len());
    }

    /// Judges the end of a line inside a string, where a block has no closing mark: the
    /// next block may begin there. Tells whether enough of the text is there.
    fn line(&mut self, bytes: &[u8], ended: bool) -> bool {
        match bytes.get(self.at + 1) {
            None => return ended,
            Some(b'{' | b'[' | b'<') => {
                let end = End {
                    body: self.at,
                    block: self.at,
                };
                self.passed_over.get_or_insert(end);
            }
            Some(_) => {}
        }
        true
    }

    /// Judges what may be a closing mark.
    fn closer(&mut self, rest: &[u8], kind: Kind, ended: bool) -> Option<Found> {
        for closer in kind.closers() {
            // Another opener ends only a block whose strings are minded.
            if !closer.consumed && self.minded != Some(true) {
                continue;
            }
            let mark = closer.mark.as_bytes();
            if rest.starts_with(mark) {
                let consumed = if closer.consumed { mark.len() } else { 0 };
                let end = End {
                    body: self.at,
                    block: self.at + consumed,
                };
                if self.quote.is_some() {
                    self.passed_over.get_or_insert(end);
                    return Some(Found::Nothing);
                }
                return Some(Found::End(end));
            }
            if mark.starts_with(rest) && !ended {
                return Some(Found::More);
            }
        }
        None
    }
}

/// How long the mark is that stands between a name and its arguments; zero where more must
/// come to tell.
fn head_mark(rest: &[u8]) -> Option<usize> {
    for mark in [&b"[ARGS]"[..], b"[CALL_ID]"] {
        if rest.starts_with(mark) {
            return Some(mark.len());
        }
        if mark.starts_with(rest) {
            return Some(0);
        }
    }
    None
}
