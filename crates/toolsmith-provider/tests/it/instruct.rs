//! Where instructions go in each provider's request, and that none that are there are lost.

use serde_json::{Value, json};
use toolsmith_provider::{Provider, instruct};

fn check(provider: Provider, request: &Value, expected: &Value) {
    let mut request = request.as_object().unwrap().clone();
    instruct(provider, "any", &mut request, "NEW");
    assert_eq!(Value::Object(request), *expected, "{provider}");
}

#[test]
fn a_text_or_blocks() {
    let block = |text: &str| json!({ "type": "text", "text": text });
    let cached = json!({ "type": "text", "text": "OLD", "cache_control": { "type": "ephemeral" } });
    check(
        Provider::Anthropic,
        &json!({}),
        &json!({ "system": [block("NEW")] }),
    );
    check(
        Provider::Anthropic,
        &json!({ "system": "OLD" }),
        &json!({ "system": [block("OLD"), block("NEW")] }),
    );
    check(
        Provider::Anthropic,
        &json!({ "system": [cached] }),
        &json!({ "system": [cached, block("NEW")] }),
    );
    check(
        Provider::Bedrock,
        &json!({ "system": [{ "text": "OLD" }] }),
        &json!({ "system": [{ "text": "OLD" }, { "text": "NEW" }] }),
    );
    check(
        Provider::OpenAiResponses,
        &json!({ "instructions": "OLD" }),
        &json!({ "instructions": "OLD\n\nNEW" }),
    );
}

#[test]
fn parts_under_either_spelling() {
    let part = |text: &str| json!({ "text": text });
    check(
        Provider::Gemini,
        &json!({}),
        &json!({ "systemInstruction": { "parts": [part("NEW")] } }),
    );
    check(
        Provider::Gemini,
        &json!({ "system_instruction": { "parts": [part("OLD")] } }),
        &json!({ "system_instruction": { "parts": [part("OLD"), part("NEW")] } }),
    );
    // The SDKs take a text, or one part without a list, as well.
    check(
        Provider::Gemini,
        &json!({ "systemInstruction": "OLD" }),
        &json!({ "systemInstruction": { "parts": [part("OLD"), part("NEW")] } }),
    );
    check(
        Provider::Gemini,
        &json!({ "systemInstruction": { "parts": part("OLD") } }),
        &json!({ "systemInstruction": { "parts": [part("OLD"), part("NEW")] } }),
    );
}

#[test]
fn the_first_message() {
    let user = json!({ "role": "user", "content": "Q" });
    let system = |content: Value| json!({ "role": "system", "content": content });
    for provider in [
        Provider::OpenAi,
        Provider::OpenAiCompatible,
        Provider::Mistral,
        Provider::Cohere,
        Provider::Ollama,
        Provider::DeepSeek,
        Provider::Qwen,
    ] {
        check(
            provider,
            &json!({ "messages": [user] }),
            &json!({ "messages": [system(json!("NEW")), user] }),
        );
        check(
            provider,
            &json!({ "messages": [system(json!("OLD")), user] }),
            &json!({ "messages": [system(json!("OLD\n\nNEW")), user] }),
        );
        let part = |text: &str| json!({ "type": "text", "text": text });
        check(
            provider,
            &json!({ "messages": [system(json!([part("OLD")])), user] }),
            &json!({ "messages": [system(json!([part("OLD"), part("NEW")])), user] }),
        );
    }
}

#[test]
fn models_that_take_none_find_them_before_what_the_user_says() {
    let check = |provider: Provider, model: &str, request: &Value, expected: &Value| {
        let mut request = request.as_object().unwrap().clone();
        instruct(provider, model, &mut request, "NEW");
        assert_eq!(Value::Object(request), *expected, "{model}");
    };
    let said = |parts: &[&str]| {
        let parts: Vec<Value> = parts.iter().map(|text| json!({ "text": text })).collect();
        json!({ "contents": [{ "role": "user", "parts": parts }] })
    };
    check(
        Provider::Gemini,
        "gemma-3-27b-it",
        &said(&["Q"]),
        &said(&["NEW", "Q"]),
    );
    check(
        Provider::Gemini,
        "gemma-3-27b-it",
        &json!({}),
        &said(&["NEW"]),
    );
    check(
        Provider::OpenAi,
        "o1-mini",
        &json!({ "messages": [{ "role": "assistant", "content": "A" }, { "role": "user", "content": "Q" }] }),
        &json!({ "messages": [{ "role": "assistant", "content": "A" }, { "role": "user", "content": "NEW\n\nQ" }] }),
    );
    check(
        Provider::Bedrock,
        "amazon.titan-text-express-v1",
        &json!({ "messages": [{ "role": "user", "content": [{ "text": "Q" }] }] }),
        &json!({ "messages": [{ "role": "user", "content": [{ "text": "NEW" }, { "text": "Q" }] }] }),
    );
}
