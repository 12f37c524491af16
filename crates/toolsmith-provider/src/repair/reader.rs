//! The tolerant pass: one value, read once from left to right.
//!
//! The stack is explicit, so depth costs heap and is bounded like that of valid JSON.
//! Strings are read in [`strings`](super::strings); what stands around the value is
//! judged by [`repair`](super::repair).

use serde_json::map::Entry;
use serde_json::{Map, Number, Value};
use toolsmith_core::json::{MAX_DEPTH, MAX_VALUES};

use super::quotes::{self, Quote};
use super::step::{Step, Steps};
use super::strings::{Ahead, Place};
use super::{LOST_QUOTE, RepairError};

/// One reading of one text.
#[derive(Debug)]
pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) position: usize,
    pub(super) steps: Steps,
    /// What was found behind strings that were looked past, for each kind of quote.
    pub(super) ahead: [Option<Ahead>; 4],
    stack: Vec<Frame>,
    values: usize,
    truncated: bool,
    brackets_only: bool,
    root: Option<Value>,
}

/// What was read.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) value: Value,
    pub(super) end: usize,
    pub(super) truncated: bool,
    pub(super) brackets_only: bool,
    pub(super) steps: Steps,
}

/// A bracket that is open.
#[derive(Debug)]
enum Frame {
    Object {
        map: Map<String, Value>,
        key: Option<String>,
    },
    List {
        items: Vec<Value>,
        round: bool,
        commas: bool,
    },
}

impl Frame {
    fn closer(&self) -> u8 {
        match self {
            Self::Object { .. } => b'}',
            Self::List { round: false, .. } => b']',
            Self::List { round: true, .. } => b')',
        }
    }
}

