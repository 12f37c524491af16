//! Whether a call may run: modes, rules, guards, and what a tool wishes itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use toolsmith_core::tool::FunctionTool;
use toolsmith_core::{AnyTool, Confirm, Consent, Effect, Outcome, Plan, RawCall, ToolError};
use toolsmith_runtime::permit::{Guard, GuardError, Judgement, Subject, Verdict};
use toolsmith_runtime::{Caller, Mode, Policy, Toolbox};
use toolsmith_testing::explain;
use toolsmith_testing::tools::{definition, echoing, taking};
use toolsmith_testing::{Recording, ScriptedApprover, call, failure};

const EFFECTS: [Effect; 4] = [
    Effect::Read,
    Effect::Write,
    Effect::Execute,
    Effect::Network,
];

fn of_effect(effect: Effect) -> AnyTool {
    echoing(definition("tool").with_effect(effect))
}

fn planning(effect: Effect, plan: Plan) -> AnyTool {
    FunctionTool::new(definition("tool").with_effect(effect))
        .with_plan(move |_: &Value| Ok(plan.clone()))
        .into_async(async |_: Value, _| Outcome::nothing())
}

fn toolbox(tool: AnyTool, policy: Policy) -> Toolbox {
    Toolbox::builder()
        .tools([tool])
        .policy(policy)
        .build()
        .unwrap()
}

fn decide(tool: AnyTool, policy: Policy) -> (Verdict, String, String) {
    let explained = explain(
        &toolbox(tool, policy),
        RawCall::new("tool", json!({})),
        &Caller::new("test"),
    );
    let decision = explained.decision.unwrap();
    (decision.verdict, decision.by, decision.reason)
}

#[test]
fn modes_decide_by_effect() {
    use Verdict::{Allow, Ask, Deny};
    for (mode, expected) in [
        (Mode::Plan, [Allow, Deny, Deny, Deny]),
        (Mode::Ask, [Allow, Ask, Ask, Ask]),
        (Mode::AutoEdit, [Allow, Allow, Ask, Ask]),
        (Mode::Auto, [Allow, Allow, Allow, Allow]),
    ] {
        let got = EFFECTS.map(|effect| decide(of_effect(effect), Policy::new(mode)).0);
        assert_eq!(got, expected, "{mode:?}");
        assert_eq!(mode.word().parse(), Ok(mode));
    }
    assert_eq!(Policy::default().mode(), Mode::Ask);
    assert_eq!(
        "yolo".parse::<Mode>().unwrap_err(),
        "\"yolo\" is no mode; use plan, ask, auto-edit or auto"
    );
}

#[test]
fn deny_beats_ask_beats_allow_in_any_order() {
    let rules = [
        (Verdict::Allow, "*"),
        (Verdict::Ask, "tool"),
        (Verdict::Deny, "t*"),
    ];
    let orders = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    for mode in Mode::ALL {
        for order in orders {
            for kept in 1..=3 {
                let chosen = &order[..kept];
                let parse = |&index: &usize| {
                    let (verdict, text) = rules[index];
                    toolsmith_runtime::permit::Rule::parse(verdict, text).unwrap()
                };
                let policy = Policy::new(mode).with_rules(chosen.iter().map(parse));
                let strictest = chosen.iter().max().map(|&index| rules[index]).unwrap();
                let (verdict, by, _) = decide(of_effect(Effect::Write), policy);
                assert_eq!(verdict, strictest.0, "{mode:?} {chosen:?}");
                let word = ["allow", "ask", "deny"][verdict as usize];
                assert_eq!(by, format!("rule `{word} {}`", strictest.1));
            }
        }
    }
}

#[tokio::test]
async fn a_refusal_names_the_rule_and_is_not_retryable() {
    let policy = Policy::new(Mode::Auto).denying(["effect:write"]).unwrap();
    let toolbox = toolbox(of_effect(Effect::Write), policy);
    let outcome = call(&toolbox, "tool", json!({})).await;
    let error = failure(&outcome);
    assert_eq!(
        error.to_string(),
        "permission_denied: not allowed by rule `deny effect:write`: a rule forbids it"
    );
    let details = json!({"by": "rule `deny effect:write`", "reason": "a rule forbids it"});
    assert_eq!(error.details, Some(details));
    assert!(!error.retryable);
}

