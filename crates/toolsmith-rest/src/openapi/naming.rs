//! What tools and arguments are called.
//!
//! A tool's name comes from its `operationId`, or from its method and path. It depends
//! on nothing else where it is the only one of its kind, so that it stays the same when
//! a document grows or is filtered.

use std::collections::{HashMap, HashSet};

use toolsmith_core::name::MAX_NAME_LENGTH;

use super::notes::Notes;
use super::text;

/// How many characters of a digest end a name that was cut.
const DIGEST: usize = 8;

/// An operation as far as its name goes.
#[derive(Debug)]
pub(super) struct Called<'d> {
    pub(super) id: Option<&'d str>,
    pub(super) method: &'d str,
    pub(super) path: &'d str,
}

/// Operations that would have the same name.
#[derive(Default)]
struct Group<'d> {
    count: usize,
    methods: HashSet<&'d str>,
}

/// The names of all operations, each of which is unlike the others.
pub(super) fn name_all(operations: &[Called<'_>], prefix: &str, notes: &mut Notes) -> Vec<String> {
    let first: Vec<String> = operations
        .iter()
        .map(|called| first_name(called, prefix))
        .collect();
    let mut groups: HashMap<&str, Group<'_>> = HashMap::new();
    for (called, name) in operations.iter().zip(&first) {
        let group = groups.entry(name).or_default();
        group.count += 1;
        group.methods.insert(called.method);
    }
    let alone = first.iter().filter(|name| groups[name.as_str()].count == 1);
    let mut taken: HashSet<String> = alone.cloned().collect();
    // Where counting goes on: digests are easily made alike, and many are not counted through.
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut names = first.clone();
    for (index, name) in first.iter().enumerate() {
        let group = &groups[name.as_str()];
        if group.count == 1 {
            continue;
        }
        let called = &operations[index];
        let whole = format!("{} {}", called.method, called.path);
        let by_method = with_suffix(name, &called.method.to_lowercase());
        let by_digest = with_suffix(name, &digest(&whole));
        let is_told_apart = group.methods.len() == group.count;
        let mut own = match is_told_apart && !taken.contains(&by_method) {
            true => by_method,
            false => by_digest.clone(),
        };
        let number = numbers.entry(by_digest).or_insert(2_usize);
        while !taken.insert(own.clone()) {
            own = with_suffix(name, &format!("{}_{number}", digest(&whole)));
            *number += 1;
        }
        notes.add(format!(
            "{whole}: `{name}` is the name of {} operations; this one is `{own}`",
            group.count
        ));
        names[index] = own;
    }
    names
}

fn first_name(called: &Called<'_>, prefix: &str) -> String {
    let by_id = called.id.map(lower).filter(|name| !name.is_empty());
    let name = by_id.unwrap_or_else(|| {
        let path = lower(called.path);
        let path = if path.is_empty() { "root" } else { &path };
        format!("{}_{path}", lower(called.method))
    });
    let name = format!("{prefix}{name}");
    let is_letter = |c: char| c.is_ascii_lowercase();
    let name = match name.starts_with(is_letter) {
        true => name,
        false => format!("{}_{name}", lower(called.method)),
    };
    cut(name)
}

/// The text in lower case with underscores: `listPets` is `list_pets`, `HTTPServer` is
/// `http_server`.
pub(super) fn lower(text: &str) -> String {
    let mut name = String::new();
    let mut before = ' ';
    let mut rest = text.chars().take(1000).peekable();
    while let Some(c) = rest.next() {
        let begins_word = c.is_ascii_uppercase()
            && (before.is_ascii_lowercase()
                || before.is_ascii_digit()
                || before.is_ascii_uppercase()
                    && rest.peek().is_some_and(char::is_ascii_lowercase));
        let is_gap = !c.is_ascii_alphanumeric();
        if (begins_word || is_gap) && !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
        if !is_gap {
            name.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    name.truncate(name.trim_end_matches('_').len());
    name
}

/// The name of a parameter or field as an argument: letters, digits and underscores.
pub(super) fn argument(wire: &str) -> String {
    let mut name = String::new();
    for c in wire.chars().take(1000) {
        if c.is_ascii_alphanumeric() || c == '_' {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    if name != wire {
        name.truncate(name.trim_end_matches('_').len());
    }
    if name.is_empty() {
        name.push_str("argument");
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert_str(0, "argument_");
    }
    cut(name)
}

/// The same under an API's name, for an environment variable.
pub(super) fn variable(parts: &[&str]) -> String {
    let parts: Vec<String> = parts.iter().map(|part| cut(lower(part))).collect();
    let parts: Vec<&str> = parts
        .iter()
        .map(String::as_str)
        .filter(|part| !part.is_empty())
        .collect();
    let name = parts.join("_").to_uppercase();
    match name.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("API_{name}"),
        false => name,
    }
}

/// A name with something after it, within the limit.
pub(super) fn with_suffix(name: &str, suffix: &str) -> String {
    let room = MAX_NAME_LENGTH.saturating_sub(suffix.len() + 1);
    let kept = &name[..name.len().min(room)];
    format!("{}_{suffix}", kept.trim_end_matches('_'))
}

/// A name that is too long is cut, and ends in a digest of the whole.
fn cut(name: String) -> String {
    if name.len() <= MAX_NAME_LENGTH {
        return name;
    }
    let digest = digest(&name);
    with_suffix(&name, &digest)
}

/// A few characters that tell texts apart (FNV-1a): nobody's safety hangs on them, and
/// they are the same everywhere and always.
fn digest(text: &str) -> String {
    let mut state: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in text.bytes() {
        state ^= u64::from(byte);
        state = state.wrapping_mul(0x0100_0000_01b3);
    }
    let digits = format!("{state:016x}");
    digits[digits.len() - DIGEST..].to_owned()
}

/// What an API is called, in few words.
pub(super) fn api(title: &str) -> String {
    let name = lower(&text::line(title, 60));
    let name = name.trim_start_matches(|c: char| !c.is_ascii_lowercase());
    if name.is_empty() {
        "api".to_owned()
    } else {
        name.to_owned()
    }
}
