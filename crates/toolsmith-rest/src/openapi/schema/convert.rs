//! One schema, from OpenAPI's dialect to JSON Schema 2020-12.
//!
//! Only keywords with a fitting value are taken over, so that what comes out is always a
//! valid schema. Where something cannot be kept the schema accepts more than the
//! document says, never less: the API itself has the last word.

use std::collections::HashSet;

use serde_json::{Map, Value, json};
use toolsmith_core::json as strict;

use super::keywords::{LIST, MAP, ONE, Reach, opened};
use super::pool::{Piece, Pool, Side};
use crate::openapi::notes::Notes;
use crate::openapi::read::Version;
use crate::openapi::{refer, text};

/// How deep a converted schema nests, as JSON. The registry takes 64 levels, of which a
/// tool needs a few around it.
const MAX_DEPTH: usize = 48;
/// How many schemas one conversion goes through.
const MAX_SCHEMAS: usize = 20_000;
/// How long a description within a schema is.
const DESCRIPTION: usize = 1000;
/// How many names are required.
const REQUIRED: usize = 5000;
/// How large a list of choices is.
const ENUM_BYTES: usize = 8 << 10;
/// How large a default or an example is, and how deep.
const VALUE_BYTES: usize = 1 << 10;
const VALUE_DEPTH: usize = 8;

const TYPES: [&str; 7] = [
    "null", "boolean", "object", "array", "number", "string", "integer",
];

pub(super) fn convert<'d>(pool: &mut Pool<'d>, schema: &'d Value, notes: &mut Notes) -> Piece {
    let mut conversion = Conversion {
        pool,
        notes,
        piece: Piece::default(),
        seen: HashSet::new(),
        left: MAX_SCHEMAS,
    };
    let value = conversion.schema(schema, 1, Reach::Whole);
    let mut piece = conversion.piece;
    piece.value = value;
    piece
}

struct Conversion<'p, 'd> {
    pool: &'p mut Pool<'d>,
    notes: &'p mut Notes,
    piece: Piece,
    /// What was referred to already, and how.
    seen: HashSet<(usize, Reach)>,
    left: usize,
}

