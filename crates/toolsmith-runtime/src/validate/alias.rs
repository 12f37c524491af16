//! Other names for arguments, as models know them from other tools.

use serde_json::{Map, Value};
use toolsmith_core::ToolDef;

/// Gives arguments their own names, and names each change. An argument that is there
/// under its own name too is left for the schema to refuse.
pub(super) fn rename(
    tool: &ToolDef,
    arguments: &mut Map<String, Value>,
    repairs: &mut Vec<String>,
) {
    for (alias, name) in &tool.aliases {
        let Some((list, alias)) = alias.split_once('.') else {
            if rename_one(arguments, alias, name) {
                repairs.push(format!("`{alias}` was read as `{name}`"));
            }
            continue;
        };
        let Some(Value::Array(items)) = arguments.get_mut(list) else {
            continue;
        };
        let mut any = false;
        for item in items {
            if let Value::Object(item) = item {
                any |= rename_one(item, alias, name);
            }
        }
        if any {
            repairs.push(format!("`{alias}` in `{list}` was read as `{name}`"));
        }
    }
}

fn rename_one(object: &mut Map<String, Value>, alias: &str, name: &str) -> bool {
    if object.contains_key(name) {
        return false;
    }
    match object.remove(alias) {
        Some(value) => {
            object.insert(name.to_owned(), value);
            true
        }
        None => false,
    }
}
