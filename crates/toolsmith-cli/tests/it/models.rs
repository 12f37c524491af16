//! `declare`, `parse` and `prompt`: the tools in a model's words, and its words as calls.

use serde_json::{Value, json};

use crate::support::{User, newcomer, user};

/// An answer of a chat completion that makes one call.
fn answer(name: &str, arguments: &str) -> String {
    json!({ "choices": [{ "finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": "Well.", "tool_calls": [{
            "id": "c1", "type": "function", "function": { "name": name, "arguments": arguments } }] } }] })
    .to_string()
}

fn parsed(user: &User, provider: &str) -> Value {
    user.runs(["parse", "--for", provider]).ends_with(0).json()
}

#[test]
fn what_is_printed_is_the_value_of_the_providers_field() {
    let tools = user().runs(["tools", "--json"]).ends_with(0).json();
    let names: Vec<&Value> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|t| &t["name"])
        .collect();
    let list = |provider: &str, pointer: &str| {
        let declared = user()
            .runs(["declare", "--for", provider])
            .ends_with(0)
            .tells("");
        let declared = declared.json();
        let (path, name) = pointer.split_once('#').unwrap();
        let list = declared.pointer(path).unwrap().as_array().unwrap().clone();
        let names = list.iter().map(|tool| tool.pointer(name).unwrap().clone());
        names.collect::<Vec<Value>>()
    };
    let places = [
        ("openai", "#/function/name"),
        ("openai-responses", "#/name"),
        ("openai-functions", "#/name"),
        ("openai-compatible", "#/function/name"),
        ("anthropic", "#/name"),
        ("gemini", "/0/functionDeclarations#/name"),
        ("bedrock", "#/toolSpec/name"),
        ("mistral", "#/function/name"),
        ("cohere", "#/function/name"),
        ("ollama", "#/function/name"),
        ("deepseek", "#/function/name"),
        ("qwen", "#/function/name"),
        ("mcp", "#/name"),
    ];
    for (provider, place) in places {
        let declared = list(provider, place);
        assert_eq!(declared.iter().collect::<Vec<_>>(), names, "{provider}");
    }
}

#[test]
fn an_unknown_provider_or_format_is_wrong_usage_and_the_known_ones_are_named() {
    let ran = newcomer().runs(["declare", "--for", "opnai"]).ends_with(2);
    assert!(
        ran.stderr.contains("openai-responses, openai-functions"),
        "{}",
        ran.stderr
    );
    let ran = newcomer().runs(["prompt", "--format", "yaml"]).ends_with(2);
    assert!(ran.stderr.contains("jsonl"), "{}", ran.stderr);
    newcomer().runs(["declare"]).ends_with(2);
}

#[test]
fn the_report_tells_what_lowering_changed() {
    let user = user();
    let report = user.runs([
        "declare", "--for", "openai", "--strict", "--report", "--json",
    ]);
    let report = report.ends_with(0).json();
    let add = report
        .as_array()
        .unwrap()
        .iter()
        .find(|tool| tool["name"] == "example_add");
    assert_eq!(add.unwrap()["strict"], true);
    let changed = |tool: &&Value| !tool["changes"].as_array().unwrap().is_empty();
    let read = report
        .as_array()
        .unwrap()
        .iter()
        .find(|tool| tool["name"] == "read")
        .unwrap();
    assert!(changed(&read), "{read}");
    assert!(read["changes"][0]["path"].is_string() && read["changes"][0]["what"].is_string());
    let told = user
        .runs(["declare", "--for", "openai", "--strict", "--report"])
        .ends_with(0);
    assert!(told.stdout.contains("read: strict\n"), "{}", told.stdout);
    assert!(told.stderr.contains(" strict\n"), "{}", told.stderr);
}

#[test]
fn the_request_holds_every_field_about_tools() {
    let words = [
        "declare",
        "--for",
        "anthropic",
        "--request",
        "--parallel",
        "false",
        "--choice",
        "example_add",
    ];
    let request = user().runs(words).ends_with(0).json();
    assert_eq!(request["tool_choice"]["name"], "example_add");
    assert_eq!(request["tool_choice"]["disable_parallel_tool_use"], true);
    assert!(request["tools"].is_array());
    let ran = user()
        .runs(["declare", "--for", "openai", "--choice", "no_such"])
        .ends_with(2);
    assert!(ran.stderr.contains("no_such"), "{}", ran.stderr);
}

