//! A text as it comes: prose, reasoning and calls told apart, in one pass.
//!
//! A whole text is one push and the end, so texts in pieces read alike: what is decided
//! never depends on where a piece ends, only on what it says. Scans remember where they
//! were; a look ahead is bounded. What one format's block holds is read in its own file.

use super::calls::{Block, TextCall};
use super::openers::{self, Kind, Seen};
use super::scan::{End, Found, Scan};
use super::tools::Tools;
use super::{TextFormat, deepseek, glm, hermes, json, kimi, mistral, pythonic, qwen_coder, xml};

/// The most calls of one text. Nobody makes as many; what follows them is prose.
pub(super) const MOST_CALLS: usize = 4096;

/// A piece of what a model said.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Piece {
    /// Something for the reader.
    Prose(String),
    /// Something it thought.
    Reasoning(String),
    /// A call, whole. Only the end of the text makes sure that it may run: see
    /// [`TextAnswer::calls`].
    Call(TextCall),
}

/// All of what a model said.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TextAnswer {
    /// The calls, in order.
    pub calls: Vec<TextCall>,
    /// What it says beside them.
    pub text: String,
    /// What it thought.
    pub reasoning: String,
}

/// Reads a text as it comes.
///
/// ```
/// use toolsmith_provider::text::{Piece, Reader, TextFormat, Tools};
///
/// let mut reader = Reader::new(&TextFormat::ALL, Tools::default());
/// let pieces = reader.push("I look. <tool_");
/// assert_eq!(pieces, [Piece::Prose("I look.".to_owned())]);
/// reader.push("call>{\"name\": \"look\"}</tool_call>");
/// assert_eq!(reader.finish().calls[0].name, "look");
/// ```
#[derive(Debug)]
pub struct Reader {
    kinds: Vec<Kind>,
    tools: Tools,
    buffer: String,
    /// Where in the buffer what is not yet decided begins.
    cursor: usize,
    state: State,
    fence: Fence,
    /// Spaces and silent marks: dropped beside a call, prose before prose.
    held: Held,
    /// Whether nothing but such stands behind the last call or the beginning.
    fresh: bool,
    fresh_line: bool,
    /// Whether a block was found whose quotes hide its end: from there on marks count
    /// wherever they stand, or a text of such blocks would be scanned once for each.
    careless: bool,
    /// Whether what follows may stand inside a string that was never closed: calls found
    /// there are kept and answered, but must not run.
    doubtful: bool,
    /// How many blocks without an end are still looked for again.
    retries: usize,
    /// How many calls are known to stand in reasoning.
    thought: usize,
    pieces: Vec<Piece>,
    answer: TextAnswer,
}

#[derive(Debug)]
enum State {
    Prose,
    Reasoning(&'static str),
    Block {
        kind: Kind,
        opener: usize,
        scan: Scan,
    },
}

#[derive(Debug, PartialEq)]
enum Fence {
    None,
    /// Before what may be a call; the text that is left out if it is.
    Waiting(String),
    /// Around a call.
    Call,
    /// Around something else.
    Other,
}

#[derive(Debug, Default)]
struct Held {
    all: String,
    spaces: String,
}

impl Reader {
    /// A reader of calls in these formats.
    pub fn new(formats: &[TextFormat], tools: Tools) -> Self {
        Self {
            kinds: Kind::of(formats),
            tools,
            buffer: String::new(),
            cursor: 0,
            state: State::Prose,
            fence: Fence::None,
            held: Held::default(),
            fresh: true,
            fresh_line: true,
            careless: false,
            doubtful: false,
            retries: 16,
            thought: 0,
            pieces: Vec::new(),
            answer: TextAnswer::default(),
        }
    }

    /// Takes the next piece of the text, and returns what is decided by it.
    pub fn push(&mut self, text: &str) -> Vec<Piece> {
        // What was read goes when it is most of the buffer: each byte moves once or twice.
        if self.cursor > self.buffer.len() / 2 {
            self.buffer.drain(..self.cursor);
            self.cursor = 0;
        }
        self.buffer.push_str(text);
        self.advance(false);
        std::mem::take(&mut self.pieces)
    }

