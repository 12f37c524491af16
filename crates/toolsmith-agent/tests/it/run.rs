//! Questions, calls and answers.

use std::sync::Arc;

use serde_json::{Value, json};
use toolsmith_agent::{AgentEvent, Conversation, End, Observer as _};
use toolsmith_core::offer::Offer;
use toolsmith_core::{Effect, ErrorKind, RawCall};
use toolsmith_provider::{
    Declared, FormatError, Formatter, ModelClient, OutputStrategy, Provider, StrategyError,
    Support, ToolFormatter, Way, script, text::TextFormat,
};
use toolsmith_runtime::{Caller, Toolbox};
use toolsmith_testing::{Gate, ScriptedApprover, ScriptedModel, tools};

use crate::support::{InPieces, Memory, Seen, agent, body, body_of, call, limits, model};

fn toolbox() -> Toolbox {
    Toolbox::new([tools::echo(), tools::add(), tools::fail()]).unwrap()
}

fn me() -> Caller {
    Caller::new("me")
}

/// What the model was told last.
fn last_messages(model: &ScriptedModel) -> Vec<Value> {
    let requests = model.requests();
    requests.last().unwrap()["messages"]
        .as_array()
        .unwrap()
        .clone()
}

/// The results in what it was told last.
fn last_results(model: &ScriptedModel) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let messages = last_messages(model);
    { messages.iter() }
        .filter(|message| message["role"] == "tool")
        .map(|message| (text(&message["tool_call_id"]), text(&message["content"])))
        .collect()
}

#[tokio::test]
async fn a_question_without_calls_is_answered() {
    let model = model([body("Hello.", &[])]);
    let report = agent(&toolbox(), model.clone()).ask("Hi?", &me()).await;
    assert_eq!(
        (report.end, report.text.as_str()),
        (End::Answered, "Hello.")
    );
    assert_eq!((report.turns, report.calls), (1, 0));
    assert_eq!(
        last_messages(&model),
        [json!({"role": "user", "content": "Hi?"})]
    );
}

#[tokio::test]
async fn instructions_and_settings_go_with_every_request() {
    let model = model([
        body("", &[call("a", "echo", json!({"text": "x"}))]),
        body("Done.", &[]),
    ]);
    let agent = agent(&toolbox(), model.clone())
        .with_instructions("Be brief.")
        .with_settings(json!({"temperature": 0}).as_object().unwrap().clone());
    agent.ask("Hi?", &me()).await;
    for request in model.requests() {
        assert_eq!(request["temperature"], 0);
        assert_eq!(
            request["messages"][0],
            json!({"role": "system", "content": "Be brief."})
        );
        assert_eq!(request["tools"].as_array().unwrap().len(), 3);
    }
}

#[tokio::test]
async fn calls_run_at_the_same_time_and_are_answered_in_call_order() {
    let gate = Gate::new();
    let slow = gate.tool(tools::taking("slow", json!({})).with_effect(Effect::Read));
    let toolbox = Toolbox::new([slow, tools::echo()]).unwrap();
    let calls = [
        call("a", "slow", json!({})),
        call("b", "echo", json!({"text": "quick"})),
    ];
    let model = model([body("", &calls), body("Done.", &[])]);
    let seen = Seen::default();
    let watching = seen.clone();
    let agent = agent(&toolbox, model.clone()).with_observer(move |event: &AgentEvent<'_>| {
        watching.observe(event);
        // The slow one ends only when the quick one has.
        if let AgentEvent::Called { index: 1, .. } = event {
            gate.open();
        }
    });
    let report = agent.ask("Both, please.", &me()).await;
    assert_eq!((report.end, report.calls), (End::Answered, 2));
    assert_eq!(
        seen.without_text(),
        [
            "turn 1 function_calling",
            "calling 0 slow",
            "calling 1 echo",
            "called 1 done",
            "called 0 done",
            "turn 2 function_calling",
            "ended answered"
        ]
    );
    // Each call has its own result, whichever ended first.
    let own = |id: &str, result: &str| (id.to_owned(), result.to_owned());
    assert_eq!(last_results(&model), [own("a", "{}"), own("b", "quick")]);
}

