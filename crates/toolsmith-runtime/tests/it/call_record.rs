//! One whole record for each call, however it ends; nothing for those nobody wants.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use toolsmith_core::event::{Event, RecordError, Recorder};
use toolsmith_core::record::Wanted;
use toolsmith_core::{AnyTool, CancellationToken, Effect, Outcome, RawCall};
use toolsmith_runtime::{Caller, Order, Toolbox, ToolboxBuilder};
use toolsmith_testing::ScriptedApprover;
use toolsmith_testing::tools::{add, definition, echo, echoing, explode, fail, sleep};

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// Keeps records as JSON, their spans beside them.
#[derive(Clone)]
struct Records {
    wanted: Option<Wanted>,
    kept: Arc<Mutex<Vec<Value>>>,
}

impl Records {
    fn wanting(wanted: Wanted) -> Self {
        let (wanted, kept) = (Some(wanted), Arc::default());
        Self { wanted, kept }
    }

    fn all(&self) -> Vec<Value> {
        self.kept.lock().unwrap().clone()
    }

    #[track_caller]
    fn one(&self) -> Value {
        let all = self.all();
        assert_eq!(all.len(), 1, "{all:?}");
        all.into_iter().next().unwrap()
    }
}

impl Recorder for Records {
    fn record(&self, event: &Event<'_>) -> Result<(), RecordError> {
        if let Some(record) = event.record() {
            assert_eq!(event.what.name(), "replied");
            let mut kept = serde_json::to_value(record).unwrap();
            if let Some(span) = record.span {
                kept["parent"] = json!(span.parent.map(|parent| parent.to_string()));
            }
            self.kept.lock().unwrap().push(kept);
        }
        Ok(())
    }

    fn wants_record(&self) -> Option<Wanted> {
        self.wanted
    }
}

fn everything() -> Wanted {
    Wanted::facts().with_texts(2048).with_digest()
}

fn call(name: &str, arguments: Value) -> RawCall {
    RawCall::new(name, arguments)
}

fn write() -> AnyTool {
    echoing(definition("write").with_effect(Effect::Write))
}

fn tools() -> ToolboxBuilder {
    Toolbox::builder().tools([add(), echo(), fail(), explode(), sleep(), write()])
}

fn recorded() -> (Toolbox, Records) {
    let records = Records::wanting(everything());
    let toolbox = tools().recorder(records.clone()).build().unwrap();
    (toolbox, records)
}

#[tokio::test(start_paused = true)]
async fn a_record_holds_the_whole_call() {
    let (toolbox, records) = recorded();
    let caller = Caller::new("me").with_agent("helper").with_trace(PARENT);
    let call = RawCall::new("sleep", json!({"ms": 250})).with_id("c1");
    toolbox.run(call, &caller).await;
    let mut record = records.one();
    let digest = record["digest"].take();
    assert_eq!(digest.as_str().unwrap().len(), 64, "{digest}");
    let expected = json!({
        "v": 1,
        "at": "1970-01-01T00:00:00.000000Z",
        "id": "c1",
        "caller": "me",
        "agent": "helper",
        "tool": "sleep",
        "source": {"kind": "builtin", "origin": "direct"},
        "effect": "read",
        "digest": null,
        "arguments": r#"{"ms":250}"#,
        "result": "250",
        "decision": {"allowed": true, "by": "mode ask", "reason": "it only reads"},
        "outcome": {"status": "ok"},
        "timings": {
            "validated": 0, "planned": 0, "decided": 0, "waited": 0, "queued": 0,
            "ran": 250_000, "total": 250_000,
        },
        "attempts": 1,
        "repairs": 0,
        "trace": PARENT,
    });
    assert_eq!(record, expected);
}

