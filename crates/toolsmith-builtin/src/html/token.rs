//! Cuts a page into texts and tags, forwards only: every byte is looked at a bounded
//! number of times, whatever the page is.
//!
//! Comments, declarations and what is between `<?` and `>` are left out. What the tags
//! mean for each other is [`build`](super::build)'s.

use std::borrow::Cow;

use super::entity::{Within, decode};

/// How many attributes of a tag are kept.
const MOST_ATTRIBUTES: usize = 64;

/// Those that are kept after however many others: they tell what is hidden.
const TELLING: [&str; 6] = ["aria-hidden", "class", "hidden", "id", "role", "style"];

/// A piece of a page.
#[derive(Debug, PartialEq)]
pub(super) enum Token<'h> {
    Text(Cow<'h, str>),
    Start(Tag),
    End(String),
}

/// A tag that begins an element.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Tag {
    pub(super) name: String,
    pub(super) attributes: Vec<(Box<str>, Box<str>)>,
    pub(super) ends_itself: bool,
}

/// The pieces of a page, one after another.
pub(super) struct Tokens<'h> {
    html: &'h str,
    at: usize,
    /// The element whose content is text until its end tag.
    raw: Option<String>,
}

impl<'h> Tokens<'h> {
    pub(super) fn new(html: &'h str) -> Self {
        Self {
            html,
            at: 0,
            raw: None,
        }
    }

    fn rest(&self) -> &'h str {
        &self.html[self.at..]
    }

    /// The text up to the end tag of the element that has only text.
    fn raw_text(&mut self, name: &str) -> Token<'h> {
        let rest = self.rest();
        let end = find_end_tag(rest, name).unwrap_or(rest.len());
        self.at += end;
        match name {
            "title" | "textarea" => Token::Text(decode(&rest[..end], Within::Text)),
            _ => Token::Text(Cow::Borrowed(&rest[..end])),
        }
    }

    fn skip_past(&mut self, from: usize, end: &str) {
        let found = self.rest()[from..].find(end);
        self.at = match found {
            Some(found) => self.at + from + found + end.len(),
            None => self.html.len(),
        };
    }

    /// Reads a tag whose name begins at `from`; none where the page ends in it.
    fn tag(&mut self, from: usize) -> Option<Tag> {
        let bytes = self.html.as_bytes();
        let mut at = self.at + from;
        let is_end =
            |byte: u8| matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ' | b'/' | b'>');
        let name = until(bytes, at, is_end);
        let mut tag = Tag {
            name: self.html[at..name].to_ascii_lowercase(),
            ..Tag::default()
        };
        at = name;
        loop {
            at = until(bytes, at, |byte| {
                !matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ')
            });
            match bytes.get(at) {
                None => {
                    self.at = self.html.len();
                    return None;
                }
                Some(b'>') => {
                    self.at = at + 1;
                    return Some(tag);
                }
                Some(b'/') => {
                    tag.ends_itself = bytes.get(at + 1) == Some(&b'>');
                    at += 1;
                }
                Some(_) => at = self.attribute(at, &mut tag),
            }
        }
    }

    /// Reads an attribute, and returns where it ends.
    fn attribute(&self, start: usize, tag: &mut Tag) -> usize {
        let bytes = self.html.as_bytes();
        let is_blank = |byte: u8| matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ');
        // A name may begin with `=`.
        let name_end = until(bytes, start + 1, |byte| {
            is_blank(byte) || matches!(byte, b'=' | b'>' | b'/')
        });
        // The first byte may be one of many of a character.
        let name_end = self.html.ceil_char_boundary(name_end);
        let mut at = until(bytes, name_end, |byte| !is_blank(byte));
        let mut value = "";
        if bytes.get(at) == Some(&b'=') {
            at = until(bytes, at + 1, |byte| !is_blank(byte));
            match bytes.get(at) {
                Some(quote @ (b'"' | b'\'')) => {
                    let end = until(bytes, at + 1, |byte| byte == *quote);
                    value = &self.html[at + 1..end];
                    at = (end + 1).min(bytes.len());
                }
                Some(b'>') | None => {}
                Some(_) => {
                    let end = until(bytes, at, |byte| is_blank(byte) || byte == b'>');
                    value = &self.html[at..end];
                    at = end;
                }
            }
        } else {
            at = name_end;
        }
        let name = &self.html[start..name_end];
        let is_telling = || TELLING.iter().any(|it| it.eq_ignore_ascii_case(name));
        if tag.attributes.len() < MOST_ATTRIBUTES || is_telling() {
            let name = name.to_ascii_lowercase();
            if !tag.attributes.iter().any(|(known, _)| **known == name) {
                let value = decode(value, Within::Attribute).into_owned();
                tag.attributes.push((name.into(), value.into()));
            }
        }
        at
    }
}

