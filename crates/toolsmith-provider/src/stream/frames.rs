//! Events in bytes: server-sent events, JSON line by line, or the objects of a JSON list,
//! told apart by how they begin.
//!
//! Works on bytes and makes text of whole events only, so it does not matter where within
//! a character or a line ending a piece was cut.

use serde_json::Value;
use toolsmith_core::json;

use super::scan::Scan;
use crate::parse::LARGEST;

/// An event: its name, where it was given one, and what it says.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) name: Option<String>,
    pub(super) value: Value,
}

#[derive(Debug, Default)]
pub(super) struct Frames {
    form: Form,
    /// The line, or the object, that is being received.
    buffer: Vec<u8>,
    scan: Scan,
    /// The lines of data of the event that is being received, and its name.
    data: Option<Vec<u8>>,
    name: Option<String>,
    after_return: bool,
    /// Whether the stream said that it is over.
    pub(super) done: bool,
    /// Whether bytes were replaced that are no UTF-8.
    pub(super) replaced: bool,
    pub(super) notes: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Form {
    #[default]
    Unknown,
    Lines,
    Objects,
}

/// The longest name of an event that is kept: no provider's is half as long.
const LONGEST_NAME: usize = 128;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Frames {
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        let mut rest = bytes;
        if self.form == Form::Unknown {
            let blank = |byte: &u8| byte.is_ascii_whitespace() || BYTE_ORDER_MARK.contains(byte);
            let Some(start) = rest.iter().position(|byte| !blank(byte)) else {
                return events;
            };
            rest = &rest[start..];
            self.form = match rest[0] {
                b'{' | b'[' => Form::Objects,
                _ => Form::Lines,
            };
        }
        match self.form {
            Form::Objects => rest
                .iter()
                .for_each(|byte| self.pass_object(*byte, &mut events)),
            _ => self.pass_lines(rest, &mut events),
        }
        events
    }

    /// The events that only the end makes whole.
    pub(super) fn finish(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        if self.form == Form::Lines {
            self.end_of_line(&mut events);
            self.end_of_event(&mut events);
        }
        events
    }

    /// Between objects there may be line ends, commas and the brackets of a list.
    fn pass_object(&mut self, byte: u8, events: &mut Vec<Event>) {
        if self.buffer.is_empty() && byte != b'{' {
            return;
        }
        self.buffer.push(byte);
        if self.scan.pass(byte) {
            self.scan = Scan::default();
            let object = std::mem::take(&mut self.buffer);
            match self.value(&object) {
                Some(value) => events.push(Event { name: None, value }),
                None => self.skipped(&object),
            }
        }
    }

    fn pass_lines(&mut self, mut rest: &[u8], events: &mut Vec<Event>) {
        while !rest.is_empty() {
            // The second half of a line end whose first half was the end already.
            if std::mem::take(&mut self.after_return) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', rest) else {
                self.buffer.extend_from_slice(rest);
                return;
            };
            self.buffer.extend_from_slice(&rest[..end]);
            self.after_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            self.end_of_line(events);
        }
    }

    fn end_of_line(&mut self, events: &mut Vec<Event>) {
        let line = std::mem::take(&mut self.buffer);
        if line.is_empty() {
            return self.end_of_event(events);
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (&line[..], &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                // Where nobody wrote the empty line between two events.
                if self.scan.is_closed() {
                    self.end_of_event(events);
                }
                for byte in value {
                    self.scan.pass(*byte);
                }
                match &mut self.data {
                    Some(data) => {
                        data.push(b'\n');
                        data.extend_from_slice(value);
                    }
                    None => self.data = Some(value.to_vec()),
                }
            }
            b"event" => {
                if self.data.is_some() {
                    self.end_of_event(events);
                }
                let name = &value[..value.len().min(LONGEST_NAME)];
                self.name = Some(String::from_utf8_lossy(name).into_owned());
            }
            b"" | b"id" | b"retry" => {}
            _ => self.skipped(&line),
        }
    }

    /// The lines of an event are one text, unless each is an event of its own, which is
    /// what servers send that leave out the empty line.
    fn end_of_event(&mut self, events: &mut Vec<Event>) {
        let name = self.name.take();
        self.scan = Scan::default();
        let Some(data) = self.data.take() else {
            return;
        };
        if let Some(value) = self.value(&data) {
            events.push(Event { name, value });
            return;
        }
        for line in data.split(|byte| *byte == b'\n') {
            if line.trim_ascii() == b"[DONE]" {
                self.done = true;
            } else if let Some(value) = self.value(line) {
                let name = name.clone();
                events.push(Event { name, value });
            } else if !line.trim_ascii().is_empty() {
                self.skipped(line);
            }
        }
    }

    fn value(&mut self, bytes: &[u8]) -> Option<Value> {
        let text = String::from_utf8_lossy(bytes);
        let value = json::parse(text.as_bytes(), LARGEST).ok()?;
        self.replaced |= matches!(text, std::borrow::Cow::Owned(_));
        value.is_object().then_some(value)
    }

    fn skipped(&mut self, bytes: &[u8]) {
        const MOST_NOTES: usize = 8;
        if self.notes.len() < MOST_NOTES {
            let text = String::from_utf8_lossy(&bytes[..bytes.len().min(400)]);
            let text: String = text.chars().take(80).collect();
            self.notes
                .push(format!("skipped what is no event: {text:?}"));
        }
    }
}
