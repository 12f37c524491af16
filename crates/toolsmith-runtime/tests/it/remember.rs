//! Approvals that count again: for a run, for a project, by exact call or by rule.

use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};
use toolsmith_core::call::Answers;
use toolsmith_core::tool::FunctionTool;
use toolsmith_core::{AnyTool, Effect, Outcome, Plan, RawCall, Reply, ToolDef, Touch};
use toolsmith_runtime::permit::{
    Approval, ApprovalRequest, ApprovalStore, ApprovalStoreError, Covers, Decision, Guard,
    GuardError, Judgement, Lasts, Remember, Remembered, Rule, Subject, Verdict,
};
use toolsmith_runtime::{Caller, Mode, Policy, Toolbox};
use toolsmith_testing::tools::{definition, echoing, taking};
use toolsmith_testing::{ScriptedApprover, explain, failure};

/// Approvals in memory, or a store that is out of order. Clones share it.
#[derive(Clone, Default)]
struct Store(Arc<Mutex<Vec<Remembered>>>, Fault);

#[derive(Clone, Copy, Default, PartialEq)]
enum Fault {
    #[default]
    None,
    Fails,
    Panics,
}

impl ApprovalStore for Store {
    fn approvals(&self) -> Result<Arc<Vec<Remembered>>, ApprovalStoreError> {
        assert!(self.1 != Fault::Panics, "out of order");
        match self.1 {
            Fault::Fails => Err(ApprovalStoreError("torn".to_owned())),
            _ => Ok(Arc::new(self.0.lock().unwrap().clone())),
        }
    }

    fn keep(&self, approval: Remembered) -> Result<(), ApprovalStoreError> {
        self.approvals()?;
        self.0.lock().unwrap().push(approval);
        Ok(())
    }
}

fn put_definition() -> ToolDef {
    taking("put", json!({"path": {"type": "string"}})).with_effect(Effect::Write)
}

/// `put(path)`: says it writes there.
fn put() -> AnyTool {
    planned(put_definition(), |plan| plan)
}

fn planned(definition: ToolDef, more: fn(Plan) -> Plan) -> AnyTool {
    FunctionTool::<Value>::new(definition)
        .with_plan(move |arguments: &Value| {
            let path = arguments["path"].as_str().unwrap_or_default();
            Ok(more(
                Plan::new(format!("put {path}")).touching(Touch::write(path)),
            ))
        })
        .into_async(async |arguments: Value, _| Outcome::ok(arguments))
}

/// An approver that says yes and wants this remembered.
fn yes_and(remember: impl Fn() -> Remember + Send + Sync + 'static) -> ScriptedApprover {
    ScriptedApprover::new(move |requests| {
        let each = requests.iter();
        each.map(|request| request.grant("the test").remembering(remember()))
            .collect()
    })
}

fn rule(text: &str) -> Covers {
    Covers::rule(Rule::parse(Verdict::Allow, text).unwrap())
}

/// Puts a file; tells whether it was done.
async fn puts(toolbox: &Toolbox, path: &str, caller: &Caller) -> bool {
    let call = RawCall::new("put", json!({ "path": path }));
    toolbox.run(call, caller).await.into_outcome().is_success()
}

fn decision(toolbox: &Toolbox, path: &str, caller: &Caller) -> Decision {
    let call = RawCall::new("put", json!({ "path": path }));
    explain(toolbox, call, caller).decision.unwrap()
}

#[tokio::test]
async fn an_exact_call_is_asked_for_once_in_a_run() {
    let toolbox = Toolbox::new([put()]).unwrap();
    let approver = yes_and(|| Remember::new(Lasts::Run, Covers::Call));
    let caller = Caller::new("test").with_approver(approver.clone());
    for _ in 0..3 {
        assert!(puts(&toolbox, "docs/a", &caller).await);
        assert_eq!(approver.asked().len(), 1);
    }
    let decided = decision(&toolbox, "docs/a", &caller);
    assert_eq!(decided.verdict, Verdict::Allow);
    assert_eq!(decided.by, "remembered: this exact call");
    assert_eq!(decided.reason, "a person approved it for this run");
    assert!(puts(&toolbox, "docs/b", &caller).await);
    assert_eq!(approver.asked().len(), 2);
    // Another run knows nothing of it.
    let other = Toolbox::new([put()]).unwrap();
    assert_eq!(decision(&other, "docs/a", &caller).verdict, Verdict::Ask);
}

