//! Names of files as they are told: on one line, and with nothing in them that steers a
//! terminal or hides.
//!
//! A name may hold any byte but a slash. One that is told otherwise than it is cannot be
//! given back, so who tells it says that it is not exact.

/// Tells whether a name, or a path, is told as it is.
pub(crate) fn is_exact(name: &[u8]) -> bool {
    name.iter().all(|byte| matches!(byte, b' '..=b'~'))
        || std::str::from_utf8(name).is_ok_and(|name| !name.chars().any(is_hidden))
}

/// A name, or a path, on one line: pictures for control characters, and codes for what
/// has no picture.
pub(crate) fn one_line(name: &[u8]) -> String {
    if is_exact(name) {
        return String::from_utf8_lossy(name).into_owned();
    }
    let mut line = String::with_capacity(2 * name.len());
    for piece in name.utf8_chunks() {
        for character in piece.valid().chars() {
            match character {
                // The pictures stand in the order of what they show.
                '\0'..='\u{1F}' => line.extend(char::from_u32(0x2400 + u32::from(character))),
                '\u{7F}' => line.push('␡'),
                hidden if is_hidden(hidden) => {
                    line.push_str(&format!("‹U+{:04X}›", u32::from(hidden)));
                }
                plain => line.push(plain),
            }
        }
        for byte in piece.invalid() {
            line.push_str(&format!("‹{byte:02X}›"));
        }
    }
    line
}

/// Characters that end a line, steer a terminal, change the order of others, or have no
/// shape.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
                | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
                | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0D}' | '\u{FEFF}'
                | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}'
                | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}'
        )
}
