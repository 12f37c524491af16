//! Rust source as `tidy` sees it: code without its comments and strings, and where the tests are.
//!
//! A scanner of a hundred lines, not a parser: it keeps every byte at its place
//! and blanks what a check must not look at. That is enough to look for words in
//! code without being misled by prose, and needs no dependency.

use std::ops::Range;

/// One text split by what a reader sees: code and comments, each with the rest blanked.
#[derive(Debug, Default)]
pub(crate) struct Layers {
    /// The text with comments, strings and characters blanked.
    pub(crate) code: String,
    /// The text with everything but comments blanked.
    pub(crate) comments: String,
}

/// Splits Rust source into code and comments. Offsets and line numbers stay what they were.
pub(crate) fn split(text: &str) -> Layers {
    let bytes = text.as_bytes();
    let mut code = blank(bytes);
    let mut comments = code.clone();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let literal = match rest {
            [b'/', b'/' | b'*', ..] => {
                let end = at + comment_length(rest);
                comments[at..end].copy_from_slice(&bytes[at..end]);
                at = end;
                continue;
            }
            [b'"', ..] => Some(string_length(rest)),
            [b'r', b'"' | b'#', ..] if !continues_word(bytes, at) => raw_string_length(rest),
            [b'\'', ..] => character_length(&text[at..]),
            _ => None,
        };
        match literal {
            Some(length) => at += length,
            None => {
                code[at] = bytes[at];
                at += 1;
            }
        }
    }
    Layers {
        code: String::from_utf8_lossy(&code).into_owned(),
        comments: String::from_utf8_lossy(&comments).into_owned(),
    }
}

/// Returns the offsets at which `needle` stands in `text` as a word of its own.
///
/// An end of the needle that is punctuation needs no border: `env::` finds `env::var`.
pub(crate) fn find_word<'a>(text: &'a str, needle: &'a str) -> impl Iterator<Item = usize> + 'a {
    let starts_in_word = needle.bytes().next().is_some_and(is_word);
    let ends_in_word = needle.bytes().last().is_some_and(is_word);
    text.match_indices(needle)
        .map(|(at, _)| at)
        .filter(move |&at| {
            let bytes = text.as_bytes();
            let before = at.checked_sub(1).and_then(|at| bytes.get(at));
            let after = bytes.get(at + needle.len());
            let runs_on = |byte: Option<&u8>| byte.is_some_and(|byte| is_word(*byte));
            let is_part = (starts_in_word && runs_on(before)) || (ends_in_word && runs_on(after));
            !is_part
        })
}

/// Returns whether a byte can be part of a name.
pub(crate) fn is_word(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

/// An attribute: where it stands and what is between its brackets.
#[derive(Debug)]
pub(crate) struct Attribute<'a> {
    pub(crate) range: Range<usize>,
    pub(crate) content: &'a str,
}

/// Returns the attributes of code whose comments and strings are blanked.
pub(crate) fn attributes(code: &str) -> Vec<Attribute<'_>> {
    let mut found = Vec::new();
    for (start, _) in code.match_indices('#') {
        let opening = code[start + 1..].trim_start_matches([' ', '\n', '!']);
        if !opening.starts_with('[') {
            continue;
        }
        let open = code.len() - opening.len();
        let close = closing(code, open);
        found.push(Attribute {
            range: start..(close + 1).min(code.len()),
            content: code[open + 1..close].trim(),
        });
    }
    found
}

/// Returns the offset of the bracket that closes the one at `open`, or the end of the code.
pub(crate) fn closing(code: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return offset;
        }
    }
    code.len()
}

/// The parts of a file that are compiled for tests only.
#[derive(Debug, Default)]
pub(crate) struct TestParts {
    /// Items under `#[cfg(test)]`, attribute included.
    pub(crate) ranges: Vec<Range<usize>>,
    /// Modules in files of their own that are declared under `#[cfg(test)]`.
    pub(crate) modules: Vec<String>,
}

/// Finds the items under `#[cfg(test)]`.
pub(crate) fn test_parts(code: &str) -> TestParts {
    let mut parts = TestParts::default();
    let attributes = attributes(code);
    for attribute in attributes.iter().filter(|attribute| is_cfg_test(attribute)) {
        let item = attributes
            .iter()
            .filter(|other| other.range.start >= attribute.range.start)
            .fold(attribute.range.end, |end, other| {
                let adjoining = code
                    .get(end..other.range.start)
                    .is_some_and(|gap| gap.trim().is_empty());
                if adjoining { other.range.end } else { end }
            });
        let stop = code[item..]
            .find([';', '{'])
            .map_or(code.len(), |offset| item + offset);
        let end = match code.as_bytes().get(stop) {
            Some(b'{') => closing(code, stop),
            _ => stop,
        };
        let words: Vec<&str> = code[item..stop].split_whitespace().collect();
        if let (Some(b';'), [.., "mod", name]) = (code.as_bytes().get(stop), words.as_slice()) {
            parts.modules.push((*name).to_owned());
        }
        parts
            .ranges
            .push(attribute.range.start..(end + 1).min(code.len()));
    }
    parts
}

