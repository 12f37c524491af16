//! Takes escapes off that were written once too often.

/// Which escapes are taken for what they stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kinds {
    whitespace: bool,
    quotes: bool,
    backslashes: bool,
}

impl Kinds {
    const ALL: Self = Self {
        whitespace: true,
        quotes: true,
        backslashes: true,
    };
    const QUOTES: Self = Self {
        whitespace: false,
        quotes: true,
        backslashes: false,
    };
    const WHITESPACE: Self = Self {
        whitespace: true,
        quotes: false,
        backslashes: false,
    };
}

/// Both texts without escapes, in every way that could be meant.
pub(super) fn unescaped(old: &str, new: &str) -> Vec<(String, String)> {
    let mut ways: Vec<(String, String)> = Vec::new();
    if !old.contains('\\') {
        return ways;
    }
    for kinds in [Kinds::ALL, Kinds::QUOTES, Kinds::WHITESPACE] {
        let (way, seen) = unescape(old, kinds);
        if way == old || ways.iter().any(|(other, _)| *other == way) {
            continue;
        }
        // A text with its line endings escaped was escaped as a whole, and so was what
        // replaces it. Else only what was seen is known to be too much: a `\n` in it may
        // be meant for a string.
        let in_new = if seen.whitespace { kinds } else { seen };
        ways.push((way, unescape(new, in_new).0));
    }
    ways
}

/// A text without escapes of these kinds, and the kinds there were.
fn unescape(text: &str, kinds: Kinds) -> (String, Kinds) {
    let mut plain = String::with_capacity(text.len());
    let mut seen = Kinds {
        whitespace: false,
        quotes: false,
        backslashes: false,
    };
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let meant = match (character, characters.peek()) {
            ('\\', Some('n')) if kinds.whitespace => Some('\n'),
            ('\\', Some('t')) if kinds.whitespace => Some('\t'),
            ('\\', Some('r')) if kinds.whitespace => Some('\r'),
            ('\\', Some(quote @ ('"' | '\'' | '`' | '/'))) if kinds.quotes => Some(*quote),
            ('\\', Some('\\')) if kinds.backslashes => Some('\\'),
            _ => None,
        };
        let Some(meant) = meant else {
            plain.push(character);
            // What is escaped is not the start of an escape itself.
            if character == '\\' {
                plain.extend(characters.next_if_eq(&'\\'));
            }
            continue;
        };
        characters.next();
        plain.push(meant);
        match meant {
            '\n' | '\t' | '\r' => seen.whitespace = true,
            '\\' => seen.backslashes = true,
            _ => seen.quotes = true,
        }
    }
    (plain, seen)
}