#[tokio::test]
async fn a_rule_is_asked_for_once_and_holds_for_its_calls_alone() {
    let toolbox = Toolbox::new([put()]).unwrap();
    let approver = yes_and(|| Remember::new(Lasts::Run, rule("put(path beneath docs)")));
    let caller = Caller::new("test").with_approver(approver.clone());
    assert!(puts(&toolbox, "docs/a", &caller).await);
    assert!(puts(&toolbox, "docs/deep/b", &caller).await);
    assert_eq!(approver.asked().len(), 1);
    let decided = decision(&toolbox, "docs/c", &caller);
    assert_eq!(decided.by, "remembered: put(path beneath docs)");
    for elsewhere in ["docsx/a", "docs/../a", "/etc/passwd"] {
        assert_eq!(
            decision(&toolbox, elsewhere, &caller).verdict,
            Verdict::Ask,
            "{elsewhere}"
        );
    }
}

#[tokio::test]
async fn a_rule_that_is_not_about_the_call_shown_is_not_remembered() {
    let toolbox = Toolbox::new([put()]).unwrap();
    let approver = yes_and(|| Remember::new(Lasts::Run, rule("put(path beneath src)")));
    let caller = Caller::new("test").with_approver(approver.clone());
    assert!(
        puts(&toolbox, "docs/a", &caller).await,
        "it is allowed once"
    );
    assert!(puts(&toolbox, "docs/a", &caller).await);
    assert_eq!(approver.asked().len(), 2);
    assert_eq!(decision(&toolbox, "src/a", &caller).verdict, Verdict::Ask);
    let shown = &approver.asked()[0][0];
    let refused = shown.accepts(&Rule::parse(Verdict::Allow, "put(path beneath src)").unwrap());
    assert_eq!(
        refused.unwrap_err(),
        "the rule `put(path beneath src)` is not about this call"
    );
    assert!(
        shown
            .accepts(&Rule::parse(Verdict::Deny, "put").unwrap())
            .is_err()
    );
}

#[tokio::test]
async fn a_project_remembers_across_runs_until_it_is_revoked() {
    let store = Store::default();
    let run = || {
        Toolbox::builder()
            .tools([put()])
            .approvals(store.clone())
            .build()
            .unwrap()
    };
    let approver = yes_and(|| Remember::new(Lasts::Project, Covers::Call));
    let caller = Caller::new("test").with_approver(approver.clone());
    assert!(puts(&run(), "docs/a", &caller).await);
    assert!(puts(&run(), "docs/a", &caller).await);
    assert_eq!(approver.asked().len(), 1);
    let decided = decision(&run(), "docs/a", &caller);
    assert_eq!(decided.reason, "a person approved it for this project");
    let running = run();
    store.0.lock().unwrap().clear();
    assert_eq!(decision(&running, "docs/a", &caller).verdict, Verdict::Ask);

    // A tool with another definition is another tool.
    assert!(puts(&run(), "docs/a", &caller).await);
    let changed = planned(put_definition().with_title("Put anywhere"), |plan| plan);
    let other = Toolbox::builder()
        .tools([changed])
        .approvals(store.clone())
        .build()
        .unwrap();
    assert_eq!(decision(&other, "docs/a", &caller).verdict, Verdict::Ask);
}

