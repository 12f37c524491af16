//! The `$defs` of recursive types: all others are written out where they stand.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// Gives a recursive root a name among the definitions. `#` would mean another
/// schema as soon as the root is changed or put into a larger document.
pub(super) fn name_the_root(schema: &mut Value, name: &str) {
    let mut found = false;
    let target = format!("#/$defs/{name}");
    each_reference(schema, &mut |reference| {
        if reference == "#" {
            reference.clone_from(&target);
            found = true;
        }
    });
    if !found {
        return;
    }
    let mut copy = schema.clone();
    if let (Some(copy), Some(root)) = (copy.as_object_mut(), schema.as_object_mut()) {
        copy.shift_remove("$defs");
        copy.shift_remove("title");
        let definitions = root.entry("$defs").or_insert_with(|| json!({}));
        definitions[name] = Value::Object(std::mem::take(copy));
    }
}

/// Drops the definitions that nothing refers to.
pub(super) fn drop_unused(schema: &mut Value) {
    let Some(mut definitions) = schema
        .as_object_mut()
        .and_then(|object| object.shift_remove("$defs"))
    else {
        return;
    };
    let mut used = BTreeSet::new();
    let mut open = references(schema);
    while let Some(name) = open.pop() {
        if let Some(definition) = definitions.get_mut(&name)
            && used.insert(name)
        {
            open.extend(references(definition));
        }
    }
    if let Some(map) = definitions.as_object_mut() {
        map.retain(|name, _| used.contains(name));
        if !map.is_empty() {
            schema["$defs"] = definitions;
        }
    }
}

fn references(schema: &mut Value) -> Vec<String> {
    let mut names = Vec::new();
    each_reference(schema, &mut |reference| {
        if let Some(name) = reference.strip_prefix("#/$defs/") {
            // A reference is a JSON pointer, whose two escapes a name may need.
            names.push(name.replace("~1", "/").replace("~0", "~"));
        }
    });
    names
}

fn each_reference(schema: &mut Value, visit: &mut impl FnMut(&mut String)) {
    match schema {
        Value::Object(object) => {
            for (keyword, value) in object {
                match value {
                    Value::String(reference) if keyword == "$ref" => visit(reference),
                    // Data, not schemas: a `$ref` in here is only a key.
                    _ if matches!(keyword.as_str(), "default" | "const" | "enum" | "examples") => {}
                    value => each_reference(value, visit),
                }
            }
        }
        Value::Array(list) => list
            .iter_mut()
            .for_each(|schema| each_reference(schema, visit)),
        _ => {}
    }
}
