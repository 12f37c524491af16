//! A schema as a table for people: one row for each argument, those within others by the
//! way to them. The schema itself stands beneath the table, so what a row leaves out is
//! not lost.

use std::collections::HashSet;

use minijinja::{Value, context};
use serde_json::Value as Json;
use toolsmith_core::json;

use super::words::{cleaned, paragraphs};

/// How deep arguments within arguments are shown; a schema that refers to itself has no
/// end.
const DEEPEST: usize = 4;
/// How many rows a table has at most.
const MOST_ROWS: usize = 200;
/// How many choices, and how many sorts of value, one row tells.
const MOST_CHOICES: usize = 40;
/// How many characters of a value a row tells, and how many of a description. A schema
/// may refer to one long text from many places.
const LONGEST: usize = 120;
const LONGEST_TEXT: usize = 2_000;
/// How many names are looked up as required.
const MOST_REQUIRED: usize = 10_000;
/// How deep a type is told: lists of lists, and choices of choices.
const DEEPEST_KIND: usize = 3;

/// The rows of a schema.
pub(super) fn parameters(schema: &Json) -> Vec<Value> {
    let mut table = Table {
        root: schema,
        rows: Vec::new(),
    };
    table.fields(schema, "", 0);
    table.rows
}

struct Table<'a> {
    root: &'a Json,
    rows: Vec<Value>,
}

impl<'a> Table<'a> {
    fn fields(&mut self, schema: &'a Json, way: &str, depth: usize) {
        let Some(properties) = schema.get("properties").and_then(Json::as_object) else {
            return;
        };
        let required = schema.get("required").and_then(Json::as_array);
        let required: HashSet<&str> = (required.into_iter().flatten())
            .take(MOST_REQUIRED)
            .filter_map(Json::as_str)
            .collect();
        for (name, given) in properties {
            if self.rows.len() >= MOST_ROWS {
                return;
            }
            let property = self.resolved(given);
            let way = format!("{way}{name}");
            let of_either = |keyword: &str| given.get(keyword).or_else(|| property.get(keyword));
            let description = of_either("description").and_then(Json::as_str);
            let description = description.map(|text| shortened(text, LONGEST_TEXT));
            self.rows.push(context! {
                name => word(&way),
                kind => self.kind(property, 0),
                is_required => required.contains(name.as_str()),
                default => of_either("default").map(written),
                choices => choices(property, description.as_deref().unwrap_or_default()),
                limits => limits(property),
                description => description.as_deref().map(paragraphs),
            });
            if depth < DEEPEST {
                self.fields(property, &format!("{way}."), depth + 1);
                if let Some(items) = property.get("items") {
                    self.fields(self.resolved(items), &format!("{way}[]."), depth + 1);
                }
            }
        }
    }

    /// What a schema within this one refers to, or itself. A reference to a reference is
    /// left alone: it may lead in circles.
    fn resolved(&self, schema: &'a Json) -> &'a Json {
        let name = schema.get("$ref").and_then(Json::as_str);
        let pointer = name.and_then(|name| name.strip_prefix('#'));
        let meant = pointer.and_then(|pointer| self.root.pointer(pointer));
        meant.unwrap_or(schema)
    }

    /// The type in a few words.
    fn kind(&self, schema: &'a Json, depth: usize) -> String {
        if schema.get("const").is_some() {
            return "exactly".to_owned();
        }
        let any_of = ["anyOf", "oneOf"].iter();
        let branches = any_of.filter_map(|keyword| schema.get(keyword)?.as_array());
        match schema.get("type") {
            Some(Json::String(name)) if name == "array" => match schema.get("items") {
                Some(items) if depth < DEEPEST_KIND => {
                    format!("array of {}", self.kind(self.resolved(items), depth + 1))
                }
                _ => "array".to_owned(),
            },
            Some(Json::String(name)) => word(name),
            Some(Json::Array(names)) => {
                let names = names.iter().filter_map(Json::as_str).take(MOST_CHOICES);
                word(&names.collect::<Vec<_>>().join(" or "))
            }
            _ if depth < DEEPEST_KIND => {
                let branches = branches.flatten().take(8 >> depth);
                let mut kinds: Vec<String> = branches
                    .map(|branch| self.kind(self.resolved(branch), depth + 1))
                    .collect();
                kinds.dedup();
                let choices = schema.get("enum").and_then(Json::as_array);
                match (kinds.is_empty(), choices) {
                    (false, _) => shortened(&kinds.join(" or "), LONGEST),
                    (true, Some(all)) if all.iter().all(Json::is_string) => "string".to_owned(),
                    (true, _) => "any".to_owned(),
                }
            }
            _ => "any".to_owned(),
        }
    }
}

/// The values to choose from, unless the description tells of each already.
fn choices(schema: &Json, description: &str) -> Vec<String> {
    if let Some(literal) = schema.get("const") {
        return vec![written(literal)];
    }
    let given = schema.get("enum").and_then(Json::as_array);
    let given = given.map(Vec::as_slice).unwrap_or_default();
    let is_told = |choice: &Json| {
        let quoted = choice.as_str().map(|word| format!("`{word}`"));
        quoted.is_some_and(|quoted| description.contains(&quoted))
    };
    if given.len() <= MOST_CHOICES && given.iter().all(is_told) {
        return Vec::new();
    }
    let mut choices: Vec<String> = given.iter().take(MOST_CHOICES).map(written).collect();
    if given.len() > MOST_CHOICES {
        choices.push(format!("… {} more", given.len() - MOST_CHOICES));
    }
    choices
}

/// What a value must keep to, in a few words each.
fn limits(schema: &Json) -> Vec<String> {
    let mut limits = Vec::new();
    let number = |keyword: &str| schema.get(keyword).filter(|value| value.is_number());
    match (number("minimum"), number("maximum")) {
        (Some(least), Some(most)) => limits.push(format!("{least} to {most}")),
        (Some(least), None) => limits.push(format!("at least {least}")),
        (None, Some(most)) => limits.push(format!("at most {most}")),
        (None, None) => {}
    }
    let bounds = [
        ("exclusiveMinimum", "more than", ""),
        ("exclusiveMaximum", "less than", ""),
        ("multipleOf", "a multiple of", ""),
        ("minLength", "at least", "characters"),
        ("maxLength", "at most", "characters"),
        ("minItems", "at least", "items"),
        ("maxItems", "at most", "items"),
    ];
    for (keyword, words, unit) in bounds {
        if let Some(bound) = number(keyword) {
            let plural = match bound.as_u64() {
                Some(1) => unit.trim_end_matches('s'),
                _ => unit,
            };
            limits.push(format!("{words} {bound} {plural}").trim_end().to_owned());
        }
    }
    for (keyword, words) in [("format", "format"), ("pattern", "pattern")] {
        if let Some(text) = schema.get(keyword).and_then(Json::as_str) {
            limits.push(format!("{words} {}", word(text)));
        }
    }
    limits
}

/// A value as JSON, or as much of it as fits.
fn written(value: &Json) -> String {
    match json::size_exceeds(value, 4 * LONGEST) {
        true => "…".to_owned(),
        false => word(&value.to_string()),
    }
}

/// A name or a value, cleaned and within bounds.
fn word(text: &str) -> String {
    cleaned(&shortened(text, LONGEST))
}

fn shortened(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
