//! Which branch of `oneOf` or `anyOf` a value means.
//!
//! A validator tries every branch, and where all fail it reports all of them: work
//! that multiplies at every level, and a message that teaches nothing. Most choices
//! say by a type, by a tag or by their only key which branch is meant. Those are
//! rewritten before they are compiled: `if` it is this branch, `then` it must fit.
//! The same values pass; what fails is reported by the branch that was meant.

use std::collections::HashSet;

use jsonschema::ValidationError;
use serde_json::{Map, Value, json};

use crate::keywords::{REFERENCES, is_named, is_plain};

/// References to references are followed this often.
const MAX_HOPS: usize = 8;

/// The schema with every choice that can be told apart rewritten.
pub(crate) fn sharpened(schema: &Value) -> Value {
    let mut sharp = schema.clone();
    if can_be_rewritten(schema) {
        sharpen(schema, &mut sharp);
    }
    sharp
}

/// Whether choices may be rewritten at all: not where a reference leads into one,
/// for it would lead nowhere afterwards.
pub(crate) fn can_be_rewritten(root: &Value) -> bool {
    let mut waiting = vec![root];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Array(items) => waiting.extend(items),
            Value::Object(object) => {
                for keyword in REFERENCES {
                    let reference = object.get(keyword).and_then(Value::as_str);
                    if reference.is_some_and(|r| r.contains("/oneOf") || r.contains("/anyOf")) {
                        return false;
                    }
                }
                waiting.extend(object.values());
            }
            _ => {}
        }
    }
    true
}

/// Whether a value can mean only one of the branches, so that only one is entered.
pub(crate) fn is_told_apart(root: &Value, branches: &[Value]) -> bool {
    groups(root, branches).is_some_and(|groups| {
        groups
            .iter()
            .all(|g| g.branches.len() == 1 || g.mark.is_some())
    })
}

/// The branch a value means beyond doubt: by its tag, or as the only one of its type.
pub(super) fn meant<'s>(
    root: &'s Value,
    schema: &'s Map<String, Value>,
    value: &Value,
) -> Option<&'s Value> {
    let branches = ["oneOf", "anyOf"]
        .iter()
        .find_map(|keyword| schema.get(*keyword))?
        .as_array()?;
    let group = groups(root, branches)?
        .into_iter()
        .find(|group| group.class == class_of(value))?;
    match (&group.mark, value) {
        (Some(Mark::Tag(tag)), Value::Object(object)) => {
            let said = object.get(*tag)?;
            let is_meant = |b: &&Value| tag_of(root, b, tag) == Some(said);
            group.branches.into_iter().find(is_meant)
        }
        (Some(Mark::Key), Value::Object(object)) => {
            let is_meant =
                |b: &&Value| only_key(root, b).is_some_and(|key| object.contains_key(key));
            group.branches.into_iter().find(is_meant)
        }
        (None, value) => match group.branches.as_slice() {
            // An object that is one of a single kind still says nothing for itself.
            [only] if branches.len() > 1 && !value.is_object() => Some(only),
            _ => None,
        },
        _ => None,
    }
}

/// Of branches that all failed, the one that failed only inside the value: the
/// others did not even want a value of this shape.
pub(super) fn nearest_branch<'e, 'i>(
    branches: &'e [Vec<ValidationError<'i>>],
    at: &str,
) -> Option<&'e [ValidationError<'i>]> {
    let is_inside = |branch: &&Vec<ValidationError<'i>>| {
        !branch.is_empty()
            && branch
                .iter()
                .all(|error| error.instance_path().as_str().len() > at.len())
    };
    let mut inside: Vec<_> = branches.iter().filter(is_inside).collect();
    let depth = |branch: &[ValidationError<'i>]| {
        let depths = branch
            .iter()
            .map(|error| error.instance_path().as_str().matches('/').count());
        depths.max().unwrap_or(0)
    };
    inside.sort_by_key(|branch| std::cmp::Reverse(depth(branch)));
    match inside.as_slice() {
        [] => None,
        [only] => Some(only),
        [first, second, ..] => (depth(first) > depth(second)).then_some(first),
    }
}

