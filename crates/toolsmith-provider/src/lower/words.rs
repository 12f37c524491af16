//! What a keyword says, for a person or a model to read: a few words each.

use std::borrow::Cow;

use serde_json::{Map, Value};
use toolsmith_core::clean::clean;
use toolsmith_core::json;

use crate::rules::Keyword;

/// The longest piece of JSON that is quoted.
const LONGEST: usize = 300;

/// A keyword in words. Empty where nothing needs to be said.
pub(crate) fn words(keyword: Keyword, value: &Value) -> String {
    let many = |count: &Value, one: &str, more: &str| match count.as_f64() {
        Some(1.0) => format!("1 {one}"),
        _ => format!("{count} {more}"),
    };
    match keyword {
        Keyword::Title | Keyword::ContentSchema | Keyword::UnevaluatedItems => String::new(),
        Keyword::MinContains | Keyword::MaxContains => String::new(),
        Keyword::Default if value.is_null() => String::new(),
        Keyword::Default => sentence("Default", value),
        Keyword::Examples => match value {
            Value::Array(list) if list.is_empty() => String::new(),
            Value::Array(list) => {
                let few: Vec<String> = list.iter().take(3).filter_map(quoted).collect();
                format!("For example: {}.", few.join(", "))
            }
            value => sentence("For example", value),
        },
        Keyword::Deprecated if *value == Value::Bool(true) => "Deprecated.".to_owned(),
        Keyword::ReadOnly if *value == Value::Bool(true) => "Read-only.".to_owned(),
        Keyword::Deprecated | Keyword::ReadOnly | Keyword::WriteOnly => String::new(),
        Keyword::Format => format!("Format: {}.", plain(value)),
        Keyword::Pattern => format!("Matches the pattern {}", plain(value)),
        Keyword::MinLength => format!("At least {}.", many(value, "character", "characters")),
        Keyword::MaxLength => format!("At most {}.", many(value, "character", "characters")),
        Keyword::ContentEncoding => format!("Encoded as {}.", plain(value)),
        Keyword::ContentMediaType => format!("Contains {}.", plain(value)),
        Keyword::Minimum => format!("At least {value}."),
        Keyword::Maximum => format!("At most {value}."),
        Keyword::ExclusiveMinimum => format!("More than {value}."),
        Keyword::ExclusiveMaximum => format!("Less than {value}."),
        Keyword::MultipleOf => format!("A multiple of {value}."),
        Keyword::MinItems => format!("At least {}.", many(value, "item", "items")),
        Keyword::MaxItems => format!("At most {}.", many(value, "item", "items")),
        Keyword::UniqueItems if *value == Value::Bool(true) => "No item twice.".to_owned(),
        Keyword::UniqueItems => String::new(),
        Keyword::MinProperties => format!("At least {}.", many(value, "property", "properties")),
        Keyword::MaxProperties => format!("At most {}.", many(value, "property", "properties")),
        Keyword::Contains => sentence("Contains an item that fits", value),
        Keyword::PropertyNames => sentence("Names of properties fit", value),
        Keyword::PatternProperties => sentence("Properties by the pattern of their names", value),
        Keyword::DependentRequired => dependent(value),
        Keyword::DependentSchemas | Keyword::Dependencies => {
            sentence("Where a property is given, this holds too", value)
        }
        Keyword::Not => sentence("Must not fit", value),
        Keyword::If => sentence("If it fits", value),
        Keyword::Then => sentence("Then it must fit", value),
        Keyword::Else => sentence("Otherwise it must fit", value),
    }
}

/// A list of values in words.
pub(crate) fn one_of<'v>(values: impl Iterator<Item = &'v Value>) -> String {
    let mut text = String::new();
    for value in values {
        let value = quoted(value).filter(|value| text.len() + value.len() <= LONGEST);
        if !text.is_empty() {
            text.push_str(", ");
        }
        match value {
            Some(value) => text.push_str(&value),
            None => {
                text.push('…');
                break;
            }
        }
    }
    format!("One of {text}.")
}

