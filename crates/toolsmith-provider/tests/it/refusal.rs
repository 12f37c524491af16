//! Which errors say that a model takes no tools, so that it is asked as text.

use serde_json::json;
use toolsmith_provider::parse::parse;
use toolsmith_provider::{Dictionary, Provider};

fn refuses(provider: Provider, message: &str) -> bool {
    let body = json!({ "error": { "message": message, "type": "invalid_request_error" } });
    let error = parse(
        provider,
        body.to_string().as_bytes(),
        &Dictionary::default(),
    );
    error.expect_err("an error").refuses_tools()
}

#[test]
fn errors_about_tools_as_such() {
    for message in [
        "registry.ollama.ai/library/gemma:2b does not support tools",
        "This model doesn't support tool use.",
        "`tools` is not supported with this model",
        "`tool calling` is not supported with this model",
        "'tools' is not supported by this model.",
        "Unrecognized request argument supplied: tools",
        "Unsupported parameter: 'tools' is not supported with this model.",
        "No endpoints found that support tool use. To learn more…",
        "Function calling is not enabled for models/gemma-3-27b-it",
    ] {
        assert!(refuses(Provider::OpenAiCompatible, message), "{message}");
    }
    let vllm =
        "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set";
    assert!(refuses(Provider::OpenAiCompatible, vllm));
    assert!(!refuses(Provider::Anthropic, vllm));
}

#[test]
fn errors_about_something_else() {
    for message in [
        "This model doesn't support tool use in streaming mode.",
        "deepseek-reasoner does not support tool_choice",
        "claude-3-haiku does not support tool types: web_search_20250305",
        "the following tools are not supported: code_interpreter",
        "This model does not support parallel tool calls; tools are not supported in parallel",
        "does not support toolsets",
        "rate limit reached",
        "",
    ] {
        assert!(!refuses(Provider::OpenAi, message), "{message}");
    }
}
