//! Patterns for paths: `*`, `?`, `[a-z]`, `{a,b}` within one name, `**` across names.
//!
//! A pattern without a slash is about names, at any depth; one with a slash is about
//! the path from the folder that is searched. What a pattern names literally at its
//! beginning is its [`Way`], which is shown even where ignore rules hide it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use globset::{ErrorKind, GlobBuilder, GlobSet, GlobSetBuilder};

use super::folder::Kind;
use super::walk::{Entry, Named};
use crate::refusal::{Reason, Refusal};

/// The longest pattern that is read.
const LONGEST: usize = 1000;

/// Whether capital letters matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Sensitive,
    Insensitive,
}

impl Case {
    pub(crate) fn sensitive_if(is_sensitive: bool) -> Self {
        match is_sensitive {
            true => Self::Sensitive,
            false => Self::Insensitive,
        }
    }
}

/// A pattern for paths.
#[derive(Clone, Debug)]
pub(crate) struct Glob {
    set: GlobSet,
    is_about_names: bool,
    way: Way,
    /// What it may have been meant to be, where nothing fits it.
    hint: Option<String>,
}

impl Glob {
    /// Reads a pattern that came in an argument.
    pub(crate) fn new(argument: &str, pattern: &str, case: Case) -> Result<Self, Refusal> {
        let plain = plain(argument, pattern)?;
        let glob = GlobBuilder::new(&plain)
            .literal_separator(true)
            .case_insensitive(case == Case::Insensitive)
            .build()
            .map_err(|error| unreadable(argument, &plain, error.kind()))?;
        let set = GlobSetBuilder::new().add(glob).build();
        let set = set.map_err(|_| too_much(argument, &plain))?;
        Ok(Self {
            set,
            is_about_names: !plain.contains('/'),
            way: Way::of(&plain, case),
            hint: is_list(&plain)
                .then(|| format!(" Several patterns are written in braces: `{{{plain}}}`.")),
        })
    }

    /// What it may have been meant to be, where nothing fits it.
    pub(crate) fn hint(&self) -> &str {
        self.hint.as_deref().unwrap_or_default()
    }

    /// Reads several patterns.
    pub(crate) fn all(
        argument: &str,
        patterns: &[String],
        case: Case,
    ) -> Result<Vec<Self>, Refusal> {
        let patterns = patterns.iter();
        patterns
            .map(|pattern| Self::new(argument, pattern, case))
            .collect()
    }

    /// Reads a pattern for files, of which one that begins with `!` says what is left out:
    /// what fits, and what does not.
    pub(crate) fn or_not(
        argument: &str,
        pattern: &str,
    ) -> Result<(Option<Self>, Vec<Self>), Refusal> {
        match pattern.strip_prefix('!') {
            Some(rest) => {
                let out = Self::new(argument, rest, Case::Sensitive)?;
                Ok((None, vec![out]))
            }
            None => {
                let glob = Self::new(argument, pattern, Case::Sensitive)?;
                Ok((Some(glob), Vec::new()))
            }
        }
    }

    /// Tells whether it fits what a walk met.
    pub(crate) fn fits(&self, entry: &Entry<'_>) -> bool {
        match self.is_about_names {
            true => self.set.is_match(OsStr::from_bytes(entry.name)),
            false => self.set.is_match(OsStr::from_bytes(entry.path)),
        }
    }

    /// What it names literally at its beginning.
    pub(crate) fn way(&self) -> &Way {
        &self.way
    }
}

/// What a pattern names literally: the folders it begins with, or one name anywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Way {
    names: Vec<Vec<u8>>,
    anywhere: Option<Vec<u8>>,
    is_folded: bool,
}

impl Way {
    fn of(pattern: &str, case: Case) -> Self {
        let is_folded = case == Case::Insensitive;
        // Other letters fold in ways that are the matcher's to know.
        let is_literal = |name: &&str| {
            !name.is_empty()
                && !name.contains(['*', '?', '[', ']', '{', '}', '\\'])
                && (!is_folded || name.is_ascii())
        };
        let bytes = |name: &str| name.as_bytes().to_vec();
        if !pattern.contains('/') {
            return Self {
                anywhere: Some(pattern).filter(is_literal).map(bytes),
                names: Vec::new(),
                is_folded,
            };
        }
        Self {
            names: pattern
                .split('/')
                .take_while(is_literal)
                .map(bytes)
                .collect(),
            anywhere: None,
            is_folded,
        }
    }

    /// Tells whether it names something that was met so many levels deep.
    pub(super) fn is_named(&self, level: usize, name: &[u8], kind: Kind) -> Named {
        match self.names.get(level - 1) {
            Some(named) if self.same(named, name) => Named::Yes,
            Some(_) => Named::Aside,
            None => match &self.anywhere {
                Some(named) if self.same(named, name) => match kind {
                    Kind::Folder => Named::Itself,
                    _ => Named::Yes,
                },
                _ => Named::No,
            },
        }
    }

