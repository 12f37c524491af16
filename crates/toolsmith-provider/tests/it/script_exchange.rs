//! The way there and back: tools are declared, a script calls them, the calls arrive in
//! the tools' own terms, and the results go out in the way the calls came in.

use std::sync::Arc;

use serde_json::{Value, json};
use toolsmith_core::call::RawArguments;
use toolsmith_core::{Detail, Exposure, Offer, Outcome, RawCall, Reply, Schema, ToolDef};
use toolsmith_provider::stream::Delta;
use toolsmith_provider::text::TextFormat;
use toolsmith_provider::{
    Answer, Declared, Options, Provider, Stop, declare, declare_as_text, script,
};

fn offer() -> Offer {
    let mut offer = Offer::new(Detail::Brief);
    let tools = [
        (
            "weather.of a city, by name",
            json!({
                "type": "object",
                "properties": {
                    "city": {"type": "string"},
                    "days": {"type": "integer", "enum": [1, 2, 3]},
                    "extras": {"type": "object", "additionalProperties": {"type": "number"}},
                },
                "required": ["city"],
                "additionalProperties": false,
            }),
        ),
        ("now", json!({"type": "object", "properties": {}})),
    ];
    for (index, (name, schema)) in tools.into_iter().enumerate() {
        let tool = ToolDef::new(format!("tool_{index}")).unwrap();
        let tool = tool
            .with_description("Tells.")
            .with_input(Schema::as_received(schema).unwrap());
        offer.add(name, Arc::new(tool), Exposure::Direct);
    }
    offer
}

fn calls() -> Vec<RawCall> {
    vec![
        RawCall::new(
            "weather.of a city, by name",
            json!({"city": "Zürich <|x|>", "days": 2, "extras": {"b": 2.5}}),
        ),
        RawCall::new("now", json!({})),
    ]
}

fn bare(calls: &[RawCall]) -> Vec<(String, RawArguments)> {
    (calls.iter())
        .map(|call| (call.name.clone(), call.arguments.clone()))
        .collect()
}

fn options(strict: bool) -> Options {
    let mut options = Options::default();
    options.strict = strict;
    options
}

/// Reads a stream byte by byte.
fn read(declared: &Declared, bytes: &[u8]) -> (Vec<Delta>, Answer) {
    let mut stream = declared.stream();
    let mut deltas: Vec<Delta> = bytes.chunks(1).flat_map(|byte| stream.push(byte)).collect();
    let (last, answer) = stream.finish_with_deltas();
    deltas.extend(last);
    (deltas, answer.unwrap())
}

#[test]
fn calls_arrive_in_the_tools_own_terms() {
    for provider in Provider::ALL {
        for strict in [false, true] {
            let declared = declare(provider, &offer(), &options(strict)).unwrap();
            let expected = match provider {
                Provider::Mcp => calls()[..1].to_vec(),
                _ => calls(),
            };
            let body = script::body(provider, &declared.dictionary, "", &expected);
            let body = match body {
                Value::String(text) => text,
                body => body.to_string(),
            };
            let answer = declared.parse(body.as_bytes()).unwrap();
            assert_eq!(
                bare(&answer.raw_calls()),
                bare(&expected),
                "{provider}: {body}"
            );
            let bytes = script::stream(provider, &declared.dictionary, "", &expected);
            let (deltas, streamed) = read(&declared, &bytes);
            assert_eq!(streamed, answer, "{provider}");
            let begun = |delta: &Delta| matches!(delta, Delta::Call { name, .. } if name == "weather.of a city, by name");
            assert!(
                provider == Provider::Mcp || deltas.iter().any(begun),
                "{provider}: {deltas:?}"
            );
        }
    }
}

#[test]
fn calls_come_as_text_over_any_provider_and_in_any_format() {
    for provider in Provider::ALL {
        if provider == Provider::Mcp {
            continue;
        }
        for format in TextFormat::ALL {
            let mut options = Options::default();
            options.format = Some(format);
            let declared = declare_as_text(provider, &offer(), &options).unwrap();
            assert!(declared.request.is_empty());
            let said = script::written(format, &declared.dictionary, "I look.", &calls());
            let body = match script::body(provider, &declared.dictionary, &said, &[]) {
                Value::String(text) => text,
                body => body.to_string(),
            };
            let answer = declared.parse(body.as_bytes()).unwrap();
            assert_eq!(
                bare(&answer.raw_calls()),
                bare(&calls()),
                "{provider} {format}: {said}"
            );
            assert_eq!(answer.text.trim(), "I look.", "{provider} {format}");
            let bytes = script::stream(provider, &declared.dictionary, &said, &[]);
            let (deltas, streamed) = read(&declared, &bytes);
            assert_eq!(streamed, answer, "{provider} {format}");
            let shown: String = (deltas.iter())
                .filter_map(|delta| match delta {
                    Delta::Text(text) => Some(text.as_str()),
                    _ => None,
                })
                .collect();
            assert_eq!(
                shown.trim(),
                "I look.",
                "{provider} {format}: no mark is shown"
            );

            let replies = [
                Reply::from(Outcome::text("Rain.")),
                Outcome::text("Noon.").into(),
            ];
            let results = declared.render(&answer, &replies);
            assert_eq!(results.len(), 1, "{provider}: one message of the user");
            let text = results[0].to_string();
            assert!(text.contains("Rain.") && text.contains("Noon."), "{text}");
            let turn = declared.render_calls("I look.", &calls());
            assert_eq!(turn, answer.turn, "{provider} {format}");
        }
    }
}

