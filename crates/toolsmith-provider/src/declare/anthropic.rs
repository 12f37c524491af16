//! Anthropic's Messages.

use serde_json::{Map, Value, json};

use super::prepare::{Ready, SEARCH_TOOL, Tools};
use super::{Options, ToolChoice};

pub(super) fn request(tools: Tools<'_>, options: &Options) -> Map<String, Value> {
    let Tools {
        list,
        some_deferred,
        chosen,
        ..
    } = tools;
    let mut tools: Vec<Value> = list.into_iter().map(declaration).collect();
    if some_deferred {
        tools.push(json!({ "type": "tool_search_tool_bm25_20251119", "name": SEARCH_TOOL }));
    }
    tools.extend(options.hosted.iter().cloned());
    let mut request = Map::from_iter([("tools".to_owned(), Value::Array(tools))]);
    let mut choice = match &options.choice {
        ToolChoice::Auto if options.parallel.is_none() => return request,
        ToolChoice::Auto => json!({ "type": "auto" }),
        ToolChoice::None => json!({ "type": "none" }),
        ToolChoice::Required => json!({ "type": "any" }),
        ToolChoice::Tool(_) => json!({ "type": "tool", "name": chosen }),
    };
    if let (Some(parallel), true) = (options.parallel, options.choice != ToolChoice::None) {
        choice["disable_parallel_tool_use"] = (!parallel).into();
    }
    request.insert("tool_choice".to_owned(), choice);
    request
}

fn declaration(tool: Ready<'_>) -> Value {
    let mut declared = Map::new();
    declared.insert("name".to_owned(), tool.name.into());
    if !tool.description.is_empty() {
        declared.insert("description".to_owned(), tool.description.into());
    }
    declared.insert("input_schema".to_owned(), tool.schema.into());
    if tool.strict {
        declared.insert("strict".to_owned(), true.into());
    }
    if tool.deferred {
        declared.insert("defer_loading".to_owned(), true.into());
    }
    if !tool.examples.is_empty() {
        declared.insert("input_examples".to_owned(), tool.examples.into());
    }
    Value::Object(declared)
}
