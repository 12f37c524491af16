//! Tasks that are given to sub-agents.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use toolsmith_agent::task::{Tasks, Worker, Workers};
use toolsmith_agent::{Agent, End, Price};
use toolsmith_core::{AnyTool, CancellationToken, Effect, ErrorKind, Outcome, RawCall, ToolError};
use toolsmith_provider::{Dictionary, ModelClient, script};
use toolsmith_runtime::permit::{Rule, Verdict};
use toolsmith_runtime::{Caller, Mode, Order, Policy, Selection, Toolbox};
use toolsmith_testing::{Gate, ScriptedApprover, failure, tools};

use crate::support::{Mute, Stubborn, agent, body, call, limits, model};

/// Workers whose models answer as scripted, one script a task.
struct Staff {
    toolbox: Mutex<Option<Toolbox>>,
    models: Mutex<VecDeque<Arc<dyn ModelClient>>>,
    name: Option<&'static str>,
    selection: Selection,
    price: Option<Price>,
    hired: AtomicUsize,
}

#[derive(Clone)]
struct Hired(Arc<Staff>);

impl Workers for Hired {
    fn worker(
        &self,
        name: Option<&str>,
        _model: Option<&str>,
        _parent: &Caller,
    ) -> Result<Worker, ToolError> {
        if name == Some("nobody") {
            return Err(ToolError::invalid("there is no agent `nobody`"));
        }
        self.0.hired.fetch_add(1, Ordering::Relaxed);
        let toolbox = self.0.toolbox.lock().unwrap().clone().unwrap();
        let model = self.0.models.lock().unwrap().pop_front();
        let model = model.unwrap_or_else(|| Arc::new(Stubborn(body("Done.", &[]))));
        let agent = Agent::new(toolbox, model).with_limits(limits(|it| it.price = self.0.price));
        let worker = Worker::new(agent).with_selection(self.0.selection.clone());
        Ok(match self.0.name {
            Some(name) => worker.named(name),
            None => worker,
        })
    }
}

/// A toolbox with tasks and some other tools, whose workers have these models.
struct Office {
    toolbox: Toolbox,
    tasks: Tasks,
    staff: Hired,
}

fn office(
    policy: Policy,
    further: Vec<AnyTool>,
    models: Vec<Arc<dyn ModelClient>>,
    set: impl FnOnce(&mut Staff),
) -> Office {
    let tasks = Tasks::new(2);
    let toolbox = Toolbox::builder()
        .tools(tasks.tools())
        .tools(further)
        .tools([tools::echo()])
        .policy(policy)
        .build()
        .unwrap();
    let mut staff = Staff {
        toolbox: Mutex::new(Some(toolbox.clone())),
        models: Mutex::new(models.into()),
        name: None,
        selection: Selection::everything(),
        price: None,
        hired: AtomicUsize::new(0),
    };
    set(&mut staff);
    let staff = Hired(Arc::new(staff));
    tasks.employ(staff.clone());
    Office {
        toolbox,
        tasks,
        staff,
    }
}

fn auto() -> Policy {
    Policy::new(Mode::Auto)
}

fn order(more: &Value) -> Value {
    let mut order = json!({"description": "Look around", "prompt": "Look around, and tell."});
    let fields = more.as_object().unwrap().clone();
    order.as_object_mut().unwrap().extend(fields);
    order
}

async fn task(office: &Office, caller: &Caller, more: Value) -> Outcome {
    let call = RawCall::new("task", order(&more));
    office.toolbox.run(call, caller).await.into_outcome()
}

#[tokio::test]
async fn a_task_answers_with_one_message_and_what_it_took() {
    let worker = model([
        body("Looking.", &[call("a", "echo", json!({"text": "x"}))]),
        body("There is an x.", &[]),
    ]);
    let office = office(auto(), vec![], vec![worker.clone()], |_| {});
    let outcome = task(
        &office,
        &Caller::new("me"),
        json!({"context": "It was here."}),
    )
    .await;
    let text = outcome.model_text();
    assert!(text.starts_with("There is an x."), "{text}");
    let value = outcome.value.unwrap();
    assert_eq!((&value["turns"], &value["calls"]), (&json!(2), &json!(1)));
    assert_eq!(value["status"], "done");
    assert!(worker.requests()[0].to_string().contains("It was here."));
}