#[tokio::test]
async fn wrong_arguments_are_told_and_corrected() {
    let model = model([
        body("", &[call("a", "add", json!({"a": "two"}))]),
        body("", &[call("b", "add", json!({"a": 2, "b": 3}))]),
        body("5.", &[]),
    ]);
    let report = agent(&toolbox(), model.clone()).ask("2 + 3?", &me()).await;
    assert_eq!(
        (report.end, report.calls, report.failed),
        (End::Answered, 2, 1)
    );
    let results = last_results(&model);
    assert!(
        results[0].1.starts_with("invalid_parameters"),
        "{results:?}"
    );
    assert!(results[0].1.contains("`a`: expected number"), "{results:?}");
    assert_eq!(results[1].1, "5.0");
}

#[tokio::test]
async fn a_call_that_was_not_offered_is_answered_with_the_nearest() {
    let model = model([body("", &[call("a", "ecko", json!({}))]), body("Oh.", &[])]);
    let report = agent(&toolbox(), model.clone()).ask("Hi?", &me()).await;
    assert_eq!((report.end, report.failed), (End::Answered, 1));
    let results = last_results(&model);
    assert!(results[0].1.starts_with("unknown_tool"), "{results:?}");
    assert!(results[0].1.contains("echo"), "{results:?}");
}

#[tokio::test]
async fn what_is_not_permitted_is_not_done_and_told() {
    let writing = tools::echoing(tools::taking("save", json!({})).with_effect(Effect::Write));
    let toolbox = Toolbox::new([writing]).unwrap();
    let model = model([
        body("", &[call("a", "save", json!({}))]),
        body("I may not.", &[]),
    ]);
    let caller = me().with_approver(ScriptedApprover::no());
    let report = agent(&toolbox, model.clone())
        .ask("Save it.", &caller)
        .await;
    assert_eq!((report.end, report.failed), (End::Answered, 1));
    assert!(last_results(&model)[0].1.starts_with("permission_denied"));
}

#[tokio::test]
async fn a_call_cut_off_by_the_length_is_not_run() {
    let mut cut: Value = serde_json::from_slice(
        script_body("", &[call("a", "echo", json!({"text": "whole"}))]).as_bytes(),
    )
    .unwrap();
    let function = &mut cut["choices"][0]["message"]["tool_calls"][0]["function"];
    function["arguments"] = r#"{"text": "who"#.into();
    cut["choices"][0]["finish_reason"] = "length".into();
    let model = model([cut.to_string().into_bytes(), body("Again.", &[])]);
    let seen = Seen::default();
    let agent = agent(&toolbox(), model.clone()).with_observer(seen.clone());
    let report = agent.ask("Hi?", &me()).await;
    assert_eq!((report.end, report.failed), (End::Answered, 1));
    assert!(
        seen.lines()
            .contains(&"called 0 invalid_parameters".to_owned())
    );
}

fn script_body(text: &str, calls: &[RawCall]) -> String {
    let dictionary = toolsmith_provider::Dictionary::default();
    script::body(Provider::OpenAi, &dictionary, text, calls).to_string()
}