    /// Ends the text, and returns all of it.
    pub fn finish(mut self) -> TextAnswer {
        self.end();
        self.answer
    }

    /// Ends the text, and returns what was still undecided and then all of it.
    pub fn finish_with_pieces(mut self) -> (Vec<Piece>, TextAnswer) {
        self.end();
        (self.pieces, self.answer)
    }

    fn end(&mut self) {
        self.advance(true);
        if !self.fresh || self.answer.calls.is_empty() {
            let spaces = std::mem::take(&mut self.held.spaces);
            self.say(spaces);
        }
    }

    fn advance(&mut self, ended: bool) {
        while self.cursor < self.buffer.len() {
            let goes_on = match &self.state {
                State::Prose => self.prose(ended),
                State::Reasoning(close) => self.reasoning(close, ended),
                State::Block { .. } => self.block(ended),
            };
            if !goes_on {
                return;
            }
        }
        // A block may be whole only now that nothing follows.
        if ended && matches!(self.state, State::Block { .. }) {
            self.block(true);
        }
    }

    /// Reads prose up to the next mark, and tells whether something was decided.
    fn prose(&mut self, ended: bool) -> bool {
        let rest = &self.buffer[self.cursor..];
        let next = rest
            .bytes()
            .position(|byte| matches!(byte, b'<' | b'[' | b'{' | b'`'));
        let next = next.unwrap_or(rest.len());
        if next > 0 {
            self.take_prose(next);
            return true;
        }
        if rest.starts_with('`') {
            return self.fence_mark(ended);
        }
        let hidden = self.fence == Fence::Other;
        match openers::look(rest, &self.kinds, self.fresh_line, ended) {
            Seen::More => return false,
            Seen::Prose => self.take_prose(1),
            // What stands in somebody else's code is an example.
            Seen::Opener(kind, _) if hidden && kind.is_bare() => self.take_prose(1),
            Seen::Opener(kind, opener) => self.open(kind, opener),
            Seen::Silent(length) => {
                // Behind a call it belongs to the call.
                if !self.fresh || self.answer.calls.is_empty() {
                    let mark = &self.buffer[self.cursor..self.cursor + length];
                    self.held.all.push_str(mark);
                }
                self.cursor += length;
            }
            Seen::Reasoning(length, close) => {
                self.cursor += length;
                self.state = State::Reasoning(close);
            }
            Seen::ReasoningEnds(length) => {
                // It was begun before the text, in the prompt, unless that is told already.
                self.cursor += length;
                if self.answer.reasoning.is_empty() {
                    let calls = self.answer.calls.split_off(self.thought);
                    let calls = calls.into_iter().map(TextCall::thought);
                    self.answer.calls.extend(calls);
                    self.thought = self.answer.calls.len();
                }
                let text = std::mem::take(&mut self.answer.text) + &self.held.spaces;
                self.answer.reasoning.push_str(&text);
                self.after_block();
            }
        }
        true
    }

    fn open(&mut self, kind: Kind, opener: usize) {
        let scan = Scan::new(kind, opener, self.careless);
        self.state = State::Block { kind, opener, scan };
    }

    /// Takes so many bytes of prose. Spaces at its end are held until it is known what
    /// follows, and behind a call also what separates calls.
    fn take_prose(&mut self, length: usize) {
        let prose = self.buffer[self.cursor..self.cursor + length].to_owned();
        self.cursor += length;
        self.say_prose(&prose);
    }

    fn say_prose(&mut self, prose: &str) {
        let line = prose.rsplit('\n').next().unwrap_or_default();
        let blank = line.trim().is_empty();
        self.fresh_line = blank && (self.fresh_line || line.len() < prose.len());
        let separates = |c: char| c.is_whitespace() || matches!(c, ';' | ',');
        let mut words = prose;
        if self.fresh && !self.answer.calls.is_empty() {
            words = prose.trim_start_matches(separates);
        } else if self.fresh {
            words = prose.trim_start();
        }
        let (before, words) = prose.split_at(prose.len() - words.len());
        self.held.add(before);
        let said = words.trim_end();
        if !said.is_empty() {
            self.fresh = false;
            let held = std::mem::take(&mut self.held).all;
            self.say(held + said);
        }
        self.held.add(&words[said.len()..]);
    }