/// What comes next.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// A value, behind a colon or at the root.
    Value,
    /// A key or a closing bracket; or an item or one.
    Element,
    Colon,
    /// A comma or a closing bracket.
    Comma,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str, position: usize, steps: Steps) -> Self {
        Self {
            text,
            position,
            steps,
            ahead: [None; 4],
            stack: Vec::new(),
            values: 0,
            truncated: false,
            brackets_only: false,
            root: None,
        }
    }

    /// Reads the value that begins here.
    pub(super) fn read(mut self) -> Result<Read, RepairError> {
        let mut next = Next::Value;
        while self.root.is_none() {
            let line = self.blank()?;
            let Some(&byte) = self.text.as_bytes().get(self.position) else {
                self.brackets_only = !self.truncated && matches!(next, Next::Comma);
                self.cut_off()?;
                break;
            };
            next = match next {
                Next::Value => self.value(byte)?,
                Next::Element => self.element(byte)?,
                Next::Colon => self.colon(byte)?,
                Next::Comma => self.comma(byte, line)?,
            };
        }
        let value = self.root.expect("the loop ends with a value");
        Ok(Read {
            value,
            end: self.position,
            truncated: self.truncated,
            brackets_only: self.brackets_only,
            steps: self.steps,
        })
    }

    fn element(&mut self, byte: u8) -> Result<Next, RepairError> {
        match (byte, self.stack.last_mut()) {
            (b'}' | b']' | b')', _) => self.close(byte),
            (b',', _) => {
                self.steps.add(Step::ExtraCommas);
                self.position += 1;
                Ok(Next::Element)
            }
            (_, Some(Frame::Object { .. })) => self.key(),
            _ => self.value(byte),
        }
    }

    fn key(&mut self) -> Result<Next, RepairError> {
        let key = if Quote::at(self.text.as_bytes(), self.position).is_some() {
            let (key, whole) = self.string(Place::Key)?;
            // A key that was cut has no value: it is left out.
            whole.then_some(key)
        } else {
            let word = self.word();
            let name = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$');
            if !name && (word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_digit())) {
                return Err(self.unexpected("a key"));
            }
            self.steps.add(Step::UnquotedKeys);
            Some(word.to_owned())
        };
        if let Some(Frame::Object { key: pending, .. }) = self.stack.last_mut() {
            *pending = key;
        }
        Ok(Next::Colon)
    }

    fn colon(&mut self, byte: u8) -> Result<Next, RepairError> {
        if byte != b':' {
            return Err(self.unexpected("a colon"));
        }
        self.position += 1;
        Ok(Next::Value)
    }

    fn comma(&mut self, byte: u8, new_line: bool) -> Result<Next, RepairError> {
        match byte {
            b'}' | b']' | b')' => return self.close(byte),
            b',' => {
                self.position += 1;
                if let Some(Frame::List { commas, .. }) = self.stack.last_mut() {
                    *commas = true;
                }
                let next = self.skip_spaces(self.position);
                if matches!(self.text.as_bytes().get(next), Some(b'}' | b']')) {
                    self.steps.add(Step::ExtraCommas);
                }
                return Ok(Next::Element);
            }
            _ => {}
        }
        let object = matches!(self.stack.last(), Some(Frame::Object { .. }));
        let bracket = matches!(byte, b'{' | b'[') && !object;
        // `1 000` may be one number: only a new line makes two of what is not quoted.
        if Quote::at(self.text.as_bytes(), self.position).is_some() || bracket || new_line {
            self.steps.add(Step::MissingCommas);
            return Ok(Next::Element);
        }
        Err(self.unexpected("a comma"))
    }

    fn value(&mut self, byte: u8) -> Result<Next, RepairError> {
        match byte {
            b'{' => self.open(Frame::Object {
                map: Map::new(),
                key: None,
            }),
            b'[' => self.open(Frame::List {
                items: Vec::new(),
                round: false,
                commas: false,
            }),
            b'(' => {
                self.steps.add(Step::Tuples);
                self.open(Frame::List {
                    items: Vec::new(),
                    round: true,
                    commas: false,
                })
            }
            _ if Quote::at(self.text.as_bytes(), self.position).is_some() => {
                let place = match self.stack.last() {
                    None => Place::Root,
                    Some(Frame::Object { .. }) => Place::Member,
                    Some(Frame::List { .. }) => Place::Item,
                };
                let (string, whole) = self.string(place)?;
                if !whole {
                    self.cut();
                }
                self.put(Value::String(string))
            }
            _ => self.scalar(),
        }
    }

    /// A literal or a number.
    fn scalar(&mut self) -> Result<Next, RepairError> {
        let begin = self.position;
        let word = self.word();
        let value = match word {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            "null" => Some(Value::Null),
            "True" | "False" | "None" => {
                self.steps.add(Step::PythonLiterals);
                Some(match word {
                    "True" => Value::Bool(true),
                    "False" => Value::Bool(false),
                    _ => Value::Null,
                })
            }
            _ => self.number(word),
        };
        if let Some(value) = value {
            return self.put(value);
        }
        if !word.is_empty() && self.position == self.text.len() && !self.stack.is_empty() {
            // Cut in the middle: what it was to be is not known.
            self.cut();
            return Ok(Next::Comma);
        }
        self.position = begin;
        Err(self.unexpected("a value"))
    }

    fn number(&mut self, word: &str) -> Option<Value> {
        let parse = |text: &str| serde_json::from_str::<Number>(text).ok().map(Value::Number);
        let strict = word.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        if strict && let Some(value) = parse(word) {
            return Some(value);
        }
        let (sign, digits) = match word.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", word.strip_prefix('+').unwrap_or(word)),
        };
        let rewritten = match (digits.strip_prefix('.'), digits.strip_suffix('.')) {
            (Some(fraction), None) => format!("{sign}0.{fraction}"),
            (None, Some(whole)) => format!("{sign}{whole}.0"),
            (None, None) if digits.starts_with(|c: char| c.is_ascii_digit()) => {
                format!("{sign}{digits}")
            }
            _ => return None,
        };
        let value = parse(&rewritten)?;
        self.steps.add(Step::Numbers);
        Some(value)
    }

    fn open(&mut self, frame: Frame) -> Result<Next, RepairError> {
        if self.stack.len() >= MAX_DEPTH {
            let what = format_args!("nested deeper than {MAX_DEPTH} levels").to_string();
            return Err(RepairError::at(self.position, what));
        }
        self.count()?;
        self.position += 1;
        self.stack.push(frame);
        Ok(Next::Element)
    }

    fn close(&mut self, byte: u8) -> Result<Next, RepairError> {
        // A bracket further out that closes here closes those inside with it.
        if !self.stack.iter().any(|frame| frame.closer() == byte) {
            return Err(self.unexpected("another bracket"));
        }
        while let Some(frame) = self.stack.pop() {
            let found = frame.closer() == byte;
            if !found {
                self.steps.add(Step::MissingBrackets);
            }
            let next = self.fold(frame)?;
            if found {
                self.position += 1;
                return Ok(next);
            }
        }
        Ok(Next::Comma)
    }

    /// Makes a value of what a bracket held, and puts it where the bracket stood.
    fn fold(&mut self, frame: Frame) -> Result<Next, RepairError> {
        match frame {
            Frame::Object { key: Some(_), .. } if !self.truncated => {
                Err(self.unexpected("a value"))
            }
            Frame::Object { map, .. } => self.put_folded(Value::Object(map)),
            // `(1)` is a number in Python, `(1,)` a list.
            Frame::List {
                items,
                round: true,
                commas: false,
            } if items.len() == 1 => Err(RepairError::at(
                self.position,
                "round brackets around one value",
            )),
            Frame::List { items, .. } => self.put_folded(Value::Array(items)),
        }
    }

    fn put(&mut self, value: Value) -> Result<Next, RepairError> {
        self.count()?;
        self.put_folded(value)
    }

    fn put_folded(&mut self, value: Value) -> Result<Next, RepairError> {
        match self.stack.last_mut() {
            None => self.root = Some(value),
            Some(Frame::List { items, .. }) => items.push(value),
            // A key that was cut has no place.
            Some(Frame::Object { map, key }) => match key.take().map(|key| map.entry(key)) {
                None => {}
                Some(Entry::Vacant(place)) => {
                    place.insert(value);
                }
                Some(Entry::Occupied(place)) => {
                    let key: String = place.key().chars().take(80).collect();
                    let what = format_args!("duplicate key {key:?} before the value that ends");
                    return Err(RepairError::at(self.position, what));
                }
            },
        }
        Ok(Next::Comma)
    }

    fn count(&mut self) -> Result<(), RepairError> {
        self.values += 1;
        if self.values > MAX_VALUES {
            let what = format_args!("more than {MAX_VALUES} values").to_string();
            return Err(RepairError::at(self.position, what));
        }
        Ok(())
    }

    fn cut(&mut self) {
        self.truncated = true;
        self.steps.add(Step::Unclosed);
    }

    /// Closes whatever is open where the text ends.
    fn cut_off(&mut self) -> Result<(), RepairError> {
        self.cut();
        while let Some(frame) = self.stack.pop() {
            self.fold(frame)?;
        }
        match self.root {
            Some(_) => Ok(()),
            None => Err(RepairError("there is no value in the text".to_owned())),
        }
    }

    /// Skips spaces and comments, and tells whether a new line began.
    fn blank(&mut self) -> Result<bool, RepairError> {
        let bytes = self.text.as_bytes();
        let begin = self.position;
        loop {
            self.position = self.skip_spaces(self.position);
            let rest = &bytes[self.position..];
            let comment = match rest {
                [b'#', ..] | [b'/', b'/', ..] => memchr::memchr(b'\n', rest),
                [b'/', b'*', ..] => memchr::memmem::find(rest, b"*/").map(|end| end + 2),
                _ => break,
            };
            let end = self.position + comment.unwrap_or(rest.len());
            if quotes::are_odd(&self.text[self.position..end]) && end < bytes.len() {
                return Err(RepairError::at(self.position, LOST_QUOTE));
            }
            self.steps.add(Step::Comments);
            self.position = end;
        }
        // JSON has four of them, to which a form feed does not belong.
        let is_known = |byte: &u8| byte.is_ascii() && !matches!(byte, 0x0b | 0x0c);
        if !bytes[begin..self.position].iter().all(is_known) {
            self.steps.add(Step::Spaces);
        }
        Ok(memchr::memchr(b'\n', &bytes[begin..self.position]).is_some())
    }

    pub(super) fn skip_spaces(&self, from: usize) -> usize {
        let rest = &self.text.as_bytes()[from..];
        let plain = from
            + rest
                .iter()
                .take_while(|byte| byte.is_ascii_whitespace())
                .count();
        if self.text.as_bytes().get(plain).is_none_or(u8::is_ascii) {
            return plain;
        }
        let rest = &self.text[plain..];
        let other = |c: char| c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}');
        plain + (rest.len() - rest.trim_start_matches(other).len())
    }

    /// Takes a word: what may be a key, a literal or a number.
    fn word(&mut self) -> &'t str {
        let rest = &self.text.as_bytes()[self.position..];
        let length = rest.iter().take_while(|&&byte| is_word(byte)).count();
        let word = &self.text[self.position..self.position + length];
        self.position += length;
        word
    }

    fn unexpected(&self, expected: &str) -> RepairError {
        let rest = &self.text[self.position.min(self.text.len())..];
        let found: String = rest.chars().take(20).collect();
        RepairError::at(
            self.position,
            format_args!("expected {expected}, found {found:?}"),
        )
    }
}

/// Whether a byte belongs to a word.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-' | b'+' | b'.')
}
