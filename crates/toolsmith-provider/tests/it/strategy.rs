//! Which way a model is asked for calls, by a model that follows a script.

use serde_json::{Map, Value, json};
use toolsmith_core::{Detail, Exposure, Offer, Schema, ToolDef};
use toolsmith_provider::formatter::ModelTerms;
use toolsmith_provider::{
    AskError, Asked, Formatter as _, ModelClient as _, OutputStrategy, Provider, StrategyError,
    Support, ToolFormatter, Way, ask, capability,
};
use toolsmith_testing::ScriptedModel;

const NATIVE: &str = r#"{"choices": [{"finish_reason": "tool_calls", "message": {"role": "assistant",
    "content": null, "tool_calls": [{"id": "c1", "type": "function",
        "function": {"name": "add", "arguments": "{\"a\": 2, \"b\": 3}"}}]}}]}"#;
const TEXT: &str = r#"{"choices": [{"finish_reason": "stop", "message": {"role": "assistant",
    "content": "```json\n{\"name\": \"add\", \"parameters\": {\"a\": 2, \"b\": 3}}\n```"}}]}"#;
const REFUSAL: &str =
    r#"{"error": {"message": "tiny does not support tools", "type": "api_error"}}"#;

fn offer() -> Offer {
    let schema = json!({ "type": "object", "required": ["a", "b"], "properties": {
        "a": { "type": "number" }, "b": { "type": "number" } } });
    let tool = ToolDef::new("add")
        .unwrap()
        .with_description("Adds two numbers.");
    let tool = tool.with_input(Schema::input(schema).unwrap());
    let mut offer = Offer::new(Detail::Brief);
    offer.add("add", std::sync::Arc::new(tool), Exposure::Direct);
    offer
}

fn question() -> Map<String, Value> {
    let question =
        json!({ "model": "tiny", "messages": [{ "role": "user", "content": "2 + 3?" }] });
    question.as_object().unwrap().clone()
}

/// Runs what never waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("a script does not wait"),
    }
}

fn asked(strategy: OutputStrategy, model: &ScriptedModel) -> Result<Asked, AskError> {
    now(ask(
        &ToolFormatter::new(strategy),
        model,
        &offer(),
        &question(),
    ))
}

fn model(support: Support) -> ScriptedModel {
    ScriptedModel::new(Provider::OpenAiCompatible, "tiny").with_support(support)
}

/// The call both answers make.
fn is_the_call(asked: &Asked) {
    let [parsed] = &asked.answer.calls[..] else {
        panic!("{:?}", asked.answer);
    };
    assert_eq!(parsed.call.name, "add");
    let arguments = toolsmith_core::call::RawArguments::Json(json!({ "a": 2, "b": 3 }));
    assert_eq!(parsed.call.arguments, arguments);
}

#[test]
fn all_four_strategies_with_models_that_can_cannot_and_might() {
    use Support::{No, Unknown, Yes};
    let native = Ok(Way::Native);
    let structured = Ok(Way::Structured);
    let table = [
        (
            (true, true),
            [(Yes, native), (No, structured), (Unknown, native)],
        ),
        (
            (true, false),
            [
                (Yes, native),
                (No, Err(StrategyError::CannotCall)),
                (Unknown, native),
            ],
        ),
        (
            (false, true),
            [(Yes, structured), (No, structured), (Unknown, structured)],
        ),
        (
            (false, false),
            [Yes, No, Unknown].map(|support| (support, Err(StrategyError::NoWay))),
        ),
    ];
    for ((calling, fallback), rows) in table {
        let strategy = OutputStrategy::new(calling, fallback);
        for (support, expected) in rows {
            let formatter = ToolFormatter::new(strategy);
            let found = formatter.detect_strategy(&model(support));
            assert_eq!(
                found, expected,
                "{strategy:?} with a model that can: {support:?}"
            );
            // And it is what happens.
            let answer = if expected == structured { TEXT } else { NATIVE };
            let model = model(support).saying(answer);
            match (asked(strategy, &model), expected) {
                (Ok(asked), Ok(way)) => {
                    assert_eq!(asked.way, way);
                    is_the_call(&asked);
                    let request = &model.requests()[0];
                    assert_eq!(request.get("tools").is_some(), way == Way::Native);
                    assert_eq!(
                        request["messages"][0]["role"] == "system",
                        way == Way::Structured
                    );
                }
                (Err(AskError::Strategy(error)), Err(expected)) => {
                    assert_eq!(error, expected);
                    assert!(model.requests().is_empty(), "nothing may be sent");
                }
                (other, expected) => panic!("{other:?} instead of {expected:?}"),
            }
        }
    }
}

