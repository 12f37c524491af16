//! Finds elements by a selector: the part of CSS that names a place on a page.
//!
//! Names, `#id`, `.class`, `[attribute]` with or without a value, `*`, nesting by a
//! blank or `>`, and several by commas. Elements are matched in one pass from above, so
//! that no selector takes longer than the page has elements.

use super::tree::{Document, Id, ROOT};

/// How long a selector may be, and of how many parts.
const LONGEST: usize = 500;
const MOST_PARTS: usize = 20;

/// How many elements are found at most.
const MOST_FOUND: usize = 10_000;

/// What to look for.
#[derive(Debug)]
pub(crate) struct Selector {
    chains: Vec<Vec<Part>>,
}

/// Why a text is no selector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the selector cannot be read at {at:?}: {why}")]
pub(crate) struct SelectorError {
    at: String,
    why: &'static str,
}

/// One element of a chain, and how it lies in the one before.
#[derive(Debug, Default)]
struct Part {
    name: Option<String>,
    tests: Vec<Test>,
    is_child: bool,
}

#[derive(Debug)]
struct Test {
    attribute: String,
    how: How,
    value: String,
}

#[derive(Clone, Copy, Debug)]
enum How {
    IsThere,
    Equals,
    HasWord,
    Begins,
    Ends,
    Contains,
}

impl Selector {
    /// Reads a selector.
    pub(crate) fn parse(text: &str) -> Result<Self, SelectorError> {
        let failed = |at: &str, why| SelectorError {
            at: at.chars().take(40).collect(),
            why,
        };
        if text.len() > LONGEST {
            return Err(failed(text, "it is longer than 500 characters"));
        }
        let mut chains = vec![Vec::new()];
        let mut rest = text.trim();
        let mut is_child = false;
        let mut count = 0;
        loop {
            let (mut part, after) = part(rest).map_err(|(at, why)| failed(at, why))?;
            count += 1;
            if count > MOST_PARTS {
                return Err(failed(rest, "it has more than 20 parts"));
            }
            part.is_child = is_child;
            if let Some(chain) = chains.last_mut() {
                chain.push(part);
            }
            let next = after.trim_start();
            is_child = false;
            rest = match next.chars().next() {
                None => return Ok(Self { chains }),
                Some(',') => {
                    chains.push(Vec::new());
                    next[1..].trim_start()
                }
                Some('>') => {
                    is_child = true;
                    next[1..].trim_start()
                }
                Some(_) if next.len() < after.len() => next,
                Some(_) => {
                    return Err(failed(
                        next,
                        "only names, #id, .class, [attribute], * and > are supported",
                    ));
                }
            };
        }
    }

    /// What it finds, in the order of the page; nothing within what was found.
    pub(super) fn find(&self, document: &Document) -> Vec<Id> {
        let mut found = vec![false; document.nodes.len()];
        for chain in &self.chains {
            mark(document, chain, &mut found);
        }
        let mut list = Vec::new();
        let mut open = vec![ROOT];
        while let Some(id) = open.pop() {
            if found[id as usize] {
                list.push(id);
                if list.len() == MOST_FOUND {
                    break;
                }
            } else {
                open.extend(document.children(id).iter().rev());
            }
        }
        list
    }
}

/// Marks what a chain finds. Bit n of an element says that the first n + 1 parts fit,
/// the last of them here.
fn mark(document: &Document, chain: &[Part], found: &mut [bool]) {
    let mut here = vec![0_u32; document.nodes.len()];
    let mut above = vec![0_u32; document.nodes.len()];
    for id in document.ids().skip(1) {
        let parent = document.parent(id) as usize;
        let at = id as usize;
        above[at] = above[parent] | here[parent];
        for (number, part) in chain.iter().enumerate() {
            let fits_before = match number {
                0 => true,
                _ if part.is_child => here[parent] & (1 << (number - 1)) != 0,
                _ => above[at] & (1 << (number - 1)) != 0,
            };
            if fits_before && part.fits(document, id) {
                here[at] |= 1 << number;
            }
        }
        found[at] |= here[at] & (1 << (chain.len() - 1)) != 0;
    }
}

impl Part {
    fn fits(&self, document: &Document, id: Id) -> bool {
        let name = document.name(id);
        !name.is_empty()
            && self.name.as_ref().is_none_or(|wanted| wanted == name)
            && self.tests.iter().all(|test| test.fits(document, id))
    }
}