#[tokio::test]
async fn a_store_that_fails_means_that_the_person_is_asked() {
    for fault in [Fault::Fails, Fault::Panics] {
        let store = Store(Arc::default(), fault);
        let toolbox = Toolbox::builder()
            .tools([put()])
            .approvals(store)
            .build()
            .unwrap();
        let approver = yes_and(|| Remember::new(Lasts::Project, rule("put")));
        let caller = Caller::new("test").with_approver(approver.clone());
        for asked in 1..3 {
            assert!(puts(&toolbox, "docs/a", &caller).await);
            assert_eq!(approver.asked().len(), asked);
        }
        let no = Caller::new("test").with_approver(ScriptedApprover::no());
        assert!(!puts(&toolbox, "docs/a", &no).await);
    }
    // And so does having no store at all.
    let toolbox = Toolbox::new([put()]).unwrap();
    let approver = yes_and(|| Remember::new(Lasts::Project, Covers::Call));
    let caller = Caller::new("test").with_approver(approver.clone());
    assert!(puts(&toolbox, "docs/a", &caller).await && puts(&toolbox, "docs/a", &caller).await);
    assert_eq!(approver.asked().len(), 2);
}

#[tokio::test]
async fn what_is_denied_stays_denied() {
    let store = Store::default();
    let caller =
        Caller::new("test").with_approver(yes_and(|| Remember::new(Lasts::Project, rule("put"))));
    let open = Toolbox::builder()
        .tools([put()])
        .approvals(store.clone())
        .build()
        .unwrap();
    assert!(puts(&open, "docs/a", &caller).await);
    let policies = [
        Policy::new(Mode::Plan),
        Policy::new(Mode::Ask)
            .denying(["put(path beneath docs)"])
            .unwrap(),
        Policy::broken("a line is missing"),
    ];
    for policy in policies {
        let builder = Toolbox::builder().tools([put()]).approvals(store.clone());
        let toolbox = builder.policy(policy).build().unwrap();
        assert_eq!(decision(&toolbox, "docs/a", &caller).verdict, Verdict::Deny);
        assert!(!puts(&toolbox, "docs/a", &caller).await);
    }
    // A rule that asks is answered.
    let asks = Policy::new(Mode::Auto).asking(["put"]).unwrap();
    let toolbox = Toolbox::builder()
        .tools([put()])
        .approvals(store)
        .policy(asks)
        .build()
        .unwrap();
    assert_eq!(decision(&toolbox, "docs/a", &caller).by, "remembered: put");
}

/// Asks about everything.
struct Careful;

impl Guard for Careful {
    fn name(&self) -> &str {
        "careful"
    }

    async fn judge(&self, _: &Subject<'_>) -> Result<Judgement, GuardError> {
        Ok(Judgement::Decided(Decision::new(
            Verdict::Ask,
            "careful",
            "who knows",
        )))
    }
}

#[tokio::test]
async fn what_another_guard_or_the_tool_asks_is_answered_by_the_exact_call_alone() {
    let confirmed = || {
        planned(put_definition(), |plan| {
            plan.confirmed_because("it is large")
        })
    };
    for mode in [Mode::Ask, Mode::AutoEdit] {
        let toolboxes: [Box<dyn Fn() -> Toolbox>; 2] = [
            Box::new(move || {
                let builder = Toolbox::builder().tools([put()]).guard(Careful);
                builder.policy(Policy::new(mode)).build().unwrap()
            }),
            Box::new(move || {
                let builder = Toolbox::builder().tools([confirmed()]);
                builder.policy(Policy::new(mode)).build().unwrap()
            }),
        ];
        for make in toolboxes {
            let toolbox = make();
            let approver = yes_and(|| Remember::new(Lasts::Run, rule("put(path beneath docs)")));
            let caller = Caller::new("test").with_approver(approver.clone());
            for asked in 1..3 {
                assert!(puts(&toolbox, "docs/a", &caller).await);
                assert_eq!(approver.asked().len(), asked, "{mode:?}");
            }
            assert_eq!(approver.asked()[0][0].proposal(), None);

            let toolbox = make();
            let approver = yes_and(|| Remember::new(Lasts::Run, Covers::Call));
            let caller = Caller::new("test").with_approver(approver.clone());
            assert!(
                puts(&toolbox, "docs/a", &caller).await && puts(&toolbox, "docs/a", &caller).await
            );
            assert_eq!(approver.asked().len(), 1, "{mode:?}");
            assert!(puts(&toolbox, "docs/b", &caller).await);
            assert_eq!(approver.asked().len(), 2, "{mode:?}");
        }
    }
}

