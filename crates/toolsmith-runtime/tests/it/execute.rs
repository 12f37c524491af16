//! Running a call: time limits, cancellation, callers that go away, panics.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use toolsmith_core::reply::{Inquiry, Question, Response};
use toolsmith_core::tool::FunctionTool;
use toolsmith_core::{
    AnyTool, Binding, Block, CancellationToken, Outcome, Plan, Progress, RawCall, Schema,
    ToolContext,
};
use toolsmith_runtime::{Caller, Inquirer, Limits, Order, Selection, Toolbox};
use toolsmith_testing::tools::{add, answering, blocking_echo, definition, explode, sleep};
use toolsmith_testing::{Gate, Recording, call, failure, value};

const MINUTE: Duration = Duration::from_secs(60);

/// Sleeps for an hour; binding and plan say how long it may.
fn slow(binding: Option<u64>, plan: Option<u64>) -> AnyTool {
    let mut bound = Binding::default();
    bound.timeout = binding.map(Duration::from_secs);
    FunctionTool::new(definition("slow"))
        .with_binding(bound)
        .with_plan(move |_: &Value| {
            let mut made = Plan::new("sleep");
            made.timeout = plan.map(Duration::from_secs);
            Ok(made)
        })
        .into_async(async |_: Value, _| {
            tokio::time::sleep(60 * MINUTE).await;
            Outcome::nothing()
        })
}

/// A tool that runs a function of its context.
fn with_context<F, R>(name: &str, function: F) -> AnyTool
where
    F: Fn(ToolContext) -> R + Send + Sync + 'static,
    R: Future<Output = Outcome> + Send + 'static,
{
    AnyTool::from_fn(definition(name), move |_: Value, context| function(context))
}

#[tokio::test(start_paused = true)]
async fn which_time_limit_is_in_force() {
    for (binding, plan, caller, expected) in [
        (None, None, None, "30s"),
        (Some(5), None, None, "5s"),
        (Some(5), Some(40), None, "40s"),
        (Some(5), None, Some(7), "7s"),
        (Some(5), Some(40), Some(7), "7s"),
        (Some(5), Some(6), Some(7), "6s"),
        (None, Some(2 * 3600), None, "1m"),
        (Some(2 * 3600), None, None, "1m"),
        (None, None, Some(2 * 3600), "1m"),
    ] {
        let mut limits = Limits::default();
        limits.longest = MINUTE;
        let tool = slow(binding, plan);
        let toolbox = Toolbox::builder()
            .tools([tool])
            .limits(limits)
            .build()
            .unwrap();
        let mut as_caller = Caller::new("test");
        if let Some(seconds) = caller {
            as_caller = as_caller.with_timeout(Duration::from_secs(seconds));
        }
        let began = Instant::now();
        let reply = toolbox
            .run(RawCall::new("slow", json!({})), &as_caller)
            .await;
        let outcome = reply.into_outcome();
        let error = failure(&outcome);
        assert_eq!(
            error.to_string(),
            format!("timeout: ran out of time after {expected}; it was stopped")
        );
        assert_eq!(error.details, Some(json!({"still_running": false})));
        let expected = toolsmith_core::duration::parse(expected).unwrap();
        // The tool does not listen, so the grace comes on top.
        assert_eq!(began.elapsed().as_secs(), expected.as_secs());
    }
}

#[tokio::test(start_paused = true)]
async fn a_binding_of_the_configuration_beats_the_tools_own() {
    let binding = Binding::default().with_timeout(Duration::from_secs(3));
    let builder = Toolbox::builder().tools([slow(Some(5), None)]);
    let toolbox = builder.binding("slow", binding).build().unwrap();
    let outcome = call(&toolbox, "slow", json!({})).await;
    assert!(failure(&outcome).message.contains("after 3s"));
}

