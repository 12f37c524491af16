//! Strings: where one ends, when the quotes inside were not escaped.
//!
//! A quote ends a string when what follows fits the place the string stands in. One that
//! does not is taken for a quote inside only where it is unmistakable: a pair around
//! words, or an apostrophe between letters. Each look ahead reaches at most to the second
//! next quote, and what it found is remembered, so reading stays linear.

use super::RepairError;
use super::quotes::Quote;
use super::reader::{Reader, is_word};
use super::step::Step;

/// Where a string stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Root,
    Key,
    Member,
    Item,
}

/// What was found behind a string that was looked past.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    /// From where its end was looked for.
    from: usize,
    /// Where that is, if anywhere.
    close: Option<usize>,
    /// What follows it, if anything.
    follows: Option<u8>,
}

/// What a quote inside a string is.
enum Verdict {
    Ends,
    Inside,
    Unclear(&'static str),
}

impl Reader<'_> {
    /// Reads the string that opens here, and tells whether it was closed before the text
    /// ended.
    pub(super) fn string(&mut self, place: Place) -> Result<(String, bool), RepairError> {
        let bytes = self.text.as_bytes();
        let (quote, length) = Quote::at(bytes, self.position).expect("called at a quote");
        match quote {
            Quote::Double => {}
            Quote::Single => self.steps.add(Step::SingleQuotes),
            _ => self.steps.add(Step::TypographicQuotes),
        }
        let begin = self.position + length;
        let mut string = String::new();
        let mut from = begin;
        let mut inside = 0_usize;
        loop {
            let Some(special) = quote.next_special(bytes, from) else {
                self.append(&mut string, from, self.text.len());
                self.position = self.text.len();
                return Ok((string, false));
            };
            self.append(&mut string, from, special);
            if bytes[special] == b'\\' {
                match self.escape(special, &mut string)? {
                    Some(next) => from = next,
                    None => {
                        self.position = self.text.len();
                        return Ok((string, false));
                    }
                }
                continue;
            }
            let length = quote
                .closes_at(bytes, special)
                .expect("found as a closing quote");
            match self.verdict(special + length, place) {
                Verdict::Ends if inside.is_multiple_of(2) || quote != Quote::Double => {
                    self.position = special + length;
                    return Ok((string, true));
                }
                Verdict::Inside if self.is_clear(quote, begin, special, length, inside) => {
                    self.steps.add(Step::InnerQuotes);
                    inside += 1;
                    string.push_str(&self.text[special..special + length]);
                    from = special + length;
                }
                Verdict::Unclear(what) => return Err(RepairError::at(special, what)),
                _ => {
                    let what = "a quote that may end its string or stand inside it";
                    return Err(RepairError::at(special, what));
                }
            }
        }
    }

    fn append(&mut self, string: &mut String, from: usize, to: usize) {
        let piece = &self.text[from..to];
        if piece.bytes().any(|byte| byte < 0x20) {
            self.steps.add(Step::ControlCharacters);
        }
        string.push_str(piece);
    }

    /// Reads an escape, and returns where it ends, if the text does not end before.
    fn escape(&mut self, at: usize, string: &mut String) -> Result<Option<usize>, RepairError> {
        let Some(next) = self.text[at + 1..].chars().next() else {
            return Ok(None);
        };
        let plain = match next {
            '"' | '\\' | '/' => next,
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => return self.unicode(at, string),
            '\'' => {
                self.steps.add(Step::Escapes);
                '\''
            }
            '\n' | '\r' => {
                let what = "a backslash before the end of a line";
                return Err(RepairError::at(at, what));
            }
            // `\d` and `\.` stand in patterns, `\P` in paths: the backslash was meant.
            _ => {
                self.steps.add(Step::Escapes);
                string.push('\\');
                next
            }
        };
        string.push(plain);
        Ok(Some(at + 1 + next.len_utf8()))
    }

    fn unicode(&mut self, at: usize, string: &mut String) -> Result<Option<usize>, RepairError> {
        let unit = |at: usize| {
            let digits = self.text.get(at + 2..at + 6)?;
            let hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            let escape = self.text[at..].starts_with("\\u") && hex;
            u16::from_str_radix(digits, 16).ok().filter(|_| escape)
        };
        let cut = |at: usize| {
            let rest = self.text.get(at..).unwrap_or_default();
            let escape = "\\u".starts_with(rest) || rest.starts_with("\\u");
            escape && rest.len() < 6 && rest.bytes().skip(2).all(|byte| byte.is_ascii_hexdigit())
        };
        let Some(first) = unit(at) else {
            if cut(at) {
                return Ok(None);
            }
            // `C:\users`: the backslash was meant.
            self.steps.add(Step::Escapes);
            string.push_str("\\u");
            return Ok(Some(at + 2));
        };
        let (units, end) = match (first, unit(at + 6)) {
            (0xd800..=0xdbff, Some(second)) => (vec![first, second], at + 12),
            (0xd800..=0xdbff, None) if cut(at + 6) => return Ok(None),
            _ => (vec![first], at + 6),
        };
        let decoded = String::from_utf16(&units)
            .map_err(|_| RepairError::at(at, "half a character in a string"))?;
        string.push_str(&decoded);
        Ok(Some(end))
    }