impl<'d> Conversion<'_, 'd> {
    fn schema(&mut self, schema: &'d Value, depth: usize, reach: Reach) -> Value {
        self.pool.work += 1;
        let object = match schema {
            Value::Bool(_) => return schema.clone(),
            Value::Object(object) => object,
            _ => return self.open(reach),
        };
        if depth > MAX_DEPTH || self.left == 0 {
            self.notes.add("a schema nests deeper, or has more parts, than is imported; the rest of it accepts anything");
            return self.open(reach);
        }
        self.left -= 1;
        let mut made = Map::new();
        if let Some(reference) = object.get("$ref") {
            match self.reference(reference, reach) {
                Some(reference) => {
                    made.insert("$ref".to_owned(), reference.into());
                }
                None => {
                    if let Value::Object(open) = self.open(reach) {
                        made.extend(open);
                    }
                }
            }
            if self.pool.version == Version::V30 {
                // There, nothing else counts beside a reference; a description does no harm.
                self.keyword(&mut made, object, "description", depth, reach);
                return nullable(made, object);
            }
        }
        for keyword in object.keys() {
            self.keyword(&mut made, object, keyword, depth, reach);
        }
        bounds(&mut made, object);
        drop_unfit_default(&mut made);
        nullable(made, object)
    }

    /// Accepts anything from here on.
    fn open(&mut self, reach: Reach) -> Value {
        self.piece.is_loose = true;
        opened(reach == Reach::Whole)
    }

    fn reference(&mut self, reference: &Value, reach: Reach) -> Option<String> {
        let problem = match reference.as_str() {
            Some(reference) => match self.pool.refer(reference) {
                Ok(number) => {
                    if self.seen.insert((number, Reach::Part)) {
                        self.piece.references.push(number);
                    }
                    if reach == Reach::Whole && self.seen.insert((number, reach)) {
                        self.piece.in_place.push(number);
                    }
                    return Some(format!("#/$defs/{}", self.pool.definition_name(number)));
                }
                Err(problem) => problem,
            },
            None => "a `$ref` is no text".to_owned(),
        };
        self.notes
            .add(format!("{problem}; what it stands for accepts anything"));
        None
    }

    fn keyword(
        &mut self,
        made: &mut Map<String, Value>,
        object: &'d Map<String, Value>,
        keyword: &'d str,
        depth: usize,
        reach: Reach,
    ) {
        let Some(value) = object.get(keyword) else {
            return;
        };
        if let Value::Array(list) = value {
            self.pool.work += list.len();
        }
        let kept = match (keyword, value) {
            ("properties", Value::Object(map)) => Some(self.properties(map, depth)),
            ("required", Value::Array(names)) if names.len() <= REQUIRED => {
                self.required(names, object)
            }
            ("patternProperties", Value::Object(map)) => Some(self.by_pattern(map, depth)),
            (_, Value::Object(map)) if MAP.contains(&keyword) => {
                let reach = reach.under(keyword);
                let schemas = map.iter();
                let schemas =
                    schemas.map(|(name, s)| (name.clone(), self.schema(s, depth + 2, reach)));
                Some(Value::Object(schemas.collect()))
            }
            (_, Value::Array(list)) if LIST.contains(&keyword) => {
                let reach = reach.under(keyword);
                let schemas: Vec<Value> = list
                    .iter()
                    .map(|s| self.schema(s, depth + 2, reach))
                    .collect();
                (!schemas.is_empty()).then_some(Value::Array(schemas))
            }
            (_, Value::Bool(_) | Value::Object(_)) if ONE.contains(&keyword) => {
                Some(self.schema(value, depth + 1, reach.under(keyword)))
            }
            _ => self.plain(keyword, value),
        };
        match kept {
            Some(kept) => {
                made.insert(keyword.to_owned(), kept);
            }
            None if restricts(keyword) => self.piece.is_loose = true,
            None => {}
        }
        if keyword == "example"
            && !object.contains_key("examples")
            && let Some(value) = small(value)
        {
            made.insert("examples".to_owned(), json!([value]));
        }
    }

    /// A keyword without schemas beneath it, if its value is what it must be.
    fn plain(&mut self, keyword: &str, value: &Value) -> Option<Value> {
        match (keyword, value) {
            ("description", Value::String(text)) => {
                let text = text::bounded(text, DESCRIPTION);
                (!text.is_empty()).then(|| text.into())
            }
            ("title", Value::String(text)) => Some(text::line(text, 100).into()),
            ("format" | "contentMediaType" | "contentEncoding", Value::String(text)) => {
                Some(text::line(text, 100).into())
            }
            ("type", value) => kinds(value),
            ("enum", Value::Array(choices)) => self.choices(choices, value),
            ("const", value) => (!strict::size_exceeds(value, ENUM_BYTES))
                .then(|| small_depth(value))
                .flatten(),
            ("default", value) => small(value),
            ("examples", Value::Array(examples)) => {
                let examples: Vec<Value> = examples.iter().filter_map(small).take(3).collect();
                (!examples.is_empty()).then_some(Value::Array(examples))
            }
            ("pattern", Value::String(pattern)) => {
                let can_run = self.pool.patterns.can_run(pattern);
                if !can_run {
                    let shown = text::line(pattern, 80);
                    self.notes.add(format!(
                        "the pattern {shown:?} cannot be checked here and is left to the API"
                    ));
                }
                can_run.then(|| value.clone())
            }
            ("multipleOf", Value::Number(number)) => number
                .as_f64()
                .is_some_and(|number| number > 0.0)
                .then(|| value.clone()),
            (
                "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
                | "maxProperties" | "minContains" | "maxContains",
                Value::Number(number),
            ) => number.as_u64().map(Value::from),
            ("uniqueItems" | "deprecated", Value::Bool(_)) => Some(value.clone()),
            ("dependentRequired", Value::Object(map))
                if !strict::size_exceeds(value, ENUM_BYTES) =>
            {
                let is_names = |value: &Value| match value {
                    Value::Array(names) => names.iter().all(Value::is_string),
                    _ => false,
                };
                let named = map.iter().filter(|(_, value)| is_names(value));
                let named = named.map(|(name, value)| (name.clone(), once_each(value)));
                Some(Value::Object(named.collect()))
            }
            _ => None,
        }
    }

    fn choices(&mut self, choices: &[Value], value: &Value) -> Option<Value> {
        if choices.is_empty() {
            return None;
        }
        if strict::size_exceeds(value, ENUM_BYTES) || strict::depth_exceeds(value, VALUE_DEPTH) {
            self.notes.add(format!(
                "a list of {} choices is larger than is imported; anything is accepted there",
                choices.len()
            ));
            return None;
        }
        Some(once_each(value))
    }

    fn properties(&mut self, map: &'d Map<String, Value>, depth: usize) -> Value {
        let mut made = Map::new();
        for (name, schema) in map {
            if self.is_other_way(schema) {
                self.piece.is_loose = true;
                continue;
            }
            made.insert(name.clone(), self.schema(schema, depth + 2, Reach::Part));
        }
        Value::Object(made)
    }

    fn by_pattern(&mut self, map: &'d Map<String, Value>, depth: usize) -> Value {
        let mut made = Map::new();
        for (pattern, schema) in map {
            if self.pool.patterns.can_run(pattern) {
                made.insert(pattern.clone(), self.schema(schema, depth + 2, Reach::Part));
            } else {
                // Beside it nothing may be closed, or what it names would be refused.
                self.piece.is_loose = true;
                made.insert(String::new(), json!({}));
            }
        }
        Value::Object(made)
    }

    fn required(&self, names: &[Value], object: &Map<String, Value>) -> Option<Value> {
        let properties = object.get("properties").and_then(Value::as_object);
        let is_kept = |name: &&Value| {
            let Some(name) = name.as_str() else {
                return false;
            };
            let schema = properties.and_then(|map| map.get(name));
            !schema.is_some_and(|schema| self.is_other_way(schema))
        };
        let names: Vec<Value> = names.iter().filter(is_kept).cloned().collect();
        (!names.is_empty()).then(|| once_each(&Value::Array(names)))
    }

    /// Tells whether a property goes the other way only.
    fn is_other_way(&self, schema: &Value) -> bool {
        is_other_way(self.pool.root, self.pool.side, schema)
    }
}

