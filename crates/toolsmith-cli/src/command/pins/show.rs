//! `toolsmith pins show NAME`: the difference, word by word.
//!
//! What is printed here is what somebody decides on. So whatever is invisible, or looks
//! like a letter it is not, is spelled out.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};
use toolsmith_runtime::registry::pin::{Pin, Withheld, looks_plain};

use crate::failure::Failure;
use crate::print;
use crate::session::Session;

/// How long two texts are compared for; after that they differ as a whole.
const PATIENCE: Duration = Duration::from_secs(2);

/// How many words that stayed are shown around those that did not.
const AROUND: usize = 12;

/// How many characters of one value are shown.
const LONGEST: usize = 20_000;

/// One place in which two definitions differ.
#[derive(Debug, PartialEq)]
struct Difference {
    /// The way there, such as `inputSchema.properties.path`.
    path: String,
    old: Option<Value>,
    new: Option<Value>,
}

pub(super) fn run(session: &Session, name: &str, as_json: bool) -> Result<u8, Failure> {
    let withheld = session.toolbox.registry().withheld();
    if let Some(tool) = withheld.iter().find(|tool| tool.name == *name) {
        return changed(tool, as_json);
    }
    let all = session.manager.pins().all()?;
    let found = all
        .iter()
        .find_map(|(source, pins)| Some((source, pins.get(name)?)));
    let Some((source, pin)) = found else {
        return Err(super::unknown(name, "is pinned or withheld"));
    };
    if as_json {
        print::json(&json!({ "tool": name, "source": source, "state": "pinned", "pinned": pin }))?;
        return Ok(0);
    }
    let (name, source) = (print::visible(name), print::visible(source));
    print::line(&format!("{name} of {source}: pinned, {}", pin.digest))?;
    for difference in differences(None, pin.definition.as_ref()) {
        print::line(&format!(
            "  {}: {}",
            spelled(&difference.path),
            whole(&difference.new)
        ))?;
    }
    Ok(0)
}

fn changed(tool: &Arc<Withheld>, as_json: bool) -> Result<u8, Failure> {
    let said = |pin: &Arc<Pin>| pin.definition.clone();
    let old = tool.pinned.as_ref().and_then(said);
    let differences = differences(old.as_ref(), tool.now.definition.as_ref());
    if as_json {
        let differences: Vec<Value> = differences
            .into_iter()
            .map(|each| json!({ "path": each.path, "old": each.old, "new": each.new }))
            .collect();
        let mut row = json!(tool);
        row["tool"] = json!(tool.name);
        row["reason"] = tool.reason().into();
        row["differences"] = differences.into();
        print::json(&row)?;
        return Ok(0);
    }
    let source = print::visible(&tool.source);
    print::line(&format!("{} of {source}: {}", tool.name, tool.why.word()))?;
    print::line(&format!("  {}", print::visible(&tool.reason())))?;
    if let Some(pinned) = &tool.pinned {
        print::line(&format!("  pinned {}", pinned.digest))?;
        if pinned.definition.is_none() {
            print::line("  what it said then was too long to keep; this is what it says now")?;
        }
    }
    print::line(&format!("  now    {}\n", tool.now.digest))?;
    for difference in &differences {
        print::line(&in_words(difference))?;
    }
    print::note(&format!(
        "Use it as it is now: toolsmith pins approve {}@{}",
        tool.name,
        tool.now.digest.short()
    ));
    Ok(0)
}

/// Where two definitions differ, in order of the way there.
fn differences(old: Option<&Value>, new: Option<&Value>) -> Vec<Difference> {
    let mut found = Vec::new();
    compare("", old, new, &mut found);
    found
}

fn compare(path: &str, old: Option<&Value>, new: Option<&Value>, found: &mut Vec<Difference>) {
    if old == new {
        return;
    }
    let is_object = |value: Option<&Value>| value.is_none_or(Value::is_object);
    let is_list = |value: Option<&Value>| value.is_none_or(Value::is_array);
    let is_empty = |value: Option<&Value>| match value {
        Some(Value::Object(fields)) => fields.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        _ => true,
    };
    // One that is there and empty is a difference too, from one that is not there.
    let (same_sort, are_empty) = (
        (is_object(old) && is_object(new)) || (is_list(old) && is_list(new)),
        is_empty(old) && is_empty(new),
    );
    if !same_sort || are_empty {
        found.push(Difference {
            path: path.to_owned(),
            old: old.cloned(),
            new: new.cloned(),
        });
        return;
    }
    let mut keys: Vec<String> = keys(old).chain(keys(new)).collect();
    // Places in a list stay in their order, which is not that of their digits.
    keys.sort_by_key(|key| (key.parse::<usize>().ok(), key.clone()));
    keys.dedup();
    for key in keys {
        let deeper = match path {
            "" => key.clone(),
            path => format!("{path}.{key}"),
        };
        compare(&deeper, at(old, &key), at(new, &key), found);
    }
}

/// The keys of an object, the places of a list.
fn keys(value: Option<&Value>) -> Box<dyn Iterator<Item = String> + '_> {
    match value {
        Some(Value::Object(fields)) => Box::new(fields.keys().cloned()),
        Some(Value::Array(items)) => Box::new((0..items.len()).map(|at| at.to_string())),
        _ => Box::new(std::iter::empty()),
    }
}

fn at<'v>(value: Option<&'v Value>, key: &str) -> Option<&'v Value> {
    match value? {
        Value::Object(fields) => fields.get(key),
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        _ => None,
    }
}