    /// Judges backticks.
    fn fence_mark(&mut self, ended: bool) -> bool {
        let rest = &self.buffer[self.cursor..];
        let ticks = rest
            .bytes()
            .take(3)
            .take_while(|&byte| byte == b'`')
            .count();
        if ticks < 3 && ticks == rest.len() && !ended {
            return false;
        }
        if ticks < 3 || !(self.fresh_line || self.fence == Fence::Call) {
            self.take_prose(ticks);
            return true;
        }
        match self.fence {
            Fence::Other => {
                self.take_prose(3);
                self.fence = Fence::None;
            }
            Fence::Call => {
                // Its line goes with the call.
                if self.fresh {
                    self.held = Held::default();
                }
                self.cursor += 3;
                self.fence = Fence::None;
            }
            Fence::None | Fence::Waiting(_) => return self.fence_opens(ended),
        }
        true
    }

    /// Judges a fence by what follows it.
    fn fence_opens(&mut self, ended: bool) -> bool {
        let rest = &self.buffer[self.cursor..];
        let word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+');
        let language = rest[3..].bytes().take(32).take_while(word).count();
        let Some(inside) = openers::skip(&rest[3 + language..]) else {
            self.take_prose(3);
            self.fence = Fence::Other;
            return true;
        };
        if inside.is_empty() && !ended && language < 32 {
            return false;
        }
        match openers::look(inside, &self.kinds, true, ended) {
            Seen::More => return false,
            Seen::Opener(kind, opener) => {
                let length = rest.len() - inside.len();
                self.fence = Fence::Waiting(rest[..length].to_owned());
                self.cursor += length;
                self.open(kind, opener);
            }
            _ => {
                self.take_prose(3);
                self.fence = Fence::Other;
            }
        }
        true
    }

    fn reasoning(&mut self, close: &'static str, ended: bool) -> bool {
        let rest = &self.buffer[self.cursor..];
        let mark = close.as_bytes()[0];
        let candidate = memchr::memchr(mark, rest.as_bytes()).unwrap_or(rest.len());
        let (thought, length) = if rest[candidate..].starts_with(close) {
            self.state = State::Prose;
            (candidate, candidate + close.len())
        } else if candidate > 0 {
            (candidate, candidate)
        } else if close.starts_with(rest) && !ended {
            return false;
        } else {
            (1, 1)
        };
        let thought = rest[..thought].to_owned();
        self.cursor += length;
        if let State::Prose = self.state {
            self.fresh_line = true;
        }
        self.answer.reasoning.push_str(&thought);
        match self.pieces.last_mut() {
            _ if thought.is_empty() => {}
            Some(Piece::Reasoning(last)) => last.push_str(&thought),
            _ => self.pieces.push(Piece::Reasoning(thought)),
        }
        true
    }

    /// Goes on to the end of a block, and tells whether something was decided.
    fn block(&mut self, ended: bool) -> bool {
        let State::Block { kind, opener, scan } = &mut self.state else {
            return false;
        };
        let (kind, opener) = (*kind, *opener);
        let text = &self.buffer[self.cursor..];
        match scan.run(text, kind, ended) {
            Found::End(end) => self.close(kind, opener, end),
            Found::Nothing => self.not_a_block(opener),
            Found::More if !ended => return false,
            Found::More => match scan.passed_over() {
                Some(end) => {
                    self.careless = true;
                    self.doubtful = true;
                    self.spend(kind);
                    self.close(kind, opener, end);
                }
                None => {
                    let inside = scan.is_inside_string();
                    self.unfinished(kind, opener);
                    self.doubtful |= inside;
                }
            },
        }
        true
    }

