//! Keeps the beginning and the end of a text of any length, about a mebibyte of it.
//!
//! The text is counted from its first byte on, so that a place in it stays the same
//! however much comes after.

/// How much of the beginning is kept.
pub(crate) const HEAD: usize = 384 << 10;

/// How much of the end is kept at least; twice as much at most, so that not every piece
/// moves all of it.
const TAIL: usize = 320 << 10;

/// How much less is kept of a text that is a part of another.
const PART: usize = 4;

/// The beginning and the end of a text.
#[derive(Debug)]
pub(crate) struct Capture {
    /// How much of the beginning is kept, and how much of the end.
    kept: (usize, usize),
    head: String,
    tail: String,
    /// How many bytes there were in all.
    total: u64,
    /// How many lines ended.
    lines: u64,
}

impl Default for Capture {
    fn default() -> Self {
        Self::keeping(HEAD, TAIL)
    }
}

impl Capture {
    /// Keeps less: for a text that is a part of another.
    pub(crate) fn of_part() -> Self {
        Self::keeping(HEAD / PART, TAIL / PART)
    }

    fn keeping(head: usize, tail: usize) -> Self {
        Self {
            kept: (head, tail),
            head: String::new(),
            tail: String::new(),
            total: 0,
            lines: 0,
        }
    }

    /// Adds to the text.
    pub(crate) fn push(&mut self, text: &str) {
        let (most_head, most_tail) = self.kept;
        self.total += text.len() as u64;
        self.lines += text.bytes().filter(|byte| *byte == b'\n').count() as u64;
        let mut text = text;
        if self.tail.is_empty() && self.head.len() < most_head {
            let end = text.floor_char_boundary(most_head - self.head.len());
            self.head.push_str(&text[..end]);
            text = &text[end..];
        }
        // What alone is too long needs no copy of its beginning.
        if text.len() > most_tail {
            self.tail.clear();
            text = &text[text.ceil_char_boundary(text.len() - most_tail)..];
        }
        self.tail.push_str(text);
        if self.tail.len() > 2 * most_tail {
            let end = self.tail.ceil_char_boundary(self.tail.len() - most_tail);
            self.tail.drain(..end);
        }
    }

    /// How many bytes there were in all.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// How many lines ended.
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    /// How many bytes between beginning and end are gone.
    pub(crate) fn gap(&self) -> u64 {
        self.total - self.head.len() as u64 - self.tail.len() as u64
    }

    /// The beginning and the end, which join where nothing is gone.
    pub(crate) fn parts(&self) -> (&str, &str) {
        (&self.head, &self.tail)
    }

    /// All of it, while nothing is gone.
    pub(crate) fn whole(&self) -> Option<String> {
        (self.gap() == 0).then(|| [self.head.as_str(), &self.tail].concat())
    }

    /// What comes after a place, and how many bytes of that are gone.
    pub(crate) fn since(&self, place: u64) -> (String, u64) {
        let place = place.min(self.total);
        let begin_of_tail = self.total - self.tail.len() as u64;
        let from = |text: &str, start: u64| {
            let start = usize::try_from(start).unwrap_or(text.len()).min(text.len());
            text[text.ceil_char_boundary(start)..].to_owned()
        };
        if place >= begin_of_tail {
            return (from(&self.tail, place - begin_of_tail), 0);
        }
        let head = from(&self.head, place);
        let gone = begin_of_tail - place - head.len().min(self.head.len()) as u64;
        (head + &self.tail, gone)
    }

    /// Gives back the room that is not needed once nothing comes any more.
    pub(crate) fn settle(&mut self) {
        self.head.shrink_to_fit();
        self.tail.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginning_and_end_stay_whatever_the_pieces() {
        let line = |number: usize| format!("{number:09} é\n");
        for size in [1, 7, 100_000] {
            let mut capture = Capture::default();
            let mut piece = String::new();
            let count = 200_000;
            for number in 0..count {
                piece += &line(number);
                if (number + 1) % size == 0 {
                    capture.push(&std::mem::take(&mut piece));
                }
            }
            capture.push(&piece);
            let (head, tail) = capture.parts();
            assert!(head.starts_with(&line(0)) && tail.ends_with(&line(count - 1)));
            assert!(tail.len() >= TAIL - 4 && tail.len() <= 2 * TAIL);
            assert_eq!(capture.total(), (count * line(0).len()) as u64);
            assert_eq!(capture.lines(), count as u64);
            assert_eq!(
                capture.gap() + (head.len() + tail.len()) as u64,
                capture.total()
            );
        }
    }

    #[test]
    fn what_comes_after_a_place() {
        let mut capture = Capture::default();
        capture.push("one\ntwo\n");
        assert_eq!(capture.since(4), ("two\n".to_owned(), 0));
        assert_eq!(capture.since(99), (String::new(), 0));
        let long = "x".repeat(HEAD + 3 * TAIL);
        capture.push(&long);
        let (text, gone) = capture.since(4);
        assert_eq!(text.len() as u64 + gone, capture.total() - 4);
        assert_eq!(gone, capture.gap());
        let (text, gone) = capture.since(capture.total() - 5);
        assert_eq!((text.as_str(), gone), ("xxxxx", 0));
        let middle = HEAD as u64 + 10;
        let (text, gone) = capture.since(middle);
        assert_eq!(text.len() as u64 + gone, capture.total() - middle);
    }
}
