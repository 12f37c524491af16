//! A text without what is to be overlooked, and the way back to where it stood.
//!
//! To look for something ignoring, say, indentation, is to look for it exactly in a text
//! that has no indentation. Folding works on plain text and keeps its `\n`.

use unicode_normalization::char::decompose_canonical;

/// What is overlooked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    /// Whitespace at line ends, and whether the last line has an ending.
    Trailing,
    /// That, and whitespace at line starts.
    Indentation,
    /// Whitespace at line ends, and which of the characters that look alike it is.
    Unicode,
    /// All of that, and how much whitespace is between words.
    Whitespace,
    /// All whitespace, line endings too.
    Spaceless,
    /// All that [`Fold::Whitespace`] overlooks, and case.
    Case,
}

impl Fold {
    /// Whether whitespace at line starts is overlooked.
    pub(crate) const fn drops_indentation(self) -> bool {
        matches!(
            self,
            Self::Indentation | Self::Whitespace | Self::Spaceless | Self::Case
        )
    }

    const fn drops_trailing(self) -> bool {
        // Where all whitespace goes, it goes as part of that.
        !matches!(self, Self::Spaceless)
    }

    const fn keeps_characters(self) -> bool {
        matches!(self, Self::Trailing | Self::Indentation)
    }
}

/// A stretch of folded text: as it was, or in place of something else.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// Where it starts in the folded text.
    folded: u32,
    /// Where it starts in the plain text.
    plain: u32,
    /// How many plain bytes it stands for as a whole; 0 if it is as it was.
    width: u32,
}

/// A folded text.
#[derive(Debug, Default)]
pub(crate) struct Folded {
    text: String,
    stretches: Vec<Stretch>,
    plain_length: usize,
}

impl Folded {
    /// Folds a plain text.
    pub(crate) fn new(plain: &str, fold: Fold) -> Self {
        let mut folded = Self {
            text: String::with_capacity(plain.len()),
            stretches: Vec::new(),
            plain_length: plain.len(),
        };
        let mut at = 0;
        for line in plain.split_inclusive('\n') {
            folded.line(line.strip_suffix('\n').unwrap_or(line), at, fold);
            at += line.len();
            if line.ends_with('\n') && fold != Fold::Spaceless {
                folded.keep("\n", at - 1);
            }
        }
        folded
    }

