//! Removes characters that hide text or steer a terminal.
//!
//! Escape sequences go whole, with their parameters; control characters go but for
//! tab and line feed; bidirectional controls, zero-width characters and tags go,
//! since a person and a model would read different texts.

use std::borrow::Cow;

/// The text without escape sequences and without characters that hide or steer.
/// Unicode's own line and paragraph separators become line feeds.
///
/// ```
/// use toolsmith_core::clean::clean;
///
/// assert_eq!(clean("\u{1b}[31mred\u{1b}[0m and \u{202e}reversed"), "red and reversed");
/// ```
pub fn clean(text: &str) -> Cow<'_, str> {
    if is_plain_text(text) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => skip_sequence(&mut rest),
            '\u{9b}' => skip_parameters(&mut rest),
            '\r' if rest.peek() == Some(&'\n') => clean.push('\r'),
            '\u{2028}' | '\u{2029}' => clean.push('\n'),
            c if is_plain(c) => clean.push(c),
            _ => {}
        }
    }
    Cow::Owned(clean)
}

/// Tells whether every character of a text can stay. Blocks of plain ASCII are judged
/// without a way out in the middle, which processors do in few steps.
fn is_plain_text(text: &str) -> bool {
    const BLOCK: usize = 64;
    let is_plain_byte = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    let is_plain_block = |block: &[u8]| {
        block
            .iter()
            .fold(true, |plain, it| plain & is_plain_byte(it))
    };
    let mut rest = text;
    while !rest.is_empty() {
        let is_ascii = match rest.as_bytes().first_chunk::<BLOCK>() {
            // Of a known length, so that it is judged in wide steps.
            Some(block) => is_plain_block(block),
            None => is_plain_block(rest.as_bytes()),
        };
        let end = BLOCK.min(rest.len());
        let end = if is_ascii {
            end
        } else {
            rest.ceil_char_boundary(end)
        };
        if !is_ascii && !rest[..end].chars().all(is_plain) {
            return false;
        }
        rest = &rest[end..];
    }
    true
}

/// Tells whether a character can stay wherever it stands.
pub fn is_plain(c: char) -> bool {
    match c {
        '\n' | '\t' => true,
        c if c.is_control() => false,
        // What Unicode calls default-ignorable, but for the two selectors that
        // choose between text and emoji; and separators and annotations.
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0d}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => false,
        _ => true,
    }
}

type Rest<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// After an escape character: a CSI sequence, a string that ends by itself, a choice, or
/// one character.
fn skip_sequence(rest: &mut Rest<'_>) {
    match rest.peek() {
        Some('[') => {
            rest.next();
            skip_parameters(rest);
        }
        // Titles, hyperlinks, device strings: up to BEL or `ESC \`.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            // A sequence that never ends must not swallow the next line.
            while let Some(c) = rest.next_if(|c| *c != '\n') {
                match c {
                    '\u{7}' | '\u{9c}' => return,
                    '\u{1b}' if rest.peek() == Some(&'\\') => {
                        rest.next();
                        return;
                    }
                    _ => {}
                }
            }
        }
        // Choosing a character set and the like: what is between, then one character.
        Some(' '..='/') => {
            while rest.next_if(|c| matches!(c, ' '..='/')).is_some() {}
            rest.next_if(char::is_ascii_graphic);
        }
        Some(c) if c.is_ascii_graphic() => {
            rest.next();
        }
        _ => {}
    }
}

/// The parameters and the final byte of a CSI sequence.
fn skip_parameters(rest: &mut Rest<'_>) {
    while let Some(c) = rest.peek() {
        let (is_inside, is_final) = (matches!(c, ' '..='?'), matches!(c, '@'..='~'));
        if is_inside || is_final {
            rest.next();
        }
        if !is_inside {
            return;
        }
    }
}
