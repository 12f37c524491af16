//! Objects whose fields can be a tool's arguments.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::convert::is_other_way;
use super::pool::Side;
use crate::openapi::refer;

/// How many fields become arguments; an object with more of them is one argument.
const MAX_FIELDS: usize = 200;
/// How many may go the other way only: each operation that refers to the object goes
/// through them again.
const MAX_LEFT_OUT: usize = 1000;
/// How many schemas are looked at for one object.
const MAX_PARTS: usize = 64;

/// What an object may say beside its fields. Anything else ties fields to one another,
/// or lets more of them through, which arguments one by one could not.
const HARMLESS: [&str; 13] = [
    "type",
    "properties",
    "required",
    "allOf",
    "$ref",
    "title",
    "description",
    "example",
    "examples",
    "externalDocs",
    "xml",
    "deprecated",
    "default",
];

/// A field of an object.
#[derive(Clone, Copy, Debug)]
pub(in crate::openapi) struct Field<'d> {
    pub(in crate::openapi) name: &'d str,
    pub(in crate::openapi) schema: &'d Value,
    pub(in crate::openapi) is_required: bool,
}

/// The fields of a plain object, also of one that is put together by `allOf`. Nothing
/// for whatever else a schema describes.
pub(in crate::openapi) fn plain_object<'d>(
    root: &'d Value,
    schema: &'d Value,
) -> Option<Vec<Field<'d>>> {
    let mut fields: Vec<Field<'d>> = Vec::new();
    let mut required: HashSet<&str> = HashSet::new();
    let mut left_out: HashSet<&str> = HashSet::new();
    let mut seen: HashSet<*const Value> = HashSet::new();
    // In the order they are written: the first is taken from the end.
    let mut waiting = vec![schema];
    let mut parts = 0;
    while let Some(part) = waiting.pop() {
        parts += 1;
        if parts > MAX_PARTS {
            return None;
        }
        // Said twice it says no more, and may be said a thousand million times.
        if !seen.insert(std::ptr::from_ref(part)) {
            continue;
        }
        let object = part.as_object()?;
        if !is_plain(object) {
            return None;
        }
        if let Some(Value::Array(names)) = object.get("required") {
            if names.len() > MAX_FIELDS {
                return None;
            }
            required.extend(names.iter().filter_map(Value::as_str));
        }
        for (name, schema) in object
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            if is_other_way(root, Side::Request, schema) {
                left_out.insert(name.as_str());
                if left_out.len() > MAX_LEFT_OUT {
                    return None;
                }
                continue;
            }
            match fields.iter().find(|field| field.name == name) {
                Some(known) if known.schema == schema => continue,
                Some(_) => return None,
                None => {}
            }
            if fields.len() == MAX_FIELDS {
                return None;
            }
            let is_required = false;
            fields.push(Field {
                name,
                schema,
                is_required,
            });
        }
        if let Some(Value::Array(all)) = object.get("allOf") {
            waiting.extend(all.iter().rev());
        }
        if let Some(reference) = object.get("$ref") {
            waiting.push(refer::target(root, reference.as_str()?).ok()?);
        }
    }
    // A field that is demanded and not described is more than arguments can tell.
    let is_known =
        |name: &&str| left_out.contains(*name) || fields.iter().any(|field| field.name == *name);
    if fields.is_empty() || !required.iter().all(is_known) {
        return None;
    }
    for field in &mut fields {
        field.is_required = required.contains(field.name);
    }
    Some(fields)
}

fn is_plain(object: &Map<String, Value>) -> bool {
    object
        .iter()
        .all(|(keyword, value)| match keyword.as_str() {
            "type" => value == "object",
            "additionalProperties" => value == &Value::Bool(false),
            "nullable" | "readOnly" | "writeOnly" => value == &Value::Bool(false),
            keyword => HARMLESS.contains(&keyword) || keyword.starts_with("x-"),
        })
}
