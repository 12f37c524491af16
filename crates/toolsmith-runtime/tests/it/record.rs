//! An event at every arrow, in order; recorders that fail; counters.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use toolsmith_core::context::Level;
use toolsmith_core::event::MetricsCollector;
use toolsmith_core::{AnyTool, ErrorKind, Outcome, Progress, RawCall, ToolContext, ToolName};
use toolsmith_runtime::{Caller, Mode, Policy, Selection, Toolbox};
use toolsmith_testing::recorder::Faulty;
use toolsmith_testing::tools::{
    add, blocking_echo, definition, echo, echoing, explode, fail, sleep,
};
use toolsmith_testing::{Recording, ScriptedApprover, call, failure, value};

const STARTED: [&str; 5] = ["called", "validated", "planned", "decided", "started"];

fn recorded(tools: impl IntoIterator<Item = AnyTool>) -> (Toolbox, Recording) {
    let recording = Recording::new();
    let builder = Toolbox::builder().tools(tools).recorder(recording.clone());
    (builder.build().unwrap(), recording)
}

fn through(rest: &[&str]) -> Vec<String> {
    STARTED
        .iter()
        .chain(rest)
        .map(|name| (*name).to_owned())
        .collect()
}

#[tokio::test]
async fn a_call_that_succeeds_leaves_every_event_in_order() {
    let (toolbox, recording) = recorded([echo()]);
    let call = RawCall::new("echo", json!({"text": "hi"})).with_id("c1");
    toolbox.run(call, &Caller::new("me")).await;
    assert_eq!(recording.names_of("c1"), through(&["finished", "replied"]));
    let mut events = recording.events();
    let registered = json!({"event": "registered", "call": null, "tool": null, "caller": "", "source": "direct", "tools": 1});
    assert_eq!(events.remove(0), registered);
    let about = json!({"call": "c1", "caller": "me"});
    for event in &mut events {
        assert_eq!(
            json!({"call": event["call"], "caller": event["caller"]}),
            about
        );
        let tool = if event["event"] == "called" {
            Value::Null
        } else {
            json!("echo")
        };
        assert_eq!(event["tool"], tool, "{event}");
    }
    assert_eq!(events[0]["name"], "echo");
    assert_eq!(events[0]["arguments"], r#"{"text":"hi"}"#);
    assert_eq!(events[2]["plan"]["summary"], "");
    assert_eq!(
        (
            &events[3]["allowed"],
            &events[3]["by"],
            &events[3]["reason"]
        ),
        (&json!(true), &json!("mode ask"), &json!("it only reads"))
    );
    assert_eq!(events[4]["blocking"], false);
    assert_eq!(
        (&events[5]["error"], &events[5]["message"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(events[6]["outcome"]["value"], "hi");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_ends_early_leaves_the_events_so_far_and_a_reply() {
    let write = echoing(definition("write").with_effect(toolsmith_core::Effect::Write));
    let (toolbox, recording) = recorded([add(), write, sleep(), fail(), explode()]);
    for (name, arguments, expected) in [
        ("nothing", json!({}), vec!["called", "replied"]),
        ("add", json!({"a": 1}), vec!["called", "replied"]),
        (
            "write",
            json!({}),
            vec!["called", "validated", "planned", "decided", "replied"],
        ),
        (
            "fail",
            json!({"message": "x"}),
            [&STARTED[..], &["finished", "replied"]].concat(),
        ),
        (
            "explode",
            json!({}),
            [&STARTED[..], &["finished", "replied"]].concat(),
        ),
        (
            "sleep",
            json!({"ms": 100_000}),
            [&STARTED[..], &["finished", "replied"]].concat(),
        ),
    ] {
        let call = RawCall::new(name, arguments).with_id(name);
        toolbox.run(call, &Caller::new("test")).await;
        assert_eq!(recording.names_of(name), expected, "{name}");
    }
    let finished = recording.all("finished");
    let ends: Vec<_> = finished
        .iter()
        .map(|event| (&event["error"], &event["message"]))
        .collect();
    assert_eq!(
        json!(ends),
        json!([
            ["execution_failed", "x"],
            ["internal", "the tool panicked: it exploded"],
            ["timeout", "ran out of time after 30s; it was stopped"],
        ])
    );
    assert_eq!(finished[2]["ran_ms"], 30_500);
    let decided = recording.all("decided");
    assert_eq!(
        (&decided[0]["allowed"], &decided[0]["by"]),
        (&json!(false), &json!("nobody"))
    );
}

#[tokio::test]
async fn what_happens_between_is_told_between() {
    let tool = AnyTool::from_fn(
        definition("tool"),
        async |_: Value, context: ToolContext| {
            context.progress(Progress::done(1.0));
            context.output("half a line");
            context.progress(Progress::done(2.0));
            Outcome::nothing()
        },
    );
    let (toolbox, recording) = recorded([tool]);
    call(&toolbox, "tool", json!({})).await;
    let expected = through(&["progress", "progress", "output", "finished", "replied"]);
    assert_eq!(recording.names(), expected);
    toolbox.offer(&Selection::everything());
    assert_eq!(recording.one("offered")["tools"], 1);
}

#[tokio::test]
async fn an_approval_is_recorded_with_who_gave_it() {
    let write = echoing(definition("write").with_effect(toolsmith_core::Effect::Write));
    let (toolbox, recording) = recorded([write]);
    let caller = Caller::new("test").with_approver(ScriptedApprover::yes());
    toolbox.run(RawCall::new("write", json!({})), &caller).await;
    let decided = recording.one("decided");
    assert_eq!(
        (&decided["allowed"], &decided["by"], &decided["reason"]),
        (&json!(true), &json!("the test"), &json!("approved"))
    );
}

#[tokio::test]
async fn a_caller_that_goes_away_while_somebody_is_asked_is_recorded() {
    let write = echoing(definition("write").with_effect(toolsmith_core::Effect::Write));
    let (toolbox, recording) = recorded([write]);
    let caller = Caller::new("test").with_approver(toolsmith_testing::approver::Silent);
    {
        let running = toolbox.run(RawCall::new("write", json!({})), &caller);
        tokio::pin!(running);
        assert!(futures_now(running.as_mut()).await.is_none());
    }
    assert_eq!(
        recording.names(),
        ["called", "validated", "planned", "replied"]
    );
    assert_eq!(
        recording.one("replied")["outcome"]["error"]["code"],
        "cancelled"
    );
}

/// What a future has come to by now.
async fn futures_now<F: Future + Unpin>(future: F) -> Option<F::Output> {
    tokio::select! {
        biased;
        output = future => Some(output),
        () = std::future::ready(()) => None,
    }
}

#[tokio::test]
async fn recorders_get_no_secret_from_arguments() {
    let recording = Recording::new();
    let toolbox = Toolbox::builder()
        .tools([echoing(definition("tool")), fail()])
        .recorder(recording.clone())
        .secrets(["hunter2hunter2"])
        .build()
        .unwrap();
    let arguments =
        json!({"a": "hunter2hunter2", "password": "p", "key": "sk-abcdefghijklmnopqrst"});
    call(&toolbox, "tool", arguments).await;
    call(&toolbox, "fail", json!({"message": "hunter2hunter2"})).await;
    let text = serde_json::to_string(&recording.events()).unwrap();
    for secret in ["hunter2hunter2", "sk-abcdefghijklmnopqrst"] {
        assert!(!text.contains(secret), "{text}");
    }
}

#[tokio::test]
async fn a_recorder_that_fails_is_reported_and_changes_no_reply() {
    for (faulty, message) in [
        (Faulty::Fails, "could not record: no room for called"),
        (Faulty::Panics, "a recorder panicked"),
    ] {
        let (told, after) = (Arc::new(Mutex::new(Vec::new())), Recording::new());
        let heard = Arc::clone(&told);
        let toolbox = Toolbox::builder()
            .tools([echo()])
            .recorder(faulty)
            .recorder(after.clone())
            .on_recorder_fault(move |message| {
                heard.lock().unwrap().push(message.to_owned());
                panic!("so is the one who is told")
            })
            .build()
            .unwrap();
        let before = toolbox.recorder_faults();
        assert_eq!(before, 1, "registering is an event too");
        let caller = Caller::new("test").with_recorder(faulty);
        let reply = toolbox
            .run(RawCall::new("echo", json!({"text": "hi"})), &caller)
            .await;
        assert_eq!(value(&reply.into_outcome()), json!("hi"));
        assert_eq!(toolbox.recorder_faults(), before + 2 * 7);
        let told = told.lock().unwrap();
        assert_eq!(told.len(), 15);
        assert_eq!(told[1], message);
        assert_eq!(
            after.names(),
            through(&["finished", "replied"]),
            "the others are told"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn metrics_count_runs_failures_refusals_and_durations() {
    let policy = Policy::new(Mode::Auto).denying(["blocking_echo"]).unwrap();
    let tools = [add(), sleep(), fail(), blocking_echo()];
    let toolbox = Toolbox::builder()
        .tools(tools)
        .policy(policy)
        .build()
        .unwrap();
    for arguments in [
        json!({"a": 1, "b": 2}),
        json!({"a": 1, "b": 2}),
        json!({"a": []}),
    ] {
        call(&toolbox, "add", arguments).await;
    }
    for ms in [3, 5, 100_000] {
        call(&toolbox, "sleep", json!({ "ms": ms })).await;
    }
    call(&toolbox, "fail", json!({"message": ""})).await;
    call(&toolbox, "blocking_echo", json!({})).await;
    call(&toolbox, "nothing", json!({})).await;
    let metrics = toolbox.metrics().unwrap().snapshot();
    assert_eq!(
        (metrics.running, metrics.peak_running, metrics.unknown_tool),
        (0, 1, 1)
    );
    let of = |name: &str| metrics.tools[&ToolName::new(name).unwrap()].clone();
    let counts = |name: &str| {
        let tool = of(name);
        json!([tool.started, tool.succeeded, tool.refused, tool.errors])
    };
    assert_eq!(counts("add"), json!([2, 2, 1, {"invalid_parameters": 1}]));
    assert_eq!(counts("sleep"), json!([3, 2, 0, {"timeout": 1}]));
    assert_eq!(counts("fail"), json!([1, 0, 0, {"execution_failed": 1}]));
    assert_eq!(
        counts("blocking_echo"),
        json!([0, 0, 1, {"permission_denied": 1}])
    );
    assert_eq!(of("add").success_rate(), Some(1.0));
    assert_eq!(of("sleep").success_rate(), Some(2.0 / 3.0));
    assert_eq!(of("fail").success_rate(), Some(0.0));
    assert_eq!(of("blocking_echo").success_rate(), None);
    let durations = of("sleep").duration;
    assert_eq!(durations.total, Duration::from_millis(3 + 5 + 30_500));
    // 3 ms are below 2^12 µs, 5 ms below 2^13, 30.5 s below 2^25.
    let filled: Vec<usize> = (0..32)
        .filter(|bucket| durations.buckets[*bucket] == 1)
        .collect();
    assert_eq!(filled, [12, 13, 25]);
    let text = serde_json::to_value(&metrics).unwrap();
    assert_eq!(text["tools"]["add"]["started"], 2);
}

/// A host's own collector.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<String>>>);

impl Collector {
    fn note(&self, text: String) {
        self.0.lock().unwrap().push(text);
    }
}

impl MetricsCollector for Collector {
    fn started(&self, tool: &ToolName) {
        self.note(format!("started {tool}"));
    }
    fn finished(&self, tool: &ToolName, _ran: Duration, error: Option<ErrorKind>) {
        self.note(format!("finished {tool} {error:?}"));
    }
    fn refused(&self, tool: Option<&ToolName>, error: ErrorKind) {
        self.note(format!("refused {tool:?} {error}"));
        panic!("the collector is broken")
    }
}

#[tokio::test]
async fn a_hosts_own_collector_replaces_the_counters_and_cannot_hurt() {
    let collector = Collector::default();
    let toolbox = Toolbox::builder()
        .tools([add(), fail()])
        .metrics(collector.clone())
        .build()
        .unwrap();
    assert!(toolbox.metrics().is_none());
    call(&toolbox, "add", json!({"a": 1, "b": 1})).await;
    call(&toolbox, "fail", json!({"message": ""})).await;
    let outcome = call(&toolbox, "add", json!({})).await;
    assert_eq!(failure(&outcome).code(), "invalid_parameters");
    call(&toolbox, "nothing", json!({})).await;
    assert_eq!(
        *collector.0.lock().unwrap(),
        [
            "started add",
            "finished add None",
            "started fail",
            "finished fail Some(Failed)",
            "refused Some(\"add\") invalid_parameters",
            "refused None unknown_tool",
        ]
    );
    assert_eq!(toolbox.recorder_faults(), 2);
}

#[tokio::test(start_paused = true)]
async fn quantiles_are_told_by_the_edges_of_buckets() {
    let toolbox = Toolbox::new([sleep()]).unwrap();
    for ms in (1..=98).map(|_| 3).chain([100, 900]) {
        call(&toolbox, "sleep", json!({ "ms": ms })).await;
    }
    let metrics = toolbox.metrics().unwrap().snapshot();
    let durations = &metrics.tools["sleep"].duration;
    let at = |share| durations.quantile(share).unwrap().as_micros();
    assert_eq!((at(0.5), at(0.98)), (4096, 4096), "3 ms");
    assert_eq!((at(0.99), at(1.0)), (131_072, 1_048_576));
    assert_eq!(durations.quantile(f64::NAN), durations.quantile(0.0));
    let none = Toolbox::new([sleep()]).unwrap();
    call(&none, "sleep", json!({})).await;
    let metrics = none.metrics().unwrap().snapshot();
    assert_eq!(metrics.tools["sleep"].duration.quantile(0.5), None);
}

#[tokio::test]
async fn what_a_failure_says_is_bounded_in_events() {
    let long = AnyTool::from_fn(definition("long"), async |_: Value, _| {
        Outcome::failure("no ".repeat(1 << 20))
    });
    let (toolbox, recording) = recorded([long]);
    call(&toolbox, "long", json!({})).await;
    let finished = recording.one("finished");
    assert!(finished["message"].as_str().unwrap().len() <= 4 << 10);
}

#[tokio::test]
async fn log_entries_of_every_form_share_one_ceiling() {
    let talkative = AnyTool::from_fn(
        definition("talkative"),
        async |_: Value, context: ToolContext| {
            for _ in 0..100 {
                context.log(Level::Info, json!({ "text": "x".repeat(30 << 10) }));
            }
            Outcome::nothing()
        },
    );
    let (toolbox, recording) = recorded([talkative]);
    call(&toolbox, "talkative", json!({})).await;
    let logged = recording.all("logged").len();
    assert!((30..40).contains(&logged), "{logged}");
}
