//! Many calls at once: bounded, in order, and one writer of a path at a time.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use toolsmith_core::tool::FunctionTool;
use toolsmith_core::{AnyTool, CancellationToken, Effect, Outcome, Plan, RawCall, Reply, Touch};
use toolsmith_runtime::{Caller, Limits, Mode, Order, Policy, Toolbox};
use toolsmith_testing::tools::{definition, echoing, fail, sleep, taking};
use toolsmith_testing::{BlockingGate, Gate, failure, value};

fn values(replies: &[Reply]) -> Vec<Value> {
    replies
        .iter()
        .map(|reply| value(reply.outcome().unwrap()))
        .collect()
}

fn numbered(tool: &str, count: usize) -> Vec<RawCall> {
    (0..count)
        .map(|n| RawCall::new(tool, json!({ "n": n })))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_thousand_calls_run_sixty_four_at_a_time_and_answer_in_order() {
    let gate = Gate::new();
    let toolbox = Toolbox::new([gate.tool(definition("gate"))]).unwrap();
    let running = {
        let toolbox = toolbox.clone();
        let calls = numbered("gate", 1000);
        tokio::spawn(async move {
            toolbox
                .run_all(calls, &Caller::new("test"), Order::Parallel)
                .await
        })
    };
    gate.inside(64).await;
    for done in 1..=936 {
        gate.release(1);
        while gate.total() < 64 + done {
            tokio::task::yield_now().await;
        }
        assert!(gate.now() <= 64);
    }
    gate.open();
    let replies = running.await.unwrap();
    assert_eq!(gate.peak(), 64);
    assert_eq!(gate.total(), 1000);
    let expected: Vec<Value> = (0..1000).map(|n| json!({ "n": n })).collect();
    assert_eq!(values(&replies), expected);
    assert_eq!(toolbox.metrics().unwrap().snapshot().peak_running, 64);
}

#[tokio::test(start_paused = true)]
async fn the_bound_can_be_set_and_is_at_least_one() {
    for (set, peak) in [(0, 1), (1, 1), (3, 3), (100, 10)] {
        let gate = Gate::new();
        let mut limits = Limits::default();
        limits.parallel = set;
        let tools = [gate.tool(definition("gate"))];
        let toolbox = Toolbox::builder()
            .tools(tools)
            .limits(limits)
            .build()
            .unwrap();
        let caller = Caller::new("test");
        let (replies, ()) = tokio::join!(
            toolbox.run_all(numbered("gate", 10), &caller, Order::Parallel),
            async {
                gate.inside(peak).await;
                gate.open();
            }
        );
        assert_eq!(replies.len(), 10);
        assert_eq!(gate.peak(), peak);
    }
}

#[tokio::test(start_paused = true)]
async fn sequential_means_strictly_one_after_the_other() {
    let (log, gate) = (Arc::new(Mutex::new(Vec::new())), Gate::new());
    gate.open();
    let (noted, inside) = (Arc::clone(&log), gate.clone());
    let tool = AnyTool::from_fn(definition("step"), move |arguments: Value, _| {
        let (log, gate) = (Arc::clone(&noted), inside.clone());
        async move {
            let n = arguments["n"].as_u64().unwrap();
            log.lock().unwrap().push(format!("begin {n}"));
            // Later calls are quicker, so that any overlap would show.
            tokio::time::sleep(Duration::from_secs(10 - n)).await;
            gate.pass().await;
            log.lock().unwrap().push(format!("end {n}"));
            Outcome::ok(n)
        }
    });
    let toolbox = Toolbox::new([tool]).unwrap();
    let replies = toolbox
        .run_all(numbered("step", 5), &Caller::new("test"), Order::Sequential)
        .await;
    let expected: Vec<String> = (0..5)
        .flat_map(|n| [format!("begin {n}"), format!("end {n}")])
        .collect();
    assert_eq!(*log.lock().unwrap(), expected);
    assert_eq!(
        values(&replies),
        (0..5).map(Value::from).collect::<Vec<_>>()
    );
}

#[tokio::test(start_paused = true)]
async fn replies_come_in_call_order_and_one_failure_ends_no_other() {
    let toolbox =
        Toolbox::new([sleep(), fail(), echoing(taking("one", json!({"n": {}})))]).unwrap();
    let calls = [
        RawCall::new("sleep", json!({"ms": 500})),
        RawCall::new("fail", json!({"message": "no"})),
        RawCall::new("sleep", json!({"ms": 1})),
        RawCall::new("nothing", json!({})),
        RawCall::new("one", json!({})),
        RawCall::new("sleep", json!({"ms": 100_000})),
        RawCall::new("sleep", json!({"ms": 2})),
    ];
    for order in [Order::Parallel, Order::Sequential] {
        let replies = toolbox
            .run_all(calls.clone(), &Caller::new("test"), order)
            .await;
        let summary: Vec<Value> = replies
            .iter()
            .map(|reply| {
                let outcome = reply.outcome().unwrap();
                match &outcome.error {
                    Some(error) => json!(error.code()),
                    None => outcome.value.clone().unwrap(),
                }
            })
            .collect();
        let expected = json!([
            500,
            "execution_failed",
            1,
            "unknown_tool",
            "invalid_parameters",
            "timeout",
            2
        ]);
        assert_eq!(json!(summary), expected, "{order:?}");
    }
    assert!(
        toolbox
            .run_all([], &Caller::new("test"), Order::Parallel)
            .await
            .is_empty()
    );
}

#[tokio::test]
async fn calls_without_a_number_get_one_of_their_own() {
    let toolbox = Toolbox::new([echoing(definition("tool"))]).unwrap();
    let calls = [
        RawCall::new("tool", json!({})),
        RawCall::new("tool", json!({})).with_id("mine"),
        RawCall::new("tool", json!({})),
    ];
    let replies = toolbox
        .run_all(calls, &Caller::new("test"), Order::Parallel)
        .await;
    let ids: Vec<String> = replies
        .iter()
        .map(|reply| {
            reply
                .outcome()
                .unwrap()
                .facts
                .call_id
                .as_ref()
                .unwrap()
                .to_string()
        })
        .collect();
    assert_eq!(ids, ["call-1", "mine", "call-3"]);
}

// Writing paths.

/// Writes the paths it is given, and waits at the gate of the first.
fn writer(gates: &[(&str, Gate)], log: &Arc<Mutex<Vec<String>>>) -> AnyTool {
    let gates: Vec<(String, Gate)> = gates
        .iter()
        .map(|(n, g)| ((*n).to_owned(), g.clone()))
        .collect();
    let log = Arc::clone(log);
    FunctionTool::new(definition("write").with_effect(Effect::Write))
        .with_plan(|arguments: &Value| {
            let paths = arguments["paths"].as_array().cloned().unwrap_or_default();
            let touch = |path: &Value| {
                let path = path.as_str().unwrap_or_default();
                match arguments["access"].as_str() {
                    Some("read") => Touch::read(path),
                    Some("delete") => Touch::delete(path),
                    _ => Touch::write(path),
                }
            };
            Ok(paths
                .iter()
                .map(touch)
                .fold(Plan::new("write"), Plan::touching))
        })
        .into_async(move |arguments: Value, _| {
            let name = arguments["gate"].as_str().unwrap_or("all").to_owned();
            let gate = gates
                .iter()
                .find(|(n, _)| *n == name)
                .map(|(_, gate)| gate.clone());
            let log = Arc::clone(&log);
            async move {
                let n = arguments["n"].clone();
                log.lock().unwrap().push(format!("begin {n}"));
                // Long enough for any other call to get in between.
                tokio::time::sleep(Duration::from_millis(10)).await;
                gate.expect("a gate of the test").pass().await;
                log.lock().unwrap().push(format!("end {n}"));
                Outcome::ok(n)
            }
        })
}

fn writing(n: usize, paths: &[&str]) -> RawCall {
    RawCall::new("write", json!({"n": n, "paths": paths}))
}

fn auto(tools: impl IntoIterator<Item = AnyTool>) -> Toolbox {
    Toolbox::builder()
        .tools(tools)
        .policy(Policy::new(Mode::Auto))
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn writes_of_one_path_come_one_after_the_other_in_call_order() {
    let (gate, log) = (Gate::new(), Arc::default());
    gate.open();
    let toolbox = auto([writer(&[("all", gate.clone())], &log)]);
    let paths = ["a", "./a", "a", ".//a", "a/", "./././a"];
    let calls = (0..30).map(|n| writing(n, &[paths[n % paths.len()]]));
    let caller = Caller::new("test");
    toolbox.run_all(calls, &caller, Order::Parallel).await;
    assert_eq!(gate.peak(), 1);
    let expected: Vec<String> = (0..30)
        .flat_map(|n| [format!("begin {n}"), format!("end {n}")])
        .collect();
    assert_eq!(*log.lock().unwrap(), expected);
}

#[tokio::test(start_paused = true)]
async fn different_paths_and_readers_do_not_wait_for_each_other() {
    let (gate, log) = (Gate::new(), Arc::default());
    let toolbox = auto([writer(&[("all", gate.clone())], &log)]);
    let read = |n: usize| RawCall::new("write", json!({"n": n, "paths": ["a"], "access": "read"}));
    let calls = [
        writing(0, &["a"]),
        writing(1, &["b"]),
        writing(2, &["a/b"]),
        read(3),
        read(4),
    ];
    let caller = Caller::new("test");
    let (replies, ()) = tokio::join!(toolbox.run_all(calls, &caller, Order::Parallel), async {
        gate.inside(5).await;
        gate.open();
    });
    assert_eq!(replies.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn plans_of_several_paths_cannot_wait_for_each_other_for_ever() {
    let (gate, log) = (Gate::new(), Arc::default());
    gate.open();
    let toolbox = auto([writer(&[("all", gate.clone())], &log)]);
    let sets: [&[&str]; 4] = [
        &["a", "b", "c"],
        &["c", "b", "a"],
        &["b", "./b"],
        &["c", "a"],
    ];
    let calls = (0..40).map(|n| writing(n, sets[n % 4]));
    let replies = toolbox
        .run_all(calls, &Caller::new("test"), Order::Parallel)
        .await;
    assert_eq!(
        values(&replies),
        (0..40).map(Value::from).collect::<Vec<_>>()
    );
}

#[tokio::test(start_paused = true)]
async fn a_path_is_free_again_when_its_writer_was_stopped_and_waiting_has_an_end() {
    let (stuck, free, log) = (Gate::new(), Gate::new(), Arc::default());
    free.open();
    let toolbox = auto([writer(&[("stuck", stuck.clone()), ("free", free)], &log)]);
    let by =
        |n: usize, gate: &str| RawCall::new("write", json!({"n": n, "paths": ["a"], "gate": gate}));
    let token = CancellationToken::new();
    let caller = Caller::new("first").with_cancellation(token.clone());
    let second = Caller::new("second").with_timeout(Duration::from_secs(5));
    let third = Caller::new("third");
    let (first, second, third) = tokio::join!(
        toolbox.run(by(0, "stuck"), &caller),
        toolbox.run(by(1, "free"), &second),
        async {
            tokio::time::sleep(Duration::from_secs(10)).await;
            token.cancel();
            toolbox.run(by(2, "free"), &third).await
        }
    );
    assert_eq!(failure(first.outcome().unwrap()).code(), "cancelled");
    assert_eq!(
        failure(second.outcome().unwrap()).to_string(),
        "timeout: another call was still writing the same path; it did not begin"
    );
    assert_eq!(value(third.outcome().unwrap()), json!(2));
    assert_eq!(*log.lock().unwrap(), ["begin 0", "begin 2", "end 2"]);
}

#[tokio::test]
async fn a_thread_that_was_given_up_keeps_its_path() {
    let gate = BlockingGate::new();
    let inside = gate.clone();
    let stuck = FunctionTool::new(definition("stuck"))
        .with_plan(|_: &Value| Ok(Plan::new("write").touching(Touch::write("a"))))
        .into_blocking(move |_: Value, _| {
            inside.pass();
            Outcome::nothing()
        });
    let other = FunctionTool::new(definition("other"))
        .with_plan(|_: &Value| Ok(Plan::new("write").touching(Touch::delete("./a"))))
        .into_async(async |_: Value, _| Outcome::ok("wrote"));
    let mut limits = Limits::default();
    limits.grace = Duration::from_millis(1);
    let toolbox = Toolbox::builder()
        .tools([stuck, other])
        .limits(limits)
        .build()
        .unwrap();
    let token = CancellationToken::new();
    let caller = Caller::new("test").with_cancellation(token.clone());
    let running = {
        let toolbox = toolbox.clone();
        tokio::spawn(async move { toolbox.run(RawCall::new("stuck", json!({})), &caller).await })
    };
    let entered = gate.clone();
    tokio::task::spawn_blocking(move || entered.wait_until(|now, _| now == 1))
        .await
        .unwrap();
    token.cancel();
    running.await.unwrap();
    let hasty = Caller::new("test").with_timeout(Duration::from_millis(20));
    let reply = toolbox.run(RawCall::new("other", json!({})), &hasty).await;
    assert_eq!(failure(&reply.into_outcome()).code(), "timeout");
    gate.release(1);
    let reply = toolbox
        .run(RawCall::new("other", json!({})), &Caller::new("test"))
        .await;
    assert_eq!(value(&reply.into_outcome()), json!("wrote"));
}
