//! Callers that work for others: what both may, and nothing more.

use std::time::Duration;

use serde_json::json;
use toolsmith_core::{Effect, ErrorKind, RawCall};
use toolsmith_runtime::permit::{Covers, Lasts, Remember, Rule, Verdict};
use toolsmith_runtime::{Caller, Mode, Policy, Selection, Toolbox};
use toolsmith_testing::tools::{echo, echoing, taking};
use toolsmith_testing::{Gate, ScriptedApprover, explain, failure};

fn toolbox(policy: Policy) -> Toolbox {
    let put = echoing(taking("put", json!({})).with_effect(Effect::Write));
    let tools = Toolbox::builder().tools([put, echo()]);
    tools.policy(policy).build().unwrap()
}

fn put() -> RawCall {
    RawCall::new("put", json!({}))
}

fn verdict(toolbox: &Toolbox, caller: &Caller) -> Verdict {
    explain(toolbox, put(), caller).decision.unwrap().verdict
}

#[test]
fn whom_any_of_them_is_forbidden_all_are() {
    let rule = Rule::parse(Verdict::Deny, "put").unwrap();
    let policy = Policy::new(Mode::Auto).with_rules([rule.of_agent("careful")]);
    let toolbox = toolbox(policy);
    let careful = Caller::new("me").with_agent("careful");
    for caller in [
        careful.delegate("1", None),
        careful.delegate("1", Some("bold")),
        careful
            .delegate("1", Some("bold"))
            .delegate("2", Some("bolder")),
        // Whatever it calls itself later.
        careful.delegate("1", None).with_agent("bold"),
        Caller::new("me").delegate("1", Some("careful")),
    ] {
        assert_eq!(verdict(&toolbox, &caller), Verdict::Deny, "{caller:?}");
    }
    let bold = Caller::new("me").delegate("1", Some("bold"));
    assert_eq!(verdict(&toolbox, &bold), Verdict::Allow);
}

#[tokio::test]
async fn an_approval_counts_for_whom_it_was_given_to() {
    let remembering = || {
        ScriptedApprover::new(|requests| {
            let remember = || Remember::new(Lasts::Run, Covers::Call);
            let grant = requests.iter();
            grant
                .map(|request| request.grant("the test").remembering(remember()))
                .collect()
        })
    };
    let giver = Caller::new("me").with_approver(remembering());
    let child = giver.delegate("1", Some("reviewer"));
    // Given to the giver, it says nothing of another agent; given to that, nothing of the giver.
    for (approved, other) in [(&giver, &child), (&child, &giver)] {
        let toolbox = toolbox(Policy::new(Mode::Ask));
        let done = toolbox.run(put(), approved).await.into_outcome();
        assert!(done.is_success(), "{done:?}");
        assert_eq!(verdict(&toolbox, other), Verdict::Ask);
    }
    // Who works under the same name does the same work.
    let toolbox = toolbox(Policy::new(Mode::Ask));
    toolbox.run(put(), &giver).await;
    let alike = giver.delegate("1", None);
    assert_eq!(verdict(&toolbox, &alike), Verdict::Allow);
}

#[tokio::test]
async fn no_offer_is_wider_than_the_givers() {
    let toolbox = toolbox(Policy::new(Mode::Auto));
    let narrow = toolbox.offer(&Selection::everything().with_tools(["echo"]));
    let giver = Caller::new("me").with_offer(narrow);
    let everything = || toolbox.offer(&Selection::everything());
    for caller in [
        giver.delegate("1", None),
        giver.delegate("1", None).with_offer(everything()),
        giver
            .delegate("1", None)
            .with_offer(everything())
            .delegate("2", None)
            .with_offer(everything()),
    ] {
        let outcome = toolbox.run(put(), &caller).await.into_outcome();
        assert_eq!(failure(&outcome).kind, ErrorKind::UnknownTool);
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_call_is_the_givers_too() {
    let gate = Gate::new();
    let slow = gate.tool(taking("slow", json!({})).with_effect(Effect::Read));
    let toolbox = Toolbox::new([slow]).unwrap();
    let giver = Caller::new("me").with_timeout(Duration::from_secs(2));
    let began = tokio::time::Instant::now();
    let call = RawCall::new("slow", json!({}));
    let outcome = toolbox.run(call, &giver.delegate("1", None)).await;
    assert_eq!(failure(&outcome.into_outcome()).kind, ErrorKind::Timeout);
    assert!(began.elapsed() < Duration::from_secs(10));
}