#[tokio::test]
async fn a_broken_policy_denies_everything() {
    let toolbox = toolbox(
        of_effect(Effect::Read),
        Policy::broken("line 3")
            .with_mode(Mode::Auto)
            .allowing(["*"])
            .unwrap(),
    );
    let approver = ScriptedApprover::yes();
    let caller = Caller::new("test").with_approver(approver.clone());
    let reply = toolbox.run(RawCall::new("tool", json!({})), &caller).await;
    assert_eq!(
        failure(&reply.into_outcome()).message,
        "not allowed by policy: the rules cannot be read: line 3"
    );
    assert!(approver.asked().is_empty());
}

struct Says(&'static str);

impl Guard for Says {
    fn name(&self) -> &str {
        "sentry"
    }
    async fn judge(&self, _subject: &Subject<'_>) -> Result<Judgement, GuardError> {
        match self.0 {
            "slow" => {
                tokio::time::sleep(std::time::Duration::from_secs(3600)).await;
                Ok(Judgement::NoOpinion)
            }
            "nothing" => Ok(Judgement::NoOpinion),
            "error" => Err(GuardError("its list is gone".to_owned())),
            _ => panic!("the guard is broken"),
        }
    }
}

#[tokio::test]
async fn a_guard_that_fails_or_panics_denies() {
    for (says, expected) in [
        (
            "error",
            Some("not allowed by guard sentry: the guard failed: its list is gone"),
        ),
        (
            "panic",
            Some("not allowed by guard sentry: the guard panicked"),
        ),
        ("nothing", None),
    ] {
        let policy = Policy::new(Mode::Auto).allowing(["*"]).unwrap();
        let builder = Toolbox::builder()
            .tools([of_effect(Effect::Read)])
            .policy(policy);
        let toolbox = builder.guard(Says(says)).build().unwrap();
        let outcome = call(&toolbox, "tool", json!({})).await;
        assert_eq!(
            outcome.error.map(|error| error.message).as_deref(),
            expected
        );
    }
}

#[test]
fn a_tools_own_wish_for_confirmation_makes_things_stricter_never_wider() {
    use Verdict::{Allow, Ask, Deny};
    let wish = || Plan::new("wipe").confirmed_because("it wipes the disk");
    for (mode, expected) in [
        (Mode::Plan, [Ask, Deny, Deny, Deny]),
        (Mode::Ask, [Ask, Ask, Ask, Ask]),
        (Mode::AutoEdit, [Ask, Ask, Ask, Ask]),
        (Mode::Auto, [Allow, Allow, Allow, Allow]),
    ] {
        let got = EFFECTS.map(|effect| decide(planning(effect, wish()), Policy::new(mode)).0);
        assert_eq!(got, expected, "{mode:?}");
    }
    let (_, by, reason) = decide(planning(Effect::Read, wish()), Policy::default());
    assert_eq!(
        (by.as_str(), reason.as_str()),
        ("tool tool", "it wipes the disk")
    );
    // Nor does a tool that wants no confirmation get what others do not.
    let mut never = Plan::default();
    never.confirm = Confirm::Never;
    for mode in Mode::ALL {
        for effect in EFFECTS {
            let plain = decide(of_effect(effect), Policy::new(mode)).0;
            assert_eq!(
                decide(planning(effect, never.clone()), Policy::new(mode)).0,
                plain
            );
        }
    }
}

/// Allowing a tool says nothing about a call it finds worth a question; allowing such
/// arguments does.
#[test]
fn a_tools_own_wish_yields_to_rules_about_arguments_only() {
    let wiping = || {
        let schema = json!({"disk": {"type": "string", "default": "a"}});
        FunctionTool::new(taking("tool", schema).with_effect(Effect::Write))
            .with_plan(|_: &Value| Ok(Plan::new("wipe").confirmed_because("it wipes the disk")))
            .into_async(async |_: Value, _| Outcome::nothing())
    };
    for mode in [Mode::Plan, Mode::Ask, Mode::AutoEdit, Mode::Auto] {
        for (rules, verdict, by) in [
            (&["tool"][..], Verdict::Ask, "tool tool"),
            (&["*"], Verdict::Ask, "tool tool"),
            (&["effect:write"], Verdict::Ask, "tool tool"),
            (&["source:builtin"], Verdict::Ask, "tool tool"),
            (&["tool(a)"], Verdict::Allow, "rule `allow tool(a)`"),
            (
                &["tool(disk: a)"],
                Verdict::Allow,
                "rule `allow tool(disk: a)`",
            ),
            (&["tool", "tool(a)"], Verdict::Allow, "rule `allow tool(a)`"),
            (&["tool", "tool(b)"], Verdict::Ask, "tool tool"),
        ] {
            let policy = Policy::new(mode).allowing(rules.iter().copied()).unwrap();
            let (got, decided, _) = decide(wiping(), policy);
            if mode == Mode::Auto {
                assert_eq!(got, Verdict::Allow, "{rules:?}");
            } else {
                assert_eq!((got, decided.as_str()), (verdict, by), "{mode:?} {rules:?}");
            }
        }
    }
}

#[tokio::test]
async fn consent_does_not_replace_permission() {
    let definition = || {
        let definition = taking("tool", json!({})).with_effect(Effect::Write);
        definition.with_consent(Consent::new("DELETE"))
    };
    let said = json!({"consent": "DELETE"});
    let denied = toolbox(
        echoing(definition()),
        Policy::new(Mode::Auto).denying(["tool"]).unwrap(),
    );
    assert_eq!(
        failure(&call(&denied, "tool", said.clone()).await).code(),
        "permission_denied"
    );
    let asked = toolbox(echoing(definition()), Policy::default());
    assert_eq!(
        failure(&call(&asked, "tool", said.clone()).await).code(),
        "approval_required"
    );
    let allowed = toolbox(echoing(definition()), Policy::new(Mode::Auto));
    assert_eq!(
        failure(&call(&allowed, "tool", json!({})).await).code(),
        "invalid_parameters"
    );
    assert!(call(&allowed, "tool", said).await.is_success());
}

#[tokio::test]
async fn a_plan_that_fails_or_panics_ends_the_call() {
    for (panics, code) in [(false, "invalid_parameters"), (true, "internal")] {
        let tool = FunctionTool::new(definition("tool"))
            .with_plan(move |_: &Value| {
                assert!(!panics, "the planner is broken");
                Err(ToolError::invalid("no such branch"))
            })
            .into_async(async |_: Value, _| Outcome::nothing());
        let toolbox = toolbox(tool, Policy::new(Mode::Auto));
        let outcome = call(&toolbox, "tool", json!({})).await;
        assert_eq!(failure(&outcome).code(), code);
    }
}

#[tokio::test]
async fn explain_tells_plan_decision_and_rule_and_runs_nothing() {
    let ran = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&ran);
    let schema = json!({"n": {"type": "integer"}});
    let tool = FunctionTool::new(taking("tool", schema).with_effect(Effect::Write))
        .with_plan(|arguments: &Value| Ok(Plan::new(format!("do it {} times", arguments["n"]))))
        .into_async(move |_: Value, _| {
            counted.fetch_add(1, Ordering::SeqCst);
            std::future::ready(Outcome::nothing())
        });
    let (recording, approver) = (Recording::new(), ScriptedApprover::yes());
    let toolbox = Toolbox::builder()
        .tools([tool])
        .recorder(recording.clone())
        .policy(Policy::default().asking(["tool(n in 1..5)"]).unwrap())
        .build()
        .unwrap();
    let caller = Caller::new("test").with_approver(approver.clone());
    let explained = explain(&toolbox, RawCall::new("tool", json!({"n": "3"})), &caller);
    assert_eq!(
        serde_json::to_value(&explained).unwrap(),
        json!({
            "tool": "tool",
            "effect": "write",
            "arguments": {"n": 3},
            "repairs": ["`n`: took \"3\" (string) for 3"],
            "plan": {"summary": "do it 3 times", "confirm": {"needed": "unspecified"}},
            "decision": {
                "verdict": "ask",
                "by": "rule `ask tool(n in 1..5)`",
                "reason": "a rule says to ask",
            },
        })
    );
    let explained = explain(
        &toolbox,
        RawCall::new("tool", json!({"n": "\u{202e}x"})),
        &caller,
    );
    let error = explained.error.unwrap();
    assert_eq!(error.code(), "invalid_parameters");
    assert!(
        !error.message.contains('\u{202e}'),
        "what a terminal shows is cleaned: {error:?}"
    );
    assert!(explained.plan.is_none() && explained.decision.is_none());
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    assert!(approver.asked().is_empty());
    assert_eq!(recording.names(), [""; 0]);
}