#[tokio::test(start_paused = true)]
async fn only_idempotent_tools_are_worth_another_try_after_a_time_out() {
    for (effect, retryable) in [
        (toolsmith_core::Effect::Read, true),
        (toolsmith_core::Effect::Write, false),
    ] {
        let definition = definition("slow").with_effect(effect);
        let tool = AnyTool::from_fn(definition, async |_: Value, _| std::future::pending().await);
        let policy = toolsmith_runtime::Policy::new(toolsmith_runtime::Mode::Auto);
        let toolbox = Toolbox::builder()
            .tools([tool])
            .policy(policy)
            .build()
            .unwrap();
        let outcome = call(&toolbox, "slow", json!({})).await;
        assert_eq!(failure(&outcome).retryable, retryable, "{effect:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_listens_stops_at_once_and_keeps_what_it_said() {
    let tool = with_context("polite", |context| async move {
        context.cancelled().await;
        let half = Outcome::text("half of it").with_value(json!({"done": false}));
        half.with_display("stopped half way")
    });
    let toolbox = Toolbox::new([tool]).unwrap();
    let began = Instant::now();
    let outcome = call(&toolbox, "polite", json!({})).await;
    assert_eq!(
        failure(&outcome).message,
        "ran out of time after 30s; it stopped when told to"
    );
    assert_eq!(began.elapsed(), Duration::from_secs(30));
    assert_eq!(outcome.content, [Block::text("half of it")]);
    assert_eq!(outcome.display.as_deref(), Some("stopped half way"));
    assert_eq!(outcome.value, None, "half a value is no value");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_does_not_listen_is_aborted_after_the_grace() {
    let gate = Gate::new();
    let toolbox = Toolbox::new([gate.tool(definition("deaf"))]).unwrap();
    let began = Instant::now();
    let outcome = call(&toolbox, "deaf", json!({})).await;
    assert_eq!(
        failure(&outcome).message,
        "ran out of time after 30s; it was stopped"
    );
    assert_eq!(began.elapsed(), Duration::from_millis(30_500));
    tokio::time::timeout(MINUTE, gate.inside(0)).await.unwrap();
    assert_eq!(gate.total(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_panics_when_told_to_stop_is_a_time_out_still() {
    let tool = with_context("rude", |context| async move {
        context.cancelled().await;
        panic!("never")
    });
    let outcome = call(&Toolbox::new([tool]).unwrap(), "rude", json!({})).await;
    assert_eq!(failure(&outcome).code(), "timeout");
}

#[tokio::test(start_paused = true)]
async fn a_caller_can_give_up() {
    let gate = Gate::new();
    let toolbox = Toolbox::new([gate.tool(definition("deaf"))]).unwrap();
    let token = CancellationToken::new();
    let caller = Caller::new("test").with_cancellation(token.clone());
    let (reply, ()) = tokio::join!(
        toolbox.run(RawCall::new("deaf", json!({})), &caller),
        async {
            gate.inside(1).await;
            token.cancel();
        }
    );
    let outcome = reply.into_outcome();
    assert_eq!(
        failure(&outcome).to_string(),
        "cancelled: was given up by the caller; it was stopped"
    );
    assert!(failure(&outcome).retryable);
    // What was given up before it began does not begin.
    let reply = toolbox.run(RawCall::new("deaf", json!({})), &caller).await;
    assert_eq!(
        failure(&reply.into_outcome()).message,
        "was given up before it began"
    );
    assert_eq!(gate.total(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_away_stops_the_tool_and_is_recorded() {
    let told = Arc::new(AtomicBool::new(false));
    let (noted, gate) = (Arc::clone(&told), Gate::new());
    let inside = gate.clone();
    let tool = with_context("deaf", move |context| {
        let (noted, gate) = (Arc::clone(&noted), inside.clone());
        async move {
            let listening = context.clone();
            tokio::spawn(async move {
                listening.cancelled().await;
                noted.store(true, Ordering::SeqCst);
            });
            gate.pass().await;
            Outcome::nothing()
        }
    });
    let recording = Recording::new();
    let toolbox = Toolbox::builder()
        .tools([tool])
        .recorder(recording.clone())
        .build()
        .unwrap();
    let began = Instant::now();
    {
        let caller = Caller::new("test");
        let running = toolbox.run(RawCall::new("deaf", json!({})).with_id("c"), &caller);
        tokio::select! {
            _ = running => panic!("nobody opened the gate"),
            () = gate.inside(1) => {}
        }
    }
    tokio::time::timeout(MINUTE, gate.inside(0)).await.unwrap();
    assert!(told.load(Ordering::SeqCst));
    assert_eq!(
        began.elapsed(),
        Duration::from_millis(500),
        "it got its grace"
    );
    settle().await;
    assert_eq!(
        recording.names_of("c"),
        [
            "called",
            "validated",
            "planned",
            "decided",
            "started",
            "finished",
            "replied"
        ]
    );
    assert_eq!(recording.one("finished")["error"], "cancelled");
    assert_eq!(
        recording.one("replied")["outcome"]["error"]["message"],
        "the caller went away"
    );
    assert_eq!(toolbox.metrics().unwrap().snapshot().running, 0);
}

/// Lets everything that is ready run.
async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_stops_by_itself_after_its_caller_went_away_is_not_waited_for() {
    let recording = Recording::new();
    let gate = Gate::new();
    let inside = gate.clone();
    let tool = with_context("polite", move |context| {
        let gate = inside.clone();
        async move {
            tokio::select! {
                () = context.cancelled() => {}
                () = gate.pass() => {}
            }
            Outcome::text("late")
        }
    });
    let toolbox = Toolbox::builder()
        .tools([tool])
        .recorder(recording.clone())
        .build()
        .unwrap();
    let caller = Caller::new("test");
    tokio::select! {
        _ = toolbox.run(RawCall::new("polite", json!({})), &caller) => panic!("it was open"),
        () = gate.inside(1) => {}
    }
    let began = Instant::now();
    settle().await;
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert_eq!(recording.names().last().unwrap(), "replied");
}

#[test]
fn a_runtime_that_shuts_down_takes_its_calls_along() {
    for threads in [1, 2] {
        let mut builder = match threads {
            1 => tokio::runtime::Builder::new_current_thread(),
            _ => tokio::runtime::Builder::new_multi_thread(),
        };
        let runtime = builder.enable_time().build().unwrap();
        let (recording, gate) = (Recording::new(), Gate::new());
        let tools = [gate.tool(definition("deaf"))];
        let toolbox = Toolbox::builder()
            .tools(tools)
            .recorder(recording.clone())
            .build()
            .unwrap();
        let running = toolbox.clone();
        runtime.block_on(async {
            tokio::spawn(async move { call(&running, "deaf", json!({})).await });
            gate.inside(1).await;
        });
        drop(runtime);
        assert_eq!(gate.now(), 0);
        let names = recording.names();
        assert_eq!(
            names[names.len() - 2..],
            ["finished", "replied"],
            "{threads} threads"
        );
    }
}

#[tokio::test]
async fn a_panic_is_internal_and_harms_nobody_else() {
    let toolbox = Toolbox::new([explode(), add()]).unwrap();
    let calls = [
        RawCall::new("add", json!({"a": 1, "b": 1})),
        RawCall::new("explode", json!({})),
        RawCall::new("add", json!({"a": 2, "b": 2})),
    ];
    let replies = toolbox
        .run_all(calls, &Caller::new("test"), Order::Parallel)
        .await;
    let outcomes: Vec<Outcome> = replies.into_iter().map(|r| r.into_outcome()).collect();
    assert_eq!(value(&outcomes[0]), json!(2.0));
    assert_eq!(
        failure(&outcomes[1]).to_string(),
        "internal: the tool panicked: it exploded"
    );
    assert_eq!(value(&outcomes[2]), json!(4.0));
    assert_eq!(
        value(&call(&toolbox, "add", json!({"a": 3, "b": 3})).await),
        json!(6.0)
    );
}

/// Answers after some time.
struct Answers(Duration);

impl Inquirer for Answers {
    fn inquire(
        &self,
        inquiries: Vec<Inquiry>,
    ) -> Pin<Box<dyn Future<Output = Vec<Response>> + Send + '_>> {
        Box::pin(async move {
            tokio::time::sleep(self.0).await;
            let told = |inquiry: &Inquiry| Response::Given(inquiry.question.message().into());
            inquiries.iter().map(told).collect()
        })
    }
}

fn asking() -> AnyTool {
    with_context("asking", |context| async move {
        tokio::time::sleep(Duration::from_secs(20)).await;
        let schema = Schema::no_arguments();
        let answer = context.ask(Question::new("which\u{202e}?", schema)).await;
        tokio::time::sleep(Duration::from_secs(5)).await;
        match answer {
            Response::Given(value) => Outcome::ok(value),
            other => Outcome::ok(format!("{other:?}")),
        }
    })
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_person_does_not_count() {
    let toolbox = Toolbox::new([asking()]).unwrap();
    let caller = Caller::new("test").with_inquirer(Answers(2 * MINUTE));
    let began = Instant::now();
    let reply = toolbox
        .run(RawCall::new("asking", json!({})), &caller)
        .await;
    let outcome = reply.into_outcome();
    assert_eq!(value(&outcome), json!("which?"), "questions are cleaned");
    assert_eq!(began.elapsed().as_secs(), 145);
    assert_eq!(outcome.facts.duration.unwrap().as_secs(), 25);

    // Before and after, the clock runs: 20 s, an answer, and then 11 s are too much.
    let caller = caller.with_timeout(Duration::from_secs(24));
    let reply = toolbox
        .run(RawCall::new("asking", json!({})), &caller)
        .await;
    assert_eq!(failure(&reply.into_outcome()).code(), "timeout");
}

#[tokio::test(start_paused = true)]
async fn a_person_who_does_not_answer_is_unavailable() {
    let toolbox = Toolbox::new([asking()]).unwrap();
    let caller = Caller::new("test").with_inquirer(Answers(60 * MINUTE));
    let reply = toolbox
        .run(RawCall::new("asking", json!({})), &caller)
        .await;
    assert_eq!(value(&reply.into_outcome()), json!("Unavailable"));
    let outcome = call(&toolbox, "asking", json!({})).await;
    assert_eq!(
        value(&outcome),
        json!("Unavailable"),
        "nor is nobody at all"
    );
}

#[tokio::test]
async fn a_tool_knows_its_call_its_caller_and_what_the_caller_may_see() {
    let tool = with_context("who", |context| async move {
        let seen = context.catalogue();
        let seen: Vec<&str> = seen.iter().map(|tool| tool.name.as_str()).collect();
        Outcome::ok(json!([context.call_id(), context.caller(), seen]))
    });
    let toolbox = Toolbox::new([tool, add()]).unwrap();
    let made = || RawCall::new("who", json!({})).with_id("7");
    let reply = toolbox.run(made(), &Caller::new("me")).await;
    assert_eq!(
        value(&reply.into_outcome()),
        json!(["7", "me", ["who", "add"]])
    );
    let offer = toolbox.offer(&Selection::everything().with_tools(["who"]));
    let reply = toolbox
        .run(made(), &Caller::new("me").with_offer(offer))
        .await;
    assert_eq!(value(&reply.into_outcome()), json!(["7", "me", ["who"]]));
}

#[tokio::test]
async fn progress_is_told_to_the_caller_while_the_tool_runs() {
    let tool = with_context("steps", |context| async move {
        context.progress(Progress::done(1.0).of(2.0).saying("half\u{200b} way"));
        context.progress(Progress::done(f64::NAN).of(f64::INFINITY));
        Outcome::nothing()
    });
    let (mine, other) = (Recording::new(), Recording::new());
    let toolbox = Toolbox::new([tool]).unwrap();
    let caller = Caller::new("test").with_recorder(mine.clone());
    toolbox.run(RawCall::new("steps", json!({})), &caller).await;
    toolbox
        .run(
            RawCall::new("steps", json!({})),
            &Caller::new("x").with_recorder(other),
        )
        .await;
    let told: Vec<Value> = mine
        .all("progress")
        .iter()
        .map(|e| e["progress"].clone())
        .collect();
    let expected = [
        json!({"done": 1.0, "total": 2.0, "message": "half way"}),
        json!({"done": 0.0}),
    ];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn progress_and_output_are_told_before_the_tool_ends() {
    let gate = Gate::new();
    let inside = gate.clone();
    let tool = with_context("steps", move |context| {
        let gate = inside.clone();
        async move {
            context.progress(Progress::done(1.0));
            context.output("a line\n");
            gate.pass().await;
            Outcome::nothing()
        }
    });
    let recording = Recording::new();
    let toolbox = Toolbox::new([tool]).unwrap();
    let caller = Caller::new("test").with_recorder(recording.clone());
    let (_, told) = tokio::join!(
        toolbox.run(RawCall::new("steps", json!({})), &caller),
        async {
            gate.inside(1).await;
            let told = (recording.all("progress").len(), recording.output());
            gate.release(1);
            told
        }
    );
    assert_eq!(told, (1, "a line\n".to_owned()));
}

#[test]
fn hosts_without_async_block_on_a_runtime_they_bring() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_time()
        .build()
        .unwrap();
    let toolbox = Toolbox::new([add(), sleep(), blocking_echo()]).unwrap();
    let handle = runtime.handle().clone();
    let caller = Caller::new("test");
    let plain = std::thread::spawn(move || {
        let run = |name: &str, arguments: Value| {
            let reply = toolbox.execute(RawCall::new(name, arguments), &caller, &handle);
            reply.into_outcome().value
        };
        [
            run("add", json!({"a": 1, "b": 2})),
            run("sleep", json!({"ms": 1})),
            run("blocking_echo", json!({"x": 1})),
        ]
    });
    let values = plain.join().unwrap();
    assert_eq!(values, [json!(3.0), json!(1), json!({"x": 1})].map(Some));
}

#[tokio::test]
async fn a_tool_that_succeeds_and_fails_at_once_failed() {
    let tool = answering(definition("odd"), || {
        Outcome::failure("broken").with_value(json!(1))
    });
    let outcome = call(&Toolbox::new([tool]).unwrap(), "odd", json!({})).await;
    assert_eq!(failure(&outcome).code(), "execution_failed");
}

/// An asynchronous tool that blocks its worker never comes to the point where an
/// abort could take effect. The caller is answered all the same, and truthfully.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_async_tool_that_never_yields_is_reported_as_still_running() {
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = Arc::new(std::sync::Mutex::new(released));
    let stuck = with_context("stuck", move |_| {
        let released = Arc::clone(&released);
        async move {
            let _ = released.lock().unwrap().recv();
            Outcome::nothing()
        }
    });
    let mut limits = Limits::default();
    limits.grace = Duration::from_millis(1);
    let toolbox = Toolbox::builder()
        .tools([stuck, add()])
        .limits(limits)
        .build()
        .unwrap();
    let caller = Caller::new("test").with_timeout(Duration::from_millis(1));
    let outcome = toolbox
        .run(RawCall::new("stuck", json!({})), &caller)
        .await
        .into_outcome();
    let error = failure(&outcome);
    assert_eq!(error.code(), "timeout");
    assert_eq!(error.details, Some(json!({"still_running": true})));
    drop(release);
}
