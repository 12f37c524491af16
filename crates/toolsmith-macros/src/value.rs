//! The values attributes take, checked where they are written.

use std::time::Duration;

use proc_macro2::Span;
use syn::{Error, LitStr, Result};

/// What a tool may be called: lower case with underscores, a letter first.
pub(crate) fn name(text: &str, span: Span) -> Result<()> {
    let problem = if text.is_empty() {
        "is empty".to_owned()
    } else if text.len() > 64 {
        format!("has {} characters; at most 64 are allowed", text.len())
    } else if !text.starts_with(|c: char| c.is_ascii_lowercase()) {
        "does not start with a lower-case letter".to_owned()
    } else if let Some(found) = text
        .chars()
        .find(|c| !(c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '_'))
    {
        format!("holds {found:?}; use lower-case letters, digits and `_`")
    } else {
        return Ok(());
    };
    Err(Error::new(
        span,
        format!("the tool name {text:?} {problem}; set another with `name = \"…\"`"),
    ))
}

/// A word out of a list; the variants of core's enums are the same in camel case.
pub(crate) fn word(literal: &LitStr, what: &str, words: &[&str]) -> Result<String> {
    let text = literal.value();
    if words.contains(&text.as_str()) {
        return Ok(text);
    }
    let all: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
    Err(Error::new(
        literal.span(),
        format!("{text:?} is no {what}; use {}", one_of(&all)),
    ))
}

fn one_of(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// A duration in nanoseconds, by the grammar of core's `duration::parse`. It is
/// written again here because core depends on this crate.
pub(crate) fn nanoseconds(literal: &LitStr) -> Result<u64> {
    const YEAR: Duration = Duration::from_secs(366 * 24 * 3600);
    let text = literal.value();
    duration(&text)
        .filter(|duration| *duration <= YEAR)
        .and_then(|duration| u64::try_from(duration.as_nanos()).ok())
        .ok_or_else(|| {
            Error::new(
                literal.span(),
                format!("{text:?} is no duration; write a number and a unit, such as `500ms`, `30s`, `5m` or `2h`"),
            )
        })
}

fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(split);
    let number: f64 = number.parse().ok()?;
    let seconds = match unit {
        "ms" => number / 1000.0,
        "s" => number,
        "m" => number * 60.0,
        "h" => number * 3600.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(seconds).ok()
}

/// The nearest of some names to one that is not among them, where it is near
/// enough to have been meant.
pub(crate) fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    known
        .iter()
        .map(|candidate| (distance(name, candidate), *candidate))
        .min()
        .filter(|(distance, _)| *distance <= name.len().max(3) / 3 + 1)
        .map(|(_, candidate)| candidate)
}

/// How many characters must be changed, added or removed (Levenshtein).
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let change = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::{duration, nearest};
    use std::time::Duration;

    #[test]
    fn durations_have_a_number_and_a_unit() {
        assert_eq!(duration("500ms"), Some(Duration::from_millis(500)));
        assert_eq!(duration("1.5s"), Some(Duration::from_millis(1500)));
        assert_eq!(duration("2h"), Some(Duration::from_secs(7200)));
        for wrong in ["", "5", "s", "5 s", "-1s", "5sec", "1e3s", "1.2.3s"] {
            assert_eq!(duration(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn only_near_names_are_suggested() {
        let known = ["timeout", "title", "tags"];
        assert_eq!(nearest("time_out", &known), Some("timeout"));
        assert_eq!(nearest("tag", &known), Some("tags"));
        assert_eq!(nearest("completely", &known), None);
    }
}