#[tokio::test]
async fn what_was_approved_for_one_agent_is_no_others() {
    for covers in [Covers::Call, rule("put")] {
        let toolbox = Toolbox::new([put()]).unwrap();
        let approver = yes_and(move || Remember::new(Lasts::Run, covers.clone()));
        let nobody = Caller::new("test").with_approver(approver);
        let [ada, bob] = ["ada", "bob"].map(|agent| nobody.clone().with_agent(agent));
        assert!(puts(&toolbox, "docs/a", &ada).await);
        assert_eq!(decision(&toolbox, "docs/a", &ada).verdict, Verdict::Allow);
        assert_eq!(decision(&toolbox, "docs/a", &bob).verdict, Verdict::Ask);
        assert_eq!(decision(&toolbox, "docs/a", &nobody).verdict, Verdict::Ask);
        assert!(puts(&toolbox, "docs/a", &nobody).await);
        assert_eq!(
            decision(&toolbox, "docs/a", &nobody).verdict,
            Verdict::Allow
        );
        assert_eq!(decision(&toolbox, "docs/a", &bob).verdict, Verdict::Ask);
    }
}

#[tokio::test]
async fn an_exact_call_is_of_what_stands_behind_the_tool() {
    let toolbox = Toolbox::new([put().marked("echo hello")]).unwrap();
    let approver = yes_and(|| Remember::new(Lasts::Run, Covers::Call));
    let caller = Caller::new("test").with_approver(approver);
    assert!(puts(&toolbox, "docs/a", &caller).await);
    assert_eq!(
        decision(&toolbox, "docs/a", &caller).verdict,
        Verdict::Allow
    );
    toolbox.registry().unregister("put");
    toolbox.register([put().marked("rm -rf")]).unwrap();
    assert_eq!(decision(&toolbox, "docs/a", &caller).verdict, Verdict::Ask);
}

#[tokio::test]
async fn a_client_speaks_for_no_other_tool_than_the_one_it_asked_about() {
    for wide in ["*", "p*", "effect:write", "source:builtin", "{put,other}"] {
        let toolbox = Toolbox::new([put()]).unwrap();
        let one = Caller::new("mcp:one#1").taking_input_requests();
        let call = || RawCall::new("put", json!({"path": "docs/a"}));
        let Reply::NeedsInput(required) = toolbox.run(call(), &one).await else {
            panic!("nothing was asked");
        };
        let answer = json!({"approve": true, "remember": "run", "rule": wide});
        let responses = Map::from_iter([("approve".to_owned(), answer)]);
        let again = call().with_answers(Answers::new(&required.state, responses));
        assert!(toolbox.run(again, &one).await.into_outcome().is_success());
        assert_eq!(
            decision(&toolbox, "docs/a", &one).verdict,
            Verdict::Ask,
            "{wide}"
        );
    }
}

#[tokio::test]
async fn what_a_client_says_counts_for_that_client_alone() {
    for lasts in ["run", "project"] {
        let builder = Toolbox::builder().tools([put()]);
        let toolbox = builder.approvals(Store::default()).build().unwrap();
        let one = Caller::new("mcp:one#1").taking_input_requests();
        let call = || RawCall::new("put", json!({"path": "docs/a"}));
        let Reply::NeedsInput(required) = toolbox.run(call(), &one).await else {
            panic!("nothing was asked");
        };
        let answer = json!({"approve": true, "remember": lasts, "rule": "put"});
        let responses = Map::from_iter([("approve".to_owned(), answer)]);
        let again = call().with_answers(Answers::new(&required.state, responses));
        assert!(toolbox.run(again, &one).await.into_outcome().is_success());
        for (caller, verdict) in [
            ("mcp:one#1", Verdict::Allow),
            (
                "mcp:one#2",
                match lasts {
                    "run" => Verdict::Ask,
                    _ => Verdict::Allow,
                },
            ),
            ("mcp:other#1", Verdict::Ask),
            ("mcp:one-more#1", Verdict::Ask),
            ("cli", Verdict::Ask),
        ] {
            let decided = decision(&toolbox, "docs/b", &Caller::new(caller));
            assert_eq!(decided.verdict, verdict, "{lasts} {caller}");
        }
    }
}