    /// Notes that a block had no end. Each costs a scan of the rest of the text, so after
    /// some of them its kind is no longer looked for.
    fn spend(&mut self, kind: Kind) {
        match self.retries.checked_sub(1) {
            Some(left) => self.retries = left,
            None => self.kinds.retain(|&each| each != kind),
        }
    }

    fn close(&mut self, kind: Kind, opener: usize, end: End) {
        match self.read(kind, opener, end.body, true) {
            Some(calls) => {
                self.cursor += end.block;
                // A call with an end and without its whole ended too early: what follows
                // may still be its text.
                let early = calls.iter().any(|call| !call.complete);
                self.keep(calls);
                self.doubtful |= early;
            }
            None => {
                // All of it is prose: nothing in it is looked at again.
                self.state = State::Prose;
                self.unfence();
                self.take_prose(end.block);
            }
        }
    }

    /// A block whose end is missing: a call that was cut off, or prose after all.
    fn unfinished(&mut self, kind: Kind, opener: usize) {
        let length = self.buffer.len() - self.cursor;
        match self.read(kind, opener, length, false) {
            Some(calls) => {
                self.cursor += length;
                self.keep(calls);
            }
            None => {
                self.spend(kind);
                self.not_a_block(opener);
            }
        }
    }

    fn not_a_block(&mut self, opener: usize) {
        self.state = State::Prose;
        self.unfence();
        self.take_prose(opener);
    }

    /// A fence that was taken for that of a call is prose.
    fn unfence(&mut self) {
        if let Fence::Waiting(fence) = std::mem::replace(&mut self.fence, Fence::None) {
            self.say_prose(&fence);
            self.fence = Fence::Other;
        }
    }

    fn read(&self, kind: Kind, opener: usize, end: usize, closed: bool) -> Option<Vec<TextCall>> {
        let text = &self.buffer[self.cursor..self.cursor + end];
        let (opener, body) = text.split_at(if kind.is_bare() { 0 } else { opener });
        let block = Block {
            body,
            opener,
            closed,
            tools: &self.tools,
        };
        let calls = match kind {
            Kind::Bare => json::read(&block),
            Kind::Pythonic => pythonic::read(&block),
            Kind::NamedTag => xml::read(&block),
            Kind::Function => qwen_coder::read(&block),
            Kind::DeepSeek => deepseek::read(&block),
            Kind::Kimi => kimi::read(&block),
            Kind::Mistral => mistral::read(&block),
            Kind::Tag => {
                let begins = body.trim_start();
                if begins.starts_with(['{', '[']) {
                    hermes::read(&block)
                } else if begins.starts_with("<function=") {
                    qwen_coder::read(&block)
                } else {
                    glm::read(&block)
                }
            }
        };
        calls.filter(|calls| (1..=MOST_CALLS).contains(&calls.len()))
    }

    fn keep(&mut self, calls: Vec<TextCall>) {
        if !self.fresh {
            let spaces = std::mem::take(&mut self.held.spaces);
            self.say(spaces);
        }
        let calls: Vec<TextCall> = if self.doubtful {
            calls.into_iter().map(TextCall::doubt).collect()
        } else {
            calls
        };
        self.answer.calls.extend(calls.iter().cloned());
        self.pieces.extend(calls.into_iter().map(Piece::Call));
        if self.answer.calls.len() >= MOST_CALLS {
            self.kinds.clear();
        }
        self.after_block();
        if let Fence::Waiting(_) = self.fence {
            self.fence = Fence::Call;
        }
    }

    fn after_block(&mut self) {
        self.held = Held::default();
        self.state = State::Prose;
        self.fresh = true;
        self.fresh_line = true;
    }

    fn say(&mut self, prose: String) {
        self.answer.text.push_str(&prose);
        match self.pieces.last_mut() {
            _ if prose.is_empty() => {}
            Some(Piece::Prose(last)) => last.push_str(&prose),
            _ => self.pieces.push(Piece::Prose(prose)),
        }
    }
}

impl Held {
    fn add(&mut self, spaces: &str) {
        self.all.push_str(spaces);
        self.spaces.push_str(spaces);
    }
}
