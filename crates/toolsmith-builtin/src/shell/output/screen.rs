//! Makes lines of plain text of what a program writes for a terminal.
//!
//! Escape sequences go, wherever the reads cut them; a line that is written over and over
//! counts as it was last; a backspace takes a character back. Works on bytes, one at a
//! time where it must: what is left of a line is decoded when the line is complete, so
//! that no character is cut in two.

use toolsmith_core::clean::clean;

/// How long a line may grow before it is passed on in pieces.
const LONGEST_LINE: usize = 64 << 10;

/// How much a sequence may swallow before it is taken for text.
const LONGEST_SEQUENCE: usize = 4 << 10;

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;
const DELETE: u8 = 0x7f;

/// One stream of a program, on its way to plain lines.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    /// The line that is being written.
    line: Vec<u8>,
    /// Whether a carriage return came last: what follows replaces the line, unless it is
    /// the end of it.
    is_returned: bool,
    sequence: Sequence,
    swallowed: usize,
}

/// Where in an escape sequence the stream is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sequence {
    /// In none.
    #[default]
    None,
    /// After the escape character.
    Begun,
    /// After an escape character and something that announces one more.
    Announced,
    /// Among the parameters of a control sequence.
    Control,
    /// In a title, a hyperlink or the like.
    Text,
    /// In such a text, after an escape character.
    TextEnd,
}