    /// Judges a quote by what follows it.
    fn verdict(&mut self, after: usize, place: Place) -> Verdict {
        let bytes = self.text.as_bytes();
        let next = self.skip_spaces(after);
        let Some(&byte) = bytes.get(next) else {
            return Verdict::Ends;
        };
        let comment =
            byte == b'#' || (byte == b'/' && matches!(bytes.get(next + 1), Some(b'/' | b'*')));
        let new_line = memchr::memchr(b'\n', &bytes[after..next]).is_some();
        let ends = match (place, byte) {
            // A key ends where it first can: if no colon follows, that is told.
            (Place::Key, _) => true,
            (Place::Root, _) => false,
            (_, b':') => {
                return Verdict::Unclear(
                    "a string with a colon behind it, as if a quote were missing, ends",
                );
            }
            (_, b'}' | b']' | b')') => true,
            _ if comment => true,
            (Place::Member, b',') => self.member_follows(next + 1),
            (Place::Item, b',') => self.item_follows(next + 1),
            (Place::Item, b'{' | b'[' | b'(') => true,
            (Place::Member, _) if Quote::at(bytes, next).is_some() => self
                .after_string(next)
                .is_some_and(|follows| follows == Some(b':')),
            (Place::Item, _) if Quote::at(bytes, next).is_some() => {
                // `"a""b"` may be two strings or one with a doubled quote.
                let separate = next > after;
                let fits = [Some(b','), Some(b']'), Some(b')'), None];
                let follows = self.after_string(next);
                separate && follows.is_some_and(|byte| fits.contains(&byte) || is_quote(byte))
            }
            (Place::Member, _) => new_line && self.key_follows(next),
            (Place::Item, _) => new_line && self.item_follows(next),
        };
        if ends { Verdict::Ends } else { Verdict::Inside }
    }

    /// Whether a quote inside a string cannot be anything else. In a text that lost one
    /// comma or one quote, none of its real delimiters passes for one.
    fn is_clear(
        &self,
        quote: Quote,
        begin: usize,
        at: usize,
        length: usize,
        inside: usize,
    ) -> bool {
        let before = self.text[begin..at].chars().next_back();
        let after = self.text[at + length..].chars().next();
        let (Some(before), Some(after)) = (before, after) else {
            return false;
        };
        match quote {
            Quote::Single | Quote::TypographicSingle => {
                before.is_alphanumeric() && after.is_alphanumeric()
            }
            Quote::Double if inside.is_multiple_of(2) => {
                !before.is_alphanumeric() && before != '"' && after.is_alphanumeric()
            }
            Quote::Double => {
                let opens =
                    before.is_whitespace() || matches!(before, ',' | ':' | '[' | '{' | '(' | '"');
                !opens && !after.is_alphanumeric()
            }
            Quote::TypographicDouble => false,
        }
    }

    /// Whether a member of an object can begin behind a comma.
    fn member_follows(&self, after: usize) -> bool {
        let bytes = self.text.as_bytes();
        let next = self.skip_spaces(after);
        match bytes.get(next) {
            None | Some(b'}' | b',' | b'/' | b'#') => true,
            Some(_) => Quote::at(bytes, next).is_some() || self.key_follows(next),
        }
    }

    /// Whether a key without quotes begins here.
    fn key_follows(&self, next: usize) -> bool {
        let bytes = self.text.as_bytes();
        let end = self.word_end(next);
        end > next && matches!(bytes.get(self.skip_spaces(end)), None | Some(b':'))
    }

    /// Whether a value of a list can begin behind a comma.
    fn item_follows(&self, after: usize) -> bool {
        let bytes = self.text.as_bytes();
        let next = self.skip_spaces(after);
        let Some(&byte) = bytes.get(next) else {
            return true;
        };
        if matches!(byte, b'{' | b'[' | b'(' | b']' | b')' | b',' | b'/' | b'#')
            || Quote::at(bytes, next).is_some()
        {
            return true;
        }
        let end = self.word_end(next);
        let word = &self.text[next..end];
        let number = word.trim_start_matches(['-', '+', '.']);
        number.starts_with(|c: char| c.is_ascii_digit())
            || matches!(word, "true" | "false" | "null" | "True" | "False" | "None")
            || end == bytes.len()
    }

    /// What follows the string that opens here, if one does and it closes. (`Some(None)`:
    /// nothing does.)
    #[expect(
        clippy::option_option,
        reason = "no string, nothing behind it, or a byte"
    )]
    fn after_string(&mut self, at: usize) -> Option<Option<u8>> {
        let (quote, length) = Quote::at(self.text.as_bytes(), at)?;
        let from = at + length;
        // Low quotes only open: from many of them the end may be one and the same.
        let known = self.ahead[quote as usize]
            .filter(|ahead| ahead.from <= from && ahead.close.is_none_or(|close| from <= close));
        let ahead = known.unwrap_or_else(|| self.look_past(quote, from));
        self.ahead[quote as usize] = Some(ahead);
        ahead.close.map(|_| ahead.follows)
    }

    /// Looks for the end of a string, and for what follows it.
    fn look_past(&self, quote: Quote, from: usize) -> Ahead {
        let bytes = self.text.as_bytes();
        let mut next = from;
        let close = loop {
            match quote.next_special(bytes, next) {
                // What is escaped may have several bytes; none of them is special.
                Some(special) if bytes[special] == b'\\' => next = (special + 2).min(bytes.len()),
                close => break close,
            }
        };
        let end = close.and_then(|close| Some(close + quote.closes_at(bytes, close)?));
        let follows = end.and_then(|end| bytes.get(self.skip_spaces(end)));
        Ahead {
            from,
            close,
            follows: follows.copied(),
        }
    }

    fn word_end(&self, from: usize) -> usize {
        let rest = &self.text.as_bytes()[from..];
        from + rest.iter().take_while(|&&byte| is_word(byte)).count()
    }
}

fn is_quote(byte: Option<u8>) -> bool {
    matches!(byte, Some(b'"' | b'\''))
}
