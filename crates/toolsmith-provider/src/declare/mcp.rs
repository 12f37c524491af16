//! The form of MCP's `tools/list`: schemas as they are.

use serde_json::{Map, Value, json};
use toolsmith_core::json::{MAX_DEPTH, depth_exceeds};

use super::prepare::{Ready, Tools};

pub(super) fn request(tools: Tools<'_>) -> Map<String, Value> {
    let tools: Vec<Value> = tools.list.into_iter().map(declaration).collect();
    Map::from_iter([("tools".to_owned(), Value::Array(tools))])
}

fn declaration(tool: Ready<'_>) -> Value {
    let definition = &tool.offered.tool;
    let mut declared = Map::new();
    declared.insert("name".to_owned(), tool.name.into());
    if let Some(title) = &definition.title {
        declared.insert("title".to_owned(), title.clone().into());
    }
    if !tool.description.is_empty() {
        declared.insert("description".to_owned(), tool.description.into());
    }
    declared.insert("inputSchema".to_owned(), whole(definition.input.as_value()));
    if let Some(output) = &definition.output {
        declared.insert("outputSchema".to_owned(), whole(output.as_value()));
    }
    declared.insert("annotations".to_owned(), definition.annotations());
    Value::Object(declared)
}

/// The schema, unless it is so deep that nobody could read it.
fn whole(schema: &Value) -> Value {
    if depth_exceeds(schema, MAX_DEPTH) {
        return json!({ "type": "object" });
    }
    schema.clone()
}
