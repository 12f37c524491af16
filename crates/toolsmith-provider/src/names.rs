//! Names a provider accepts, one for each name there is, and never one for two.
//!
//! A name that is accepted as it is stays, whatever the others are and in whatever order
//! they come, unless the provider has a tool of its own by that name: only names that must
//! change give way. Which name stands for which is kept by
//! the [`Dictionary`](crate::Dictionary) for tools and by the mapping of a schema for
//! properties.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::rules::Names;

/// How many hexadecimal digits tell two names apart at first. More are taken where those
/// are not enough.
const DIGITS: usize = 8;

/// Finds an accepted name for each name, in order. None is in `taken`.
pub(crate) fn assign<'n>(
    names: &[&'n str],
    rules: &Names,
    taken: impl Iterator<Item = &'n str>,
) -> Vec<String> {
    let taken: HashSet<&str> = taken.collect();
    let stays = |name: &&str| rules.accept(name) && !taken.contains(*name);
    if names.iter().all(stays) {
        return names.iter().map(|name| (*name).to_owned()).collect();
    }
    let mut used: HashSet<String> = taken.iter().map(|name| (*name).to_owned()).collect();
    let mut cleaned: HashMap<String, usize> = HashMap::new();
    for name in names {
        if stays(name) {
            used.insert((*name).to_owned());
        } else {
            *cleaned.entry(clean(name, rules)).or_default() += 1;
        }
    }
    let mut assigned = Vec::with_capacity(names.len());
    for name in names {
        if stays(name) {
            assigned.push((*name).to_owned());
            continue;
        }
        let candidate = clean(name, rules);
        let alone = cleaned.get(&candidate) == Some(&1);
        let free = alone && candidate.len() <= rules.longest && !used.contains(&candidate);
        let chosen = if free {
            candidate
        } else {
            with_hash(name, &candidate, rules, &used)
        };
        used.insert(chosen.clone());
        assigned.push(chosen);
    }
    assigned
}

/// The name with everything replaced that is not accepted. It may still be too long.
fn clean(name: &str, rules: &Names) -> String {
    let mut cleaned: String = name
        .chars()
        .map(|character| match u8::try_from(character) {
            Ok(byte) if byte.is_ascii() && rules.accept_byte(byte) => character,
            _ => '_',
        })
        .collect();
    let begins_well = |first: char| first.is_ascii_alphabetic() || first == '_';
    if cleaned.is_empty() || (rules.begins_with_letter && !cleaned.starts_with(begins_well)) {
        cleaned.insert(0, '_');
    }
    cleaned
}

/// The cleaned name, cut, with a hash of the whole name at its end.
fn with_hash(name: &str, cleaned: &str, rules: &Names, used: &HashSet<String>) -> String {
    let mut hash = String::with_capacity(64);
    for byte in Sha256::digest(name.as_bytes()) {
        let _ = write!(hash, "{byte:02x}");
    }
    let most = rules.longest.saturating_sub(2).min(hash.len());
    for digits in DIGITS.min(most)..=most {
        let kept = rules.longest - digits - 1;
        // Whatever was not ASCII has become `_`, so any byte is a boundary.
        let beginning = &cleaned[..cleaned.len().min(kept)];
        let candidate = format!("{beginning}_{}", &hash[..digits]);
        if !used.contains(&candidate) {
            return candidate;
        }
    }
    // Sixty names that are all the prefixes of one hash: somebody wanted this.
    let mut number = used.len();
    loop {
        let candidate = format!("_{number}");
        if !used.contains(&candidate) {
            return candidate;
        }
        number += 1;
    }
}
