//! Tools that block a thread: a pool with a bound, and threads that do not come back.
//!
//! With time paused the clock jumps whenever the runtime has nothing to do, so a
//! blocked tool runs out of time at once, and nothing here waits for a clock.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use toolsmith_core::{AnyTool, CancellationToken, Outcome, Progress, RawCall};
use toolsmith_runtime::{Caller, Limits, Order, Toolbox};
use toolsmith_testing::tools::{blocking_echo, blocking_explode, definition};
use toolsmith_testing::{BlockingGate, Recording, call, failure, value};

fn limited(threads: usize, strays: usize) -> Limits {
    let mut limits = Limits::default();
    limits.blocking_threads = threads;
    limits.strays_per_tool = strays;
    limits
}

fn toolbox(limits: Limits, tools: impl IntoIterator<Item = AnyTool>) -> Toolbox {
    Toolbox::builder()
        .tools(tools)
        .limits(limits)
        .build()
        .unwrap()
}

const STILL_RUNS: &str =
    "ran out of time after 30s; it cannot be stopped and still runs; its result will be dropped";

#[tokio::test]
async fn a_blocking_tool_answers_and_a_panic_of_one_is_internal() {
    let toolbox = toolbox(limited(1, 1), [blocking_echo(), blocking_explode()]);
    for _ in 0..3 {
        let outcome = call(&toolbox, "blocking_explode", json!({})).await;
        assert_eq!(
            failure(&outcome).to_string(),
            "internal: the tool panicked: it exploded"
        );
        let outcome = call(&toolbox, "blocking_echo", json!({"a": 1})).await;
        assert_eq!(value(&outcome), json!({"a": 1}));
    }
}

#[tokio::test]
async fn a_blocking_tool_may_use_the_runtime() {
    let tool = AnyTool::from_blocking_fn(definition("bridge"), |_: Value, _| {
        let handle = tokio::runtime::Handle::current();
        handle.block_on(async {
            tokio::task::yield_now().await;
            Outcome::ok("bridged")
        })
    });
    let outcome = call(&toolbox(Limits::default(), [tool]), "bridge", json!({})).await;
    assert_eq!(value(&outcome), json!("bridged"));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_ignores_its_time_out_is_said_to_run_still_and_its_end_is_dropped() {
    let gate = BlockingGate::new();
    let (inside, contexts) = (gate.clone(), Arc::new(Mutex::new(Vec::new())));
    let kept = Arc::clone(&contexts);
    let tool = AnyTool::from_blocking_fn(definition("stuck"), move |_: Value, context| {
        kept.lock().unwrap().push(context.clone());
        inside.pass();
        context.progress(Progress::done(1.0));
        context.output("late\n");
        Outcome::ok("late")
    });
    let recording = Recording::new();
    let toolbox = Toolbox::builder()
        .tools([tool, blocking_echo()])
        .limits(limited(1, 8))
        .recorder(recording.clone())
        .build()
        .unwrap();
    let caller = Caller::new("test");
    let (reply, ()) = tokio::join!(
        toolbox.run(RawCall::new("stuck", json!({})).with_id("c"), &caller),
        async {
            // The clock stands still while there is something to do.
            while gate.total() == 0 {
                tokio::task::yield_now().await;
            }
        }
    );
    let outcome = reply.into_outcome();
    assert_eq!(
        failure(&outcome).to_string(),
        format!("timeout: {STILL_RUNS}")
    );
    assert_eq!(
        failure(&outcome).details,
        Some(json!({"still_running": true}))
    );
    let before = recording.names_of("c");
    assert_eq!(before[before.len() - 2..], ["finished", "replied"]);
    // The only thread is written off, and the pool serves all the same.
    let outcome = real_time(&toolbox, "blocking_echo").await;
    assert!(outcome.is_success());
    gate.release(1);
    gate.wait_until(|now, _| now == 0);
    while Arc::strong_count(&contexts) > 2 {
        std::thread::yield_now();
    }
    assert_eq!(
        recording.names_of("c"),
        before,
        "nothing is told after the reply"
    );
    assert!(contexts.lock().unwrap()[0].is_cancelled());
}

/// Makes a call on a runtime whose clock runs, so that it does not jump while a
/// thread works.
async fn real_time(toolbox: &Toolbox, name: &str) -> Outcome {
    let (toolbox, name) = (toolbox.clone(), name.to_owned());
    let (done, outcome) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build();
        let _ = done.send(runtime.unwrap().block_on(call(&toolbox, &name, json!({}))));
    });
    outcome.await.unwrap()
}