#[tokio::test(start_paused = true)]
async fn every_end_leaves_one_record() {
    for (name, arguments, status, code) in [
        ("echo", json!({"text": "hi"}), "ok", Value::Null),
        ("nothing", json!({}), "error", json!("unknown_tool")),
        ("add", json!({"a": 1}), "error", json!("invalid_parameters")),
        (
            "fail",
            json!({"message": "x"}),
            "error",
            json!("execution_failed"),
        ),
        ("explode", json!({}), "error", json!("internal")),
        ("sleep", json!({"ms": 99_000}), "error", json!("timeout")),
        ("write", json!({}), "error", json!("approval_required")),
    ] {
        let (toolbox, records) = recorded();
        toolbox.run(call(name, arguments), &Caller::new("me")).await;
        let record = records.one();
        assert_eq!(record["outcome"]["status"], status, "{record}");
        assert_eq!(record["outcome"]["code"], code, "{record}");
        assert!(record["arguments"].is_string(), "{record}");
        assert!(record["digest"].is_string(), "{record}");
        let is_known = name != "nothing";
        assert_eq!(record["tool"].is_string(), is_known, "{record}");
        assert_eq!(record["called_as"].is_string(), !is_known, "{record}");
    }
}

#[tokio::test]
async fn a_refusal_names_who_refused() {
    let (toolbox, records) = recorded();
    let caller = Caller::new("me").with_approver(ScriptedApprover::no());
    toolbox.run(call("write", json!({})), &caller).await;
    let record = records.one();
    assert_eq!(record["outcome"]["code"], "permission_denied", "{record}");
    assert_eq!(record["decision"]["allowed"], false, "{record}");
    assert!(record["decision"]["by"].is_string(), "{record}");
}

#[tokio::test]
async fn a_call_that_is_asked_about_leaves_a_record_and_so_does_its_return() {
    let (toolbox, records) = recorded();
    let caller = Caller::new("me").taking_input_requests();
    toolbox.run(call("write", json!({})), &caller).await;
    let record = records.one();
    assert_eq!(
        record["outcome"],
        json!({"status": "input_required"}),
        "{record}"
    );
    assert_eq!(record["result"], Value::Null);
}

#[tokio::test(start_paused = true)]
async fn calls_that_are_cancelled_or_dropped_leave_their_records() {
    let (toolbox, records) = recorded();
    let token = CancellationToken::new();
    let caller = Caller::new("me").with_cancellation(token.clone());
    let sleeping = toolbox.run(call("sleep", json!({"ms": 9000})), &caller);
    let cancelling = async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        token.cancel();
    };
    tokio::join!(sleeping, cancelling);
    let dropped = toolbox.run(call("sleep", json!({"ms": 9000})), &caller);
    let _ = tokio::time::timeout(Duration::from_millis(5), dropped).await;
    let caller = Caller::new("me");
    let dropped = toolbox.run(call("sleep", json!({"ms": 9000})), &caller);
    let _ = tokio::time::timeout(Duration::from_millis(5), dropped).await;
    // What is left behind ends in the background.
    tokio::time::sleep(Duration::from_secs(60)).await;
    let codes: Vec<Value> = records.all().iter().map(code).collect();
    assert_eq!(json!(codes), json!(["cancelled", "cancelled", "cancelled"]));
}

fn code(record: &Value) -> Value {
    record["outcome"]["code"].clone()
}