    fn same(&self, one: &[u8], other: &[u8]) -> bool {
        match self.is_folded {
            true => one.eq_ignore_ascii_case(other),
            false => one == other,
        }
    }
}

/// The pattern without what says nothing.
fn plain(argument: &str, pattern: &str) -> Result<String, Refusal> {
    let refuse =
        |message: String, next: &str| Err(Refusal::new(Reason::BadPattern, message).next(next));
    if pattern.len() > LONGEST {
        let message = format!(
            "`{argument}` has {} bytes, and may have {LONGEST}",
            pattern.len()
        );
        return refuse(
            message,
            "Shorten it, or search for several patterns one after the other",
        );
    }
    let mut plain = pattern;
    while let Some(rest) = plain.strip_prefix("./") {
        plain = rest.trim_start_matches('/');
    }
    let mut names = plain.split('/').filter(|name| !matches!(*name, "" | "."));
    if names.next().is_none() {
        return refuse(
            format!("`{argument}` is empty"),
            "Use `*` for every name, or `**` for every path",
        );
    }
    if plain.starts_with('/') {
        let message = format!(
            "`{argument}` is an absolute path, and patterns begin in the folder that is searched"
        );
        return refuse(
            message,
            "Give the folder as `path`, and the rest as the pattern",
        );
    }
    if plain.split('/').any(|name| name == "..") {
        let message = format!("`{argument}` has `..` in it, and patterns do not climb");
        return refuse(
            message,
            "Give the folder as `path`, and the rest as the pattern",
        );
    }
    let names = plain.split('/').filter(|name| !matches!(*name, "" | "."));
    let names: Vec<&str> = names.collect();
    Ok(match plain.ends_with('/') {
        // What is in the folder is meant.
        true => format!("{}/**", names.join("/")),
        false => names.join("/"),
    })
}

/// Whether a pattern is several, with commas between them and no braces around.
fn is_list(pattern: &str) -> bool {
    let mut depth = 0;
    pattern.chars().any(|character| {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        character == ',' && depth == 0
    })
}

/// The refusal of a pattern with a fault, and a mark under it.
fn unreadable(argument: &str, pattern: &str, fault: &ErrorKind) -> Refusal {
    let (at, what, next) = match fault {
        ErrorKind::UnclosedClass => (
            pattern.rfind('['),
            "this `[` is never closed",
            "Close it with `]`, or write `[[]` for the character itself",
        ),
        ErrorKind::InvalidRange(from, to) => (
            pattern.find(&format!("{from}-{to}")),
            "this range runs backwards",
            "Put the smaller character first",
        ),
        ErrorKind::UnopenedAlternates => (
            unpaired(pattern, Unpaired::Close),
            "this `}` was never opened",
            "Open it with `{`, or write `[}]` for the character itself",
        ),
        ErrorKind::UnclosedAlternates => (
            unpaired(pattern, Unpaired::Open),
            "this `{` is never closed",
            "Close it with `}`, or write `[{]` for the character itself",
        ),
        ErrorKind::DanglingEscape => (
            Some(pattern.len() - 1),
            "nothing follows this `\\`",
            "Remove it, or double it for the character itself",
        ),
        _ => return too_much(argument, pattern),
    };
    let marked = marked(pattern, at.unwrap_or(0), what);
    let message = format!("`{argument}` is no pattern for paths:\n{marked}");
    Refusal::new(Reason::BadPattern, message).next(next)
}

fn too_much(argument: &str, pattern: &str) -> Refusal {
    let message = format!("`{argument}` is too complicated a pattern: {pattern}");
    Refusal::new(Reason::BadPattern, message)
        .next("Simplify it, or search for several patterns one after the other")
}

/// A text with a mark under one of its places, and what is wrong there.
pub(crate) fn marked(text: &str, at: usize, what: &str) -> String {
    let before = text.get(..at).unwrap_or(text);
    // Only the line with the fault, and of a long one the part around it.
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    let column = before[start..].chars().count();
    let skipped = column.saturating_sub(60);
    let shown: String = line.chars().skip(skipped).take(100).collect();
    let ellipsis = if skipped > 0 { "…" } else { "" };
    let indent = column - skipped + ellipsis.chars().count();
    format!("    {ellipsis}{shown}\n    {}^ {what}", " ".repeat(indent))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unpaired {
    Open,
    Close,
}

/// The first brace that has no partner.
fn unpaired(pattern: &str, wanted: Unpaired) -> Option<usize> {
    let mut open = Vec::new();
    let mut characters = pattern.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => {
                characters.next();
            }
            '[' => {
                // Within a class braces mean themselves; a `]` that comes first too.
                let mut is_first = true;
                for (_, inner) in characters.by_ref() {
                    if inner == ']' && !is_first {
                        break;
                    }
                    is_first = is_first && matches!(inner, '!' | '^');
                }
            }
            '{' => open.push(at),
            '}' if open.pop().is_none() && wanted == Unpaired::Close => return Some(at),
            _ => {}
        }
    }
    match wanted {
        Unpaired::Open => open.first().copied(),
        Unpaired::Close => None,
    }
}
