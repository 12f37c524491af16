//! Enums in schemas: many documented variants become one list of choices.

use serde_json::{Map, Value, json};

/// Turns a combination of literals into one `enum`, and what was said about each
/// of them into a line of the description.
pub(super) fn collapse(object: &mut Map<String, Value>) {
    for keyword in ["oneOf", "anyOf"] {
        let Some(Value::Array(branches)) = object.get(keyword) else {
            continue;
        };
        let Some(choices) = branches.iter().map(Choices::of).collect::<Option<Vec<_>>>() else {
            continue;
        };
        let Some(kind) = choices.first().map(|first| first.kind) else {
            continue;
        };
        if object.contains_key("type") || choices.iter().any(|choice| choice.kind != kind) {
            continue;
        }
        let mut description = match object.get("description") {
            Some(Value::String(text)) => text.clone(),
            _ => String::new(),
        };
        for choice in &choices {
            if let Some(text) = choice.description {
                let names: Vec<String> = choice.values.iter().map(|value| plain(value)).collect();
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                if !description.is_empty() {
                    description.push('\n');
                }
                description.push_str(&format!("- {}: {text}", names.join(", ")));
            }
        }
        let kind = Value::from(kind);
        let values: Vec<Value> = choices
            .iter()
            .flat_map(|choice| choice.values.iter().map(|&value| value.clone()))
            .collect();
        object.shift_remove(keyword);
        object.insert("type".to_owned(), kind);
        object.insert("enum".to_owned(), Value::Array(values));
        if !description.is_empty() {
            object.insert("description".to_owned(), description.into());
        }
    }
}

/// Mends what schemars writes for a documented unit variant of a flattened enum:
/// it demands a string where serde reads an object with that key. Inside an
/// object no string could ever match, so nothing that is right is touched.
pub(super) fn repair_flattened(object: &mut Map<String, Value>) {
    if object.get("type").is_none_or(|kind| kind != "object") {
        return;
    }
    repair_branches(object);
    // Where two enums are flattened, each is one element of `allOf`.
    if let Some(Value::Array(all)) = object.get_mut("allOf") {
        for flattened in all {
            if let Value::Object(flattened) = flattened {
                repair_branches(flattened);
            }
        }
    }
}

fn repair_branches(object: &mut Map<String, Value>) {
    let Some(Value::Array(branches)) = object.get_mut("oneOf") else {
        return;
    };
    for branch in branches {
        let Some(Choices {
            kind: "string",
            values,
            description,
        }) = Choices::of(branch)
        else {
            continue;
        };
        let [Value::String(name)] = values.as_slice() else {
            continue;
        };
        let mut mended = json!({
            "type": "object",
            "properties": { name.as_str(): { "type": "null" } },
            "required": [name],
        });
        if let Some(description) = description {
            mended["description"] = description.into();
        }
        *branch = mended;
    }
}

/// A schema that accepts a few literals of one type and nothing else.
struct Choices<'a> {
    kind: &'a str,
    values: Vec<&'a Value>,
    description: Option<&'a str>,
}

impl<'a> Choices<'a> {
    fn of(schema: &'a Value) -> Option<Self> {
        let object = schema.as_object()?;
        let known = |keyword: &String| {
            matches!(
                keyword.as_str(),
                "type" | "const" | "enum" | "description" | "title"
            )
        };
        if !object.keys().all(known) {
            return None;
        }
        let values = match (object.get("const"), object.get("enum")) {
            (Some(value), None) => vec![value],
            (None, Some(Value::Array(values))) => values.iter().collect(),
            _ => return None,
        };
        Some(Self {
            kind: object.get("type")?.as_str()?,
            values,
            description: object.get("description").and_then(Value::as_str),
        })
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{text}`"),
        other => format!("`{other}`"),
    }
}
