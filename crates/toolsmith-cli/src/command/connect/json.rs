//! Edits a JSON file, comments, order and indentation of which stay as they are.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::Value;

use super::clients::Dialect;
use super::edit::{Edit, EditError, Spot, Taken, misread, place};

/// Puts an entry in, and what it has its client ask for.
pub(super) fn add(
    text: &str,
    dialect: Dialect,
    spot: &Spot<'_>,
    entry: &Value,
    taken: Taken,
    input: Option<Value>,
) -> Result<Edit, EditError> {
    let root = parse(text, dialect)?;
    let before = root.to_serde_value();
    let mut object = root
        .object_value_or_create()
        .ok_or_else(|| EditError::Shape("it holds no object".to_owned()))?;
    let mut entry = entry.clone();
    for key in spot.keys {
        object = child(&object, key)?;
    }
    if let Some(servers) = second_generation(&object, spot) {
        // There is no `enabled` any more: what is there runs.
        if let Value::Object(fields) = &mut entry {
            fields.shift_remove("enabled");
        }
        object = servers;
    }
    single(&object, spot.name)?;
    match object.get(spot.name) {
        None => {
            object.append(spot.name, input_value(&entry));
        }
        Some(there) => {
            let found = there.value().and_then(|value| value.to_serde_value());
            if found.as_ref() != Some(&entry) {
                if taken == Taken::Refuse {
                    return Err(EditError::Taken(found.unwrap_or_default()));
                }
                there.set_value(input_value(&entry));
            }
        }
    }
    let written = object.get(spot.name).and_then(|there| there.value());
    if written.and_then(|value| value.to_serde_value()).as_ref() != Some(&entry) {
        return Err(misread());
    }
    if let (Some(input), Some(root)) = (input, root.object_value()) {
        ask_for(&root, &input)?;
    }
    finish(text, dialect, before.as_ref(), &root)
}

/// Takes an entry out.
pub(super) fn remove(text: &str, dialect: Dialect, spot: &Spot<'_>) -> Result<Edit, EditError> {
    let root = parse(text, dialect)?;
    let before = root.to_serde_value();
    let Some(mut object) = root.object_value() else {
        return Ok(Edit::Same);
    };
    for key in spot.keys {
        single(&object, key)?;
        match object.object_value(key) {
            Some(inner) => object = inner,
            None => return Ok(Edit::Same),
        }
    }
    if let Some(servers) = second_generation(&object, spot) {
        object = servers;
    }
    single(&object, spot.name)?;
    let Some(there) = object.get(spot.name) else {
        return Ok(Edit::Same);
    };
    there.remove();
    // What only this entry asked for is asked no more.
    let id = format!("{}-token", spot.name);
    let is_used = root.to_string().contains(&format!("${{input:{id}}}"));
    let inputs = root
        .object_value()
        .and_then(|root| root.array_value("inputs"));
    if let (false, Some(inputs)) = (is_used, inputs) {
        for element in inputs.elements() {
            let value = element.to_serde_value().unwrap_or_default();
            if value["id"] == id.as_str() {
                element.remove();
            }
        }
    }
    finish(text, dialect, before.as_ref(), &root)
}

/// The servers of opencode 2, which stand one level deeper. A file in the older form is
/// read by both, so only a file that has the new one gets it.
fn second_generation(object: &CstObject, spot: &Spot<'_>) -> Option<CstObject> {
    let servers = object
        .object_value("servers")
        .filter(|_| spot.keys == ["mcp"])?;
    // A server of the older form may be called `servers`.
    let is_server = ["type", "command", "url", "enabled"].iter().any(|key| {
        servers
            .get(key)
            .is_some_and(|prop| prop.object_value().is_none())
    });
    (!is_server).then_some(servers)
}

/// Adds to the list of what VS Code asks its user for, unless it is there.
fn ask_for(root: &CstObject, input: &Value) -> Result<(), EditError> {
    single(root, "inputs")?;
    let inputs = root
        .array_value_or_create("inputs")
        .ok_or_else(|| EditError::Shape("`inputs` is no list".to_owned()))?;
    let is_there = inputs.elements().iter().any(|element| {
        let value = element.to_serde_value().unwrap_or_default();
        value["id"] == input["id"]
    });
    if !is_there {
        inputs.append(input_value(input));
    }
    Ok(())
}

