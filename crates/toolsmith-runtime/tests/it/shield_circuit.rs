//! A source that keeps failing is left alone, and tried again by one call.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::advance;
use toolsmith_core::tool::FunctionTool;
use toolsmith_core::{
    Binding, CancellationToken, ErrorKind, Outcome, RawCall, ToolError, ToolSource,
};
use toolsmith_runtime::shield::{CircuitSettings, CircuitState, SourceSettings};
use toolsmith_runtime::{Caller, Toolbox};
use toolsmith_testing::tools::definition;
use toolsmith_testing::{Gate, failure};

use crate::shield::{Count, SECOND, call, circuit, fails, far, remote, scripted, with_settings};

/// No repetitions: each call is one failure.
fn once() -> Binding {
    Binding::default().with_retries(0)
}

#[tokio::test(start_paused = true)]
async fn five_failures_in_a_row_open_it_and_one_good_call_closes_it() {
    let count = Count::default();
    let tool = scripted(remote("t"), once(), &count, |before| match before < 6 {
        true => fails(ErrorKind::Network),
        false => Outcome::ok(1),
    });
    let toolbox = far([tool]);
    for _ in 0..5 {
        assert_eq!(circuit(&toolbox), CircuitState::Closed);
        assert_eq!(failure(&call(&toolbox, "t").await).kind, ErrorKind::Network);
    }
    assert_eq!(circuit(&toolbox), CircuitState::Open);
    let spared = call(&toolbox, "t").await;
    let error = failure(&spared);
    assert_eq!(error.kind, ErrorKind::Unavailable);
    assert_eq!(error.retry_after(), Some(15 * SECOND));
    assert!(error.retryable);
    assert_eq!(
        error.details,
        Some(json!({ "source": "far", "circuit": "open" }))
    );
    let told = "`far` failed 5 times in a row and is left alone for another 15s";
    assert_eq!(error.message, told);
    assert_eq!(count.get(), 5, "nobody asked it");

    // The probe fails too, and it stays open.
    advance(15 * SECOND).await;
    assert_eq!(failure(&call(&toolbox, "t").await).kind, ErrorKind::Network);
    assert_eq!((count.get(), circuit(&toolbox)), (6, CircuitState::Open));
    assert_eq!(
        failure(&call(&toolbox, "t").await).kind,
        ErrorKind::Unavailable
    );

    advance(15 * SECOND).await;
    assert!(call(&toolbox, "t").await.is_success());
    assert_eq!(circuit(&toolbox), CircuitState::Closed);
    assert!(call(&toolbox, "t").await.is_success());
    let status = toolbox.sources().remove(0);
    assert_eq!(status.spared, 2);
}