#[tokio::test]
async fn a_sub_agent_may_do_at_most_what_its_giver_may() {
    let forbidding = |agent: &str| {
        let rule = Rule::parse(Verdict::Deny, "save").unwrap();
        auto().with_rules([rule.of_agent(agent)])
    };
    for (policy, giver, worker, saved) in [
        (auto(), None, Some("narrow"), true),
        // The giver may, and the agent may not.
        (forbidding("narrow"), None, Some("narrow"), false),
        // What the giver may not, nobody may for it.
        (forbidding("giver"), Some("giver"), Some("narrow"), false),
        (forbidding("giver"), Some("giver"), None, false),
        (forbidding("giver"), None, Some("narrow"), true),
    ] {
        let gate = Gate::new();
        gate.open();
        let save = gate.tool(tools::taking("save", json!({})).with_effect(Effect::Write));
        let client = model([
            body("", &[call("a", "save", json!({}))]),
            body("Tried.", &[]),
        ]);
        let office = office(policy, vec![save], vec![client], |staff| {
            staff.name = worker
        });
        let mut caller = Caller::new("me");
        if let Some(giver) = giver {
            caller = caller.with_agent(giver);
        }
        let outcome = task(&office, &caller, json!({})).await;
        assert!(outcome.is_success(), "{outcome:?}");
        assert_eq!(gate.total() == 1, saved, "{giver:?} gave it to {worker:?}");
    }
}

#[tokio::test]
async fn a_sub_agent_is_asked_about_where_its_giver_is() {
    let policy = Policy::new(Mode::Ask).allowing(["task"]).unwrap();
    let gate = Gate::new();
    gate.open();
    let save = gate.tool(tools::taking("save", json!({})).with_effect(Effect::Write));
    let client = || -> Arc<dyn ModelClient> {
        model([
            body("", &[call("a", "save", json!({}))]),
            body("Tried.", &[]),
        ])
    };
    let office = office(policy, vec![save], vec![client(), client()], |_| {});
    let no = ScriptedApprover::no();
    task(
        &office,
        &Caller::new("me").with_approver(no.clone()),
        json!({}),
    )
    .await;
    assert_eq!((no.asked().len(), gate.total()), (1, 0));
    let yes = ScriptedApprover::yes();
    task(
        &office,
        &Caller::new("me").with_approver(yes.clone()),
        json!({}),
    )
    .await;
    assert_eq!((yes.asked().len(), gate.total()), (1, 1));
}

#[tokio::test]
async fn a_sub_agent_sees_no_tool_its_giver_does_not() {
    let worker = model([
        body("", &[call("a", "secret", json!({}))]),
        body("Tried.", &[]),
    ]);
    let secret = tools::echoing(tools::taking("secret", json!({})).with_effect(Effect::Read));
    let office = office(auto(), vec![secret], vec![worker.clone()], |_| {});
    let offer = office
        .toolbox
        .offer(&Selection::everything().with_tools(["task", "echo"]));
    let caller = Caller::new("me").with_offer(offer);
    task(&office, &caller, json!({"tools": ["secret", "echo"]})).await;
    let requests = worker.requests();
    let declared: Vec<&str> = { requests[0]["tools"].as_array().unwrap().iter() }
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(declared, ["echo"]);
    assert!(
        requests[1].to_string().contains("unknown_tool"),
        "{}",
        requests[1]
    );
}

#[tokio::test]
async fn tasks_are_given_on_twice_and_not_further() {
    let giving = || -> Arc<dyn ModelClient> {
        model([
            body("", &[call("a", "task", order(&json!({})))]),
            body("Done.", &[]),
        ])
    };
    let office = office(auto(), vec![], vec![giving(), giving(), giving()], |_| {});
    let outcome = task(&office, &Caller::new("me"), json!({})).await;
    assert!(outcome.is_success());
    // The third was never asked: the second was not even offered the tool.
    assert_eq!(office.staff.0.hired.load(Ordering::Relaxed), 2);
    let deep = Caller::new("me")
        .delegate("one", None)
        .delegate("two", None);
    let refused = task(&office, &deep, json!({})).await;
    assert_eq!(failure(&refused).kind, ErrorKind::PermissionDenied);
}

#[tokio::test]
async fn only_some_run_at_once_and_the_others_wait() {
    let gate = Gate::new();
    let slow = gate.tool(tools::taking("slow", json!({})).with_effect(Effect::Read));
    let working = || -> Arc<dyn ModelClient> {
        model([
            body("", &[call("a", "slow", json!({}))]),
            body("Done.", &[]),
        ])
    };
    let models = (0..5).map(|_| working()).collect();
    let office = office(auto(), vec![slow], models, |_| {});
    let calls = (0..5).map(|_| RawCall::new("task", order(&json!({}))));
    let calls: Vec<RawCall> = calls.collect();
    let caller = Caller::new("me");
    let running = office.toolbox.run_all(calls, &caller, Order::Parallel);
    let (replies, ()) = tokio::join!(running, async {
        for _ in 0..5 {
            gate.release(1);
        }
    });
    assert_eq!(replies.len(), 5);
    assert!(
        replies
            .into_iter()
            .all(|reply| reply.into_outcome().is_success())
    );
    assert!(gate.peak() <= 2, "{} at once", gate.peak());
}