/// A schema with its local references followed.
pub(super) fn resolved<'s>(root: &'s Value, schema: &'s Value) -> Option<&'s Value> {
    let mut schema = schema;
    for _ in 0..MAX_HOPS {
        match schema.get("$ref").and_then(Value::as_str) {
            Some(reference) => schema = root.pointer(reference.strip_prefix('#')?)?,
            None => return Some(schema),
        }
    }
    None
}

/// Branches for values of one type.
struct Group<'s> {
    class: &'static str,
    branches: Vec<&'s Value>,
    /// What tells several of them apart.
    mark: Option<Mark<'s>>,
}

enum Mark<'s> {
    /// Each wants another literal in this property.
    Tag(&'s str),
    /// Each allows one property only, and wants it.
    Key,
}

/// The branches by the type of value they take, if each takes one type.
fn groups<'s>(root: &'s Value, branches: &'s [Value]) -> Option<Vec<Group<'s>>> {
    let mut groups: Vec<Group<'s>> = Vec::new();
    for branch in branches {
        let class = class(resolved(root, branch)?)?;
        match groups.iter_mut().find(|group| group.class == class) {
            Some(group) => group.branches.push(branch),
            None => groups.push(Group {
                class,
                branches: vec![branch],
                mark: None,
            }),
        }
    }
    for group in &mut groups {
        if group.class == "object" && group.branches.len() > 1 {
            group.mark = mark(root, &group.branches);
        }
    }
    Some(groups)
}

fn mark<'s>(root: &'s Value, branches: &[&'s Value]) -> Option<Mark<'s>> {
    let first = resolved(root, branches.first()?)?;
    let names = first.get("properties")?.as_object()?.keys();
    for name in names {
        // Texts only: numbers that are equal can be written differently.
        let tag = |branch: &&'s Value| tag_of(root, branch, name)?.as_str();
        if all_differ(branches.iter().map(tag)) {
            return Some(Mark::Tag(name));
        }
    }
    all_differ(branches.iter().map(|b| only_key(root, b))).then_some(Mark::Key)
}

/// Tells whether every branch has a mark, and each another one.
fn all_differ<'s>(mut marks: impl Iterator<Item = Option<&'s str>>) -> bool {
    let mut seen = HashSet::new();
    marks.all(|mark| mark.is_some_and(|mark| seen.insert(mark)))
}

/// The literal a branch demands in a property.
fn tag_of<'s>(root: &'s Value, branch: &'s Value, name: &str) -> Option<&'s Value> {
    let branch = resolved(root, branch)?;
    if !requires(branch, name) {
        return None;
    }
    let property = branch.get("properties")?.get(name)?;
    if property.get("$ref").is_some() {
        return None;
    }
    match property.get("const") {
        Some(literal) => Some(literal),
        None => match property.get("enum")?.as_array()?.as_slice() {
            [only] => Some(only),
            _ => None,
        },
    }
}

/// The only property a branch allows, if it demands it.
fn only_key<'s>(root: &'s Value, branch: &'s Value) -> Option<&'s str> {
    let branch = resolved(root, branch)?;
    let closed = branch.get("additionalProperties") == Some(&Value::Bool(false))
        && branch.get("patternProperties").is_none();
    let properties = branch.get("properties")?.as_object()?;
    let key = properties.keys().next()?;
    (closed && properties.len() == 1 && requires(branch, key)).then_some(key)
}

fn requires(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|required| required == name))
}

/// The one type of value a schema takes. Whole numbers are numbers.
fn class(schema: &Value) -> Option<&'static str> {
    if let Some(kind) = schema.get("type") {
        return match kind.as_str()? {
            "null" => Some("null"),
            "boolean" => Some("boolean"),
            "integer" | "number" => Some("number"),
            "string" => Some("string"),
            "array" => Some("array"),
            "object" => Some("object"),
            _ => None,
        };
    }
    if let Some(literal) = schema.get("const") {
        return Some(class_of(literal));
    }
    let mut classes = schema.get("enum")?.as_array()?.iter().map(class_of);
    let first = classes.next()?;
    classes.all(|class| class == first).then_some(first)
}