#[tokio::test]
async fn an_approval_for_another_call_is_not_remembered_either() {
    let toolbox = Toolbox::new([put()]).unwrap();
    let seen: Arc<Mutex<Option<Approval>>> = Arc::default();
    let kept = Arc::clone(&seen);
    let approver = ScriptedApprover::new(move |requests: &[ApprovalRequest]| {
        let mut kept = kept.lock().unwrap();
        let fresh = requests[0].grant("the test");
        let fresh = fresh.remembering(Remember::new(Lasts::Run, rule("put")));
        vec![kept.get_or_insert(fresh).clone()]
    });
    let caller = Caller::new("test").with_approver(approver);
    let other = Toolbox::new([put()]).unwrap();
    assert!(puts(&other, "docs/a", &caller).await);
    assert!(!puts(&toolbox, "docs/b", &caller).await);
    assert_eq!(decision(&toolbox, "docs/b", &caller).verdict, Verdict::Ask);
}

#[tokio::test]
async fn the_form_says_once_unless_more_was_said() {
    let remote = Caller::new("remote").taking_input_requests();
    for (answer, later) in [
        (json!(true), Verdict::Ask),
        (json!({"approve": true}), Verdict::Ask),
        (
            json!({"approve": true, "remember": "once", "rule": "put"}),
            Verdict::Ask,
        ),
        (json!({"approve": true, "rule": "put"}), Verdict::Ask),
        (
            json!({"approve": true, "remember": "always", "rule": "put"}),
            Verdict::Ask,
        ),
        (json!({"approve": true, "remember": true}), Verdict::Ask),
        (json!({"approve": true, "remember": "run"}), Verdict::Allow),
        (
            json!({"approve": true, "remember": "run", "rule": ""}),
            Verdict::Allow,
        ),
        (
            json!({"approve": true, "remember": "run", "rule": "put(path beneath docs)"}),
            Verdict::Allow,
        ),
        (
            json!({"approve": true, "remember": "run", "rule": "other"}),
            Verdict::Ask,
        ),
        (
            json!({"approve": true, "remember": "run", "rule": "put("}),
            Verdict::Ask,
        ),
        (
            json!({"approve": true, "remember": "project"}),
            Verdict::Allow,
        ),
        (
            json!({"approve": false, "remember": "run", "rule": "put"}),
            Verdict::Ask,
        ),
    ] {
        let builder = Toolbox::builder().tools([put()]);
        let toolbox = builder.approvals(Store::default()).build().unwrap();
        let call = || RawCall::new("put", json!({"path": "docs/a"}));
        let Reply::NeedsInput(required) = toolbox.run(call(), &remote).await else {
            panic!("nothing was asked");
        };
        let form = required.requests[0].schema.as_value();
        assert_eq!(form["required"], json!(["approve"]));
        assert_eq!(
            form["properties"]["rule"]["default"],
            "put(path beneath docs)"
        );
        assert_eq!(
            form["properties"]["remember"]["enum"],
            json!(["once", "run", "project"])
        );
        let responses = Map::from_iter([("approve".to_owned(), answer.clone())]);
        let again = call().with_answers(Answers::new(&required.state, responses));
        let outcome = toolbox.run(again, &remote).await.into_outcome();
        let is_no = answer["approve"] == json!(false);
        assert_eq!(outcome.is_success(), !is_no, "{answer}");
        assert_eq!(
            decision(&toolbox, "docs/a", &remote).verdict,
            later,
            "{answer}"
        );
    }
}

