//! Text as a report shows it: what cannot be seen made visible, what is long cut.

/// Shows a piece of a line with its whitespace: `→` a tab, `·` a space.
pub(crate) fn whitespace(text: &str) -> String {
    show(text, |character| match character {
        ' ' => Some('·'),
        '\t' => Some('→'),
        _ => None,
    })
}

/// Shows a piece of a line; only what could not be seen is replaced.
pub(crate) fn plainly(text: &str) -> String {
    show(text, |character| (character == '\t').then_some(' '))
}

/// A stretch of a line that has at most so many characters, around a place in bytes.
pub(crate) fn around(line: &str, place: usize, most: usize) -> (&str, &'static str, &'static str) {
    if line.len() <= most {
        return (line, "", "");
    }
    let place = line.floor_char_boundary(place);
    let mut before = line[..place].char_indices().rev();
    let start = before.nth(most / 3).map_or(0, |(at, _)| at);
    let rest = &line[start..];
    let end = rest
        .char_indices()
        .nth(most)
        .map_or(rest.len(), |(at, _)| at);
    let head = if start > 0 { "…" } else { "" };
    let tail = if end < rest.len() { "…" } else { "" };
    (&rest[..end], head, tail)
}

/// The first characters of a line, shown plainly.
pub(crate) fn start_of(line: &str, most: usize) -> String {
    let (piece, _, tail) = around(line, 0, most);
    plainly(piece) + tail
}

fn show(text: &str, special: impl Fn(char) -> Option<char>) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match (special(character), character) {
            (Some(special), _) => shown.push(special),
            (None, '\0'..='\u{1F}') => {
                // The pictures of control characters stand in their order.
                shown.extend(char::from_u32(0x2400 + u32::from(character)));
            }
            (None, '\u{7F}') => shown.push('␡'),
            (None, _) if is_hidden(character) => {
                shown.push_str(&format!("‹U+{:04X}›", u32::from(character)));
            }
            (None, _) => shown.push(character),
        }
    }
    shown
}

/// Characters that have no shape, or change the order of those that have.
fn is_hidden(character: char) -> bool {
    matches!(
        character,
        '\u{80}'..='\u{A0}' | '\u{AD}' | '\u{61C}' | '\u{2000}'..='\u{200F}'
            | '\u{2028}'..='\u{202F}' | '\u{205F}'..='\u{206F}' | '\u{FEFF}'
            | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}'
    )
}