fn is_cfg_test(attribute: &Attribute<'_>) -> bool {
    let content = attribute.content;
    content.starts_with("cfg(")
        && find_word(content, "test").next().is_some()
        && find_word(content, "not").next().is_none()
        && find_word(content, "any").next().is_none()
}

fn blank(bytes: &[u8]) -> Vec<u8> {
    let keep_lines = |byte: &u8| if *byte == b'\n' { b'\n' } else { b' ' };
    bytes.iter().map(keep_lines).collect()
}

fn continues_word(bytes: &[u8], at: usize) -> bool {
    // `br"…"` and `cr"…"` are raw strings too.
    let before = &bytes[..at];
    let before = before
        .strip_suffix(b"b")
        .or(before.strip_suffix(b"c"))
        .unwrap_or(before);
    before.last().is_some_and(|byte| is_word(*byte))
}

fn comment_length(rest: &[u8]) -> usize {
    if rest.starts_with(b"//") {
        return rest
            .iter()
            .position(|byte| *byte == b'\n')
            .unwrap_or(rest.len());
    }
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

fn string_length(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// Returns nothing for a raw name such as `r#type`.
fn raw_string_length(rest: &[u8]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|byte| **byte == b'#').count();
    if rest.get(1 + hashes) != Some(&b'"') {
        return None;
    }
    let mut end = vec![b'#'; hashes + 1];
    end[0] = b'"';
    let body = &rest[hashes + 2..];
    let length = body.windows(end.len()).position(|window| window == end);
    Some(length.map_or(rest.len(), |length| hashes + 2 + length + end.len()))
}

/// Returns nothing for a lifetime such as `'a`.
fn character_length(rest: &str) -> Option<usize> {
    let mut characters = rest.char_indices().skip(1);
    let (_, first) = characters.next()?;
    if first == '\\' {
        // The escaped character may itself be a quote.
        let end = rest.get(3..)?.find('\'')?;
        return Some(3 + end + 1);
    }
    let (end, second) = characters.next()?;
    (second == '\'').then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_strings_and_characters_are_blanked_in_place() {
        for (text, words) in [
            ("a // unsafe\nb", "a b"),
            ("a /* x /* y */ z */ b", "a b"),
            (r#"a("un\"safe") b"#, "a( ) b"),
            (r##"a(r#"un"safe"#, b)"##, "a( , b)"),
            (r#"br"\" + c"#, "b + c"),
            ("let r#type = r;", "let r#type = r;"),
            ("f::<'a>('\"', b'\\'', '\u{e9}') x", "f::<'a>( , b , ) x"),
        ] {
            let code = split(text).code;
            assert_eq!(code.len(), text.len(), "{text}");
            assert_eq!(code.split_whitespace().collect::<Vec<_>>().join(" "), words);
        }
    }

    #[test]
    fn comments_are_kept_apart() {
        assert_eq!(split("a(\"// no\"); // yes").comments.trim(), "// yes");
    }

    #[test]
    fn a_word_has_borders() {
        assert_eq!(
            find_word("unsafe_code unsafe", "unsafe").collect::<Vec<_>>(),
            [12]
        );
        assert_eq!(
            find_word("my_env::a env::b", "env::").collect::<Vec<_>>(),
            [10]
        );
    }

    #[test]
    fn test_items_are_found_wherever_they_stand() {
        let code = "#[cfg(test)]\nmod tests;\nfn a() {}\n#[cfg(test)]\n#[x]\nmod b { fn c() {} }\nfn d() {}\n";
        let parts = test_parts(code);
        assert_eq!(parts.modules, ["tests"]);
        let text: Vec<&str> = parts
            .ranges
            .iter()
            .map(|range| &code[range.clone()])
            .collect();
        assert_eq!(
            text,
            [
                "#[cfg(test)]\nmod tests;",
                "#[cfg(test)]\n#[x]\nmod b { fn c() {} }"
            ]
        );
    }

    #[test]
    fn code_that_also_runs_outside_tests_is_no_test() {
        assert!(test_parts("#[cfg(not(test))] fn a() {}").ranges.is_empty());
        assert!(
            test_parts("#[cfg(any(test, feature))] fn a() {}")
                .ranges
                .is_empty()
        );
    }
}
