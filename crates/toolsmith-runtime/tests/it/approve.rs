//! Asking a person: once, within a time limit, and only for the very call shown.

use std::time::Duration;

use serde_json::{Map, Value, json};
use toolsmith_core::call::Answers;
use toolsmith_core::tool::FunctionTool;
use toolsmith_core::{AnyTool, Effect, Outcome, Plan, RawCall, Reply};
use toolsmith_runtime::permit::{Approval, ApprovalRequest, Approver, YesToAll};
use toolsmith_runtime::{Caller, Limits, Order, Policy, Toolbox};
use toolsmith_testing::approver::Silent;
use toolsmith_testing::explain;
use toolsmith_testing::tools::{definition, echo, echoing};
use toolsmith_testing::{Recording, ScriptedApprover, failure, value};

fn write() -> AnyTool {
    echoing(definition("write").with_effect(Effect::Write))
}

fn toolbox() -> Toolbox {
    Toolbox::new([write(), echo()]).unwrap()
}

async fn run(toolbox: &Toolbox, caller: &Caller) -> Outcome {
    let reply = toolbox
        .run(RawCall::new("write", json!({"n": 1})), caller)
        .await;
    reply.into_outcome()
}

fn asked_by(approver: impl Approver) -> Caller {
    Caller::new("test").with_approver(approver)
}

#[tokio::test]
async fn nobody_to_ask_means_no() {
    let outcome = run(&toolbox(), &Caller::new("test")).await;
    assert_eq!(
        failure(&outcome).to_string(),
        "approval_required: write(n=1) needs approval: there is nobody to ask"
    );
    let details = json!({"tool": "write", "effect": "write", "summary": "write(n=1)"});
    assert_eq!(failure(&outcome).details, Some(details));
}

#[tokio::test]
async fn a_yes_runs_the_call_and_a_no_does_not() {
    let yes = ScriptedApprover::yes();
    let outcome = run(&toolbox(), &asked_by(yes.clone())).await;
    assert_eq!(value(&outcome), json!({"n": 1}));
    let asked = serde_json::to_value(&yes.asked()[0][0]).unwrap();
    assert_eq!(asked["tool"], "write");
    assert_eq!(asked["effect"], "write");
    assert_eq!(asked["arguments"], json!({"n": 1}));
    assert_eq!(asked["plan"]["summary"], "write(n=1)");
    assert_eq!(asked["reason"], "it writes, which must be asked for");

    let outcome = run(&toolbox(), &asked_by(ScriptedApprover::no())).await;
    assert_eq!(
        failure(&outcome).to_string(),
        "permission_denied: not allowed by the test: it said no"
    );
    let by = "--yes".to_owned();
    assert!(
        run(&toolbox(), &asked_by(YesToAll { by }))
            .await
            .is_success()
    );
}

#[tokio::test]
async fn the_approver_is_asked_once_for_a_whole_batch() {
    let approver = ScriptedApprover::new(|requests| {
        let answer = |request: &ApprovalRequest| match request.arguments["n"].as_i64() {
            Some(2) => Approval::Refused {
                by: "the test".to_owned(),
                reason: "not two".to_owned(),
            },
            _ => request.grant("the test"),
        };
        requests.iter().map(answer).collect()
    });
    let calls = [
        RawCall::new("write", json!({"n": 1})),
        RawCall::new("echo", json!({"text": "read"})),
        RawCall::new("write", json!({"n": 2})),
        RawCall::new("nothing", json!({})),
        RawCall::new("write", json!({"n": 3})),
    ];
    let caller = asked_by(approver.clone());
    let replies = toolbox().run_all(calls, &caller, Order::Parallel).await;
    let summary: Vec<Value> = replies
        .into_iter()
        .map(|reply| match reply.into_outcome() {
            Outcome {
                error: Some(error), ..
            } => json!(error.code()),
            Outcome { value, .. } => json!(value),
        })
        .collect();
    assert_eq!(
        summary,
        [
            json!({"n": 1}),
            json!("read"),
            json!("permission_denied"),
            json!("unknown_tool"),
            json!({"n": 3})
        ]
    );
    let asked = approver.asked();
    assert_eq!(asked.len(), 1);
    let numbers: Vec<i64> = asked[0]
        .iter()
        .filter_map(|r| r.arguments["n"].as_i64())
        .collect();
    assert_eq!(numbers, [1, 2, 3]);
    toolbox()
        .run_all(
            [RawCall::new("echo", json!({"text": ""}))],
            &caller,
            Order::Parallel,
        )
        .await;
    assert_eq!(
        approver.asked().len(),
        1,
        "what need not be asked is not asked"
    );
}

