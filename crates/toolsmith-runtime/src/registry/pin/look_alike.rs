//! Names that differ and look the same: other scripts' letters, characters nobody sees,
//! `0` for `O`, `1` and `I` for `l`.

use std::collections::HashMap;

use toolsmith_core::clean::clean;
use unicode_security::confusable_detection::skeleton;

/// How much of a name is looked at; names are short, but a server may say anything.
const LONGEST: usize = 256;

/// How many names of one look are kept.
const MOST_ALIKE: usize = 8;

/// Tells whether a character looks like plain ASCII: those that are, and impostors.
pub fn looks_plain(c: char) -> bool {
    c.is_ascii() || skeleton(c.encode_utf8(&mut [0; 4])).all(|seen| seen.is_ascii())
}

/// The names there are, by what they look like.
#[derive(Debug, Default)]
pub(super) struct Looks {
    by_look: HashMap<String, Vec<(String, String)>>,
}

impl Looks {
    /// Adds a name, and the one its tool is listed by.
    pub(super) fn add(&mut self, name: &str, tool: &str) {
        let alike = self.by_look.entry(look(name)).or_default();
        let folded = folded(name);
        if alike.len() < MOST_ALIKE && !alike.iter().any(|(known, _)| *known == folded) {
            alike.push((folded, tool.to_owned()));
        }
    }

    /// The tool that a name can be taken for. A name that is there already is no other
    /// tool's look-alike, and capitals alone make none.
    pub(super) fn like(&self, name: &str) -> Option<&str> {
        let alike = self.by_look.get(&look(name))?;
        let folded = folded(name);
        if alike.iter().any(|(known, _)| *known == folded) {
            return None;
        }
        alike.first().map(|(_, tool)| tool.as_str())
    }
}

/// What a name looks like. Capitals are folded last: `0` looks like `O`, and next to
/// small letters that is an `o`.
fn look(name: &str) -> String {
    let end = name.floor_char_boundary(LONGEST.min(name.len()));
    let seen = clean(&name[..end]);
    skeleton(&seen).collect::<String>().to_lowercase()
}

fn folded(name: &str) -> String {
    name.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_the_same_are_found_and_others_are_not() {
        let mut looks = Looks::default();
        for name in ["read_file", "list_all", "google_search", "Send"] {
            looks.add(name, name);
        }
        for (name, like) in [
            ("re\u{430}d_file", Some("read_file")),
            ("read\u{200b}_file", Some("read_file")),
            ("\u{202e}read_file", Some("read_file")),
            ("read_fi\u{e0065}le", Some("read_file")),
            ("1ist_all", Some("list_all")),
            ("list_aIl", Some("list_all")),
            ("g00gle_search", Some("google_search")),
            ("\u{ff52}ead_file", Some("read_file")),
            ("read_file", None),
            ("Read_File", None),
            ("read_files", None),
            ("send", None),
            ("write_file", None),
        ] {
            assert_eq!(looks.like(name), like, "{name:?}");
        }
    }
}