#[tokio::test]
async fn a_task_in_the_background_is_read_and_ended() {
    let silent: Arc<dyn ModelClient> = Arc::new(Mute);
    let quick: Arc<dyn ModelClient> = model([body("Found it.", &[])]);
    let office = office(auto(), vec![], vec![quick, silent], |_| {});
    let caller = Caller::new("me");
    let begun = task(&office, &caller, json!({"run_in_background": true})).await;
    let id = begun.value.unwrap()["id"].as_str().unwrap().to_owned();
    let read = RawCall::new("task_output", json!({"id": id}));
    let read = office.toolbox.run(read, &caller).await.into_outcome();
    assert!(
        read.model_text().starts_with("Found it."),
        "{}",
        read.model_text()
    );

    let begun = task(&office, &caller, json!({"run_in_background": true})).await;
    let id = begun.value.unwrap()["id"].as_str().unwrap().to_owned();
    let look = RawCall::new("task_output", json!({"id": id, "block": false}));
    let look = office.toolbox.run(look, &caller).await.into_outcome();
    assert_eq!(look.value.unwrap()["status"], "running");
    // Nobody else's.
    let other = RawCall::new("task_stop", json!({"id": id}));
    let other = office
        .toolbox
        .run(other, &Caller::new("you"))
        .await
        .into_outcome();
    assert_eq!(failure(&other).kind, ErrorKind::InvalidParameters);
    let stop = RawCall::new("task_stop", json!({"id": id}));
    let stopped = office.toolbox.run(stop, &caller).await.into_outcome();
    assert!(stopped.is_success(), "{stopped:?}");
    assert_eq!(stopped.value.unwrap()["status"], "stopped");
}

