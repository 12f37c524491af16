//! Calls that are made again: which, when, and how often at most.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use toolsmith_core::tool::FunctionTool;
use toolsmith_core::{
    AnyTool, Binding, CancellationToken, ErrorKind, Hints, Kind, Outcome, RawCall, Source, ToolDef,
    ToolError,
};
use toolsmith_runtime::shield::{CircuitSettings, SourceSettings};
use toolsmith_runtime::{Caller, Mode, Order, Policy, Toolbox};
use toolsmith_testing::tools::definition;
use toolsmith_testing::{Recording, failure, value};

use crate::shield::{Count, SECOND, call, fails, far, remote, scripted, with_settings};

/// Fails so many times, then answers.
fn after(times: usize, kind: ErrorKind) -> impl Fn(usize) -> Outcome + Send + Sync + 'static {
    move |before| match before < times {
        true => fails(kind),
        false => Outcome::ok("done"),
    }
}

#[tokio::test(start_paused = true)]
async fn what_may_pass_is_tried_again_and_the_rest_is_not() {
    for (kind, runs) in [
        (ErrorKind::Network, 3),
        (ErrorKind::Timeout, 3),
        (ErrorKind::Unavailable, 3),
        (ErrorKind::Exhausted, 3),
        (ErrorKind::Failed, 1),
        (ErrorKind::InvalidParameters, 1),
        (ErrorKind::PermissionDenied, 1),
        (ErrorKind::Cancelled, 1),
        (ErrorKind::Internal, 1),
    ] {
        let count = Count::default();
        let tool = scripted(remote("t"), Binding::default(), &count, after(2, kind));
        let outcome = call(&far([tool]), "t").await;
        assert_eq!(count.get(), runs, "{kind}");
        assert_eq!(outcome.is_success(), runs == 3, "{kind}");
        assert_eq!(outcome.facts.attempts, (runs > 1).then_some(3), "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn only_what_does_no_more_the_second_time_is_tried_again() {
    let hints = |idempotent, read_only| {
        let mut hints = Hints::default();
        (hints.idempotent, hints.read_only) = (idempotent, read_only);
        hints
    };
    let network = || remote("t").with_kind(Kind::Network);
    let cases: [(ToolDef, usize); 5] = [
        (network(), 1),
        (network().with_hints(hints(Some(true), None)), 2),
        (network().with_hints(hints(None, Some(true))), 2),
        (network().with_hints(hints(Some(false), Some(true))), 1),
        // What claims to only look and writes here is not believed.
        (
            remote("t")
                .with_kind(Kind::Edit)
                .with_hints(hints(None, Some(true))),
            1,
        ),
    ];
    for (definition, runs) in cases {
        let count = Count::default();
        let script = after(1, ErrorKind::Network);
        let tool = scripted(definition, Binding::default(), &count, script);
        let policy = Policy::default().with_mode(Mode::Auto);
        let toolbox = Toolbox::builder()
            .tools([tool])
            .policy(policy)
            .build()
            .unwrap();
        call(&toolbox, "t").await;
        assert_eq!(count.get(), runs);
    }
}

#[tokio::test(start_paused = true)]
async fn how_often_is_the_bindings_to_say_and_nothing_here_is_repeated_by_itself() {
    for (source, retries, runs) in [
        (Source::Rest, None, 3),
        (Source::Rest, Some(0), 1),
        (Source::Rest, Some(1), 2),
        (Source::Builtin, None, 1),
        (Source::Native, None, 1),
        (Source::Builtin, Some(2), 3),
    ] {
        let count = Count::default();
        let mut binding = Binding::default();
        binding.retries = retries;
        let definition = definition("t").with_source(source.clone());
        let script = after(9, ErrorKind::Network);
        call(&far([scripted(definition, binding, &count, script)]), "t").await;
        assert_eq!(count.get(), runs, "{source:?} {retries:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn pauses_grow_and_are_never_long_for_nothing() {
    let count = Count::default();
    let binding = Binding::default().with_retries(2);
    let tool = scripted(remote("t"), binding, &count, after(2, ErrorKind::Network));
    let began = Instant::now();
    call(&far([tool]), "t").await;
    // Between half and all of 200 ms, then of 400 ms.
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(300), "{took:?}");
    assert!(took <= Duration::from_millis(601), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn who_says_when_to_come_back_is_obeyed() {
    let later = |seconds: u64| {
        move |before: usize| match before {
            0 => {
                let error = ToolError::new(ErrorKind::Exhausted, "busy");
                Outcome::failure(error.with_retry_after(Duration::from_secs(seconds)))
            }
            _ => Outcome::ok("done"),
        }
    };
    let count = Count::default();
    let tool = scripted(remote("t"), Binding::default(), &count, later(7));
    let began = Instant::now();
    assert!(call(&far([tool]), "t").await.is_success());
    assert!(began.elapsed() >= 7 * SECOND, "{:?}", began.elapsed());
    assert!(began.elapsed() < 8 * SECOND, "{:?}", began.elapsed());

    // Whoever would have to wait longer than the call may take is told at once.
    let count = Count::default();
    let tool = scripted(remote("t"), Binding::default(), &count, later(31));
    let began = Instant::now();
    let outcome = call(&far([tool]), "t").await;
    assert_eq!(failure(&outcome).retry_after(), Some(31 * SECOND));
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert_eq!(count.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_call_is_that_of_all_its_tries() {
    let count = Count::default();
    let counted = count.clone();
    let tool = FunctionTool::new(remote("t"))
        .with_binding(Binding::default().with_timeout(10 * SECOND).with_retries(9))
        .into_async(move |_: Value, _| {
            counted.one();
            async {
                tokio::time::sleep(4 * SECOND).await;
                fails(ErrorKind::Network)
            }
        });
    let began = Instant::now();
    let outcome = call(&far([tool]), "t").await;
    // The third try is cut short by what the first two and their pauses took.
    assert_eq!(count.get(), 3);
    assert_eq!(failure(&outcome).kind, ErrorKind::Timeout);
    assert!(
        failure(&outcome).message.contains("after 10s"),
        "{outcome:?}"
    );
    let took = began.elapsed();
    assert!(took >= 10 * SECOND && took < 11 * SECOND, "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn repetitions_never_exceed_a_fifth_of_the_calls() {
    let mut settings = SourceSettings::default();
    let mut never = CircuitSettings::default();
    never.enabled = false;
    settings.circuit = Some(never);
    for failing in [1, 2] {
        let count = Count::default();
        let binding = Binding::default().with_retries(5);
        let tool = scripted(remote("t"), binding, &count, move |before| {
            match before % failing {
                0 => fails(ErrorKind::Network),
                _ => Outcome::ok(1),
            }
        });
        let toolbox = with_settings(settings.clone(), [tool]);
        for calls in 1..=1000 {
            call(&toolbox, "t").await;
            let repeated = count.get() - calls;
            assert!(repeated <= 2 + calls / 5, "{repeated} for {calls} calls");
        }
        let repeated = count.get() - 1000;
        let least = if failing == 1 { 195 } else { 150 };
        assert!(repeated >= least, "the budget is used: {repeated}");
        let metrics = toolbox.metrics().unwrap().snapshot();
        let counted = metrics.tools.values().next().unwrap().repeated;
        assert_eq!(counted, repeated as u64);
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_good_time_does_not_pay_for_a_storm() {
    let count = Count::default();
    let binding = Binding::default().with_retries(5);
    let mut settings = SourceSettings::default();
    let mut never = CircuitSettings::default();
    never.enabled = false;
    settings.circuit = Some(never);
    let tool = scripted(remote("t"), binding, &count, |before| match before < 1000 {
        true => Outcome::ok(1),
        false => fails(ErrorKind::Network),
    });
    let toolbox = with_settings(settings, [tool]);
    for _ in 0..1000 {
        call(&toolbox, "t").await;
    }
    for _ in 0..20 {
        call(&toolbox, "t").await;
    }
    // Ten that were saved, and a fifth of these.
    assert!(count.get() <= 1020 + 10 + 4, "{}", count.get());
}

#[tokio::test(start_paused = true)]
async fn whoever_gives_up_in_a_pause_is_heard() {
    let count = Count::default();
    let binding = Binding::default().with_retries(5);
    let tool = scripted(remote("t"), binding, &count, |_| {
        let error = ToolError::new(ErrorKind::Unavailable, "down");
        Outcome::failure(error.with_retry_after(20 * SECOND))
    });
    let toolbox = far([tool]);
    let token = CancellationToken::new();
    let caller = Caller::new("test").with_cancellation(token.clone());
    let began = Instant::now();
    let calling = toolbox.run(RawCall::new("t", json!({})), &caller);
    let giving_up = async {
        tokio::time::sleep(SECOND).await;
        token.cancel();
    };
    let (reply, ()) = tokio::join!(calling, giving_up);
    assert_eq!(failure(&reply.into_outcome()).kind, ErrorKind::Unavailable);
    assert_eq!((count.get(), began.elapsed()), (1, SECOND));
}

#[tokio::test(start_paused = true)]
async fn every_try_is_told_and_the_call_ends_once() {
    let count = Count::default();
    let tool = scripted(
        remote("t"),
        Binding::default(),
        &count,
        after(1, ErrorKind::Network),
    );
    let recording = Recording::new();
    let builder = Toolbox::builder().load("far", [tool]);
    let toolbox = builder.recorder(recording.clone()).build().unwrap();
    call(&toolbox, "t").await;
    let names = recording.names();
    let often = |name: &str| names.iter().filter(|each| *each == name).count();
    assert_eq!(
        (often("started"), often("finished"), often("replied")),
        (2, 2, 1)
    );
}

/// A tool that answers with the key of its call.
fn keyed(retries: u8) -> (AnyTool, Count) {
    let count = Count::default();
    let counted = count.clone();
    let tool = FunctionTool::new(remote("t"))
        .with_binding(Binding::default().with_retries(retries))
        .into_async(move |_: Value, context: toolsmith_core::ToolContext| {
            let key = context.idempotency_key().map(|key| key.into_owned());
            let before = counted.one();
            async move {
                match before {
                    0 if retries > 0 => {
                        let error = ToolError::new(ErrorKind::Network, key.unwrap_or_default());
                        Outcome::failure(error)
                    }
                    _ => Outcome::ok(json!(key)),
                }
            }
        });
    (tool, count)
}

#[tokio::test(start_paused = true)]
async fn a_call_has_one_key_in_all_its_tries() {
    let (tool, count) = keyed(1);
    let recording = Recording::new();
    let builder = Toolbox::builder().load("far", [tool]);
    let toolbox = builder.recorder(recording.clone()).build().unwrap();
    let outcome = call(&toolbox, "t").await;
    assert_eq!(count.get(), 2);
    let first = recording.all("finished")[0]["message"].clone();
    assert_eq!(value(&outcome), first);
    assert_eq!(first.as_str().unwrap().len(), 32);
}

#[tokio::test(start_paused = true)]
async fn the_callers_key_is_passed_on_and_calls_of_a_batch_are_told_apart() {
    let (tool, _) = keyed(0);
    let toolbox = far([tool]);
    let caller = Caller::new("test").with_idempotency_key("order-7");
    let one = toolbox.run(RawCall::new("t", json!({})), &caller).await;
    assert_eq!(value(&one.into_outcome()), json!("order-7"));
    let calls = [RawCall::new("t", json!({})), RawCall::new("t", json!({}))];
    let replies = toolbox.run_all(calls, &caller, Order::Parallel).await;
    let keys: Vec<Value> = replies
        .into_iter()
        .map(|it| value(&it.into_outcome()))
        .collect();
    assert_eq!(keys, [json!("order-7-0"), json!("order-7-1")]);
    // Two calls without a key are two wishes.
    let (first, second) = (call(&toolbox, "t").await, call(&toolbox, "t").await);
    assert_ne!(value(&first), value(&second));
}