fn class_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn sharpen(root: &Value, schema: &mut Value) {
    let Value::Object(object) = schema else {
        return;
    };
    // From the inside out: what is written here must not be rewritten again.
    for (keyword, value) in object.iter_mut() {
        let keyword = keyword.as_str();
        match value {
            Value::Object(named) if is_named(keyword) => {
                named.values_mut().for_each(|schema| sharpen(root, schema));
            }
            Value::Array(list) if is_plain(keyword) => {
                list.iter_mut().for_each(|schema| sharpen(root, schema));
            }
            value if is_plain(keyword) => sharpen(root, value),
            _ => {}
        }
    }
    for keyword in ["oneOf", "anyOf"] {
        if let Some(Value::Array(branches)) = object.get(keyword)
            && branches.len() > 1
            && let Some(parts) = rewritten(root, keyword, branches)
        {
            object.shift_remove(keyword);
            match object.get_mut("allOf") {
                Some(Value::Array(all)) => all.extend(parts),
                _ => {
                    object.insert("allOf".to_owned(), Value::Array(parts));
                }
            }
        }
    }
}

/// What stands for a choice afterwards: first which kinds of value will do at all,
/// then what each kind must look like.
fn rewritten(root: &Value, keyword: &str, branches: &[Value]) -> Option<Vec<Value>> {
    let groups = groups(root, branches)?;
    if let [only] = groups.as_slice()
        && only.mark.is_none()
    {
        return None;
    }
    let (mut kinds, mut parts) = (Vec::new(), Vec::new());
    for group in &groups {
        let is_literal = |b: &&Value| {
            resolved(root, b).is_some_and(|b| b.get("const").is_some() || b.get("enum").is_some())
        };
        match (&group.mark, group.branches.as_slice()) {
            // Literals stay where they are: the kinds name them, and nothing is
            // ever mended into one.
            (None, all) if all.iter().any(is_literal) => {
                if keyword == "oneOf" && all.len() > 1 {
                    // Two of them may overlap, and then neither will do.
                    kinds.push(json!({ "oneOf": all }));
                } else {
                    kinds.extend(all.iter().copied().cloned());
                }
            }
            (None, [only]) => {
                let kind = match resolved(root, only).and_then(|only| only.get("type")) {
                    Some(kind) => json!({ "type": kind }),
                    None => return None,
                };
                parts.push(json!({"if": kind.clone(), "then": only}));
                kinds.push(kind);
            }
            (None, all) => {
                let kind = json!({"type": group.class});
                parts.push(json!({"if": kind.clone(), "then": {keyword: all}}));
                kinds.push(kind);
            }
            (Some(Mark::Tag(tag)), all) => {
                let kind = json!({"type": "object"});
                let mut tags = Vec::new();
                for branch in all {
                    let literal = tag_of(root, branch, tag)?;
                    tags.push(literal);
                    let marked = json!({
                        "type": "object", "required": [tag], "properties": {*tag: {"const": literal}},
                    });
                    parts.push(json!({"if": marked, "then": branch}));
                }
                let one_of_them = json!({"required": [tag], "properties": {*tag: {"enum": tags}}});
                parts.push(json!({"if": kind.clone(), "then": one_of_them}));
                kinds.push(kind);
            }
            (Some(Mark::Key), all) => {
                let kind = json!({"type": "object"});
                let mut keys = Vec::new();
                for branch in all {
                    let marked = json!({"type": "object", "required": [only_key(root, branch)?]});
                    keys.push(json!({"required": [only_key(root, branch)?]}));
                    parts.push(json!({"if": marked, "then": branch}));
                }
                parts.push(json!({"if": kind.clone(), "then": {"anyOf": keys}}));
                kinds.push(kind);
            }
        }
    }
    let kinds = match kinds.as_slice() {
        [only] => only.clone(),
        _ => json!({"anyOf": kinds}),
    };
    parts.insert(0, kinds);
    Some(parts)
}