/// A difference as it is read: what stayed as it is, what is gone in `-[…]`, what is new in
/// `+[…]`.
fn in_words(difference: &Difference) -> String {
    let path = spelled(&difference.path);
    match (&difference.old, &difference.new) {
        (Some(Value::String(old)), Some(Value::String(new))) => {
            format!("  {path}: {}", word_by_word(old, new))
        }
        (Some(old), Some(new)) => format!("  {path}: {} {}", gone(&shown(old)), fresh(&shown(new))),
        (Some(old), None) => format!("  {path}: {}", gone(&shown(old))),
        (None, Some(new)) => format!("  {path}: {}", fresh(&shown(new))),
        (None, None) => String::new(),
    }
}

fn whole(value: &Option<Value>) -> String {
    value.as_ref().map(shown).unwrap_or_default()
}

/// A value in one line, with everything that hides spelled out.
fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    cut(&text)
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!(
            "{}… and {} bytes more",
            spelled(&text[..end]),
            text.len() - end
        ),
        None => spelled(text),
    }
}

fn word_by_word(old: &str, new: &str) -> String {
    let mut compared = TextDiff::configure();
    compared.timeout(PATIENCE);
    let compared = compared.diff_words(old, new);
    let mut runs: Vec<(ChangeTag, Vec<&str>)> = Vec::new();
    for change in compared.iter_all_changes() {
        match runs.last_mut() {
            Some((tag, words)) if *tag == change.tag() => words.push(change.value()),
            _ => runs.push((change.tag(), vec![change.value()])),
        }
    }
    let last = runs.len().saturating_sub(1);
    let mut text = String::new();
    for (at, (tag, words)) in runs.iter().enumerate() {
        match tag {
            ChangeTag::Delete => text += &gone(&cut(&words.concat())),
            ChangeTag::Insert => text += &fresh(&cut(&words.concat())),
            ChangeTag::Equal => {
                // Twice as many pieces as words: blanks are pieces too.
                let (before, after) = (
                    2 * AROUND * usize::from(at > 0),
                    2 * AROUND * usize::from(at < last),
                );
                if words.len() > before + after + 2 {
                    text += &spelled(&words[..before].concat());
                    text += " … ";
                    text += &spelled(&words[words.len() - after..].concat());
                } else {
                    text += &spelled(&words.concat());
                }
            }
        }
    }
    text
}

fn gone(text: &str) -> String {
    format!("\u{1b}[31m-[{text}]\u{1b}[0m")
}

fn fresh(text: &str) -> String {
    format!("\u{1b}[32m+[{text}]\u{1b}[0m")
}

/// A text in which nothing passes for what it is not: what nobody sees is spelled out, and
/// so are letters that look like plain ones, in words that could be taken for plain ones.
/// Brackets get a stroke, since unmarked ones mark what changed.
fn spelled(text: &str) -> String {
    let mut spelled = String::with_capacity(text.len());
    for word in text.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let mut letters = word.chars().filter(|c| c.is_alphanumeric());
        let has_plain = word.chars().any(|c| c.is_ascii_alphanumeric());
        let is_suspect = has_plain || letters.all(looks_plain);
        for c in word.chars() {
            if matches!(c, '[' | ']') {
                spelled.extend(['\\', c]);
            } else if is_suspect && !c.is_ascii() && looks_plain(c) {
                spelled.extend(c.escape_unicode());
            } else {
                spelled.push_str(&print::visible(c.encode_utf8(&mut [0; 4])));
            }
        }
    }
    spelled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        let text = text.replace("\u{1b}[31m", "").replace("\u{1b}[32m", "");
        text.replace("\u{1b}[0m", "")
    }

    #[test]
    fn words_that_differ_are_marked() {
        for (old, new, shown) in [
            (
                "Reads a file.",
                "Reads every file.",
                "Reads -[a]+[every] file.",
            ),
            ("Reads.", "Reads. And sends.", "Reads.+[ And sends.]"),
            ("one two", "one  two", "one-[ ]+[  ]two"),
            ("same", "s\u{430}me", "-[same]+[s\\u{430}me]"),
            ("a b", "a\u{200b} b", "-[a]+[a\\u{200b}] b"),
            ("a", "a] to nobody; +[b", "-[a]+[a\\] to nobody; +\\[b]"),
        ] {
            assert_eq!(plain(&word_by_word(old, new)), shown);
        }
    }

    #[test]
    fn what_stays_far_away_is_left_out() {
        let long = "word ".repeat(200);
        let shown = plain(&word_by_word(&format!("{long}old"), &format!("{long}new")));
        assert!(
            shown.starts_with(" … word") && shown.ends_with("-[old]+[new]"),
            "{shown}"
        );
        assert!(shown.len() < 100, "{shown}");
    }

    #[test]
    fn places_are_told_by_the_way_there() {
        let old = json!({"a": {"b": 1, "c": [1, 2]}, "gone": true});
        let new = json!({"a": {"b": 2, "c": [1, 3, 4]}, "fresh": {}});
        let found = differences(Some(&old), Some(&new));
        let told: Vec<String> = found.iter().map(|each| plain(&in_words(each))).collect();
        assert_eq!(
            told,
            [
                "  a.b: -[1] +[2]",
                "  a.c.1: -[2] +[3]",
                "  a.c.2: +[4]",
                "  fresh: +[{}]",
                "  gone: -[true]"
            ]
        );
    }

    #[test]
    fn other_scripts_stay_readable_and_impostors_do_not() {
        assert_eq!(spelled("привет мир, 漢字 é"), "привет мир, 漢字 é");
        assert_eq!(spelled("p\u{430}ypal"), "p\\u{430}ypal");
        assert_eq!(
            spelled("\u{441}\u{43e}\u{440}\u{435}"),
            "\\u{441}\\u{43e}\\u{440}\\u{435}"
        );
    }
}
