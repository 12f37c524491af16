//! Small things said in words: shortened text, and JSON pointers as people write them.

use std::borrow::Cow;

/// A text of at most so many characters, marked where it was cut.
pub(crate) fn bounded(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The parts of a JSON pointer, unescaped.
pub(super) fn parts(pointer: &str) -> impl Iterator<Item = Cow<'_, str>> {
    pointer.split('/').skip(1).map(unescaped)
}

/// One part of a JSON pointer as it was before it was escaped.
pub(super) fn unescaped(part: &str) -> Cow<'_, str> {
    if part.contains('~') {
        part.replace("~1", "/").replace("~0", "~").into()
    } else {
        part.into()
    }
}

/// How many characters of one name are told.
const NAME: usize = 120;

/// A JSON pointer as people write it: `/edits/0/old_string` → `edits[0].old_string`.
pub(super) fn name_of(pointer: &str) -> String {
    let mut name = String::new();
    for part in parts(pointer) {
        let part = bounded(&part, NAME);
        if !name.is_empty() && part.bytes().all(|b| b.is_ascii_digit()) {
            name.push('[');
            name.push_str(&part);
            name.push(']');
        } else {
            if !name.is_empty() {
                name.push('.');
            }
            name.push_str(&part);
        }
    }
    name
}