#[tokio::test]
async fn a_model_that_refuses_tools_is_asked_for_calls_as_text() {
    let refusal = r#"{"error": {"message": "tiny does not support tools", "type": "api_error"}}"#;
    let said = script::written(
        TextFormat::Json,
        &toolsmith_provider::Dictionary::default(),
        "I look.",
        &[RawCall::new("echo", json!({"text": "hello"}))],
    );
    let compatible = |text: &str| body_of(Provider::OpenAiCompatible, text, &[]);
    let model = ScriptedModel::new(Provider::OpenAiCompatible, "tiny")
        .with_support(Support::Unknown)
        .saying(refusal)
        .saying(compatible(&said))
        .saying(compatible("It says hello."));
    let model = Arc::new(model);
    let seen = Seen::default();
    let agent = agent(&toolbox(), model.clone()).with_observer(seen.clone());
    let report = agent.ask("What does it say?", &me()).await;
    assert_eq!(
        (report.end, report.text.as_str()),
        (End::Answered, "It says hello.")
    );
    assert_eq!(
        seen.without_text(),
        [
            "turn 1 function_calling",
            "fell back",
            "turn 1 structured_output",
            "calling 0 echo",
            "called 0 done",
            "turn 2 structured_output",
            "ended answered"
        ]
    );
    let requests = model.requests();
    assert!(requests[0].get("tools").is_some() && requests[1].get("tools").is_none());
    let told = requests[2]["messages"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    assert_eq!(told["role"], "user");
    assert!(
        told["content"].as_str().unwrap().contains("hello"),
        "{told}"
    );
}

/// Knows one way only, whatever the model says to it.
struct Stubborn(ToolFormatter);

impl Formatter for Stubborn {
    fn detect_strategy(&self, client: &dyn ModelClient) -> Result<Way, StrategyError> {
        self.0.detect_strategy(client)
    }

    fn after_refusal(&self, client: &dyn ModelClient) -> Result<Way, StrategyError> {
        self.0.detect_strategy(client)
    }

    fn format(
        &self,
        client: &dyn ModelClient,
        way: Way,
        offer: &Offer,
    ) -> Result<Declared, FormatError> {
        self.0.format(client, way, offer)
    }
}

#[tokio::test]
async fn a_model_that_refuses_tools_again_ends_the_run() {
    let refusal = r#"{"error": {"message": "tiny does not support tools", "type": "api_error"}}"#;
    let model = { 0..8 }.fold(
        ScriptedModel::new(Provider::OpenAiCompatible, "tiny").with_support(Support::Yes),
        |model, _| model.saying(refusal),
    );
    let model = Arc::new(model);
    let stubborn = Stubborn(ToolFormatter::default());
    let agent = agent(&toolbox(), model.clone()).with_formatter(stubborn);
    let report = agent.ask("Hi?", &me()).await;
    assert!(matches!(report.end, End::Failed { .. }), "{:?}", report.end);
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn where_falling_back_is_not_allowed_the_run_ends_with_the_reason() {
    let model = ScriptedModel::new(Provider::OpenAi, "gpt-4o").with_support(Support::No);
    let mut strategy = OutputStrategy::default();
    strategy.fallback_to_structured_output = false;
    let agent = agent(&toolbox(), Arc::new(model)).with_formatter(ToolFormatter::new(strategy));
    let report = agent.ask("Hi?", &me()).await;
    let End::Failed { kind, message } = report.end else {
        panic!("{:?}", report.end);
    };
    assert_eq!(kind, ErrorKind::Failed);
    assert!(
        message.contains("fallback_to_structured_output"),
        "{message}"
    );
}

#[tokio::test]
async fn what_the_model_says_is_shown_while_it_comes() {
    let bytes = body("One two three.", &[]);
    let pieces = bytes.chunks(7).map(<[u8]>::to_vec).collect();
    let seen = Seen::default();
    let agent = agent(&toolbox(), Arc::new(InPieces(pieces))).with_observer(seen.clone());
    let report = agent.ask("Count.", &me()).await;
    let lines = seen.lines();
    let shown: String = { lines.iter() }
        .filter_map(|line| line.strip_prefix("text "))
        .collect();
    assert_eq!(shown, "One two three.");
    assert_eq!(report.text, shown);
    assert!(seen.lines().len() > 4, "{:?}", seen.lines());
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_breaks_off_is_asked_for_again_and_its_calls_are_not_made() {
    let whole = body("", &[call("a", "echo", json!({"text": "hello"}))]);
    let model = model([
        whole[..whole.len() / 2].to_vec(),
        b"<html>Bad gateway</html>".to_vec(),
        body("Here.", &[]),
    ]);
    let seen = Seen::default();
    let agent = agent(&toolbox(), model.clone()).with_observer(seen.clone());
    let report = agent.ask("Hi?", &me()).await;
    assert_eq!(
        (report.end, report.calls, report.turns),
        (End::Answered, 0, 1)
    );
    let again = seen
        .lines()
        .iter()
        .filter(|line| line.starts_with("again"))
        .count();
    assert_eq!(again, 2);
    // Nothing of what broke off is in the conversation.
    assert_eq!(last_messages(&model).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_used_ends_the_run_after_second_chances() {
    let garbage = b"<html>Bad gateway</html>".to_vec();
    let nothing = body("", &[]);
    let error = br#"{"error": {"message": "no such model", "type": "invalid_request_error"}}"#;
    let broken = body("Hello there.", &[]);
    let broken = broken[..broken.len() / 2].to_vec();
    // What was said before a call that its provider could not read is no answer.
    let malformed = String::from_utf8(body("Let me look.", &[])).unwrap();
    let malformed = malformed.replace("\"stop\"", "\"MALFORMED_FUNCTION_CALL\"");
    for (answer, chances, kind) in [
        (garbage, 3, Some(ErrorKind::Failed)),
        (Vec::new(), 3, Some(ErrorKind::Failed)),
        (broken, 3, Some(ErrorKind::Network)),
        (nothing, 3, None),
        (malformed.into_bytes(), 3, Some(ErrorKind::Failed)),
        (error.to_vec(), 1, Some(ErrorKind::Failed)),
    ] {
        let model = model(std::iter::repeat_n(answer, 9));
        let report = agent(&toolbox(), model.clone()).ask("Hi?", &me()).await;
        match (report.end, kind) {
            (End::Failed { kind: got, .. }, Some(kind)) => assert_eq!(got, kind),
            (End::Silent, None) => {}
            other => panic!("{other:?}"),
        }
        assert_eq!(model.requests().len(), chances);
    }
}

#[tokio::test]
async fn of_too_many_calls_at_once_only_some_are_made_and_the_model_is_told() {
    let calls: Vec<RawCall> = (0..2000)
        .map(|number| {
            call(
                &format!("c{number}"),
                "echo",
                json!({"text": number.to_string()}),
            )
        })
        .collect();
    let model = model([script_body("", &calls).into_bytes(), body("Done.", &[])]);
    let agent = agent(&toolbox(), model.clone()).with_limits(limits(|it| it.calls_per_turn = 8));
    let memory = Arc::new(Memory::default());
    let mut conversation = Conversation::new().kept_by(memory.clone());
    let report = agent.answer(&mut conversation, "All of them.", &me()).await;
    assert_eq!(
        (report.end, report.calls, report.failed),
        (End::Answered, 8, 0)
    );
    // What the others took to write was spent all the same.
    let text = memory.text();
    let kept: Value = serde_json::from_str(text.lines().nth(2).unwrap()).unwrap();
    assert_eq!(kept["calls"].as_array().unwrap().len(), 8);
    assert!(kept["usage"]["output_tokens"].as_u64().unwrap() > 10_000);
    assert_eq!(last_results(&model).len(), 8);
    let told = last_messages(&model).pop().unwrap().to_string();
    assert!(told.contains("Of the 2000 calls"), "{told}");
}

#[tokio::test]
async fn usage_is_counted_over_all_turns() {
    let counted = |text: &str, calls: &[RawCall], read: u64, written: u64| {
        let mut body: Value = serde_json::from_str(&script_body(text, calls)).unwrap();
        body["usage"] = json!({"prompt_tokens": read, "completion_tokens": written});
        body.to_string().into_bytes()
    };
    let model = model([
        counted("", &[call("a", "echo", json!({"text": "x"}))], 100, 10),
        counted("Done.", &[], 150, 5),
    ]);
    let report = agent(&toolbox(), model).ask("Hi?", &me()).await;
    assert_eq!(
        (report.usage.input_tokens, report.usage.output_tokens),
        (250, 15)
    );
}