#[tokio::test]
async fn who_is_given_up_takes_its_tasks_along() {
    let gate = Gate::new();
    let slow = gate.tool(tools::taking("slow", json!({})).with_effect(Effect::Read));
    let working = || -> Arc<dyn ModelClient> { model([body("", &[call("a", "slow", json!({}))])]) };
    let office = office(auto(), vec![slow], vec![working(), working()], |_| {});
    let token = CancellationToken::new();
    let caller = Caller::new("me").with_cancellation(token.clone());
    let begun = task(&office, &caller, json!({"run_in_background": true})).await;
    assert!(begun.is_success());
    let front = task(&office, &caller, json!({}));
    let given_up = async {
        while gate.now() < 2 {
            tokio::task::yield_now().await;
        }
        token.cancel();
    };
    let (front, ()) = tokio::join!(front, given_up);
    assert_eq!(failure(&front).kind, ErrorKind::Cancelled);
    office.tasks.close().await;
    // A tool that does not listen is ended after its grace.
    let gone = async {
        while gate.now() > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let gone = tokio::time::timeout(Duration::from_secs(30), gone).await;
    assert!(gone.is_ok(), "a call of a task goes on");
}

#[tokio::test]
async fn the_time_of_a_task_is_its_own() {
    tokio::time::pause();
    let office = office(auto(), vec![], vec![Arc::new(Mute)], |_| {});
    let began = tokio::time::Instant::now();
    let outcome = task(&office, &Caller::new("me"), json!({"timeout": 5000})).await;
    assert_eq!(failure(&outcome).kind, ErrorKind::Timeout);
    assert_eq!(began.elapsed().as_secs(), Duration::from_secs(5).as_secs());
}

#[tokio::test(start_paused = true)]
async fn a_task_that_waits_for_its_turn_still_ends_by_itself() {
    let mute = || -> Arc<dyn ModelClient> { Arc::new(Mute) };
    let office = office(auto(), vec![], vec![mute(), mute(), mute()], |_| {});
    let given = || RawCall::new("task", order(&json!({"timeout": 5000})));
    let caller = Caller::new("me");
    let began = tokio::time::Instant::now();
    let tasks = [given(), given(), given()];
    let replies = office.toolbox.run_all(tasks, &caller, Order::Parallel);
    for reply in replies.await {
        let outcome = reply.into_outcome();
        let error = failure(&outcome);
        assert_eq!(error.kind, ErrorKind::Timeout);
        assert!(
            error.message.contains("the task brought no answer"),
            "{error}"
        );
    }
    assert_eq!(began.elapsed().as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_ends_takes_its_tasks_along() {
    let office = office(auto(), vec![], vec![Arc::new(Mute)], |_| {});
    let background = order(&json!({"run_in_background": true, "timeout": 1_800_000}));
    let giver = model([
        body("", &[call("a", "task", background)]),
        body("It is under way.", &[]),
    ]);
    let caller = Caller::new("me");
    let report = agent(&office.toolbox, giver).ask("Begin.", &caller).await;
    assert_eq!(report.end, End::Answered);
    let read = RawCall::new("task_output", json!({"id": "task-1"}));
    let read = office.toolbox.run(read, &caller).await.into_outcome();
    assert_eq!(read.value.unwrap()["status"], "stopped");
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_long_task_is_no_repetition() {
    let office = office(auto(), vec![], vec![Arc::new(Mute)], |_| {});
    let background = order(&json!({"run_in_background": true, "timeout": 1_800_000}));
    let begin = [body("", &[call("a", "task", background)])];
    let wait = call("b", "task_output", json!({"id": "task-1"}));
    let waits = std::iter::repeat_n(body("", &[wait]), 9);
    let giver = model(begin.into_iter().chain(waits).chain([body("Enough.", &[])]));
    let report = agent(&office.toolbox, giver)
        .ask("Begin, and wait.", &Caller::new("me"))
        .await;
    assert_eq!(
        (report.end, report.text.as_str()),
        (End::Answered, "Enough.")
    );
}

#[tokio::test]
async fn a_task_goes_on_from_an_earlier_one() {
    let first: Arc<dyn ModelClient> = model([body("One.", &[])]);
    let second = model([body("Two.", &[])]);
    let office = office(auto(), vec![], vec![first, second.clone()], |_| {});
    let caller = Caller::new("me");
    let begun = task(&office, &caller, json!({})).await;
    let id = begun.value.unwrap()["id"].as_str().unwrap().to_owned();
    let outcome = task(&office, &caller, json!({"resume_from": id})).await;
    assert!(outcome.model_text().starts_with("Two."));
    let messages = second.requests().remove(0);
    assert_eq!(messages["messages"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn what_cannot_be_given_is_told() {
    let office = office(auto(), vec![], vec![], |_| {});
    let caller = Caller::new("me");
    for (more, kind) in [
        (
            json!({"subagent_type": "nobody"}),
            ErrorKind::InvalidParameters,
        ),
        (
            json!({"resume_from": "task-77"}),
            ErrorKind::InvalidParameters,
        ),
        (json!({"description": "x"}), ErrorKind::InvalidParameters),
        (json!({"prompt": "short"}), ErrorKind::InvalidParameters),
        (json!({"tools": ["Raed"]}), ErrorKind::InvalidParameters),
        (json!({"timeout": 4999}), ErrorKind::InvalidParameters),
        (
            json!({"isolation": "worktree"}),
            ErrorKind::InvalidParameters,
        ),
    ] {
        let outcome = task(&office, &caller, more.clone()).await;
        assert_eq!(failure(&outcome).kind, kind, "{more}");
    }
    // Without anybody to do the work it says so.
    let toolbox = Toolbox::builder()
        .tools(Tasks::default().tools())
        .policy(auto())
        .build()
        .unwrap();
    let call = RawCall::new("task", order(&json!({})));
    let outcome = toolbox.run(call, &caller).await.into_outcome();
    assert_eq!(failure(&outcome).kind, ErrorKind::Unavailable);
}

#[tokio::test]
async fn what_a_task_took_counts_for_its_giver() {
    let nothing = Dictionary::default();
    let mut counted = script::body(crate::support::PROVIDER, &nothing, "Found.", &[]);
    counted["usage"] = json!({"prompt_tokens": 70, "completion_tokens": 7});
    let worker: Arc<dyn ModelClient> = model([counted.to_string().into_bytes()]);
    let million = Price {
        input: 1e6,
        output: 1e6,
    };
    let office = office(auto(), vec![], vec![worker], |staff| {
        staff.price = Some(million);
    });
    let giver = model([
        body("", &[call("a", "task", order(&json!({})))]),
        body("Done.", &[]),
    ]);
    let report = agent(&office.toolbox, giver)
        .with_limits(limits(|it| it.price = Some(Price::default())))
        .ask("Find it.", &Caller::new("me"))
        .await;
    assert_eq!(report.end, End::Answered);
    assert!(report.usage.input_tokens >= 70 && report.usage.output_tokens >= 7);
    // By the price of the model that did it, and not by that of the giver's.
    assert_eq!(report.cost, Some(77.0));
}