#[test]
fn native_format_and_fallback_format() {
    let native = model(Support::Yes).saying(NATIVE);
    is_the_call(&asked(OutputStrategy::default(), &native).unwrap());
    assert_eq!(native.requests()[0]["tools"][0]["function"]["name"], "add");

    let fallback = model(Support::No).saying(TEXT);
    is_the_call(&asked(OutputStrategy::default(), &fallback).unwrap());
    let request = &fallback.requests()[0];
    let prompt = request["messages"][0]["content"].as_str().unwrap();
    assert!(
        prompt.contains(r#""name""#) && prompt.contains(r#""parameters""#),
        "{prompt}"
    );
    assert!(prompt.contains("Adds two numbers."), "{prompt}");
    // The example of a call has both words too; the schema is in the line of the tool.
    let line = prompt
        .lines()
        .find(|line| line.contains("Adds two numbers."));
    let line: Value = serde_json::from_str(line.unwrap()).unwrap();
    assert_eq!(line["parameters"]["required"], json!(["a", "b"]));
    assert_eq!(request["messages"][1]["content"], "2 + 3?");
}

#[test]
fn a_refusal_falls_back_once_and_only_where_it_may() {
    let model = || model(Support::Unknown).saying(REFUSAL).saying(TEXT);
    let tried = model();
    let asked_twice = asked(OutputStrategy::default(), &tried).unwrap();
    is_the_call(&asked_twice);
    assert_eq!(asked_twice.way, Way::Structured);
    assert_eq!(tried.requests().len(), 2);
    assert!(tried.requests()[0].get("tools").is_some());
    assert!(tried.requests()[1].get("tools").is_none());

    let tried = model();
    let refused = asked(OutputStrategy::new(true, false), &tried).unwrap_err();
    assert!(
        matches!(refused, AskError::Strategy(StrategyError::CannotCall)),
        "{refused}"
    );
    assert_eq!(tried.requests().len(), 1);

    // Another error is no reason to ask in another way.
    let busy = r#"{"error": {"message": "rate limit reached", "type": "rate_limit_error"}}"#;
    let tried = ScriptedModel::new(Provider::OpenAiCompatible, "tiny").saying(busy);
    let refused = asked(OutputStrategy::default(), &tried).unwrap_err();
    assert!(matches!(refused, AskError::Parse(_)), "{refused}");
    assert_eq!(tried.requests().len(), 1);
}

#[test]
fn the_configuration_knows_better_than_the_table() {
    let claude = ScriptedModel::new(Provider::Anthropic, "claude-2.1");
    assert_eq!(claude.supports_function_calling(), Support::No);
    let models = vec![
        ModelTerms::of("anthropic/claude-2*").with_function_calling(Some(true)),
        ModelTerms::of("*").with_function_calling(Some(false)),
    ];
    let formatter = ToolFormatter::default().with_models(models);
    assert_eq!(formatter.detect_strategy(&claude), Ok(Way::Native));
    let other = ScriptedModel::new(Provider::OpenAi, "gpt-5");
    assert_eq!(formatter.detect_strategy(&other), Ok(Way::Structured));
}

#[test]
fn the_closer_name_decides_and_gateways_name_models_by_whose_they_are() {
    let provider = ModelTerms::of("ollama/a*");
    let anybody = ModelTerms::of("a*");
    assert!(provider.closeness() > anybody.closeness());
    assert!(ModelTerms::of("abc*").closeness() > provider.closeness());
    let models = vec![ModelTerms::of("openai/gpt-x*").with_function_calling(Some(false))];
    let formatter = ToolFormatter::default().with_models(models);
    let through = ScriptedModel::new(Provider::OpenAiCompatible, "openai/gpt-x1");
    assert_eq!(formatter.detect_strategy(&through), Ok(Way::Structured));
    let other = ScriptedModel::new(Provider::OpenAiCompatible, "gpt-x1");
    assert_eq!(formatter.detect_strategy(&other), Ok(Way::Native));
}

#[test]
fn patterns_of_models() {
    let rows = [
        ("gpt-4*", "gpt-4o", true),
        ("gpt-4*", "GPT-4", true),
        ("gpt-4", "gpt-4o", false),
        ("*nova*", "us.amazon.nova-pro-v1:0", true),
        ("a*b", "ab", true),
        ("a*b", "aXbX", false),
        ("a*b*", "aXbX", true),
        ("*", "", true),
        ("", "", true),
        ("ab*b", "ab", false),
        ("*é*", "modèle-é", true),
        ("a*", "é", false),
    ];
    for (pattern, model, fits) in rows {
        assert_eq!(
            capability::matches(pattern, model),
            fits,
            "{pattern} {model}"
        );
    }
}