    /// Ends a text whose last line has no ending as if it had one.
    pub(crate) fn end_last_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.stretch(self.plain_length, 0);
            self.text.push('\n');
        }
    }

    /// The folded text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The folded text, for who needs no way back.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// Where in the plain text that starts which starts here; nothing within a character
    /// that became several.
    pub(crate) fn start(&self, place: usize) -> Option<usize> {
        let after = self
            .stretches
            .partition_point(|stretch| stretch.folded as usize <= place);
        let Some(stretch) = after.checked_sub(1).map(|index| self.stretches[index]) else {
            return Some(self.plain_length);
        };
        let within = place - stretch.folded as usize;
        match (stretch.width, within) {
            (0, _) if place < self.text.len() => Some(stretch.plain as usize + within),
            (0, _) => Some(self.plain_length),
            (_, 0) => Some(stretch.plain as usize),
            (_, _) if place >= self.text.len() => Some(self.plain_length),
            (_, _) => None,
        }
    }

    /// Where in the plain text that ends which ends here, which is not the start.
    pub(crate) fn end(&self, place: usize) -> Option<usize> {
        let after = self
            .stretches
            .partition_point(|stretch| (stretch.folded as usize) < place);
        let Some(index) = after.checked_sub(1) else {
            return Some(0);
        };
        let stretch = self.stretches[index];
        if stretch.width == 0 {
            let length = self.stretch_end(index) - stretch.folded as usize;
            let within = (place - stretch.folded as usize).min(length);
            return Some((stretch.plain as usize + within).min(self.plain_length));
        }
        (place == self.stretch_end(index)).then_some((stretch.plain + stretch.width) as usize)
    }

    /// Where in the folded text a place of the plain text went.
    pub(crate) fn place(&self, plain: usize) -> usize {
        let after = self
            .stretches
            .partition_point(|stretch| stretch.plain as usize <= plain);
        let Some(index) = after.checked_sub(1) else {
            return 0;
        };
        let stretch = self.stretches[index];
        let within = plain - stretch.plain as usize;
        match (stretch.width, within) {
            (0, _) => (stretch.folded as usize + within).min(self.stretch_end(index)),
            (_, 0) => stretch.folded as usize,
            (_, _) => self.stretch_end(index),
        }
    }

    fn stretch_end(&self, index: usize) -> usize {
        let next = self.stretches.get(index + 1);
        next.map_or(self.text.len(), |stretch| stretch.folded as usize)
    }

    fn line(&mut self, line: &str, at: usize, fold: Fold) {
        let kept = if fold.drops_trailing() {
            line.trim_end()
        } else {
            line
        };
        let indent = if fold.drops_indentation() {
            leading(kept).len()
        } else {
            0
        };
        let (kept, at) = (&kept[indent..], at + indent);
        if fold.keeps_characters() || (fold == Fold::Unicode && kept.is_ascii()) {
            self.keep(kept, at);
            return;
        }
        let mut plainest = String::new();
        let mut offset = 0;
        while offset < kept.len() {
            let rest = &kept[offset..];
            let place = at + offset;
            let run = run_length(rest, fold);
            let whitespace = if fold == Fold::Unicode {
                0
            } else {
                leading(rest).len()
            };
            if run > 0 {
                self.keep(&rest[..run], place);
                offset += run;
            } else if whitespace > 0 {
                if fold != Fold::Spaceless {
                    self.put(" ", &rest[..whitespace], place);
                }
                offset += whitespace;
            } else if let Some(character) = rest.chars().next() {
                plainest.clear();
                alike(character, fold, &mut plainest);
                self.put(&plainest, &rest[..character.len_utf8()], place);
                offset += character.len_utf8();
            }
        }
    }

    fn keep(&mut self, kept: &str, plain: usize) {
        let goes_on = self.stretches.last().is_some_and(|last| {
            last.width == 0
                && last.plain as usize + (self.text.len() - last.folded as usize) == plain
        });
        if !goes_on && !kept.is_empty() {
            self.stretch(plain, 0);
        }
        self.text.push_str(kept);
    }

    /// Puts something in the place of something else.
    fn put(&mut self, folded: &str, plain: &str, at: usize) {
        if folded == plain {
            self.keep(plain, at);
        } else if !folded.is_empty() {
            self.stretch(at, plain.len());
            self.text.push_str(folded);
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "longer texts are not folded"
    )]
    fn stretch(&mut self, plain: usize, width: usize) {
        self.stretches.push(Stretch {
            folded: self.text.len() as u32,
            plain: plain as u32,
            width: width as u32,
        });
    }
}

/// The whitespace a line starts with.
pub(crate) fn leading(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// How many bytes at the start of a text no fold changes.
fn run_length(text: &str, fold: Fold) -> usize {
    let unchanged = |byte: &u8| match fold {
        Fold::Case => byte.is_ascii() && !byte.is_ascii_uppercase() && *byte > b' ',
        Fold::Unicode => byte.is_ascii(),
        _ => byte.is_ascii() && *byte > b' ',
    };
    text.bytes().take_while(|byte| unchanged(byte)).count()
}

/// Writes the plainest characters that look like this one.
fn alike(character: char, fold: Fold, text: &mut String) {
    match character {
        '\u{2018}'..='\u{201B}' | '\u{2032}' => text.push('\''),
        '\u{201C}'..='\u{201F}' | '\u{2033}' => text.push('"'),
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{FE58}' | '\u{FE63}' | '\u{FF0D}' => {
            text.push('-')
        }
        '\u{A0}' | '\u{1680}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => {
            text.push(' ');
        }
        '\u{2026}' => text.push_str("..."),
        // They cannot be seen, so a model cannot tell them.
        '\u{AD}' | '\u{200B}' | '\u{2060}' | '\u{FEFF}' => {}
        _ if fold == Fold::Case => {
            for lower in character.to_lowercase() {
                decompose_canonical(lower, |part| text.push(part));
            }
        }
        _ => decompose_canonical(character, |part| text.push(part)),
    }
}