#[tokio::test(start_paused = true)]
async fn each_call_of_a_batch_leaves_its_record_with_its_wait() {
    let records = Records::wanting(Wanted::facts());
    let mut limits = toolsmith_runtime::Limits::default();
    limits.parallel = 1;
    let toolbox = tools().recorder(records.clone()).limits(limits);
    let toolbox = toolbox.build().unwrap();
    let calls =
        (0..3).map(|n| RawCall::new("sleep", json!({"ms": 100})).with_id(format!("c{n}").as_str()));
    let (calls, caller) = (calls.collect::<Vec<_>>(), Caller::new("me"));
    toolbox.run_all(calls, &caller, Order::Parallel).await;
    let all = records.all();
    let waits: Vec<_> = all
        .iter()
        .map(|record| {
            let timings = &record["timings"];
            json!([
                record["id"],
                timings["queued"],
                timings["ran"],
                timings["total"]
            ])
        })
        .collect();
    let expected = json!([
        ["c0", 0, 100_000, 100_000],
        ["c1", 100_000, 100_000, 200_000],
        ["c2", 200_000, 100_000, 300_000],
    ]);
    assert_eq!(json!(waits), expected);
    assert!(all.iter().all(|record| record["arguments"].is_null()));
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_person_is_told_apart() {
    struct Slow;
    impl toolsmith_runtime::permit::Approver for Slow {
        async fn approve(
            &self,
            requests: &[toolsmith_runtime::permit::ApprovalRequest],
        ) -> Vec<toolsmith_runtime::permit::Approval> {
            tokio::time::sleep(Duration::from_secs(3)).await;
            let yes = toolsmith_runtime::permit::YesToAll { by: "me".into() };
            yes.approve(requests).await
        }
    }
    let (toolbox, records) = recorded();
    let caller = Caller::new("me").with_approver(Slow);
    toolbox.run(call("write", json!({})), &caller).await;
    let record = records.one();
    let timings = &record["timings"];
    assert_eq!(timings["waited"], 3_000_000, "{record}");
    assert_eq!(
        (&timings["queued"], &timings["ran"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(timings["total"], 3_000_000);
}

#[tokio::test]
async fn the_digest_is_of_what_was_sent_whatever_the_order_of_its_keys() {
    let (toolbox, records) = recorded();
    for arguments in [
        json!({"a": 1, "b": 2}),
        json!({"b": 2, "a": 1}),
        json!({"a": 2, "b": 1}),
        json!({"a": "1", "b": 2}),
    ] {
        toolbox
            .run(call("add", arguments), &Caller::new("me"))
            .await;
    }
    let all = records.all();
    assert_eq!(all[0]["digest"], all[1]["digest"]);
    assert_ne!(all[0]["digest"], all[2]["digest"]);
    assert_ne!(all[0]["digest"], all[3]["digest"]);
    assert_eq!(all[3]["repairs"], 1, "{}", all[3]);
}

#[tokio::test]
async fn texts_are_bounded_and_without_secrets() {
    let records = Records::wanting(Wanted::facts().with_texts(64));
    let leak = AnyTool::from_fn(definition("leak"), async |_: Value, _| {
        Outcome::text(format!(
            "{{\"password\": \"open sesame\"}} hunter2hunter2 {}",
            "é".repeat(400)
        ))
    });
    let toolbox = Toolbox::builder().tools([leak, echo(), fail()]);
    let toolbox = toolbox.secrets(["hunter2hunter2"]).mode_auto();
    let toolbox = toolbox.recorder(records.clone()).build().unwrap();
    let caller = Caller::new("caller hunter2hunter2").with_agent("agent hunter2hunter2");
    let secret = json!({"text": "hunter2hunter2", "token": "open sesame"});
    for call in [
        call("leak", json!({})),
        call("echo", secret.clone()),
        call("hunter2hunter2", secret),
        call("echo", json!({"text": "long ".repeat(500)})),
        call("fail", json!({"message": "with hunter2hunter2"})),
    ] {
        toolbox.run(call, &caller).await;
    }
    let all = records.all();
    assert_eq!(all.len(), 5);
    for record in all {
        let text = record.to_string();
        assert!(!text.contains("hunter2"), "{text}");
        assert!(!text.contains("sesame"), "{text}");
        for key in ["arguments", "result"] {
            let length = record[key].as_str().map_or(0, str::len);
            assert!(length <= 64 + '…'.len_utf8(), "{key}: {text}");
        }
    }
}

trait ModeAuto {
    fn mode_auto(self) -> Self;
}

impl ModeAuto for ToolboxBuilder {
    fn mode_auto(self) -> Self {
        self.policy(toolsmith_runtime::Policy::new(
            toolsmith_runtime::Mode::Auto,
        ))
    }
}

#[tokio::test]
async fn nobody_who_wants_none_gets_one_and_the_callers_own_recorder_may_want_one() {
    let silent = Records {
        wanted: None,
        kept: Arc::default(),
    };
    let toolbox = tools().recorder(silent.clone()).build().unwrap();
    let own = Records::wanting(Wanted::facts());
    let hello = || call("echo", json!({"text": "hi"}));
    toolbox.run(hello(), &Caller::new("me")).await;
    assert!(silent.all().is_empty());
    let caller = Caller::new("me").with_recorder(own.clone());
    toolbox.run(hello(), &caller).await;
    assert_eq!(own.one()["id"], "call-2");
}

/// A tool that tells which trace it would hand on.
fn tracing() -> AnyTool {
    AnyTool::from_fn(
        definition("tracing"),
        async |_: Value, context: toolsmith_core::ToolContext| {
            Outcome::ok(json!([context.trace(), context.trace_state()]))
        },
    )
}

async fn traced(wanted: Option<Wanted>, caller: Caller) -> (Value, Option<Value>) {
    let records = Records {
        wanted,
        kept: Arc::default(),
    };
    let builder = Toolbox::builder().tools([tracing()]).mode_auto();
    let toolbox = builder.recorder(records.clone()).build().unwrap();
    let reply = toolbox.run(call("tracing", json!({})), &caller).await;
    let value = reply.into_outcome().value.unwrap();
    (value, records.all().pop())
}

#[tokio::test]
async fn without_spans_the_callers_trace_goes_on_as_it_is() {
    for wanted in [None, Some(Wanted::facts())] {
        let caller = Caller::new("me")
            .with_trace(PARENT)
            .with_trace_state("a=1,b=2");
        let (seen, _) = traced(wanted, caller).await;
        assert_eq!(seen, json!([PARENT, "a=1,b=2"]));
        let (seen, _) = traced(wanted, Caller::new("me")).await;
        assert_eq!(seen, json!([null, null]));
    }
}

#[tokio::test]
async fn with_spans_the_call_is_a_child_of_its_caller() {
    let wanted = Some(Wanted::facts().with_span());
    let caller = Caller::new("me").with_trace(PARENT).with_trace_state("a=1");
    let (seen, record) = traced(wanted, caller).await;
    let (own, record) = (seen[0].as_str().unwrap(), record.unwrap());
    assert_eq!(record["trace"], own);
    assert_eq!(record["parent"], PARENT);
    assert_eq!(own[..36], PARENT[..36], "the same trace");
    assert_ne!(own[36..52], PARENT[36..52], "another span");
    assert_eq!(seen[1], "a=1");
    // Nobody keeps this trace, so nobody further on need keep it either.
    let unsampled = PARENT.replace("-01", "-00");
    let (seen, _) = traced(wanted, Caller::new("me").with_trace(unsampled)).await;
    assert!(seen[0].as_str().unwrap().ends_with("-00"), "{seen}");
    // Without a caller's, a trace of its own begins.
    let (one, record) = traced(wanted, Caller::new("me")).await;
    let (other, _) = traced(wanted, Caller::new("me")).await;
    assert_eq!(record.unwrap()["parent"], Value::Null);
    assert_ne!(
        one[0].as_str().unwrap()[..36],
        other[0].as_str().unwrap()[..36]
    );
}

#[tokio::test]
async fn what_is_no_trace_context_goes_no_further() {
    for trace in [
        "",
        "00",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "00-4bf92f3577b34da6a3ce929d0e0e47é6-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0\n",
    ] {
        let caller = Caller::new("me").with_trace(trace).with_trace_state("a=1");
        let (seen, _) = traced(None, caller).await;
        assert_eq!(seen, json!([null, null]), "{trace:?}");
    }
    let long = "a=1,".repeat(200);
    for state in ["", "a", "a=1\r\nevil: 1", "A=1", "a=1,,b=2", &long] {
        let caller = Caller::new("me").with_trace(PARENT).with_trace_state(state);
        let (seen, _) = traced(None, caller).await;
        assert_eq!(seen, json!([PARENT, null]), "{state:?}");
    }
}