/// Tells whether a schema is of a property that goes the other way only.
pub(super) fn is_other_way(root: &Value, side: Side, schema: &Value) -> bool {
    let keyword = match side {
        Side::Request => "readOnly",
        Side::Response => "writeOnly",
    };
    if refer::is_true(schema, keyword) {
        return true;
    }
    let is_reference = schema.get("$ref").is_some();
    is_reference && refer::follow(root, schema).is_ok_and(|schema| refer::is_true(schema, keyword))
}

/// Whether leaving a keyword out makes a schema accept more.
fn restricts(keyword: &str) -> bool {
    let says_little = [
        "description",
        "title",
        "example",
        "examples",
        "default",
        "nullable",
    ];
    let is_other = [
        "xml",
        "discriminator",
        "externalDocs",
        "deprecated",
        "readOnly",
        "writeOnly",
    ];
    !says_little.contains(&keyword)
        && !is_other.contains(&keyword)
        && !["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"].contains(&keyword)
        && !keyword.starts_with("x-")
}

/// One type or several, if they are types.
fn kinds(value: &Value) -> Option<Value> {
    let is_type = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    match value {
        Value::Array(names) if !names.is_empty() && names.iter().all(is_type) => {
            Some(once_each(value))
        }
        value => is_type(value).then(|| value.clone()),
    }
}

/// Lets null through where the document says so.
fn nullable(mut made: Map<String, Value>, object: &Map<String, Value>) -> Value {
    if object.get("nullable") != Some(&Value::Bool(true)) {
        return Value::Object(made);
    }
    match made.get("type") {
        Some(Value::String(kind)) if kind != "null" => {
            let kinds = json!([kind, "null"]);
            made.insert("type".to_owned(), kinds);
        }
        Some(_) => {}
        None if made.is_empty() => return Value::Object(made),
        None => {
            let mut outer = Map::new();
            if let Some(description) = made.shift_remove("description") {
                outer.insert("description".to_owned(), description);
            }
            outer.insert("anyOf".to_owned(), json!([made, { "type": "null" }]));
            return Value::Object(outer);
        }
    }
    if let Some(Value::Array(choices)) = made.get_mut("enum")
        && !choices.contains(&Value::Null)
    {
        choices.push(Value::Null);
    }
    Value::Object(made)
}

/// The bounds of a number: in 3.0 a bound says beside itself whether it is excluded.
fn bounds(made: &mut Map<String, Value>, object: &Map<String, Value>) {
    let pairs = [
        ("minimum", "exclusiveMinimum"),
        ("maximum", "exclusiveMaximum"),
    ];
    for (bound, exclusive) in pairs {
        let number = object.get(bound).filter(|value| value.is_number());
        match (number, object.get(exclusive)) {
            (Some(number), Some(Value::Bool(true))) => {
                made.insert(exclusive.to_owned(), number.clone());
            }
            (number, other) => {
                if let Some(number) = number {
                    made.insert(bound.to_owned(), number.clone());
                }
                if let Some(other) = other.filter(|value| value.is_number()) {
                    made.insert(exclusive.to_owned(), other.clone());
                }
            }
        }
    }
}

/// A default of another type would be filled in and refused.
fn drop_unfit_default(made: &mut Map<String, Value>) {
    let Some(default) = made.get("default") else {
        return;
    };
    let name = match default {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let is_it = |kind: &Value| kind == name || (kind == "number" && name == "integer");
    let fits = match made.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(is_it),
        Some(kind) => is_it(kind),
        None => true,
    };
    let is_choice = match made.get("enum") {
        Some(Value::Array(choices)) => choices.contains(default),
        _ => true,
    };
    if !fits || !is_choice {
        made.shift_remove("default");
    }
}

fn small(value: &Value) -> Option<Value> {
    (!strict::size_exceeds(value, VALUE_BYTES))
        .then(|| small_depth(value))
        .flatten()
}

fn small_depth(value: &Value) -> Option<Value> {
    (!strict::depth_exceeds(value, VALUE_DEPTH)).then(|| value.clone())
}

/// A list with each entry once, as schemas demand it.
fn once_each(value: &Value) -> Value {
    let Value::Array(list) = value else {
        return value.clone();
    };
    let mut seen = HashSet::new();
    let entries = list.iter().filter(|entry| seen.insert(entry.to_string()));
    Value::Array(entries.cloned().collect())
}
