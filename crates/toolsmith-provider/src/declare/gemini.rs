//! Google's Gemini.

use serde_json::{Map, Value, json};

use super::prepare::{Ready, Tools};
use super::{FormatError, Options, ToolChoice};
use crate::provider::Provider;

pub(super) fn request(
    tools: Tools<'_>,
    options: &Options,
) -> Result<Map<String, Value>, FormatError> {
    if options.parallel == Some(false) {
        return Err(FormatError::Unsupported {
            provider: Provider::Gemini,
            what: "way to forbid parallel calls",
        });
    }
    let Tools { list, chosen, .. } = tools;
    let mut tools = Vec::new();
    if !list.is_empty() {
        let functions: Vec<Value> = list.into_iter().map(declaration).collect();
        let functions = ("functionDeclarations".to_owned(), Value::Array(functions));
        tools.push(Value::Object(Map::from_iter([functions])));
    }
    tools.extend(options.hosted.iter().cloned());
    let mut request = Map::from_iter([("tools".to_owned(), Value::Array(tools))]);
    let choice = match &options.choice {
        ToolChoice::Auto => return Ok(request),
        ToolChoice::None => json!({ "mode": "NONE" }),
        ToolChoice::Required => json!({ "mode": "ANY" }),
        ToolChoice::Tool(_) => {
            json!({ "mode": "ANY", "allowedFunctionNames": [chosen] })
        }
    };
    let configuration = json!({ "functionCallingConfig": choice });
    request.insert("toolConfig".to_owned(), configuration);
    Ok(request)
}

fn declaration(tool: Ready<'_>) -> Value {
    let mut declared = Map::new();
    declared.insert("name".to_owned(), tool.name.into());
    declared.insert("description".to_owned(), tool.description.into());
    // An object without properties is refused: a function that takes nothing says nothing.
    if tool.schema.contains_key("properties") {
        declared.insert("parameters".to_owned(), tool.schema.into());
    }
    Value::Object(declared)
}