/// What an object holds: whole where that is short, by name where it is not.
pub(crate) fn fields(properties: &Map<String, Value>) -> String {
    if properties.is_empty() {
        return String::new();
    }
    if !properties
        .values()
        .any(|schema| json::size_exceeds(schema, LONGEST))
    {
        let listed: Option<Vec<String>> = (properties.iter().take(12))
            .map(|(name, schema)| Some(format!("{name:?}: {}", quoted(schema)?)))
            .collect();
        let listed = listed.map(|listed| listed.join(", "));
        if let Some(listed) = listed.filter(|text| properties.len() <= 12 && text.len() <= LONGEST)
        {
            return format!("Properties: {{{listed}}}.");
        }
    }
    let names: Vec<&str> = properties.keys().map(String::as_str).take(24).collect();
    format!("Properties: {}.", names.join(", "))
}

/// What the properties fit that an object takes beside those it names.
pub(crate) fn others(schema: &Value) -> Option<String> {
    Some(format!("Other properties fit {}.", quoted(schema)?))
}

/// JSON as it is quoted within a sentence, where it is short enough to be.
pub(crate) fn quoted(value: &Value) -> Option<String> {
    if json::size_exceeds(value, LONGEST) || json::depth_exceeds(value, 32) {
        return None;
    }
    Some(value.to_string())
}

/// How much a schema says by itself, in bytes: its texts, its lists and the names in it,
/// without the schemas below.
pub(crate) fn weight(schema: &Value) -> usize {
    /// What a value of a list takes beside its text.
    const VALUE: usize = 8;
    let item = |value: &Value| VALUE + value.as_str().map_or(0, str::len);
    let said = |(keyword, value): (&String, &Value)| {
        let said: usize = match value {
            Value::String(text) => text.len(),
            Value::Array(list) => list.iter().map(item).sum(),
            Value::Object(fields) => fields.keys().map(String::len).sum(),
            _ => VALUE,
        };
        keyword.len() + said
    };
    schema.as_object().into_iter().flatten().map(said).sum()
}

/// Tells whether nothing hides in a text.
pub(crate) fn is_clean(text: &str) -> bool {
    clean(text) == text
}

/// A text that a model reads, without what hides in it.
pub(crate) fn cleaned_text(text: String) -> String {
    match clean(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(clean) => clean,
    }
}

/// A value that a model reads, without what hides in its texts. It nests no deeper than
/// schemas are read.
pub(crate) fn cleaned(value: &Value) -> Value {
    match value {
        Value::String(text) => cleaned_text(text.clone()).into(),
        Value::Array(list) => list.iter().map(cleaned).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (cleaned_text(name.clone()), cleaned(value)))
            .collect(),
        other => other.clone(),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) if text.len() <= LONGEST => text.clone(),
        value => quoted(value).unwrap_or_else(|| "(too long to tell)".to_owned()),
    }
}

fn sentence(what: &str, value: &Value) -> String {
    quoted(value).map_or_else(String::new, |value| format!("{what}: {value}."))
}

fn dependent(value: &Value) -> String {
    let Some(rules) = value.as_object() else {
        return String::new();
    };
    let mut text = String::new();
    for (name, needed) in rules.iter().take(8) {
        let needed = needed.as_array().into_iter().flatten();
        let needed: Vec<&str> = needed.filter_map(Value::as_str).take(8).collect();
        if !needed.is_empty() {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&format!("With {name} goes {}.", needed.join(", ")));
        }
    }
    if text.len() > LONGEST * 2 {
        String::new()
    } else {
        text
    }
}

/// Adds sentences to a description.
pub(crate) fn describe(description: &mut String, sentences: &[String]) {
    for sentence in sentences.iter().filter(|sentence| !sentence.is_empty()) {
        let said = description.trim_end();
        if !said.is_empty() {
            let ends = said.ends_with(['.', '!', '?', ':', ';', ')']);
            let length = said.len();
            description.truncate(length);
            description.push_str(if ends { " " } else { ". " });
        }
        description.push_str(sentence);
    }
}
