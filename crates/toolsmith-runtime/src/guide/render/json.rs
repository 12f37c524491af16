//! JSON as it is shown: the same value with the keys in the same order, and nothing in it
//! that hides, steers, or could be taken for the end of a code block.

use std::fmt::Write as _;
use std::io;

use serde_json::Value;
use toolsmith_core::json::{MAX_DEPTH, depth_exceeds};

use crate::shape::is_plain;

/// Indented, in at most `most` bytes.
pub(crate) fn pretty(value: &Value, most: usize) -> Option<String> {
    write(value, most, |writer, value| {
        serde_json::to_writer_pretty(writer, value)
    })
}

/// On one line and without white space, in at most `most` bytes.
pub(crate) fn compact(value: &Value, most: usize) -> Option<String> {
    write(value, most, |writer, value| {
        serde_json::to_writer(writer, value)
    })
}

fn write(
    value: &Value,
    most: usize,
    how: impl FnOnce(&mut Bounded, &Value) -> serde_json::Result<()>,
) -> Option<String> {
    if depth_exceeds(value, MAX_DEPTH) {
        return None;
    }
    let mut writer = Bounded {
        bytes: Vec::new(),
        most,
    };
    how(&mut writer, value).ok()?;
    let text = String::from_utf8(writer.bytes).ok()?;
    let text = tamed(text);
    (text.len() <= most).then_some(text)
}

/// Writes what is not plain, and backticks where there are three or more of them, as
/// escapes. Such characters occur in JSON's texts only, where an escape is the same.
fn tamed(text: String) -> String {
    if text.chars().all(is_plain) && !text.contains("```") {
        return text;
    }
    let mut tame = String::with_capacity(text.len() + 64);
    let mut rest = text.as_str();
    while let Some(c) = rest.chars().next() {
        let backticks = rest.len() - rest.trim_start_matches('`').len();
        if backticks > 0 {
            let written = if backticks > 2 { "\\u0060" } else { "`" };
            tame.extend(std::iter::repeat_n(written, backticks));
            rest = &rest[backticks..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        if is_plain(c) {
            tame.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(tame, "\\u{unit:04x}");
        }
    }
    tame
}

/// A buffer that refuses to grow past its bound.
pub(super) struct Bounded {
    pub(super) bytes: Vec<u8>,
    pub(super) most: usize,
}

impl io::Write for Bounded {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if self.bytes.len().saturating_add(more.len()) > self.most {
            return Err(io::Error::other("there is no more room"));
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
