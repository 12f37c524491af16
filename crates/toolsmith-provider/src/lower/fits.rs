//! Which branch of a union a value belongs to, told from the lowered branches alone.
//!
//! Not a validator: it knows the keywords that lowering writes and that tell structures
//! apart, and takes everything else for fitting. [`disjoint`] proves that no value fits
//! two branches; only then may the mapping rely on [`fits`].

use std::cell::Cell;
use std::collections::HashSet;

use serde_json::{Map, Value};

use super::types::TypeSet;

/// How deep values and schemas are compared.
const DEEPEST: usize = 16;

/// How much is compared before everything counts as fitting, and nothing as apart. Unions
/// within unions would otherwise take time without end.
#[derive(Debug)]
pub(crate) struct Steps(Cell<usize>);

impl Steps {
    pub(crate) fn new(limit: usize) -> Self {
        Self(Cell::new(limit))
    }

    /// Takes a step. `false` when there are none left.
    pub(crate) fn take(&self) -> bool {
        let left = self.0.get();
        self.0.set(left.saturating_sub(1));
        left > 0
    }
}

/// Tells whether a value fits a lowered schema, as far as structure goes.
pub(crate) fn fits(
    schema: &Value,
    value: &Value,
    definitions: &Map<String, Value>,
    steps: &Steps,
) -> bool {
    Fits { definitions, steps }.at(schema, value, 0)
}

struct Fits<'d> {
    definitions: &'d Map<String, Value>,
    steps: &'d Steps,
}

impl Fits<'_> {
    fn at(&self, schema: &Value, value: &Value, depth: usize) -> bool {
        let Some(object) = schema.as_object() else {
            return true;
        };
        if depth > DEEPEST || !self.steps.take() {
            return true;
        }
        let definitions = self.definitions;
        if let Some(target) = referred(object, definitions) {
            return self.at(target, value, depth + 1);
        }
        if !types_of(object).holds(value) {
            return false;
        }
        if let Some(Value::Array(choices)) = object.get("enum")
            && !choices.contains(value)
            && !(value.is_null() && is_nullable(object))
        {
            return false;
        }
        if let Some(Value::Array(branches)) = object.get("anyOf")
            && !branches
                .iter()
                .any(|branch| self.at(branch, value, depth + 1))
        {
            return false;
        }
        match value {
            Value::Object(fields) => self.object(object, fields, depth),
            Value::Array(items) => object
                .get("items")
                .is_none_or(|schema| items.iter().all(|item| self.at(schema, item, depth + 1))),
            _ => true,
        }
    }

    fn object(
        &self,
        schema: &Map<String, Value>,
        fields: &Map<String, Value>,
        depth: usize,
    ) -> bool {
        let properties = schema.get("properties").and_then(Value::as_object);
        let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        let fitting =
            |(name, value): (&String, &Value)| match properties.and_then(|all| all.get(name)) {
                Some(schema) => self.at(schema, value, depth + 1),
                None => !closed,
            };
        let is_simple = |(_, value): &(&String, &Value)| !value.is_object() && !value.is_array();
        // What tells branches apart is mostly simple, and quickly looked at.
        names(schema.get("required"))
            .into_iter()
            .all(|name| fields.contains_key(name))
            && fields.iter().filter(is_simple).all(fitting)
            && fields.iter().filter(|field| !is_simple(field)).all(fitting)
    }
}

/// Tells whether no value can fit both of two lowered schemas.
pub(crate) fn disjoint(one: &Value, other: &Value, steps: &Steps) -> bool {
    disjoint_at(one, other, steps, 0)
}

fn disjoint_at(one: &Value, other: &Value, steps: &Steps, depth: usize) -> bool {
    if !steps.take() {
        return false;
    }
    for (union, single) in [(one, other), (other, one)] {
        if let Some(Value::Array(branches)) = union.get("anyOf") {
            return depth < DEEPEST
                && branches
                    .iter()
                    .all(|branch| disjoint_at(branch, single, steps, depth + 1));
        }
    }
    let (Some(one), Some(other)) = (one.as_object(), other.as_object()) else {
        return false;
    };
    if depth > DEEPEST || one.contains_key("$ref") || other.contains_key("$ref") {
        return false;
    }
    let common = types_of(one).and(types_of(other));
    if common.is_empty() {
        return true;
    }
    if let (Some(Value::Array(mine)), Some(Value::Array(theirs))) =
        (one.get("enum"), other.get("enum"))
    {
        let shared = share_a_value(mine, theirs);
        let both_null = is_nullable(one) && is_nullable(other);
        return !shared && !both_null;
    }
    common == TypeSet::OBJECT && disjoint_objects(one, other, steps, depth)
}

/// Whether one of the values stands in both of two lists.
fn share_a_value(one: &[Value], other: &[Value]) -> bool {
    if one.len().saturating_mul(other.len()) <= 256 {
        return one.iter().any(|value| other.contains(value));
    }
    let known: HashSet<String> = one.iter().map(Value::to_string).collect();
    other.iter().any(|value| known.contains(&value.to_string()))
}

fn disjoint_objects(
    one: &Map<String, Value>,
    other: &Map<String, Value>,
    steps: &Steps,
    depth: usize,
) -> bool {
    let property = |schema, name| -> Option<&Value> {
        let properties: Option<&Value> = Map::get(schema, "properties");
        properties.and_then(|properties| properties.get(name))
    };
    // One takes nothing it does not name, and the other demands something it does not name.
    let refuses = |closed: &Map<String, Value>, other: &Map<String, Value>| {
        closed.get("additionalProperties") == Some(&Value::Bool(false))
            && names(other.get("required")).into_iter().any(|name| {
                closed
                    .get("properties")
                    .is_none_or(|all| all.get(name).is_none())
            })
    };
    if refuses(one, other) || refuses(other, one) {
        return true;
    }
    // A property that both demand, and that cannot be what both demand.
    let theirs_required: HashSet<&str> = names(other.get("required")).into_iter().collect();
    names(one.get("required"))
        .into_iter()
        .filter(|name| theirs_required.contains(name))
        .any(|name| match (property(one, name), property(other, name)) {
            (Some(mine), Some(theirs)) => disjoint_at(mine, theirs, steps, depth + 1),
            _ => false,
        })
}

/// The definition a schema refers to.
fn referred<'d>(
    schema: &Map<String, Value>,
    definitions: &'d Map<String, Value>,
) -> Option<&'d Value> {
    let name = schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")?;
    definitions.get(name)
}

fn types_of(schema: &Map<String, Value>) -> TypeSet {
    let stated = match schema.get("type") {
        Some(Value::String(word)) => TypeSet::of_word(word).unwrap_or(TypeSet::ALL),
        Some(Value::Array(words)) => words
            .iter()
            .filter_map(|word| TypeSet::of_word(word.as_str()?))
            .fold(TypeSet::NONE, TypeSet::with),
        _ => return TypeSet::ALL,
    };
    if is_nullable(schema) {
        stated.with(TypeSet::NULL)
    } else {
        stated
    }
}

fn is_nullable(schema: &Map<String, Value>) -> bool {
    schema.get("nullable") == Some(&Value::Bool(true))
}

fn names(list: Option<&Value>) -> Vec<&str> {
    let list = list.and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}