#[test]
fn a_whole_answer_and_a_stream_are_read_alike() {
    let whole = parsed(
        &user().typing(answer("example_add", r#"{"a": 2, "b": 3}"#)),
        "openai",
    );
    let call = json!({ "id": "c1", "name": "example_add", "arguments": { "a": 2, "b": 3 },
        "complete": true, "repairs": [] });
    assert_eq!(whole, json!({ "calls": [call], "text": "Well." }));
    let chunk = |delta: Value| {
        format!(
            "data: {}\n\n",
            json!({ "choices": [{ "index": 0, "delta": delta }] })
        )
    };
    let stream = [
        chunk(json!({ "role": "assistant", "content": "Well." })),
        chunk(json!({ "tool_calls": [{ "index": 0, "id": "c1", "function": { "name": "example_add", "arguments": "{\"a\": 2," } }] })),
        chunk(json!({ "tool_calls": [{ "index": 0, "function": { "arguments": " \"b\": 3}" } }] })),
        "data: {\"choices\": [{\"index\": 0, \"delta\": {}, \"finish_reason\": \"tool_calls\"}]}\n\ndata: [DONE]\n\n".to_owned(),
    ];
    let streamed = parsed(&user().typing(stream.concat()), "openai");
    assert_eq!(streamed, whole);
}

#[test]
fn repairs_are_named_and_what_is_cut_off_is_not_complete() {
    let mended = parsed(
        &user().typing(answer("example_add", "{'a': 2, b: 3,}")),
        "openai",
    );
    assert_eq!(mended["calls"][0]["arguments"], json!({ "a": 2, "b": 3 }));
    assert!(
        !mended["calls"][0]["repairs"].as_array().unwrap().is_empty(),
        "{mended}"
    );
    let cut = parsed(
        &user().typing(answer("example_add", "{\"a\": 2, \"b\":")),
        "openai",
    );
    assert_eq!(cut["calls"][0]["complete"], false);
    assert_eq!(cut["calls"][0]["arguments"], Value::Null);
    assert!(
        cut["calls"][0]["error"]
            .as_str()
            .unwrap()
            .contains("cut off"),
        "{cut}"
    );
}

#[test]
fn an_error_instead_of_an_answer_ends_with_one() {
    let error = r#"{"error": {"message": "no such model", "type": "invalid_request_error"}}"#;
    let ran = user()
        .typing(error)
        .runs(["parse", "--for", "openai"])
        .ends_with(1)
        .prints("");
    assert!(ran.stderr.contains("no such model"), "{}", ran.stderr);
    for input in [
        "",
        "{}",
        "[]",
        "null",
        "not json",
        "\u{0}",
        "data: {\"x\": 1}\n\n",
    ] {
        let ran = user().typing(input).runs(["parse", "--for", "anthropic"]);
        assert!(matches!(ran.status, Some(0 | 1)), "{input:?}: {ran:#?}");
        assert!(!ran.stderr.contains("panicked"), "{input:?}: {ran:#?}");
    }
}

#[test]
fn text_is_asked_for_by_the_prompt_and_read_back() {
    let prompt = user().runs(["prompt"]).ends_with(0).tells("");
    assert!(prompt.stdout.contains("example_add"), "{}", prompt.stdout);
    assert!(
        prompt.stdout.contains(r#""parameters""#),
        "{}",
        prompt.stdout
    );
    for format in ["json", "jsonl", "xml"] {
        user().runs(["prompt", "--format", format]).ends_with(0);
    }
    let text =
        "I add.\n```json\n{\"name\": \"example_add\", \"parameters\": {\"a\": 2, \"b\": 3}}\n```\n";
    let read = parsed(&user().typing(text), "text");
    assert_eq!(
        read["calls"][0]["arguments"],
        json!({ "a": 2, "b": 3 }),
        "{read}"
    );
    assert_eq!(read["text"].as_str().unwrap().trim(), "I add.");
}

#[test]
fn a_model_that_cannot_call_is_asked_for_text_as_far_as_the_configuration_allows() {
    let words = ["declare", "--for", "anthropic", "--model", "claude-2.1"];
    let prompt = user().runs(words).ends_with(0);
    assert!(
        prompt.stdout.contains(r#""parameters""#),
        "{}",
        prompt.stdout
    );
    let request = user()
        .runs(words.iter().chain(&["--request"]))
        .ends_with(0)
        .json();
    assert!(
        request.get("tools").is_none() && request["system"].is_array(),
        "{request}"
    );

    let strategy = "output_strategy: { fallback_to_structured_output: false }\n";
    let ran = user()
        .having("toolsmith.yaml", strategy)
        .runs(words)
        .ends_with(2);
    assert!(
        ran.stderr.contains("does not support function calling"),
        "{}",
        ran.stderr
    );

    let models = "models: { 'anthropic/claude-2*': { function_calling: true } }\n";
    let declared = user()
        .having("toolsmith.yaml", models)
        .runs(words)
        .ends_with(0)
        .json();
    assert!(declared.is_array());
    let models = "models: { 'claude-2*': { text_format: xml } }\n";
    let prompt = user()
        .having("toolsmith.yaml", models)
        .runs(words)
        .ends_with(0);
    assert!(prompt.stdout.contains("<tool_call"), "{}", prompt.stdout);
}

#[test]
fn agents_inherit_the_strategy_and_name_their_model() {
    let text = "output_strategy: { function_calling: false }\nmodel: openai/gpt-5\nmodels: { 'a*': { function_calling: false }, 'ollama/a*': { function_calling: true } }\n";
    let user = user().having("toolsmith.yaml", text);
    std::fs::create_dir(user.home().join("agents")).unwrap();
    let user = user.having("agents/silent.yaml", "tools: [read]\n").having(
        "agents/native.yaml",
        "tools: [read]\noutput_strategy: {}\nmodel: openai/gpt-4o\n",
    );
    let is_native = |words: &[&str]| user.runs(words).ends_with(0).stdout.starts_with('[');
    // The configuration names a model of this provider, and says that it is asked for text.
    assert!(!is_native(&["declare", "--for", "openai"]));
    assert!(is_native(&["declare", "--for", "anthropic"]));
    assert!(!is_native(&[
        "--agent", "silent", "declare", "--for", "openai"
    ]));
    assert!(is_native(&[
        "--agent", "native", "declare", "--for", "openai"
    ]));
    let sets = user.runs(["sets", "--json"]).ends_with(0).json();
    let silent = sets
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["name"] == "silent")
        .unwrap();
    assert_eq!(silent["output_strategy"]["function_calling"], false);
    // Of two patterns as long as each other, the one with a provider decides.
    assert!(is_native(&[
        "--agent", "native", "declare", "--for", "ollama", "--model", "abc"
    ]));
    assert!(!is_native(&[
        "--agent", "native", "declare", "--for", "mistral", "--model", "abc"
    ]));
}

#[test]
fn hosted_tools_are_declared_to_their_provider_and_to_no_other() {
    let hosted = "hosted_tools:\n  anthropic: [{ type: web_search_20250305, name: web_search }]\n";
    let user = user().having("toolsmith.yaml", hosted);
    let declared = user
        .runs(["declare", "--for", "anthropic"])
        .ends_with(0)
        .json();
    let last = declared.as_array().unwrap().last().unwrap().clone();
    assert_eq!(
        last,
        json!({ "type": "web_search_20250305", "name": "web_search" })
    );
    let other = user.runs(["declare", "--for", "openai"]).ends_with(0);
    assert!(!other.stdout.contains("web_search"));
    let none = "hosted_tools: { mcp: [{ name: x }] }\n";
    let ran = newcomer()
        .having("toolsmith.yaml", none)
        .runs(["tools"])
        .ends_with(2);
    assert!(
        ran.stderr.contains("mcp runs no tools of its own"),
        "{}",
        ran.stderr
    );
    // It is the provider's to run.
    user.runs(["call", "web_search", "--yes"]).ends_with(1);
}
