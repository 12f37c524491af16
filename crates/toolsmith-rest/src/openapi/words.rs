//! What a tool is said to be for.

use serde_json::Value;

use super::outline::Place;
use super::{refer, text};
use crate::form::DescriptionForm;

/// How long the short form is best.
const SHORT: std::ops::RangeInclusive<usize> = 20..=500;
/// How long the long form is at most.
const LONG: usize = 4000;

/// The description of an operation: its summary, then what is said at length.
pub(super) fn description(place: &Place<'_>, title: &str) -> DescriptionForm {
    let operation = place.operation;
    let either =
        |field: &str| refer::string(operation, field).or_else(|| refer::string(place.item, field));
    let summary = either("summary").map(|summary| text::line(summary, *SHORT.end()));
    let described = either("description").map(|long| text::bounded(long, LONG));
    let (mut short, long) = match (summary, described) {
        (Some(summary), long) => (sentence(&summary), long.unwrap_or_default()),
        (None, Some(long)) => {
            let (first, rest) = long.split_once("\n\n").unwrap_or((&long, ""));
            let short = text::line(first, *SHORT.end());
            // What was cut off stays readable.
            let rest = if short.ends_with('…') {
                long.clone()
            } else {
                rest.trim().to_owned()
            };
            (sentence(&short), rest)
        }
        (None, None) => (String::new(), String::new()),
    };
    if short.chars().count() < *SHORT.start() {
        let (method, path) = (&place.method, text::line(place.path, 120));
        let request = format!("Sends {method} {path} to {title}.");
        short = if short.is_empty() {
            request
        } else {
            format!("{short} {request}")
        };
    }
    let mut important = Vec::new();
    if refer::is_true(operation, "deprecated") {
        important.push("It is deprecated; use another tool where there is one.".to_owned());
    }
    // What was cut off the short form is not said yet.
    let is_same = !short.ends_with('…') && sentence(&text::line(&long, *SHORT.end())) == short;
    let long = if is_same { String::new() } else { long };
    DescriptionForm::Parts {
        short,
        long,
        usage_notes: Vec::new(),
        important,
    }
}

/// The tags of an operation.
pub(super) fn tags(operation: &Value) -> Vec<String> {
    let tags = operation.get("tags").and_then(Value::as_array);
    let tags = tags.into_iter().flatten().filter_map(Value::as_str);
    let mut kept: Vec<String> = Vec::new();
    for tag in tags.map(|tag| text::line(tag, 60)).take(20) {
        if !tag.is_empty() && !kept.contains(&tag) {
            kept.push(tag);
        }
    }
    kept
}

/// Where more is written.
pub(super) fn documentation(value: &Value) -> Option<String> {
    let address = refer::string(value.get("externalDocs")?, "url")?.trim();
    let is_address = address.starts_with("https://") || address.starts_with("http://");
    let is_plain = address.len() <= 500 && address.chars().all(|c| c.is_ascii_graphic());
    (is_address && is_plain).then(|| address.to_owned())
}

fn sentence(text: &str) -> String {
    match text.ends_with(['.', '!', '?', '…', ':', '。']) || text.is_empty() {
        true => text.to_owned(),
        false => format!("{text}."),
    }
}
