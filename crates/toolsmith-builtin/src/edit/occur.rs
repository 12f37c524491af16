//! Every place a needle stands in a text, places that overlap among them.
//!
//! Two places that overlap are two places: to replace one is not to replace the other.
//! The search is linear even where needle and text repeat themselves.

/// The places of a needle, in order.
#[derive(Debug)]
pub(crate) struct Occurrences<'a> {
    text: &'a str,
    needle: &'a [u8],
    /// For each start of the needle, how long an end of it is its beginning too. Left
    /// empty where no place can overlap another.
    borders: Vec<u32>,
    /// How much of the text was looked at.
    at: usize,
    /// How much of the needle stands right before that.
    matched: usize,
}

impl<'a> Occurrences<'a> {
    /// The places of a needle, which is not empty.
    pub(crate) fn new(text: &'a str, needle: &'a str) -> Self {
        let mut all = Self {
            text,
            needle: needle.as_bytes(),
            borders: Vec::new(),
            at: 0,
            matched: 0,
        };
        // The first place is found by the fastest search, and mostly there is none.
        match text.find(needle) {
            Some(first) => {
                all.at = first;
                let borders = borders(all.needle);
                if borders.last().is_some_and(|border| *border > 0) {
                    all.borders = borders;
                }
            }
            None => all.at = text.len(),
        }
        all
    }
}

impl Iterator for Occurrences<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let (bytes, needle) = (self.text.as_bytes(), self.needle);
        if self.borders.is_empty() {
            // Of valid text, which a needle's end cuts at a character's border.
            let rest = self.text.get(self.at..)?;
            let found = self.at + rest.find(str::from_utf8(needle).ok()?)?;
            self.at = found + needle.len();
            return Some(found);
        }
        while let Some(byte) = bytes.get(self.at) {
            while self.matched > 0 && needle.get(self.matched) != Some(byte) {
                self.matched = self.borders[self.matched - 1] as usize;
            }
            self.matched += usize::from(needle[self.matched] == *byte);
            self.at += 1;
            if self.matched == needle.len() {
                return Some(self.at - needle.len());
            }
        }
        None
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a needle has fewer bytes")]
fn borders(needle: &[u8]) -> Vec<u32> {
    let mut borders = vec![0; needle.len()];
    let mut length = 0;
    for at in 1..needle.len() {
        while length > 0 && needle[at] != needle[length] {
            length = borders[length - 1] as usize;
        }
        length += usize::from(needle[at] == needle[length]);
        borders[at] = length as u32;
    }
    borders
}