#[tokio::test(start_paused = true)]
async fn half_of_ten_in_a_minute_open_it() {
    let count = Count::default();
    let tool = scripted(remote("t"), once(), &count, |before| match before % 2 {
        0 => fails(ErrorKind::Timeout),
        _ => Outcome::ok(1),
    });
    let toolbox = far([tool]);
    for _ in 0..9 {
        call(&toolbox, "t").await;
        assert_eq!(circuit(&toolbox), CircuitState::Closed);
    }
    call(&toolbox, "t").await;
    assert_eq!((count.get(), circuit(&toolbox)), (10, CircuitState::Open));
    let error = call(&toolbox, "t").await;
    assert!(
        failure(&error)
            .message
            .contains("failed 5 of the last 10 times"),
        "{error:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_long_ago_does_not_count() {
    let count = Count::default();
    let tool = scripted(remote("t"), once(), &count, |before| match before % 2 {
        0 => fails(ErrorKind::Timeout),
        _ => Outcome::ok(1),
    });
    let toolbox = far([tool]);
    // Nine within any minute are not enough.
    for _ in 0..100 {
        call(&toolbox, "t").await;
        advance(8 * SECOND).await;
    }
    assert_eq!(
        (count.get(), circuit(&toolbox)),
        (100, CircuitState::Closed)
    );
}

#[tokio::test(start_paused = true)]
async fn both_bounds_and_the_pause_can_be_set() {
    let mut settings = CircuitSettings::default();
    settings.failures = 2;
    settings.pause = 3 * SECOND;
    let mut source = SourceSettings::default();
    source.circuit = Some(settings);
    let count = Count::default();
    let script = |_: usize| fails(ErrorKind::Network);
    let tool = scripted(remote("t"), once(), &count, script);
    let toolbox = with_settings(source.clone(), [tool]);
    call(&toolbox, "t").await;
    call(&toolbox, "t").await;
    let error = call(&toolbox, "t").await;
    assert_eq!(failure(&error).retry_after(), Some(3 * SECOND));

    settings.failures = 100;
    (settings.share, settings.least) = (0.25, 4);
    source.circuit = Some(settings);
    let count = Count::default();
    let tool = scripted(remote("t"), once(), &count, |before| match before {
        0 => fails(ErrorKind::Network),
        _ => Outcome::ok(1),
    });
    let toolbox = with_settings(source, [tool]);
    for _ in 0..4 {
        assert_eq!(circuit(&toolbox), CircuitState::Closed);
        call(&toolbox, "t").await;
    }
    assert_eq!(circuit(&toolbox), CircuitState::Open);
}

#[tokio::test(start_paused = true)]
async fn what_the_tool_itself_says_no_to_is_no_failure_of_the_source() {
    for kind in [
        ErrorKind::Failed,
        ErrorKind::PermissionDenied,
        ErrorKind::InvalidParameters,
        ErrorKind::Exhausted,
        ErrorKind::Cancelled,
        ErrorKind::Internal,
    ] {
        let count = Count::default();
        let tool = scripted(remote("t"), once(), &count, move |_| fails(kind));
        let toolbox = far([tool]);
        for _ in 0..20 {
            call(&toolbox, "t").await;
        }
        assert_eq!(circuit(&toolbox), CircuitState::Closed, "{kind}");
        assert_eq!(count.get(), 20);
    }
    // Nor is one that would say so for ever.
    let count = Count::default();
    let tool = scripted(remote("t"), once(), &count, |_| {
        let error = ToolError::new(ErrorKind::Unavailable, "a variable is not set");
        Outcome::failure(error.for_good())
    });
    let toolbox = far([tool]);
    for _ in 0..20 {
        call(&toolbox, "t").await;
    }
    assert_eq!(count.get(), 20);
}

#[tokio::test(start_paused = true)]
async fn tools_of_this_program_have_none_unless_it_is_set() {
    let script = |_: usize| fails(ErrorKind::Timeout);
    let count = Count::default();
    let toolbox = far([scripted(definition("t"), once(), &count, script)]);
    for _ in 0..20 {
        call(&toolbox, "t").await;
    }
    assert_eq!(count.get(), 20);

    let mut settings = SourceSettings::default();
    settings.circuit = Some(CircuitSettings::default());
    let count = Count::default();
    let toolbox = with_settings(
        settings,
        [scripted(definition("t"), once(), &count, script)],
    );
    for _ in 0..20 {
        call(&toolbox, "t").await;
    }
    assert_eq!(count.get(), 5);
}

/// A toolbox whose `bad` has opened the circuit of its source, with a gate behind `good`.
async fn opened(gate: &Gate) -> Toolbox {
    let count = Count::default();
    let bad = scripted(remote("bad"), once(), &count, |_| fails(ErrorKind::Network));
    let toolbox = far([bad, gate.tool(remote("good"))]);
    for _ in 0..5 {
        call(&toolbox, "bad").await;
    }
    assert_eq!(circuit(&toolbox), CircuitState::Open);
    toolbox
}

#[tokio::test(start_paused = true)]
async fn one_call_probes_and_the_others_are_told_to_wait() {
    let gate = Gate::new();
    let toolbox = opened(&gate).await;
    advance(15 * SECOND).await;
    let probing = {
        let toolbox = toolbox.clone();
        tokio::spawn(async move { call(&toolbox, "good").await })
    };
    gate.inside(1).await;
    assert_eq!(circuit(&toolbox), CircuitState::HalfOpen);
    for _ in 0..10 {
        let outcome = call(&toolbox, "good").await;
        let error = failure(&outcome);
        assert_eq!(error.kind, ErrorKind::Unavailable);
        assert_eq!(error.details.as_ref().unwrap()["circuit"], "half_open");
        assert_eq!(error.retry_after(), Some(SECOND));
    }
    gate.open();
    assert!(probing.await.unwrap().is_success());
    assert_eq!((gate.total(), circuit(&toolbox)), (1, CircuitState::Closed));
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_is_given_up_or_dropped_leaves_the_turn_to_another() {
    let gate = Gate::new();
    let toolbox = opened(&gate).await;
    advance(15 * SECOND).await;
    let token = CancellationToken::new();
    let caller = Caller::new("test").with_cancellation(token.clone());
    let calling = toolbox.run(RawCall::new("good", json!({})), &caller);
    let giving_up = async {
        gate.inside(1).await;
        token.cancel();
    };
    tokio::join!(calling, giving_up);
    assert_eq!(circuit(&toolbox), CircuitState::Open);
    advance(SECOND).await;

    let dropped = {
        let toolbox = toolbox.clone();
        tokio::spawn(async move { call(&toolbox, "good").await })
    };
    gate.inside(1).await;
    dropped.abort();
    dropped.await.unwrap_err();
    assert_eq!(circuit(&toolbox), CircuitState::Open);
    let spared = call(&toolbox, "good").await;
    assert_eq!(
        failure(&spared).kind,
        ErrorKind::Unavailable,
        "not all at once"
    );
    advance(SECOND).await;

    gate.open();
    assert!(call(&toolbox, "good").await.is_success());
    assert_eq!(circuit(&toolbox), CircuitState::Closed);
}

#[tokio::test(start_paused = true)]
async fn calls_from_before_do_not_decide_about_after() {
    let gate = Gate::new();
    let count = Count::default();
    let bad = scripted(remote("bad"), once(), &count, |_| fails(ErrorKind::Network));
    let toolbox = far([bad, gate.tool(remote("good"))]);
    let early = {
        let toolbox = toolbox.clone();
        tokio::spawn(async move { call(&toolbox, "good").await })
    };
    gate.inside(1).await;
    for _ in 0..5 {
        call(&toolbox, "bad").await;
    }
    gate.open();
    assert!(early.await.unwrap().is_success());
    assert_eq!(
        circuit(&toolbox),
        CircuitState::Open,
        "it began when all was well"
    );
}

#[tokio::test(start_paused = true)]
async fn failures_from_before_it_opened_do_not_open_it_again() {
    let (inside, go) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let (tell, wait) = (Arc::clone(&inside), Arc::clone(&go));
    let slow = FunctionTool::new(remote("slow"))
        .with_binding(once())
        .into_async(move |_: Value, _| {
            let (tell, wait) = (Arc::clone(&tell), Arc::clone(&wait));
            async move {
                tell.add_permits(1);
                wait.acquire().await.unwrap().forget();
                fails(ErrorKind::Network)
            }
        });
    let count = Count::default();
    let quick = scripted(remote("quick"), once(), &count, |before| match before < 5 {
        true => fails(ErrorKind::Network),
        false => Outcome::ok(1),
    });
    let toolbox = far([slow, quick]);
    let early: Vec<_> = (0..5)
        .map(|_| {
            let toolbox = toolbox.clone();
            tokio::spawn(async move { call(&toolbox, "slow").await })
        })
        .collect();
    inside.acquire_many(5).await.unwrap().forget();
    for _ in 0..5 {
        call(&toolbox, "quick").await;
    }
    assert_eq!(circuit(&toolbox), CircuitState::Open);
    advance(15 * SECOND).await;
    assert!(call(&toolbox, "quick").await.is_success());
    assert_eq!(circuit(&toolbox), CircuitState::Closed);
    go.add_permits(5);
    for call in early {
        assert_eq!(failure(&call.await.unwrap()).kind, ErrorKind::Network);
    }
    assert_eq!(circuit(&toolbox), CircuitState::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_opens_it_says_what_went_wrong_and_not_that_it_is_open() {
    let count = Count::default();
    let binding = Binding::default().with_retries(9);
    let tool = scripted(remote("t"), binding, &count, |_| fails(ErrorKind::Network));
    let mut settings = CircuitSettings::default();
    settings.failures = 2;
    let mut source = SourceSettings::default();
    source.circuit = Some(settings);
    let toolbox = with_settings(source, [tool]);
    let outcome = call(&toolbox, "t").await;
    assert_eq!(failure(&outcome).kind, ErrorKind::Network);
    assert_eq!(count.get(), 2, "it is not stormed");
}

/// A source that lists one tool.
struct Lists(Count);

impl ToolSource for Lists {
    fn name(&self) -> &'static str {
        "far"
    }

    async fn tools(
        &self,
    ) -> Result<Vec<toolsmith_core::AnyTool>, toolsmith_core::tool::SourceError> {
        let tool = scripted(remote("t"), once(), &self.0, |before| match before < 5 {
            true => fails(ErrorKind::Network),
            false => Outcome::ok(1),
        });
        Ok(vec![tool])
    }
}

#[tokio::test(start_paused = true)]
async fn a_source_that_lists_its_tools_again_is_tried_at_once_and_has_not_forgotten() {
    let source = Lists(Count::default());
    let toolbox = Toolbox::new([]).unwrap();
    toolbox.refresh(&source).await.unwrap();
    for _ in 0..5 {
        call(&toolbox, "t").await;
    }
    assert_eq!(circuit(&toolbox), CircuitState::Open);
    toolbox.refresh(&source).await.unwrap();
    assert_eq!(circuit(&toolbox), CircuitState::Open, "a list is no call");
    assert!(call(&toolbox, "t").await.is_success());
    assert_eq!(circuit(&toolbox), CircuitState::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_source_that_hangs_costs_each_caller_its_time_only_until_it_opens() {
    let binding = once().with_timeout(10 * SECOND);
    let tool = FunctionTool::new(remote("t")).with_binding(binding);
    let tool = tool.into_async(async |_: Value, _| {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        Outcome::nothing()
    });
    let toolbox = far([tool]);
    for _ in 0..5 {
        assert_eq!(failure(&call(&toolbox, "t").await).kind, ErrorKind::Timeout);
    }
    let began = tokio::time::Instant::now();
    assert_eq!(
        failure(&call(&toolbox, "t").await).kind,
        ErrorKind::Unavailable
    );
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn calls_that_were_given_up_after_long_count_and_others_do_not() {
    for (seconds, state) in [(4, CircuitState::Closed), (6, CircuitState::Open)] {
        let gate = Gate::new();
        let toolbox = far([gate.tool(remote("t"))]);
        for _ in 0..5 {
            let token = CancellationToken::new();
            let caller = Caller::new("test").with_cancellation(token.clone());
            let calling = toolbox.run(RawCall::new("t", json!({})), &caller);
            let giving_up = async {
                gate.inside(1).await;
                tokio::time::sleep(seconds * SECOND).await;
                token.cancel();
            };
            tokio::join!(calling, giving_up);
        }
        assert_eq!(circuit(&toolbox), state, "{seconds}");
    }
}