fn parse(text: &str, dialect: Dialect) -> Result<CstRootNode, EditError> {
    let options = ParseOptions {
        allow_comments: dialect != Dialect::Strict,
        allow_trailing_commas: dialect == Dialect::Loose,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    // What has nothing in it is a file somebody has just made.
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    if dialect == Dialect::Strict {
        // The tree is built with comments, allowed or not.
        strictly(text)?;
    }
    CstRootNode::parse(text, &options).map_err(|error| {
        let (line, column) = place(text, error.range().start);
        let message = error.kind().to_string();
        EditError::Syntax {
            line,
            column,
            message: message.replacen(char::is_uppercase, &message[..1].to_lowercase(), 1),
        }
    })
}

fn strictly(text: &str) -> Result<(), EditError> {
    let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) else {
        return Ok(());
    };
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    let message = message.strip_suffix(&format!(" at line {line} column {column}"));
    // It counts bytes, people count characters.
    let above = text.split_inclusive('\n').take(line.saturating_sub(1));
    let start: usize = above.map(str::len).sum();
    let (line, column) = place(text, start + column.saturating_sub(1));
    Err(EditError::Syntax {
        line,
        column,
        message: message.unwrap_or("it is no JSON").to_owned(),
    })
}

/// The object under a key, which is made if there is none.
fn child(object: &CstObject, key: &str) -> Result<CstObject, EditError> {
    single(object, key)?;
    object
        .object_value_or_create(key)
        .ok_or_else(|| EditError::Shape(format!("`{key}` is no object")))
}

/// Refuses a key that stands twice: which one the client takes is anybody's guess.
fn single(object: &CstObject, key: &str) -> Result<(), EditError> {
    let properties = object.properties();
    let is_key = |name: Option<String>| name.as_deref() == Some(key);
    let count = properties
        .iter()
        .filter(|property| is_key(property.decoded_name()))
        .count();
    if count > 1 {
        return Err(EditError::Shape(format!("`{key}` stands there twice")));
    }
    Ok(())
}

/// The new text, once it was read again. An edit that its client could not read must
/// not reach the disk.
fn finish(
    text: &str,
    dialect: Dialect,
    before: Option<&Value>,
    root: &CstRootNode,
) -> Result<Edit, EditError> {
    let after = root.to_serde_value();
    if after.as_ref() == before && !text.trim().is_empty() {
        return Ok(Edit::Same);
    }
    let mut edited = root.to_string();
    if !edited.ends_with('\n') && (text.is_empty() || text.ends_with('\n')) {
        edited.push('\n');
    }
    let again = parse(&edited, dialect)?.to_serde_value();
    if again != after {
        return Err(misread());
    }
    Ok(Edit::Changed(edited))
}

fn input_value(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input_value).collect()),
        Value::Object(fields) => {
            let pairs = fields.iter();
            CstInputValue::Object(
                pairs
                    .map(|(key, value)| (key.clone(), input_value(value)))
                    .collect(),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::command::connect::edit::damaged;

    const SPOT: Spot<'_> = Spot {
        keys: &["mcp"],
        name: "a",
    };

    /// Whatever a file has become, an edit is refused, or can be taken back.
    #[test]
    fn damaged_files_are_refused_or_edited_well() {
        let text = "// \u{e9}\r\n{\n\t\"mcp\": {\"servers\": {}, /* b */ \"b\": [1, {\"c\": \"\\u00e9\"},],},\n  \
                    \"inputs\": [{\"id\": \"x\"}], // d\n  \"e\": -1.5e3, \"f\": null,\n}\n";
        let entry = json!({ "command": ["x", "\u{e9}\"\\"], "enabled": true });
        let input = json!({ "id": "a-token" });
        for text in damaged(text) {
            for dialect in [Dialect::Strict, Dialect::Comments, Dialect::Loose] {
                let added = add(
                    &text,
                    dialect,
                    &SPOT,
                    &entry,
                    Taken::Replace,
                    Some(input.clone()),
                );
                let Ok(Edit::Changed(added)) = added else {
                    continue;
                };
                let again = add(
                    &added,
                    dialect,
                    &SPOT,
                    &entry,
                    Taken::Refuse,
                    Some(input.clone()),
                );
                assert_eq!(again.unwrap(), Edit::Same, "{text}");
                let Edit::Changed(removed) = remove(&added, dialect, &SPOT).unwrap() else {
                    panic!("nothing to take out of {added}");
                };
                assert!(!removed.contains("a-token"), "{removed}");
                let comments = |text: &str| text.matches("/*").count();
                assert_eq!(comments(&removed), comments(&text), "{text}");
            }
        }
    }
}
