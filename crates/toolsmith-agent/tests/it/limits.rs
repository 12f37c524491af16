//! Every limit, reached on purpose: the run ends with its reason, and the conversation can
//! be gone on with.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolsmith_agent::{AgentLimits, Conversation, End, Limit, Price};
use toolsmith_core::{CancellationToken, Effect, RawCall};
use toolsmith_provider::{Dictionary, ModelClient, script};
use toolsmith_runtime::{Caller, Toolbox};
use toolsmith_testing::approver::Silent;
use toolsmith_testing::{Gate, MemoryStore, tools};

use crate::support::{Mute, PROVIDER, Seen, Stubborn, agent, body, call, limits, model};

fn toolbox() -> Toolbox {
    let gate = Gate::new().tool(tools::taking("wait", json!({})).with_effect(Effect::Read));
    Toolbox::new([tools::echo(), tools::add(), gate]).unwrap()
}

/// An answer that took so many tokens.
fn counted(text: &str, calls: &[RawCall], tokens: u64) -> Vec<u8> {
    let mut body = script::body(PROVIDER, &Dictionary::default(), text, calls);
    body["usage"] = json!({"prompt_tokens": tokens, "completion_tokens": 0});
    body.to_string().into_bytes()
}

/// Asks, and checks that the conversation is one that any provider would take: each call
/// has a result, and another question is answered.
async fn ends(client: Arc<dyn ModelClient>, limits: AgentLimits) -> End {
    ends_for(client, limits, &Caller::new("me")).await
}

async fn ends_for(client: Arc<dyn ModelClient>, limits: AgentLimits, caller: &Caller) -> End {
    let toolbox = toolbox();
    let mut conversation = Conversation::new();
    let asking = agent(&toolbox, client).with_limits(limits);
    let report = asking.answer(&mut conversation, "Go on.", caller).await;
    let next = model([body("Well.", &[])]);
    let report_after = agent(&toolbox, next.clone())
        .answer(&mut conversation, "And now?", &Caller::new("me"))
        .await;
    assert_eq!(report_after.end, End::Answered);
    let request = next.requests().remove(0);
    let messages = request["messages"].as_array().unwrap();
    let calls = |message: &Value| message["tool_calls"].as_array().map_or(0, Vec::len);
    let made: usize = messages.iter().map(calls).sum();
    let results = messages.iter().filter(|message| message["role"] == "tool");
    assert_eq!(made, results.count());
    report.end
}

fn echoing(text: &str) -> RawCall {
    call("a", "echo", json!({ "text": text }))
}

#[tokio::test]
async fn turns() {
    // Each time another call, so that nothing is repeated.
    let answers = (0..9).map(|number| body("", &[echoing(&number.to_string())]));
    let model = model(answers);
    let end = ends(model.clone(), limits(|it| it.turns = 3)).await;
    assert_eq!(end, End::Limit(Limit::Turns));
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test]
async fn tokens_and_cost() {
    let answers = || (0..9).map(|number| counted("", &[echoing(&number.to_string())], 400));
    let three = model(answers());
    let end = ends(three.clone(), limits(|it| it.tokens = Some(1000))).await;
    assert_eq!(
        (end, three.requests().len()),
        (End::Limit(Limit::Tokens), 3)
    );
    let two = model(answers());
    let price = Price {
        input: 1000.0,
        output: 0.0,
    };
    let end = ends(
        two.clone(),
        limits(|it| {
            it.cost = Some(0.5);
            it.price = Some(price);
        }),
    );
    assert_eq!(
        (end.await, two.requests().len()),
        (End::Limit(Limit::Cost), 2)
    );
}

#[tokio::test(start_paused = true)]
async fn time_while_the_model_thinks_and_while_calls_run() {
    let short = || limits(|it| it.time = Some(Duration::from_secs(5)));
    assert_eq!(ends(Arc::new(Mute), short()).await, End::Limit(Limit::Time));
    let waiting = model([body("", &[call("a", "wait", json!({}))])]);
    assert_eq!(ends(waiting, short()).await, End::Limit(Limit::Time));
    // In the last turn it is still the time that ended it.
    let waiting = model([body("", &[call("a", "wait", json!({}))])]);
    let last = limits(|it| (it.time, it.turns) = (Some(Duration::from_secs(5)), 1));
    assert_eq!(ends(waiting, last).await, End::Limit(Limit::Time));
}

#[tokio::test(start_paused = true)]
async fn time_while_a_person_thinks() {
    let save = tools::echoing(tools::taking("save", json!({})).with_effect(Effect::Write));
    let toolbox = Toolbox::new([save]).unwrap();
    let saving = model([body("", &[call("a", "save", json!({}))])]);
    let caller = Caller::new("me").with_approver(Silent);
    let mut conversation = Conversation::new();
    let report = agent(&toolbox, saving)
        .with_limits(limits(|it| it.time = Some(Duration::from_secs(5))))
        .answer(&mut conversation, "Save it.", &caller)
        .await;
    assert_eq!(report.end, End::Limit(Limit::Time));
    assert_eq!(conversation.settle(), Ok(0), "a call has no result");
}

#[tokio::test(start_paused = true)]
async fn giving_up_while_the_model_thinks_and_while_calls_run() {
    let waiting: Arc<dyn ModelClient> = model([body("", &[call("a", "wait", json!({}))])]);
    for client in [waiting, Arc::new(Mute)] {
        let token = CancellationToken::new();
        let caller = Caller::new("me").with_cancellation(token.clone());
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(3)).await;
            token.cancel();
        });
        let end = ends_for(client, limits(|_| {}), &caller).await;
        assert_eq!(end, End::Cancelled);
    }
}

