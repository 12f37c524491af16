//! The quotes models put around strings.

/// A kind of quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quote {
    Double,
    Single,
    /// “ ” „ ‟
    TypographicDouble,
    /// ‘ ’ ‚ ‛
    TypographicSingle,
}

impl Quote {
    /// The kind a character opens.
    pub(super) fn of(c: char) -> Option<Self> {
        Some(match c {
            '"' => Self::Double,
            '\'' => Self::Single,
            '\u{201c}'..='\u{201f}' => Self::TypographicDouble,
            '\u{2018}'..='\u{201b}' => Self::TypographicSingle,
            _ => return None,
        })
    }

    /// The kind that opens at a byte, and how many bytes its character has.
    pub(super) fn at(bytes: &[u8], position: usize) -> Option<(Self, usize)> {
        match bytes.get(position)? {
            b'"' => Some((Self::Double, 1)),
            b'\'' => Some((Self::Single, 1)),
            0xe2 => match bytes.get(position + 1..position + 3)? {
                [0x80, 0x98..=0x9b] => Some((Self::TypographicSingle, 3)),
                [0x80, 0x9c..=0x9f] => Some((Self::TypographicDouble, 3)),
                _ => None,
            },
            _ => None,
        }
    }

    /// How many bytes its closing character has, if it stands at a byte. The low quotes
    /// of German only open.
    pub(super) fn closes_at(self, bytes: &[u8], position: usize) -> Option<usize> {
        let (kind, length) = Self::at(bytes, position)?;
        let low = length == 3 && matches!(bytes[position + 2], 0x9a | 0x9e);
        (kind == self && !low).then_some(length)
    }

    /// The next backslash or possible closing character.
    pub(super) fn next_special(self, bytes: &[u8], from: usize) -> Option<usize> {
        let rest = &bytes[from..];
        let found = match self {
            Self::Double => memchr::memchr2(b'"', b'\\', rest),
            Self::Single => memchr::memchr2(b'\'', b'\\', rest),
            Self::TypographicDouble | Self::TypographicSingle => {
                memchr::memchr2_iter(0xe2, b'\\', rest)
                    .find(|&at| rest[at] == b'\\' || self.closes_at(bytes, from + at).is_some())
            }
        };
        found.map(|at| from + at)
    }
}

/// Whether a text has half a pair of double quotes. A text that lost one quote always
/// has, so what is skipped must have none: it may be the end of a string.
pub(super) fn are_odd(text: &str) -> bool {
    let bytes = text.as_bytes();
    let escaped = |at: usize| {
        let slashes = bytes[..at].iter().rev().take_while(|&&byte| byte == b'\\');
        slashes.count() % 2 == 1
    };
    let quotes = memchr::memchr_iter(b'"', bytes).filter(|&at| !escaped(at));
    quotes.count() % 2 == 1
}
