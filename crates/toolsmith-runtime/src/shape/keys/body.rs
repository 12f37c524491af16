//! How a key goes on after its beginning, and what tells it from words and placeholders.

use super::is_word;

/// The letters a key is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Letters {
    /// Letters and digits.
    Alphanumeric,
    /// And the underscore.
    Word,
    /// And the hyphen.
    Slug,
    /// And the dot.
    Dotted,
    /// What numbers to the base of sixteen are written in.
    Hexadecimal,
    /// Capital letters and digits.
    Capital,
    /// Base64, for addresses or not, also where it is percent-encoded; what fills it up
    /// at the end comes on top.
    Coded,
}

/// What must be true of a key beside its letters and its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// Its beginning is so telling that it only must be no placeholder.
    Beginning,
    /// It must not be several words: `sk-some-class-name` begins like a key too.
    NoWords,
    /// It must look drawn by lot.
    Lot,
}

/// How a key goes on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    letters: Letters,
    least: usize,
    most: usize,
    proof: Proof,
}

impl Body {
    /// At least so many letters.
    pub(super) const fn new(letters: Letters, least: usize, proof: Proof) -> Self {
        let most = usize::MAX;
        Self {
            letters,
            least,
            most,
            proof,
        }
    }

    /// Exactly so many letters.
    pub(super) const fn exactly(letters: Letters, length: usize, proof: Proof) -> Self {
        Self {
            letters,
            least: length,
            most: length,
            proof,
        }
    }

    /// How many bytes of a text that begins with it belong to it.
    pub(super) fn length_in(&self, text: &str) -> Option<usize> {
        let run = text.bytes().take_while(|byte| self.letters.has(*byte));
        let whole = run.count();
        // The dot at the end of a sentence belongs to no key.
        let length = text[..whole].trim_end_matches(['.', '-']).len();
        if self.least == self.most && text[whole..].bytes().next().is_some_and(is_word) {
            return None;
        }
        let fits = (self.least..=self.most).contains(&length);
        if !fits || !self.proof.holds_for(&text[..length]) {
            return None;
        }
        let filled = match self.letters {
            Letters::Coded => text[length..].bytes().take_while(|it| *it == b'=').count(),
            _ => 0,
        };
        Some(length + filled)
    }

    /// Tells whether a letter before the beginning shows that it is none: such a letter
    /// belongs to keys of this sort as well.
    pub(super) fn continues_after(&self, before: &str) -> bool {
        let mut before = before.bytes().rev();
        let last = before
            .next()
            .is_some_and(|it| self.letters.has(it) && !is_word(it));
        last && before.next().is_some_and(is_word)
    }
}

impl Letters {
    pub(super) fn has(self, byte: u8) -> bool {
        let others: &[u8] = match self {
            Self::Hexadecimal => return byte.is_ascii_hexdigit(),
            Self::Capital => return byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Alphanumeric => b"",
            Self::Word => b"_",
            Self::Slug => b"_-",
            Self::Dotted => b"_-.",
            Self::Coded => b"_-+/%",
        };
        byte.is_ascii_alphanumeric() || others.contains(&byte)
    }
}

impl Proof {
    fn holds_for(self, body: &str) -> bool {
        match self {
            Self::Beginning => !is_placeholder(body),
            Self::NoWords => {
                let is_joined = body.contains(['-', '_', '.']);
                !(is_placeholder(body) || is_joined && is_words(body))
            }
            Self::Lot => is_lot(body),
        }
    }
}

/// Tells whether a text stands where somebody is to put a key: `xxxxxxxx`,
/// `your_token_here`. A key that was drawn by lot has digits, or nothing of the kind.
pub(super) fn is_placeholder(body: &str) -> bool {
    let has_digit = body.bytes().any(|byte| byte.is_ascii_digit());
    longest_run(body) >= 6
        || distinct(body) < 4
        || !has_digit && {
            let lower = body.to_ascii_lowercase();
            FILLERS.iter().any(|filler| lower.contains(filler))
        }
}

/// What placeholders are made of.
const FILLERS: [&str; 16] = [
    "your",
    "here",
    "example",
    "placeholder",
    "token",
    "secret",
    "insert",
    "dummy",
    "replace",
    "change",
    "redacted",
    "invalid",
    "fake",
    "sample",
    "apikey",
    "api_key",
];

/// Tells whether a text is words that are joined by something, or one that goes on in
/// small letters.
pub(in super::super) fn is_words(body: &str) -> bool {
    let mut words = body.split(['-', '_', '.', '/', ':', '+', '=']);
    words.all(is_word_or_number)
}

/// `token`, `Token`, `TOKEN`, `HeaderValue`, `v2`, `2024`, `sha256`.
fn is_word_or_number(word: &str) -> bool {
    let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = word.len() - letters.len();
    let only = |is: fn(&u8) -> bool| letters.bytes().all(|byte| is(&byte));
    digits <= 4
        && (only(u8::is_ascii_lowercase) || only(u8::is_ascii_uppercase) || is_camel_case(letters))
}

/// Words of at least three letters of which each but the first begins with a capital.
fn is_camel_case(word: &str) -> bool {
    let only_letters = word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let capitals = word.bytes().filter(u8::is_ascii_uppercase).count();
    only_letters && word.len() >= 3 * capitals
}

/// Tells whether a text of many letters looks drawn by lot: digits and letters, or small
/// and capital letters, take turns more often than in words.
pub(super) fn is_lot(body: &str) -> bool {
    if body.len() < 16 || is_placeholder(body) || is_words(body) || distinct(body) < 8 {
        return false;
    }
    let class = |byte: u8| match byte {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        _ => 3,
    };
    let bytes = body.as_bytes();
    let turns = bytes
        .windows(2)
        .filter(|two| class(two[0]) != class(two[1]));
    turns.count() * 5 >= body.len()
}

/// How many letters in a row are the same at most.
fn longest_run(body: &str) -> usize {
    let runs = body.as_bytes().chunk_by(|a, b| a == b);
    runs.map(<[u8]>::len).max().unwrap_or(0)
}

/// How many different letters there are.
fn distinct(body: &str) -> usize {
    let mut seen = [false; 256];
    body.bytes().for_each(|byte| seen[usize::from(byte)] = true);
    seen.iter().filter(|is_there| **is_there).count()
}
