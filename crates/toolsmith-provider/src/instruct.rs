//! Where each provider takes instructions, for prompts that ask for calls as text.

use serde_json::{Map, Value, json};

use crate::capability::takes_instructions;
use crate::provider::Provider;

/// Adds instructions for a model to a request, after those it has. A model that takes none
/// finds them before what the user says first.
pub fn instruct(
    provider: Provider,
    model: &str,
    request: &mut Map<String, Value>,
    instructions: &str,
) {
    if !takes_instructions(provider, model) {
        return before_the_user(provider, request, instructions);
    }
    match provider {
        Provider::Anthropic => {
            let block = |text: &str| json!({ "type": "text", "text": text });
            blocks(request, "system", block, instructions);
        }
        Provider::Bedrock => {
            let block = |text: &str| json!({ "text": text });
            blocks(request, "system", block, instructions);
        }
        Provider::OpenAiResponses => {
            let before = request.get("instructions").and_then(Value::as_str);
            let all = joined(before, instructions);
            request.insert("instructions".to_owned(), all.into());
        }
        Provider::Gemini => parts(request, instructions),
        _ => message(request, instructions),
    }
}

/// Puts instructions in front of the first message of the user.
fn before_the_user(provider: Provider, request: &mut Map<String, Value>, instructions: &str) {
    let (list, content, part) = match provider {
        Provider::Gemini => ("contents", "parts", json!({ "text": instructions })),
        Provider::Bedrock => ("messages", "content", json!({ "text": instructions })),
        _ => {
            let part = json!({ "type": "text", "text": instructions });
            ("messages", "content", part)
        }
    };
    let messages = request
        .entry(list)
        .or_insert_with(|| Value::Array(Vec::new()));
    let Value::Array(messages) = messages else {
        return;
    };
    let is_user = |message: &&mut Value| message["role"].as_str().is_none_or(|role| role == "user");
    let first = { messages.iter_mut() }
        .filter(|message| message.is_object())
        .find(is_user);
    match first.map(|message| &mut message[content]) {
        Some(Value::Array(parts)) => parts.insert(0, part),
        Some(said) => *said = joined(Some(instructions), said.as_str().unwrap_or_default()).into(),
        None => messages.insert(0, json!({ "role": "user", content: [part] })),
    }
}

/// Instructions that are a text or a list of blocks.
fn blocks(
    request: &mut Map<String, Value>,
    key: &str,
    block: impl Fn(&str) -> Value,
    instructions: &str,
) {
    let mut all = match request.remove(key) {
        Some(Value::Array(blocks)) => blocks,
        Some(Value::String(text)) => vec![block(&text)],
        _ => Vec::new(),
    };
    all.push(block(instructions));
    request.insert(key.to_owned(), Value::Array(all));
}

/// Instructions that are the first message.
fn message(request: &mut Map<String, Value>, instructions: &str) {
    let messages = request
        .entry("messages")
        .or_insert_with(|| Value::Array(Vec::new()));
    let Value::Array(messages) = messages else {
        return;
    };
    let is_instruction = |message: &Value| {
        let role = message["role"].as_str().unwrap_or_default();
        matches!(role, "system" | "developer")
    };
    match messages.first_mut().filter(|first| is_instruction(first)) {
        Some(first) => match &mut first["content"] {
            Value::Array(parts) => parts.push(json!({ "type": "text", "text": instructions })),
            content => *content = joined(content.as_str(), instructions).into(),
        },
        None => messages.insert(0, json!({ "role": "system", "content": instructions })),
    }
}

fn joined(before: Option<&str>, instructions: &str) -> String {
    match before.filter(|text| !text.is_empty()) {
        Some(before) => format!("{before}\n\n{instructions}"),
        None => instructions.to_owned(),
    }
}

/// Instructions that are a content with parts.
fn parts(request: &mut Map<String, Value>, instructions: &str) {
    // Both spellings are taken, and only one may be there.
    let key = match request.contains_key("system_instruction") {
        true => "system_instruction",
        false => "systemInstruction",
    };
    let mut parts = match request.remove(key) {
        Some(Value::Object(mut content)) => match content.remove("parts") {
            Some(Value::Array(parts)) => parts,
            Some(part @ Value::Object(_)) => vec![part],
            _ => Vec::new(),
        },
        Some(Value::String(text)) => vec![json!({ "text": text })],
        _ => Vec::new(),
    };
    parts.push(json!({ "text": instructions }));
    request.insert(key.to_owned(), json!({ "parts": parts }));
}