#[tokio::test]
async fn a_prompt_that_is_too_large_is_not_sent() {
    let model = model([body("Hello.", &[])]);
    let toolbox = toolbox();
    let mut conversation = Conversation::new();
    let prompt = "x".repeat(10 << 20);
    let report = agent(&toolbox, model.clone())
        .answer(&mut conversation, &prompt, &Caller::new("me"))
        .await;
    assert_eq!(report.end, End::Limit(Limit::Prompt));
    assert!(model.requests().is_empty() && conversation.is_empty());
}

#[tokio::test]
async fn what_was_said_before_is_no_answer_to_what_failed() {
    let model = model([body("Hello.", &[])]);
    let toolbox = toolbox();
    let mut conversation = Conversation::new();
    let agent = agent(&toolbox, model);
    let me = Caller::new("me");
    let report = agent.answer(&mut conversation, "Hi.", &me).await;
    assert_eq!(report.text, "Hello.");
    // The script has ended.
    let report = agent.answer(&mut conversation, "And?", &me).await;
    assert!(matches!(report.end, End::Failed { .. }), "{:?}", report.end);
    assert_eq!(report.text, "");
}

#[tokio::test]
async fn calls_that_never_fit() {
    let answer = body("", &[call("a", "add", json!({"a": "two"}))]);
    let end = ends(Arc::new(Stubborn(answer)), limits(|it| it.corrections = 2)).await;
    assert_eq!(end, End::Limit(Limit::Corrections));
}

#[tokio::test]
async fn the_same_call_for_ever() {
    let stubborn = model(std::iter::repeat_n(body("", &[echoing("same")]), 9));
    let end = ends(stubborn.clone(), limits(|it| it.repeats = 5)).await;
    assert_eq!(end, End::Limit(Limit::Repeats));
    let requests = stubborn.requests();
    assert_eq!(requests.len(), 5);
    // From the third time on it is told.
    let told = |request: &Value| request.to_string().contains("this very call");
    assert_eq!(
        requests.iter().map(told).collect::<Vec<_>>(),
        [false, false, false, true, true]
    );
}

#[tokio::test]
async fn the_same_call_many_times_in_one_turn_counts_once() {
    let same = |number: usize| call(&number.to_string(), "echo", json!({"text": "same"}));
    let calls: Vec<RawCall> = (0..9).map(same).collect();
    let model = model([body("", &calls), body("Done.", &[])]);
    let end = ends(model, limits(|it| it.repeats = 5)).await;
    assert_eq!(end, End::Answered);
}

#[tokio::test]
async fn a_call_between_which_something_changed_is_no_repetition() {
    let save = tools::echoing(
        tools::taking("save", json!({"to": {"type": "string"}})).with_effect(Effect::Write),
    );
    let toolbox = Toolbox::builder()
        .tools([tools::echo(), save])
        .policy(toolsmith_runtime::Policy::new(
            toolsmith_runtime::Mode::Auto,
        ))
        .build()
        .unwrap();
    let turns = (0..6).flat_map(|number| {
        let saving = call("s", "save", json!({"to": number.to_string()}));
        [body("", &[echoing("same")]), body("", &[saving])]
    });
    let model = model(turns.chain([body("Done.", &[])]));
    let agent = agent(&toolbox, model.clone()).with_limits(limits(|it| it.repeats = 3));
    let report = agent.ask("Go on.", &Caller::new("me")).await;
    assert_eq!(report.end, End::Answered);
    assert!(
        !model
            .requests()
            .last()
            .unwrap()
            .to_string()
            .contains("this very call")
    );
}

#[tokio::test]
async fn older_results_are_shortened_first_and_stay_within_reach() {
    let large = |number: usize| echoing(&format!("{number}{}", "x".repeat(5000)));
    let answers = (0..5).map(|number| body("", &[large(number)]));
    let model = model(answers.chain([body("Done.", &[])]));
    let store = MemoryStore::new();
    let seen = Seen::default();
    let agent = agent(&toolbox(), model.clone())
        .with_limits(limits(|it| it.context_bytes = 40_000))
        .with_store(store.clone())
        .with_observer(seen.clone());
    let report = agent.ask("Go on.", &Caller::new("me")).await;
    assert_eq!(report.end, End::Answered);
    assert!(
        seen.lines()
            .iter()
            .any(|line| line.starts_with("shortened"))
    );
    let last = model.requests().pop().unwrap();
    let results: Vec<String> = { last["messages"].as_array().unwrap().iter() }
        .filter(|message| message["role"] == "tool")
        .map(|message| message["content"].as_str().unwrap().to_owned())
        .collect();
    let is_short = |text: &String| text.contains("were left out to make room");
    assert!(
        is_short(&results[0]) && !is_short(&results[4]),
        "{results:?}"
    );
    let (place, kept) = store.kept().remove(0);
    assert!(
        results[0].contains(&place),
        "{} does not name {place}",
        results[0]
    );
    assert!(kept.contains(&"x".repeat(5000)));
}

#[tokio::test]
async fn a_conversation_that_does_not_fit_at_all() {
    let prompt = "x".repeat(50_000);
    let model = model([body("Hello.", &[])]);
    let agent = agent(&toolbox(), model.clone());
    let agent = agent.with_limits(limits(|it| it.context_bytes = 20_000));
    let report = agent.ask(&prompt, &Caller::new("me")).await;
    assert_eq!(report.end, End::Limit(Limit::Context));
    assert!(model.requests().is_empty());
}