#[tokio::test]
async fn an_answer_counts_for_the_call_whose_digest_it_carries() {
    // The first of two calls is approved twice.
    let approver = ScriptedApprover::new(|requests| vec![requests[0].grant("x"); requests.len()]);
    let calls = [1, 2, 1].map(|n| RawCall::new("write", json!({ "n": n })));
    let replies = toolbox()
        .run_all(calls, &asked_by(approver), Order::Parallel)
        .await;
    assert!(replies[0].outcome().unwrap().is_success());
    assert_eq!(
        failure(replies[1].outcome().unwrap()).message,
        "not allowed by x: the approval was given for another call"
    );
    assert!(
        replies[2].outcome().unwrap().is_success(),
        "the same call has the same digest"
    );
}

#[tokio::test]
async fn the_digest_is_over_definition_and_arguments_whatever_the_order_of_keys() {
    let digest = |toolbox: &Toolbox, arguments: &str| {
        let approver = ScriptedApprover::no();
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        let (toolbox, caller) = (toolbox.clone(), asked_by(approver.clone()));
        async move {
            toolbox.run(RawCall::new("write", arguments), &caller).await;
            approver.asked()[0][0].digest
        }
    };
    let one = toolbox();
    let base = digest(&one, r#"{"a": 1, "b": {"x": 1, "y": [1, 2]}}"#).await;
    assert_eq!(
        base,
        digest(&one, r#"{"b": {"y": [1, 2], "x": 1}, "a": 1}"#).await
    );
    for other in [
        r#"{"a": "1", "b": {"x": 1, "y": [1, 2]}}"#,
        r#"{"a": 1, "b": {"x": 1, "y": [2, 1]}}"#,
        r#"{"a": 1, "b": {"x": 1, "y": [1, 2]}, "c": null}"#,
        r#"{"a": 1, "b": {"x": 1}, "y": [1, 2]}"#,
    ] {
        assert_ne!(base, digest(&one, other).await, "{other}");
    }
    let changed = echoing(
        definition("write")
            .with_effect(Effect::Write)
            .with_title("another"),
    );
    let other = Toolbox::new([changed]).unwrap();
    assert_ne!(
        base,
        digest(&other, r#"{"a": 1, "b": {"x": 1, "y": [1, 2]}}"#).await
    );
}

#[tokio::test]
async fn too_few_answers_deny_the_rest() {
    let approver = ScriptedApprover::new(|requests| vec![requests[0].grant("x")]);
    let calls = [1, 2].map(|n| RawCall::new("write", json!({ "n": n })));
    let replies = toolbox()
        .run_all(calls, &asked_by(approver), Order::Parallel)
        .await;
    assert!(replies[0].outcome().unwrap().is_success());
    assert_eq!(
        failure(replies[1].outcome().unwrap()).message,
        "not allowed by approver: the approver gave no answer for this call"
    );
}

#[tokio::test(start_paused = true)]
async fn an_approver_that_does_not_answer_in_time_denies() {
    let mut limits = Limits::default();
    limits.approval = Duration::from_secs(60);
    let toolbox = Toolbox::builder()
        .tools([write()])
        .limits(limits)
        .build()
        .unwrap();
    let began = tokio::time::Instant::now();
    let outcome = run(&toolbox, &asked_by(Silent)).await;
    assert_eq!(
        failure(&outcome).to_string(),
        "permission_denied: not allowed by approver: nobody answered within 1m"
    );
    assert_eq!(began.elapsed().as_secs(), 60);
    // Waiting for a person is not the call's time.
    assert!(outcome.facts.duration.unwrap() < Duration::from_secs(1));
}

struct Explodes {
    at_once: bool,
}

impl Approver for Explodes {
    fn approve(&self, _: &[ApprovalRequest]) -> impl Future<Output = Vec<Approval>> + Send {
        assert!(!self.at_once, "the approver is broken");
        async { panic!("the approver is broken") }
    }
}

#[tokio::test]
async fn an_approver_that_panics_denies() {
    for at_once in [false, true] {
        let outcome = run(&toolbox(), &asked_by(Explodes { at_once })).await;
        assert_eq!(
            failure(&outcome).message,
            "not allowed by approver: the approver panicked"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_gives_up_while_somebody_is_asked_is_answered() {
    let token = toolsmith_core::CancellationToken::new();
    let caller = asked_by(Silent).with_cancellation(token.clone());
    let (outcome, ()) = tokio::join!(async { run(&toolbox(), &caller).await }, async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        token.cancel();
    });
    assert_eq!(failure(&outcome).code(), "cancelled");
}

// The way of callers without a live channel to a person.

fn remote() -> Caller {
    Caller::new("remote").taking_input_requests()
}

async fn question(toolbox: &Toolbox, arguments: Value) -> toolsmith_core::reply::InputRequired {
    match toolbox
        .run(RawCall::new("write", arguments), &remote())
        .await
    {
        Reply::NeedsInput(required) => required,
        other => panic!("{other:?}"),
    }
}

fn answered(name: &str, arguments: Value, state: &str, answer: Value) -> RawCall {
    let responses = Map::from_iter([("approve".to_owned(), answer)]);
    RawCall::new(name, arguments).with_answers(Answers::new(state, responses))
}

#[tokio::test]
async fn a_question_comes_back_answered_with_the_same_call() {
    let recording = Recording::new();
    let tools = [write(), echo()];
    let toolbox = Toolbox::builder()
        .tools(tools)
        .recorder(recording.clone())
        .build()
        .unwrap();
    let required = question(&toolbox, json!({"n": 1})).await;
    assert_eq!(
        serde_json::to_value(&required.requests).unwrap(),
        json!([{
            "key": "approve",
            "message": "Allow write(n=1)? (it writes, which must be asked for)",
            "schema": {
                "type": "object",
                "properties": {
                    "approve": {"type": "boolean", "description": "Whether the call may run."},
                    "remember": {
                        "type": "string",
                        "enum": ["once", "run", "project"],
                        "default": "once",
                        "description": "For how long this counts: for this call, until the \
                                        program ends, or for the project until it is revoked.",
                    },
                    "rule": {
                        "type": "string",
                        "default": "write",
                        "description": "Which calls this counts for, where it is remembered; \
                                        empty for this very call alone.",
                    },
                },
                "required": ["approve"],
                "additionalProperties": false,
            },
        }])
    );
    assert_eq!(
        recording.names(),
        ["called", "validated", "planned", "decided", "replied"]
    );
    assert_eq!(recording.one("replied")["outcome"], Value::Null);
    for answer in [json!(true), json!({"approve": true})] {
        let required = question(&toolbox, json!({"n": 1})).await;
        let again = answered("write", json!({"n": 1}), &required.state, answer);
        let reply = toolbox.run(again, &remote()).await;
        assert_eq!(value(&reply.into_outcome()), json!({"n": 1}));
    }
    for no in [
        json!(false),
        json!("true"),
        json!(1),
        json!(null),
        json!({"approve": false}),
        json!({}),
    ] {
        let required = question(&toolbox, json!({"n": 1})).await;
        let again = answered("write", json!({"n": 1}), &required.state, no.clone());
        let reply = toolbox.run(again, &remote()).await;
        assert_eq!(
            failure(&reply.into_outcome()).message,
            "not allowed by caller: the user said no",
            "{no}"
        );
    }
}

#[tokio::test]
async fn an_answer_counts_once_and_for_its_caller_only() {
    let toolbox = toolbox();
    let state = question(&toolbox, json!({"n": 1})).await.state;
    let again = || answered("write", json!({"n": 1}), &state, json!(true));
    let stranger = Caller::new("stranger").taking_input_requests();
    let reply = toolbox.run(again(), &stranger).await;
    assert_eq!(failure(&reply.into_outcome()).code(), "permission_denied");
    let reply = toolbox.run(again(), &remote()).await;
    assert_eq!(value(&reply.into_outcome()), json!({"n": 1}));
    let reply = toolbox.run(again(), &remote()).await;
    assert_eq!(
        failure(&reply.into_outcome()).message,
        "not allowed by caller: the answer was used before"
    );
}

#[tokio::test]
async fn an_answer_opens_no_other_call() {
    let toolbox = toolbox();
    let state = question(&toolbox, json!({"n": 1})).await.state;
    let (age, signature) = state.rsplit_once('.').unwrap();
    let mut flipped = signature.to_owned();
    let last = if flipped.ends_with('0') { "1" } else { "0" };
    flipped.replace_range(63.., last);
    let other = self::toolbox();
    for (why, toolbox, arguments, state) in [
        ("other arguments", &toolbox, json!({"n": 2}), state.clone()),
        ("another toolbox", &other, json!({"n": 1}), state.clone()),
        (
            "another time",
            &toolbox,
            json!({"n": 1}),
            format!("{age}1.{signature}"),
        ),
        (
            "another signature",
            &toolbox,
            json!({"n": 1}),
            format!("{age}.{flipped}"),
        ),
        (
            "a short signature",
            &toolbox,
            json!({"n": 1}),
            format!("{age}.{}", &signature[..62]),
        ),
        ("no signature", &toolbox, json!({"n": 1}), age.to_owned()),
        ("nothing", &toolbox, json!({"n": 1}), String::new()),
        (
            "no hex",
            &toolbox,
            json!({"n": 1}),
            format!("{age}.{}", "é".repeat(32)),
        ),
    ] {
        let call = answered("write", arguments, &state, json!(true));
        let reply = toolbox.run(call, &remote()).await;
        assert_eq!(
            failure(&reply.into_outcome()).message,
            "not allowed by caller: the answer does not belong to this call, or is too old",
            "{why}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_too_late_is_refused() {
    let toolbox = toolbox();
    let state = question(&toolbox, json!({"n": 1})).await.state;
    let again = || answered("write", json!({"n": 1}), &state, json!(true));
    tokio::time::advance(Duration::from_secs(14 * 60)).await;
    assert!(
        toolbox
            .run(again(), &remote())
            .await
            .into_outcome()
            .is_success()
    );
    tokio::time::advance(Duration::from_secs(2 * 60)).await;
    let reply = toolbox.run(again(), &remote()).await;
    assert_eq!(failure(&reply.into_outcome()).code(), "permission_denied");
}

#[tokio::test]
async fn an_answer_does_not_get_round_a_rule_that_forbids() {
    let allowing = toolbox();
    let state = question(&allowing, json!({"n": 1})).await.state;
    let denying = Policy::default().denying(["write"]).unwrap();
    let toolbox = Toolbox::builder()
        .tools([write()])
        .policy(denying)
        .build()
        .unwrap();
    let call = answered("write", json!({"n": 1}), &state, json!(true));
    let reply = toolbox.run(call, &remote()).await;
    assert_eq!(
        failure(&reply.into_outcome()).message,
        "not allowed by rule `deny write`: a rule forbids it"
    );
}

#[tokio::test]
async fn what_a_person_is_shown_hides_nothing_and_holds_no_secret() {
    let plan = || Plan::new("delete \u{202e}txt.a\u{1b}[2K\u{200b} with hunter2hunter2");
    let tool = || {
        FunctionTool::new(definition("write").with_effect(Effect::Write))
            .with_plan(move |_: &Value| Ok(plan()))
            .into_async(async |_: Value, _| Outcome::nothing())
    };
    let (recording, approver) = (Recording::new(), ScriptedApprover::no());
    let toolbox = Toolbox::builder()
        .tools([tool()])
        .recorder(recording.clone())
        .secrets(["hunter2hunter2"])
        .build()
        .unwrap();
    run(&toolbox, &asked_by(approver.clone())).await;
    let clean = "delete txt.a with [redacted]";
    assert_eq!(approver.asked()[0][0].plan.summary, clean);
    assert_eq!(recording.one("planned")["plan"]["summary"], clean);
    let required = question(&toolbox, json!({})).await;
    assert!(
        required.requests[0]
            .message
            .starts_with(&format!("Allow {clean}?"))
    );
    let explained = explain(&toolbox, RawCall::new("write", json!({})), &remote());
    assert_eq!(explained.plan.unwrap().summary, clean);
}