/// A body of an OpenAI-shaped server that says this.
fn said(provider: Provider, text: &str) -> Vec<u8> {
    script::body(
        provider,
        &toolsmith_provider::Dictionary::default(),
        text,
        &[],
    )
    .to_string()
    .into_bytes()
}

#[test]
fn a_server_without_a_parser_leaves_calls_in_the_text() {
    for provider in [
        Provider::OpenAiCompatible,
        Provider::Ollama,
        Provider::Qwen,
        Provider::DeepSeek,
        Provider::Mistral,
    ] {
        let declared = declare(provider, &offer(), &Options::default()).unwrap();
        for format in [
            TextFormat::Hermes,
            TextFormat::QwenCoder,
            TextFormat::Glm,
            TextFormat::Mistral,
            TextFormat::DeepSeekV31,
            TextFormat::Kimi,
        ] {
            let text = script::written(format, &declared.dictionary, "I look.", &calls());
            let answer = declared.parse(&said(provider, &text)).unwrap();
            let names: Vec<&str> = answer
                .calls
                .iter()
                .map(|call| call.call.name.as_str())
                .collect();
            assert_eq!(
                names,
                ["weather.of a city, by name", "now"],
                "{provider} {format}"
            );
            assert!(
                answer.turn[0]["tool_calls"][1].is_object(),
                "{provider}: results need calls"
            );
            let results = declared.render(&answer, &[]);
            assert_eq!(results.len(), 2, "{provider}");
            assert_eq!(results[0]["role"], "tool");
            let stream = script::stream(provider, &declared.dictionary, &text, &[]);
            assert_eq!(
                read(&declared, &stream).1.calls,
                answer.calls,
                "{provider} {format}"
            );
        }
    }
}

#[test]
fn json_that_looks_like_a_call_is_none_where_calls_have_a_place() {
    let text = "Here:\n```json\n{\"name\": \"now\", \"arguments\": {}}\n```\n[now()]";
    for provider in Provider::ALL {
        if matches!(provider, Provider::Text | Provider::Mcp) {
            continue;
        }
        let declared = declare(provider, &offer(), &Options::default()).unwrap();
        let answer = declared.parse(&said(provider, text)).unwrap();
        assert!(answer.calls.is_empty(), "{provider}");
        assert_eq!(answer.text, text, "{provider}: prose stays as it is");
    }
}

#[test]
fn marks_do_not_count_beside_calls_or_where_a_provider_reads_its_models_itself() {
    let text = "<tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call>";
    for (provider, expected) in [
        (Provider::OpenAi, 0),
        (Provider::Anthropic, 0),
        (Provider::Gemini, 0),
        (Provider::OpenAiCompatible, 1),
    ] {
        let declared = declare(provider, &offer(), &Options::default()).unwrap();
        assert_eq!(
            declared.parse(&said(provider, text)).unwrap().calls.len(),
            expected
        );
        let body = script::body(provider, &declared.dictionary, text, &calls()).to_string();
        let answer = declared.parse(body.as_bytes()).unwrap();
        assert_eq!(bare(&answer.raw_calls()), bare(&calls()), "{provider}");
        assert_eq!(answer.text, text);
    }
}

#[test]
fn names_are_known_again_behind_namespaces_and_before_tokens() {
    let declared = declare(Provider::OpenAi, &offer(), &Options::default()).unwrap();
    for name in [
        "functions.now",
        "now<|channel|>commentary",
        " now ",
        "default_api:now",
    ] {
        let call = json!({"id": "call_1", "type": "function", "function": {"name": name, "arguments": "{}"}});
        let body = json!({"role": "assistant", "tool_calls": [call]}).to_string();
        let answer = declared.parse(body.as_bytes()).unwrap();
        assert_eq!(answer.calls[0].call.name, "now", "{name}");
        assert_eq!(answer.turn[0]["tool_calls"][0]["function"]["name"], "now");
    }
}

#[test]
fn a_call_cut_off_in_the_text_is_not_run() {
    let declared = declare_as_text(Provider::OpenAi, &offer(), &Options::default()).unwrap();
    let text = "{\"name\": \"now\", \"parameters\": {\"a\": \"b";
    let body = json!({"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "length"}]});
    let answer = declared.parse(body.to_string().as_bytes()).unwrap();
    assert_eq!(answer.stop, Stop::Length);
    assert!(answer.calls.iter().all(|call| !call.complete), "{answer:?}");
}