impl Test {
    fn fits(&self, document: &Document, id: Id) -> bool {
        let Some(value) = document.attribute(id, &self.attribute) else {
            return false;
        };
        match self.how {
            How::IsThere => true,
            How::Equals => value == self.value,
            How::HasWord => value
                .split_ascii_whitespace()
                .any(|word| word == self.value),
            How::Begins => value.starts_with(&self.value),
            How::Ends => value.ends_with(&self.value),
            How::Contains => value.contains(&self.value),
        }
    }
}

type Failed<'t> = (&'t str, &'static str);

/// Reads one part, and returns what comes after it.
fn part(text: &str) -> Result<(Part, &str), Failed<'_>> {
    let mut part = Part::default();
    let mut rest = text;
    if let Some(after) = rest.strip_prefix('*') {
        rest = after;
    } else if rest.starts_with(is_word) {
        let (name, after) = word(rest)?;
        part.name = Some(name.to_ascii_lowercase());
        rest = after;
    }
    loop {
        let (test, after) = match rest.chars().next() {
            Some('#') => named("id", How::Equals, &rest[1..])?,
            Some('.') => named("class", How::HasWord, &rest[1..])?,
            Some('[') => bracket(&rest[1..])?,
            _ => break,
        };
        part.tests.push(test);
        rest = after;
    }
    match rest.len() == text.len() {
        true => Err((text, "a name, #id, .class, [attribute] or * is expected")),
        false => Ok((part, rest)),
    }
}

fn named<'t>(attribute: &str, how: How, text: &'t str) -> Result<(Test, &'t str), Failed<'t>> {
    let (value, after) = word(text)?;
    let test = Test {
        attribute: attribute.to_owned(),
        how,
        value: value.to_owned(),
    };
    Ok((test, after))
}

fn bracket(text: &str) -> Result<(Test, &str), Failed<'_>> {
    let end = text.find(']').ok_or((text, "a `]` is missing"))?;
    let (inside, after) = (&text[..end], &text[end + 1..]);
    let (name, condition) = word(inside.trim())?;
    let condition = condition.trim();
    let signs = [
        ("~=", How::HasWord),
        ("^=", How::Begins),
        ("$=", How::Ends),
        ("*=", How::Contains),
        ("=", How::Equals),
    ];
    let found = signs
        .iter()
        .find_map(|(sign, how)| Some((*how, condition.strip_prefix(sign)?)));
    let (how, value) = match found {
        Some((how, value)) => (how, value.trim().trim_matches(['"', '\''])),
        None if condition.is_empty() => (How::IsThere, ""),
        None => return Err((inside, "only =, ~=, ^=, $= and *= compare")),
    };
    let test = Test {
        attribute: name.to_ascii_lowercase(),
        how,
        value: value.to_owned(),
    };
    Ok((test, after))
}

fn word(text: &str) -> Result<(&str, &str), Failed<'_>> {
    let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
    match end {
        0 => Err((text, "a name is expected")),
        _ => Ok(text.split_at(end)),
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_')
}

#[cfg(test)]
mod tests {
    use super::super::build::parse;
    use super::*;

    #[test]
    fn elements_are_found() {
        let page = "<div id=a class='x y'><p>1</p><ul><li>2<p>3</p></li></ul></div>\
                    <p lang=de data-k='v1'>4</p><article><div><p>5</p></div></article>";
        for (selector, texts) in [
            ("p", "1 3 4 5"),
            ("P", "1 3 4 5"),
            ("#a p", "1 3"),
            ("#a > p", "1"),
            ("div.x.y li", "23"),
            (".x p, article", "1 3 5"),
            ("[lang]", "4"),
            ("p[lang=de], p[lang='fr']", "4"),
            ("[data-k^=v]", "4"),
            ("[data-k$='2']", ""),
            ("article>div>p", "5"),
            ("article > p", ""),
            ("div", "123 5"),
            ("*", "123 4 5"),
            ("div div div p", ""),
        ] {
            let document = parse(page);
            let found = Selector::parse(selector).unwrap().find(&document);
            let found: Vec<String> = found.iter().map(|id| document.text_of(*id)).collect();
            assert_eq!(found.join(" "), texts, "{selector}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_told_where() {
        for (selector, at) in [
            ("", ""),
            ("p:first-child", ":first-child"),
            ("p >", ""),
            ("p,,a", ",a"),
            ("[a", "a"),
            ("#", ""),
            ("a + b", "+ b"),
            ("[a!=b]", "a!=b"),
        ] {
            let error = Selector::parse(selector).unwrap_err();
            assert_eq!(error.at, at, "{selector}");
        }
        assert!(Selector::parse(&"a ".repeat(21)).is_err());
        assert!(Selector::parse(&"a".repeat(501)).is_err());
    }
}