impl Screen {
    /// Takes what was read, and adds the lines it completes.
    pub(crate) fn feed(&mut self, bytes: &[u8], lines: &mut String) {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            if self.sequence != Sequence::None {
                if self.follow(*first) {
                    rest = &rest[1..];
                }
                continue;
            }
            let is_special = |byte: &u8| matches!(byte, ..b' ' | &DELETE) && *byte != b'\t';
            let plain = rest.iter().position(is_special).unwrap_or(rest.len());
            if plain > 0 {
                self.write(&rest[..plain], lines);
                rest = &rest[plain..];
                continue;
            }
            rest = &rest[1..];
            match *first {
                b'\n' => {
                    self.pass_on(self.line.len(), lines);
                    lines.push('\n');
                    self.is_returned = false;
                }
                b'\r' => self.is_returned = true,
                0x08 => self.take_back(),
                ESCAPE => self.enter(Sequence::Begun),
                _ => {}
            }
        }
    }

    /// Adds what is left when the stream has ended.
    pub(crate) fn finish(&mut self, lines: &mut String) {
        self.pass_on(self.line.len(), lines);
    }

    /// The line that is being written, as far as it is.
    pub(crate) fn unfinished(&self) -> String {
        let whole = self.line.len() - open_character(&self.line);
        clean(&String::from_utf8_lossy(&self.line[..whole])).into_owned()
    }

    fn write(&mut self, mut text: &[u8], lines: &mut String) {
        if std::mem::take(&mut self.is_returned) {
            self.line.clear();
        }
        while !text.is_empty() {
            let room = LONGEST_LINE - self.line.len().min(LONGEST_LINE - 1);
            let (piece, later) = text.split_at(text.len().min(room));
            self.line.extend_from_slice(piece);
            text = later;
            if self.line.len() >= LONGEST_LINE {
                let whole = self.line.len() - open_character(&self.line);
                self.pass_on(whole, lines);
            }
        }
    }

    fn pass_on(&mut self, length: usize, lines: &mut String) {
        lines.push_str(&clean(&String::from_utf8_lossy(&self.line[..length])));
        self.line.drain(..length);
    }

    /// Removes the last character.
    fn take_back(&mut self) {
        while let Some(byte) = self.line.pop() {
            if !is_continuation(byte) {
                return;
            }
        }
    }

    fn enter(&mut self, sequence: Sequence) {
        self.sequence = sequence;
        self.swallowed = 0;
    }

    /// Follows a sequence by one byte, and tells whether the byte belongs to it.
    fn follow(&mut self, byte: u8) -> bool {
        use Sequence::{Announced, Begun, Control, None, Text, TextEnd};

        self.swallowed += 1;
        let is_too_long = self.swallowed > LONGEST_SEQUENCE;
        let (next, belongs) = match (self.sequence, byte) {
            // A line end ends whatever was not finished.
            (_, b'\n' | b'\r') => (None, false),
            (_, _) if is_too_long => (None, false),
            (Text, BELL) => (None, true),
            (Text, ESCAPE) => (TextEnd, true),
            (TextEnd, b'\\') => (None, true),
            (Text | TextEnd, _) => (Text, true),
            (_, ESCAPE) => (Begun, true),
            (Begun, b'[') => (Control, true),
            (Begun, b']' | b'P' | b'X' | b'^' | b'_') => (Text, true),
            (Begun, b' '..=b'/') => (Announced, true),
            (Begun | Announced, b'!'..=b'~') => (None, true),
            (Control, b' '..=b'?') => (Control, true),
            (Control, b'@'..=b'~') => (None, true),
            (_, _) => (None, false),
        };
        self.sequence = next;
        belongs
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// How many bytes at the end are the beginning of a character.
fn open_character(bytes: &[u8]) -> usize {
    let tail = &bytes[bytes.len().saturating_sub(3)..];
    let is_open = |length: &usize| {
        let error = std::str::from_utf8(&tail[tail.len() - length..]).err();
        error.is_some_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    (1..=tail.len()).find(is_open).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whole, and one byte at a time.
    fn check(written: &[u8], expected: &str) {
        for size in [written.len().max(1), 1, 2, 3] {
            let mut screen = Screen::default();
            let mut lines = String::new();
            for piece in written.chunks(size) {
                screen.feed(piece, &mut lines);
            }
            screen.finish(&mut lines);
            assert_eq!(lines, expected, "{written:?} in pieces of {size}");
        }
    }

    #[test]
    fn what_is_meant_for_a_terminal_becomes_plain() {
        check(b"plain\nlines\n", "plain\nlines\n");
        check(b"\x1b[1;31mred\x1b[0m\n", "red\n");
        check(
            b"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n",
            "alink\n",
        );
        check(b"\x1b(Ba\x1bMb\x1b[?25lc\n", "abc\n");
        check(b" 10%\r 50%\r100%\ndone\n", "100%\ndone\n");
        check(b"dos\r\nlines\r\n", "dos\nlines\n");
        check(b"dos\r\r\nends\n", "dos\nends\n");
        check(b"abd\x08c\n", "abc\n");
        check("aé\u{8}b\n".as_bytes(), "ab\n");
        check(b"a\x08\x08\x08b\n", "b\n");
        check("täglich ✓".as_bytes(), "täglich ✓");
        check(b"bad \xff\xfe bytes\n", "bad \u{fffd}\u{fffd} bytes\n");
        check(b"bell\x07 nul\x00 tab\t.\n", "bell nul tab\t.\n");
        check("\u{202e}reversed\u{200b}\n".as_bytes(), "reversed\n");
        check(b"\x1b]never ends\nnext\n", "\nnext\n");
        check(b"half\x1b[3", "half");
    }

    #[test]
    fn a_line_without_end_is_passed_on_in_pieces() {
        let mut screen = Screen::default();
        let mut lines = String::new();
        let written = "é".repeat(LONGEST_LINE);
        for piece in written.as_bytes().chunks(4097) {
            screen.feed(piece, &mut lines);
            assert!(screen.line.len() <= LONGEST_LINE);
        }
        screen.finish(&mut lines);
        assert_eq!(lines, written);
    }

    #[test]
    fn what_is_not_finished_can_be_seen() {
        let mut screen = Screen::default();
        let mut lines = String::new();
        screen.feed(b"one\nPassword: \xc3", &mut lines);
        assert_eq!(
            (lines.as_str(), screen.unfinished().as_str()),
            ("one\n", "Password: ")
        );
    }
}
