//! Makes the schemas that schemars writes fit for models.
//!
//! schemars describes Rust types exactly; a model needs them short. This file
//! asks for a type's schema and rewrites it: no titles, no widths of numbers, no
//! `null` where leaving a field out means the same, one list of choices per enum.
//! What is left accepts the same values, with one intended exception: an optional
//! argument is left out, not sent as `null`. Closing objects is [`super::close`]'s.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::choices;
use super::close::{LIST, MAP, ONE};
use super::definitions;

/// Which way the values of a schema travel.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Direction {
    /// They are read into the type.
    Input,
    /// They are written from the type.
    Output,
}

/// The tidied schema of a Rust type.
pub(super) fn schema_of<T: JsonSchema>(direction: Direction) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let settings = match direction {
        Direction::Input => settings.for_deserialize(),
        Direction::Output => settings.for_serialize(),
    };
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    definitions::name_the_root(&mut schema, &T::schema_name());
    tidy(&mut schema, direction, Null::MeansAbsent);
    definitions::drop_unused(&mut schema);
    schema
}

/// What `null` means where a schema stands.
#[derive(Clone, Copy, PartialEq)]
enum Null {
    /// The same as leaving the value out.
    MeansAbsent,
    /// Itself: in a list or a map it cannot be left out.
    IsAValue,
}

fn tidy(schema: &mut Value, direction: Direction, null: Null) {
    let Value::Object(object) = schema else {
        return;
    };
    object.shift_remove("title");
    unwrap_single(object);
    if direction == Direction::Input && null == Null::MeansAbsent {
        drop_null(object);
    }
    choices::collapse(object);
    number(object);
    if object.get("default").is_some_and(Value::is_null) {
        object.shift_remove("default");
    }
    if direction == Direction::Input && is_empty_struct(object) {
        object.insert("properties".to_owned(), json!({}));
    }
    choices::repair_flattened(object);
    children(object, direction);
    order(object);
}

fn children(object: &mut Map<String, Value>, direction: Direction) {
    let required: Vec<String> = object
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    for (keyword, value) in object.iter_mut() {
        let keyword = keyword.as_str();
        match value {
            Value::Array(list) if LIST.contains(&keyword) => {
                for schema in list {
                    tidy(schema, direction, Null::IsAValue);
                }
            }
            Value::Object(map) if MAP.contains(&keyword) => {
                for (name, schema) in map {
                    let optional = keyword == "properties" && !required.contains(name);
                    let null = if optional {
                        Null::MeansAbsent
                    } else {
                        Null::IsAValue
                    };
                    tidy(schema, direction, null);
                }
            }
            value if ONE.contains(&keyword) => tidy(value, direction, Null::IsAValue),
            _ => {}
        }
    }
}

/// Merges a combination of one schema into the schema around it.
fn unwrap_single(object: &mut Map<String, Value>) {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        while let Some([Value::Object(inner)]) = object
            .get(keyword)
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            && mergeable(object, inner)
        {
            let inner = inner.clone();
            object.shift_remove(keyword);
            merge(object, inner);
        }
    }
}

/// Annotations may differ, for the outer one is nearer to the use; anything that
/// constrains the value must not be overwritten.
fn mergeable(outer: &Map<String, Value>, inner: &Map<String, Value>) -> bool {
    inner.iter().all(|(keyword, value)| {
        matches!(keyword.as_str(), "title" | "description" | "default")
            || outer.get(keyword).is_none_or(|other| other == value)
    })
}

fn merge(outer: &mut Map<String, Value>, inner: Map<String, Value>) {
    for (keyword, value) in inner {
        if keyword != "title" {
            outer.entry(keyword).or_insert(value);
        }
    }
}

/// Takes `null` out of what an optional property accepts.
fn drop_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
        if let Some(Value::Array(values)) = object.get_mut("enum") {
            values.retain(|value| !value.is_null());
        }
    }
    let is_null = |schema: &Value| *schema == json!({"type": "null"});
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = object.get_mut(keyword)
            && branches.len() > 1
        {
            branches.retain(|branch| !is_null(branch));
        }
    }
    unwrap_single(object);
}

/// Replaces the width of a number by the bounds it implies. Only bounds a model
/// could plausibly pass are written: those of 64 bits are noise.
fn number(object: &mut Map<String, Value>) {
    let Some(Value::String(format)) = object.get("format") else {
        return;
    };
    let (low, high) = match format.as_str() {
        "int8" => (Some(i64::from(i8::MIN)), Some(i64::from(i8::MAX))),
        "int16" => (Some(i64::from(i16::MIN)), Some(i64::from(i16::MAX))),
        "int32" => (Some(i64::from(i32::MIN)), Some(i64::from(i32::MAX))),
        "uint8" => (Some(0), Some(i64::from(u8::MAX))),
        "uint16" => (Some(0), Some(i64::from(u16::MAX))),
        "uint32" => (Some(0), Some(i64::from(u32::MAX))),
        "uint" | "uint64" | "uint128" => (Some(0), None),
        "int" | "int64" | "int128" | "float" | "double" => (None, None),
        _ => return,
    };
    object.shift_remove("format");
    for (keyword, exclusive, bound) in [
        ("minimum", "exclusiveMinimum", low),
        ("maximum", "exclusiveMaximum", high),
    ] {
        if let Some(bound) = bound
            && !object.contains_key(exclusive)
        {
            object.entry(keyword).or_insert_with(|| Value::from(bound));
        }
    }
}

/// Tells whether this is what schemars derives for a struct without fields. It
/// says nothing about properties then, and would stay open; a map says what its
/// values are, so it is not mistaken for one.
fn is_empty_struct(object: &Map<String, Value>) -> bool {
    object.get("type").is_some_and(|name| name == "object")
        && object
            .keys()
            .all(|keyword| matches!(keyword.as_str(), "type" | "description" | "default"))
}

/// Puts the type and the description first.
fn order(object: &mut Map<String, Value>) {
    let mut rest = std::mem::take(object);
    for keyword in ["type", "description"] {
        if let Some(value) = rest.shift_remove(keyword) {
            object.insert(keyword.to_owned(), value);
        }
    }
    object.extend(rest);
}