impl<'h> Iterator for Tokens<'h> {
    type Item = Token<'h>;

    fn next(&mut self) -> Option<Token<'h>> {
        if let Some(name) = self.raw.take() {
            return Some(self.raw_text(&name));
        }
        while self.at < self.html.len() {
            let rest = self.rest();
            let bytes = rest.as_bytes();
            let is_letter = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphabetic);
            if bytes[0] != b'<' {
                let end = rest.find('<').unwrap_or(rest.len());
                self.at += end;
                return Some(Token::Text(decode(&rest[..end], Within::Text)));
            }
            if is_letter(1) {
                let tag = self.tag(1)?;
                let is_raw = matches!(
                    tag.name.as_str(),
                    "script"
                        | "style"
                        | "xmp"
                        | "iframe"
                        | "noembed"
                        | "noframes"
                        | "title"
                        | "textarea"
                );
                self.raw = is_raw.then(|| tag.name.clone());
                return Some(Token::Start(tag));
            }
            if bytes.get(1) == Some(&b'/') && is_letter(2) {
                return Some(Token::End(self.tag(2)?.name));
            }
            if rest.starts_with("<!--") {
                self.skip_past(2, "-->");
            } else if matches!(bytes.get(1), Some(b'!' | b'?' | b'/')) {
                self.skip_past(1, ">");
            } else {
                self.at += 1;
                return Some(Token::Text(Cow::Borrowed("<")));
            }
        }
        None
    }
}

/// The first place from `at` on whose byte fits, or the end.
fn until(bytes: &[u8], at: usize, fits: impl Fn(u8) -> bool) -> usize {
    let from = at.min(bytes.len());
    let found = bytes[from..].iter().position(|byte| fits(*byte));
    found.map_or(bytes.len(), |found| from + found)
}

/// Where the end tag of an element begins, whatever its case.
fn find_end_tag(text: &str, name: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    memchr::memmem::find_iter(bytes, b"</").find(|at| {
        let after = &bytes[at + 2..];
        let has_name = after.get(..name.len());
        has_name.is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
            && !matches!(after.get(name.len()), Some(byte) if byte.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(html: &str) -> Vec<String> {
        let tokens = Tokens::new(html).map(|token| match token {
            Token::Text(text) => format!("{text:?}"),
            Token::End(name) => format!("/{name}"),
            Token::Start(tag) => {
                let attributes = tag.attributes.iter();
                let attributes = attributes.map(|(name, value)| format!(" {name}={value}"));
                format!("{}{}", tag.name, attributes.collect::<String>())
            }
        });
        tokens.collect()
    }

    #[test]
    fn pages_are_cut_where_browsers_cut_them() {
        for (html, expected) in [
            ("a<b>c</b>", "\"a\" b \"c\" /b"),
            (
                "<A HREF=x Class='a b' id=\"é\" href=y>",
                "a href=x class=a b id=é",
            ),
            ("<p a=1/b=2>", "p a=1/b=2"),
            ("<br/><br / >", "br br"),
            ("1 < 2 <3", "\"1 \" \"<\" \" 2 \" \"<\" \"3\""),
            (
                "x<!-- <b> -->y<!doctype html>z<?php <b> ?>",
                "\"x\" \"y\" \"z\" \" ?>\"",
            ),
            ("x<!-->y<!--->z<!-- open", "\"x\" \"y\" \"z\""),
            (
                "<script>if (a</b>) '<p>'</SCRIPT >x",
                "script \"if (a</b>) '<p>'\" /script \"x\"",
            ),
            ("<title>a &amp; <b></title>", "title \"a & <b>\" /title"),
            (
                "<textarea></textareas></textarea>",
                "textarea \"</textareas>\" /textarea",
            ),
            ("<style>open", "style \"open\""),
            ("a<b class='open", "\"a\""),
            ("<p =a=b é=ü>", "p =a=b é=ü"),
            ("</ x><//>", ""),
            ("<p\u{0}x>", "p\u{0}x"),
        ] {
            assert_eq!(tokens(html).join(" "), expected, "{html}");
        }
    }
}