/// Lets a call run until it is inside the gate, and then gives it up.
async fn make_a_stray(toolbox: &Toolbox, name: &str, gate: &BlockingGate) {
    let total = gate.total();
    let token = CancellationToken::new();
    let caller = Caller::new("test").with_cancellation(token.clone());
    let (toolbox, name) = (toolbox.clone(), name.to_owned());
    let running = tokio::spawn(async move {
        toolbox
            .run(RawCall::new(name, json!({})), &caller)
            .await
            .into_outcome()
    });
    let entered = gate.clone();
    tokio::task::spawn_blocking(move || entered.wait_until(|_, now| now > total))
        .await
        .unwrap();
    token.cancel();
    let outcome = running.await.unwrap();
    assert_eq!(
        failure(&outcome).details,
        Some(json!({"still_running": true}))
    );
}

fn quick(mut limits: Limits) -> Limits {
    limits.grace = Duration::from_millis(1);
    limits
}

#[tokio::test]
async fn a_tool_with_too_many_strays_is_refused_until_one_ends() {
    let gate = BlockingGate::new();
    let tools = [gate.tool(definition("stuck")), blocking_echo()];
    let toolbox = toolbox(quick(limited(1, 2)), tools);
    for _ in 0..2 {
        make_a_stray(&toolbox, "stuck", &gate).await;
    }
    let outcome = call(&toolbox, "stuck", json!({})).await;
    assert_eq!(
        failure(&outcome).to_string(),
        "resource_exhausted: 2 earlier calls of this tool were given up and still run"
    );
    assert_eq!(gate.total(), 2, "it did not begin");
    assert!(
        call(&toolbox, "blocking_echo", json!({}))
            .await
            .is_success(),
        "others are served"
    );
    gate.release(3);
    let outcome = loop {
        // The thread counts itself out after it has left the gate.
        let outcome = call(&toolbox, "stuck", json!({"n": 1})).await;
        if outcome.is_success() {
            break outcome;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(value(&outcome), json!({"n": 1}));
}

#[test]
fn strays_are_forgotten_even_when_their_runtime_is_gone() {
    let gate = BlockingGate::new();
    let toolbox = toolbox(quick(limited(1, 1)), [gate.tool(definition("stuck"))]);
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap()
    };
    let first = runtime();
    first.block_on(make_a_stray(&toolbox, "stuck", &gate));
    first.shutdown_background();
    let second = runtime();
    let outcome = second.block_on(call(&toolbox, "stuck", json!({})));
    assert_eq!(failure(&outcome).code(), "resource_exhausted");
    gate.release(2);
    gate.wait_until(|now, _| now == 0);
    let again = (0..10_000).any(|_| {
        std::thread::yield_now();
        second
            .block_on(call(&toolbox, "stuck", json!({})))
            .is_success()
    });
    assert!(again, "the stray has ended long ago");
}

#[tokio::test]
async fn many_stuck_calls_do_not_exhaust_the_pool() {
    let gate = BlockingGate::new();
    let stuck: Vec<_> = (0..6)
        .map(|n| gate.tool(definition(&format!("stuck_{n}"))))
        .collect();
    let toolbox = toolbox(
        quick(limited(2, 4)),
        stuck.into_iter().chain([blocking_echo()]),
    );
    for round in 0..18 {
        make_a_stray(&toolbox, &format!("stuck_{}", round % 6), &gate).await;
        assert!(
            call(&toolbox, "blocking_echo", json!({}))
                .await
                .is_success()
        );
    }
    assert_eq!(gate.now(), 18);
    gate.release(18);
    gate.wait_until(|now, _| now == 0);
    assert!(
        call(&toolbox, "blocking_echo", json!({}))
            .await
            .is_success()
    );
}

#[tokio::test]
async fn the_pool_runs_as_many_as_it_has_threads_and_queues_the_rest() {
    let gate = BlockingGate::new();
    let toolbox = toolbox(limited(3, 8), [gate.tool(definition("gate"))]);
    let calls: Vec<RawCall> = (0..20)
        .map(|n| RawCall::new("gate", json!({ "n": n })))
        .collect();
    let running = tokio::spawn(async move {
        toolbox
            .run_all(calls, &Caller::new("test"), Order::Parallel)
            .await
    });
    for done in 0..17 {
        let gate = gate.clone();
        let check = move || {
            gate.wait_until(|now, total| now == 3 && total == done + 3);
            gate.release(1);
        };
        tokio::task::spawn_blocking(check).await.unwrap();
    }
    gate.release(3);
    let replies = running.await.unwrap();
    let numbers: Vec<Value> = replies
        .iter()
        .map(|r| value(r.outcome().unwrap())["n"].clone())
        .collect();
    assert_eq!(numbers, (0..20).map(Value::from).collect::<Vec<_>>());
    assert_eq!(gate.peak(), 3);
}

#[tokio::test]
async fn a_queued_call_that_was_given_up_never_begins() {
    let gate = BlockingGate::new();
    let (first, second) = (
        gate.tool(definition("first")),
        gate.tool(definition("second")),
    );
    let toolbox = toolbox(quick(limited(1, 8)), [first, second]);
    let running = {
        let toolbox = toolbox.clone();
        tokio::spawn(async move { call(&toolbox, "first", json!({})).await })
    };
    let entered = gate.clone();
    tokio::task::spawn_blocking(move || entered.wait_until(|now, _| now == 1))
        .await
        .unwrap();
    let caller = Caller::new("test").with_timeout(Duration::from_millis(1));
    let reply = toolbox
        .run(RawCall::new("second", json!({})), &caller)
        .await;
    assert_eq!(
        failure(&reply.into_outcome()).to_string(),
        "timeout: ran out of time after 1ms; it had not begun"
    );
    gate.release(1);
    assert!(running.await.unwrap().is_success());
    // Whatever comes next on the only thread comes after the one that was queued.
    gate.release(1);
    assert!(call(&toolbox, "first", json!({})).await.is_success());
    assert_eq!(gate.total(), 2);
}

#[tokio::test]
async fn a_late_result_of_any_depth_is_dropped_without_harm() {
    let gate = BlockingGate::new();
    let inside = gate.clone();
    let deep = AnyTool::from_blocking_fn(definition("deep"), move |_: Value, _| {
        inside.pass();
        Outcome::ok((0..200_000).fold(json!(1), |inner, _| Value::Array(vec![inner])))
    });
    let toolbox = toolbox(quick(limited(1, 1)), [deep, blocking_echo()]);
    make_a_stray(&toolbox, "deep", &gate).await;
    gate.release(2);
    loop {
        let outcome = call(&toolbox, "deep", json!({})).await;
        match failure(&outcome).code() {
            "resource_exhausted" => tokio::task::yield_now().await,
            code => break assert_eq!(code, "internal"),
        }
    }
    assert!(
        call(&toolbox, "blocking_echo", json!({}))
            .await
            .is_success()
    );
}

#[tokio::test]
async fn a_caller_that_goes_away_gives_its_thread_up() {
    let (gate, recording) = (BlockingGate::new(), Recording::new());
    let toolbox = Toolbox::builder()
        .tools([gate.tool(definition("stuck")), blocking_echo()])
        .limits(quick(limited(1, 8)))
        .recorder(recording.clone())
        .build()
        .unwrap();
    let running = {
        let toolbox = toolbox.clone();
        let call = RawCall::new("stuck", json!({})).with_id("c");
        tokio::spawn(async move { toolbox.run(call, &Caller::new("test")).await })
    };
    let entered = gate.clone();
    tokio::task::spawn_blocking(move || entered.wait_until(|now, _| now == 1))
        .await
        .unwrap();
    running.abort();
    assert!(running.await.is_err());
    assert!(
        call(&toolbox, "blocking_echo", json!({}))
            .await
            .is_success()
    );
    let names = recording.names_of("c");
    assert_eq!(names[names.len() - 2..], ["finished", "replied"]);
    gate.release(1);
    gate.wait_until(|now, _| now == 0);
}
