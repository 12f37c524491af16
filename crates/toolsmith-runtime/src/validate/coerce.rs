//! Mends arguments where there is only one thing they can have meant.
//!
//! Models write `"5"` for 5, `"[1,2]"` or one item for a list and `null` for an argument they
//! leave out. Each such value is mended where the validator says it does not fit,
//! the change is named, and the result is validated again. Literals and choices
//! are never mended: consent must be said, not guessed.

use std::collections::{BTreeMap, HashSet};

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, ValidationError, Validator};
use serde_json::{Number, Value};
use toolsmith_core::{ToolDef, json};

use super::choice;
use super::problem::shown;
use super::text::{name_of, unescaped};

/// How many changes are named one by one.
const MOST_NAMED: usize = 100;

/// Mends what can be mended once, and tells whether anything was.
pub(super) fn coerce(
    tool: &ToolDef,
    validator: &Validator,
    value: &mut Value,
    repairs: &mut Vec<String>,
) -> bool {
    let (mut mends, mut literals) = (Vec::new(), HashSet::new());
    for error in validator.iter_errors(value) {
        collect(&error, &mut mends);
        collect_literals(&error, &mut literals);
    }
    let required = tool.input.as_value()["required"].as_array();
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    let required: HashSet<&str> = required.collect();
    let mut mended = 0_usize;
    let (mut named, mut left_out) = (Vec::new(), LeftOut::new());
    for (path, wanted) in mends {
        let wanted = if literals.contains(&path) {
            &[][..]
        } else {
            &wanted
        };
        let Some(change) = mend(&required, value, &path, wanted, &mut left_out) else {
            continue;
        };
        mended += 1;
        if named.len() < MOST_NAMED {
            named.push(format!("`{}`: took {change}", name_of(&path)));
        }
    }
    for (parent, names) in left_out {
        if let Some(Value::Object(object)) = value.pointer_mut(&parent) {
            object.retain(|name, _| !names.contains(name));
        }
    }
    let others = mended - named.len();
    repairs.append(&mut named);
    if others > 0 {
        repairs.push(format!("{others} more values were read in the same ways"));
    }
    mended > 0
}

/// Which arguments are left out, by where they stand: an object is gone through once,
/// however many of its fields go.
type LeftOut = BTreeMap<String, HashSet<String>>;

/// Where a value has the wrong type, and which types would do. Of alternatives
/// only those that agree on the place are considered.
fn collect(error: &ValidationError<'_>, mends: &mut Vec<(String, Vec<JsonType>)>) {
    let path = error.instance_path().as_str().to_owned();
    match error.kind() {
        ValidationErrorKind::Type { kind } => {
            let wanted = match kind {
                TypeKind::Single(one) => vec![*one],
                TypeKind::Multiple(several) => several.iter().collect(),
            };
            mends.push((path, wanted));
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            if let Some(branch) = choice::nearest_branch(context, &path) {
                for error in branch {
                    collect(error, mends);
                }
                return;
            }
            let mut wanted = Vec::new();
            for branch in context {
                for error in branch {
                    if error.instance_path().as_str() == path
                        && let ValidationErrorKind::Type {
                            kind: TypeKind::Single(one),
                        } = error.kind()
                    {
                        wanted.push(*one);
                    }
                }
            }
            mends.push((path, wanted));
        }
        _ => {}
    }
}

/// Where a literal or one of several choices was wanted.
fn collect_literals(error: &ValidationError<'_>, literals: &mut HashSet<String>) {
    match error.kind() {
        ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. } => {
            literals.insert(error.instance_path().as_str().to_owned());
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            for error in context.iter().flatten() {
                collect_literals(error, literals);
            }
        }
        _ => {}
    }
}

/// Mends one value, and tells what was taken for what.
fn mend(
    required: &HashSet<&str>,
    arguments: &mut Value,
    path: &str,
    wanted: &[JsonType],
    left_out: &mut LeftOut,
) -> Option<String> {
    let found = arguments.pointer(path)?;
    if found.is_null() && !path.is_empty() {
        return drop_null(required, arguments, path, left_out);
    }
    // Where several types would do, only a reading they agree on is safe.
    let is_list = |kind: &JsonType| matches!(kind, JsonType::Array | JsonType::Null);
    let alone = match wanted.contains(&JsonType::Array) && wanted.iter().all(is_list) {
        true => only_item(found),
        false => None,
    };
    let readings = wanted.iter().filter_map(|kind| read_as(found, *kind));
    let mut readings = readings.chain(alone);
    let mended = readings.next()?;
    if readings.any(|other| other != mended) {
        return None;
    }
    let change = format!("{} for {}", shown(found), shown(&mended));
    if let Some(place) = arguments.pointer_mut(path) {
        *place = mended;
    }
    Some(change)
}

/// An optional argument that is `null` was left out.
fn drop_null(
    required: &HashSet<&str>,
    arguments: &Value,
    path: &str,
    left_out: &mut LeftOut,
) -> Option<String> {
    let (parent, name) = path.rsplit_once('/')?;
    let name = unescaped(name);
    let is_required = parent.is_empty() && required.contains(&*name);
    if is_required || !arguments.pointer(parent)?.is_object() {
        return None;
    }
    let names = left_out.entry(parent.to_owned()).or_default();
    let is_new = names.insert(name.into_owned());
    is_new.then(|| "null for left out".to_owned())
}

/// One of what a list is wanted of. What begins like a list was to be one.
fn only_item(value: &Value) -> Option<Value> {
    let is_item = match value {
        Value::Object(_) => true,
        Value::String(text) => !text.trim_start().starts_with(['[', '{']),
        _ => false,
    };
    is_item.then(|| Value::Array(vec![value.clone()]))
}

/// The one thing a value can mean as another type.
fn read_as(value: &Value, wanted: JsonType) -> Option<Value> {
    match (value, wanted) {
        (Value::String(text), JsonType::Integer) => {
            text.trim().parse::<i64>().ok().map(Value::from)
        }
        (Value::String(text), JsonType::Number) => {
            let text = text.trim();
            if let Ok(whole) = text.parse::<i64>() {
                return Some(whole.into());
            }
            // Rust also reads "inf" and "nan"; JSON has no such numbers.
            let float = text.parse::<f64>().ok()?;
            Number::from_f64(float).map(Value::Number)
        }
        (Value::String(text), JsonType::Boolean) => match text.trim() {
            "true" | "True" => Some(Value::Bool(true)),
            "false" | "False" => Some(Value::Bool(false)),
            _ => None,
        },
        (Value::String(text), JsonType::Array | JsonType::Object) => {
            let parsed = json::parse(text.as_bytes(), text.len()).ok()?;
            let fits = match wanted {
                JsonType::Array => parsed.is_array(),
                _ => parsed.is_object(),
            };
            fits.then_some(parsed)
        }
        (Value::Number(number), JsonType::String) => Some(number.to_string().into()),
        (Value::Bool(value), JsonType::String) => Some(value.to_string().into()),
        _ => None,
    }
}