#[tokio::test]
async fn proposals_are_about_the_call_and_narrow() {
    let bash = taking("bash", json!({"command": {"type": "string"}})).with_effect(Effect::Execute);
    let send = definition("send").with_effect(Effect::Network);
    let toolbox = Toolbox::new([put(), echoing(bash), echoing(send)]).unwrap();
    for (tool, arguments, proposal) in [
        (
            "put",
            json!({"path": "docs/a.md"}),
            "put(path beneath docs)",
        ),
        (
            "put",
            json!({"path": "/srv/www/a"}),
            "put(path beneath /srv/www)",
        ),
        ("put", json!({"path": "a.md"}), "put(path = a.md)"),
        ("put", json!({"path": "/a"}), "put(path = /a)"),
        (
            "bash",
            json!({"command": "git status -s"}),
            r"bash(command ~= ^git status( [\w./=:@%+ -]*)?$)",
        ),
        (
            "bash",
            json!({"command": "ls -l"}),
            r"bash(command ~= ^ls( [\w./=:@%+ -]*)?$)",
        ),
        ("send", json!({"to": "x"}), "send"),
    ] {
        let approver = ScriptedApprover::no();
        let caller = Caller::new("test").with_approver(approver.clone());
        let reply = toolbox
            .run(RawCall::new(tool, arguments.clone()), &caller)
            .await;
        failure(&reply.into_outcome());
        let request = approver.asked()[0][0].clone();
        let proposed = request.proposal().unwrap();
        assert_eq!(proposed, proposal, "{arguments}");
        let rule = Rule::parse(Verdict::Allow, &proposed).unwrap();
        assert_eq!(request.accepts(&rule), Ok(()));
    }
}

/// A rule for one command must not let another run behind it.
#[tokio::test]
async fn what_was_proposed_for_a_command_is_about_one_command() {
    let bash =
        || taking("bash", json!({"command": {"type": "string"}})).with_effect(Effect::Execute);
    let toolbox = Toolbox::new([echoing(bash())]).unwrap();
    let approver = ScriptedApprover::new(|requests| {
        let rule = requests[0].proposal().unwrap();
        let rule = Covers::rule(Rule::parse(Verdict::Allow, &rule).unwrap());
        vec![
            requests[0]
                .grant("the test")
                .remembering(Remember::new(Lasts::Run, rule)),
        ]
    });
    let caller = Caller::new("test").with_approver(approver);
    let call = |line: &str| RawCall::new("bash", json!({ "command": line }));
    assert!(
        toolbox
            .run(call("git status -s"), &caller)
            .await
            .into_outcome()
            .is_success()
    );
    for (line, verdict) in [
        ("git status", Verdict::Allow),
        ("git status --short docs/a.md", Verdict::Allow),
        ("git statusx", Verdict::Ask),
        ("git push", Verdict::Ask),
        ("git status; rm -rf docs", Verdict::Ask),
        ("git status && rm -rf docs", Verdict::Ask),
        ("git status | sh", Verdict::Ask),
        ("git status $(rm -rf docs)", Verdict::Ask),
        ("git status `rm docs`", Verdict::Ask),
        ("git status > docs/a", Verdict::Ask),
        ("git status\nrm -rf docs", Verdict::Ask),
        ("rm -rf docs; git status", Verdict::Ask),
    ] {
        let decision = explain(&toolbox, call(line), &caller).decision.unwrap();
        assert_eq!(decision.verdict, verdict, "{line:?}");
    }
}

/// Where what a model wrote can be put in no rule, none is proposed, and no wider one either.
#[tokio::test]
async fn odd_arguments_make_no_wide_proposals() {
    let bash = taking("bash", json!({"command": {"type": "string"}})).with_effect(Effect::Execute);
    let toolbox = Toolbox::new([put(), echoing(bash)]).unwrap();
    for (tool, arguments) in [
        ("bash", json!({"command": "git status; rm -rf docs"})),
        ("bash", json!({"command": "git status\u{202e}"})),
        ("put", json!({"path": "docs/../a"})),
        ("put", json!({"path": "a, n = 1/b"})),
        ("put", json!({"path": "do\u{202e}cs/b"})),
        ("put", json!({"path": format!("{}/b", "x".repeat(1000))})),
    ] {
        let approver = ScriptedApprover::no();
        let caller = Caller::new("test").with_approver(approver.clone());
        let reply = toolbox
            .run(RawCall::new(tool, arguments.clone()), &caller)
            .await;
        failure(&reply.into_outcome());
        assert_eq!(approver.asked()[0][0].proposal(), None, "{arguments}");
    }
}
