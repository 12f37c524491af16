//! Chat completions and everything shaped after them: OpenAI's own in three forms,
//! compatible servers, Mistral, Cohere, Ollama, DeepSeek and Qwen.

use serde_json::{Map, Value, json};

use super::prepare::{Ready, Tools};
use super::{FormatError, Options, ToolChoice};
use crate::provider::Provider;

pub(super) fn request(
    provider: Provider,
    tools: Tools<'_>,
    options: &Options,
) -> Result<Map<String, Value>, FormatError> {
    let mut request = Map::new();
    let Tools {
        list,
        all_strict,
        some_deferred,
        chosen,
    } = tools;
    let mut tools: Vec<Value> = list
        .into_iter()
        .map(|tool| declaration(provider, tool, options.strict))
        .collect();
    if provider == Provider::OpenAiFunctions && !options.hosted.is_empty() {
        let what = "tools of its own";
        return Err(FormatError::Unsupported { provider, what });
    }
    if some_deferred {
        tools.push(json!({ "type": "tool_search" }));
    }
    tools.extend(options.hosted.iter().cloned());
    // Ollama has no word for calling nothing but having nothing to call.
    if provider == Provider::Ollama && options.choice == ToolChoice::None {
        return Ok(request);
    }
    let field = match provider {
        Provider::OpenAiFunctions => "functions",
        _ => "tools",
    };
    request.insert(field.to_owned(), Value::Array(tools));
    if provider == Provider::Cohere && options.strict && all_strict {
        request.insert("strict_tools".to_owned(), true.into());
    }
    if let Some((field, choice)) = choice(provider, chosen.as_deref(), options)? {
        request.insert(field.to_owned(), choice);
    }
    if let Some(parallel) = options.parallel {
        match (can_switch_parallel(provider), parallel) {
            (true, _) => {
                request.insert("parallel_tool_calls".to_owned(), parallel.into());
            }
            (false, true) => {}
            (false, false) => {
                let what = "way to forbid parallel calls";
                return Err(FormatError::Unsupported { provider, what });
            }
        }
    }
    Ok(request)
}

fn declaration(provider: Provider, tool: Ready<'_>, strict: bool) -> Value {
    let mut function = Map::new();
    let flat = provider == Provider::OpenAiResponses;
    if flat {
        function.insert("type".to_owned(), "function".into());
    }
    function.insert("name".to_owned(), tool.name.into());
    if !tool.description.is_empty() {
        function.insert("description".to_owned(), tool.description.into());
    }
    function.insert("parameters".to_owned(), tool.schema.into());
    let says_strict = match provider {
        // Left out, it counts as true there.
        Provider::OpenAiResponses => true,
        Provider::OpenAi | Provider::Mistral => strict,
        // The beta takes only requests whose tools are all strict.
        Provider::DeepSeek => strict && tool.strict,
        _ => false,
    };
    if says_strict {
        function.insert("strict".to_owned(), tool.strict.into());
    }
    if flat && tool.deferred {
        function.insert("defer_loading".to_owned(), true.into());
    }
    if flat || provider == Provider::OpenAiFunctions {
        return Value::Object(function);
    }
    // The macro would copy what the function holds.
    let kind = ("type".to_owned(), "function".into());
    let function = ("function".to_owned(), Value::Object(function));
    Value::Object(Map::from_iter([kind, function]))
}

fn choice(
    provider: Provider,
    chosen: Option<&str>,
    options: &Options,
) -> Result<Option<(&'static str, Value)>, FormatError> {
    let no = |what| Err(FormatError::Unsupported { provider, what });
    let value = match (&options.choice, provider) {
        (ToolChoice::Auto, _) => return Ok(None),
        (_, Provider::Ollama) => return no("choice of tools"),
        (ToolChoice::None, Provider::Cohere) => json!("NONE"),
        (ToolChoice::None, _) => json!("none"),
        (ToolChoice::Required, Provider::Cohere) => json!("REQUIRED"),
        (ToolChoice::Required, Provider::Mistral) => json!("any"),
        (ToolChoice::Required, Provider::OpenAiFunctions | Provider::Qwen) => {
            return no("choice of some tool, whichever it is");
        }
        (ToolChoice::Required, _) => json!("required"),
        (ToolChoice::Tool(_), Provider::Cohere) => return no("choice of one tool"),
        (ToolChoice::Tool(_), Provider::OpenAiFunctions) => json!({ "name": chosen }),
        (ToolChoice::Tool(_), Provider::OpenAiResponses) => {
            json!({ "type": "function", "name": chosen })
        }
        (ToolChoice::Tool(_), _) => {
            json!({ "type": "function", "function": { "name": chosen } })
        }
    };
    let field = match provider {
        Provider::OpenAiFunctions => "function_call",
        _ => "tool_choice",
    };
    Ok(Some((field, value)))
}

fn can_switch_parallel(provider: Provider) -> bool {
    matches!(
        provider,
        Provider::OpenAi
            | Provider::OpenAiResponses
            | Provider::OpenAiCompatible
            | Provider::Mistral
            | Provider::Qwen
    )
}
