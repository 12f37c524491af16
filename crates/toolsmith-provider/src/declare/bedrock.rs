//! Converse of AWS Bedrock.

use serde_json::{Map, Value, json};

use super::prepare::{Ready, Tools};
use super::{FormatError, Options, ToolChoice};
use crate::provider::Provider;

pub(super) fn request(
    tools: Tools<'_>,
    options: &Options,
) -> Result<Map<String, Value>, FormatError> {
    let no = |what| {
        let provider = Provider::Bedrock;
        Err(FormatError::Unsupported { provider, what })
    };
    if options.parallel == Some(false) {
        return no("way to forbid parallel calls");
    }
    let Tools { list, chosen, .. } = tools;
    let mut tools: Vec<Value> = list.into_iter().map(declaration).collect();
    tools.extend(options.hosted.iter().cloned());
    let mut configuration = json!({});
    configuration["tools"] = Value::Array(tools);
    match &options.choice {
        ToolChoice::Auto => {}
        // The tools cannot be left out either: a history with calls demands them.
        ToolChoice::None => return no("choice of no tool"),
        ToolChoice::Required => configuration["toolChoice"] = json!({ "any": {} }),
        ToolChoice::Tool(_) => {
            configuration["toolChoice"] = json!({ "tool": { "name": chosen } });
        }
    }
    Ok(Map::from_iter([("toolConfig".to_owned(), configuration)]))
}

fn declaration(tool: Ready<'_>) -> Value {
    let mut specification = Map::new();
    specification.insert("name".to_owned(), tool.name.into());
    specification.insert("description".to_owned(), tool.description.into());
    let schema = ("json".to_owned(), Value::Object(tool.schema));
    let schema = Value::Object(Map::from_iter([schema]));
    specification.insert("inputSchema".to_owned(), schema);
    if tool.strict {
        specification.insert("strict".to_owned(), true.into());
    }
    let specification = ("toolSpec".to_owned(), Value::Object(specification));
    Value::Object(Map::from_iter([specification]))
}
