//! Cuts a text into pages that join to the whole again.

/// A text, and the part of it that is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    /// The first character, counted from 0.
    pub(crate) start: usize,
    /// How many characters.
    pub(crate) length: usize,
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Paged {
    pub(crate) text: String,
    /// How many characters the whole text has.
    pub(crate) total: usize,
    /// Where the next part begins, if there is one.
    pub(crate) next: Option<usize>,
}

impl Page {
    /// The part of a text.
    pub(crate) fn of(self, text: &str) -> Paged {
        let total = text.chars().count();
        let part: String = text.chars().skip(self.start).take(self.length).collect();
        let end = self.start.saturating_add(self.length);
        Paged {
            text: part,
            total,
            next: (end < total).then_some(end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_join_to_the_whole() {
        let text = "aä€🦀 and so on";
        for length in 1..20 {
            let (mut joined, mut start) = (String::new(), 0);
            loop {
                let paged = Page { start, length }.of(text);
                assert_eq!(paged.total, text.chars().count());
                joined.push_str(&paged.text);
                match paged.next {
                    Some(next) => start = next,
                    None => break,
                }
            }
            assert_eq!(joined, text);
        }
        let beyond = Page {
            start: 99,
            length: 5,
        }
        .of(text);
        assert_eq!((beyond.text.as_str(), beyond.next), ("", None));
    }
}
