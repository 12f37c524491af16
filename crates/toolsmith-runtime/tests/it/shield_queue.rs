//! The line before a source: so many at once, fair, bounded.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use toolsmith_core::tool::FunctionTool;
use toolsmith_core::{AnyTool, CancellationToken, ErrorKind, Outcome, RawCall};
use toolsmith_runtime::shield::{Protection, SourceSettings};
use toolsmith_runtime::{Caller, Toolbox};
use toolsmith_testing::tools::definition;
use toolsmith_testing::{Gate, failure};

use crate::shield::{SECOND, call_as, remote, with_settings};

fn bounds(concurrency: usize, queue: usize) -> SourceSettings {
    let mut settings = SourceSettings::default();
    (settings.concurrency, settings.queue) = (Some(concurrency), Some(queue));
    settings
}

fn spawn(toolbox: &Toolbox, caller: &str) -> JoinHandle<Outcome> {
    let (toolbox, caller) = (toolbox.clone(), caller.to_owned());
    tokio::spawn(async move { call_as(&toolbox, &caller, "t").await })
}

/// Lets what was spawned get as far as it can.
async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

fn load(toolbox: &Toolbox) -> (usize, usize) {
    let sources = toolbox.sources();
    let far = sources.iter().find(|source| source.name == "far").unwrap();
    (far.running, far.waiting)
}

#[tokio::test(start_paused = true)]
async fn so_many_run_at_once_and_the_others_in_turn() {
    let gate = Gate::new();
    let toolbox = with_settings(bounds(3, 100), [gate.tool(definition("t"))]);
    let calls: Vec<_> = (0..20).map(|_| spawn(&toolbox, "a")).collect();
    gate.inside(3).await;
    settle().await;
    assert_eq!((gate.now(), load(&toolbox)), (3, (3, 17)));
    gate.open();
    for call in calls {
        assert!(call.await.unwrap().is_success());
    }
    assert_eq!((gate.peak(), gate.total(), load(&toolbox)), (3, 20, (0, 0)));
}

/// A tool that notes by whom it is called, in order, and takes a second.
fn noting(noted: &Arc<Mutex<Vec<String>>>) -> AnyTool {
    let noted = Arc::clone(noted);
    FunctionTool::new(definition("t")).into_async(
        move |_: Value, context: toolsmith_core::ToolContext| {
            noted.lock().unwrap().push(context.caller().to_owned());
            async {
                tokio::time::sleep(SECOND).await;
                Outcome::nothing()
            }
        },
    )
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_one_caller_delays_another_by_one_call() {
    let noted = Arc::default();
    let toolbox = with_settings(bounds(1, 1000), [noting(&noted)]);
    let flood: Vec<_> = (0..500).map(|_| spawn(&toolbox, "flood")).collect();
    settle().await;
    let mut others = Vec::new();
    for caller in ["a", "b", "c"] {
        others.push(spawn(&toolbox, caller));
        others.push(spawn(&toolbox, caller));
    }
    let began = Instant::now();
    for other in others {
        assert!(other.await.unwrap().is_success());
    }
    // One that was running, and then turn by turn: eight in all before the last of them.
    assert!(began.elapsed() <= 9 * SECOND, "{:?}", began.elapsed());
    let order = noted.lock().unwrap()[..9].join(" ");
    assert_eq!(order, "flood flood a b c flood a b c");
    flood.iter().for_each(JoinHandle::abort);
}

#[tokio::test(start_paused = true)]
async fn who_finds_no_room_is_told_when_to_come_back() {
    let gate = Gate::new();
    let toolbox = with_settings(bounds(2, 3), [gate.tool(definition("t"))]);
    let calls: Vec<_> = (0..5).map(|_| spawn(&toolbox, "a")).collect();
    gate.inside(2).await;
    settle().await;
    let outcome = call_as(&toolbox, "a", "t").await;
    let error = failure(&outcome);
    assert_eq!(error.kind, ErrorKind::Exhausted);
    assert!(error.retryable && error.retry_after().is_some());
    let told = "`far` has 2 calls under way and 3 waiting; come back in 100ms";
    assert_eq!(error.message, told);
    assert_eq!(
        error.details,
        Some(json!({ "source": "far", "running": 2, "waiting": 3 }))
    );
    gate.open();
    for call in calls {
        assert!(call.await.unwrap().is_success());
    }
    assert!(call_as(&toolbox, "a", "t").await.is_success());
}

#[tokio::test(start_paused = true)]
async fn when_to_come_back_is_by_how_long_calls_take() {
    let noted = Arc::default();
    let toolbox = with_settings(bounds(1, 4), [noting(&noted)]);
    for _ in 0..60 {
        call_as(&toolbox, "a", "t").await;
    }
    let calls: Vec<_> = (0..5).map(|_| spawn(&toolbox, "a")).collect();
    settle().await;
    let outcome = call_as(&toolbox, "a", "t").await;
    let wait = failure(&outcome).retry_after().unwrap();
    assert!(wait > 4 * SECOND && wait <= 5 * SECOND, "{wait:?}");
    calls.iter().for_each(JoinHandle::abort);
}

#[tokio::test(start_paused = true)]
async fn a_full_line_makes_room_for_who_has_less_in_it() {
    let gate = Gate::new();
    let toolbox = with_settings(bounds(1, 4), [gate.tool(definition("t"))]);
    let flood: Vec<_> = (0..5).map(|_| spawn(&toolbox, "flood")).collect();
    gate.inside(1).await;
    settle().await;
    let a = [spawn(&toolbox, "a"), spawn(&toolbox, "a")];
    settle().await;
    assert_eq!(load(&toolbox), (1, 4));
    // Two each: nobody has more than another, so there is no room for either.
    assert!(!call_as(&toolbox, "a", "t").await.is_success());
    assert!(!call_as(&toolbox, "flood", "t").await.is_success());
    let b = spawn(&toolbox, "b");
    settle().await;
    gate.open();
    let mut refused = 0;
    for call in flood {
        let outcome = call.await.unwrap();
        if !outcome.is_success() {
            assert_eq!(failure(&outcome).kind, ErrorKind::Exhausted);
            refused += 1;
        }
    }
    let mut of_a = 0;
    for call in a {
        of_a += usize::from(call.await.unwrap().is_success());
    }
    assert!(b.await.unwrap().is_success());
    assert_eq!(refused + (2 - of_a), 3, "three had to make room");
    assert!(of_a >= 1);
}

#[tokio::test(start_paused = true)]
async fn whoever_goes_leaves_its_place_to_the_next() {
    let gate = Gate::new();
    let toolbox = with_settings(bounds(1, 3), [gate.tool(definition("t"))]);
    let running = spawn(&toolbox, "a");
    gate.inside(1).await;
    let token = CancellationToken::new();
    let given_up = {
        let (toolbox, token) = (toolbox.clone(), token.clone());
        tokio::spawn(async move {
            let caller = Caller::new("a").with_cancellation(token);
            let call = RawCall::new("t", json!({}));
            toolbox.run(call, &caller).await.into_outcome()
        })
    };
    let dropped = spawn(&toolbox, "a");
    let patient = spawn(&toolbox, "a");
    settle().await;
    token.cancel();
    dropped.abort();
    assert_eq!(failure(&given_up.await.unwrap()).kind, ErrorKind::Cancelled);
    settle().await;
    // Places of those that went are free again.
    let later = [spawn(&toolbox, "a"), spawn(&toolbox, "a")];
    settle().await;
    gate.open();
    assert!(running.await.unwrap().is_success());
    assert!(patient.await.unwrap().is_success());
    for call in later {
        assert!(call.await.unwrap().is_success());
    }
    assert_eq!((gate.total(), load(&toolbox)), (4, (0, 0)));
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_turn_is_bounded_by_the_time_limit_and_not_the_tools_time() {
    let noted = Arc::default();
    let toolbox = with_settings(bounds(1, 100), [noting(&noted)]);
    let calls: Vec<_> = (0..40).map(|_| spawn(&toolbox, "a")).collect();
    settle().await;
    let mut good = 0;
    for call in calls {
        let outcome = call.await.unwrap();
        match outcome.error {
            None => {
                good += 1;
                let took = outcome.facts.duration.unwrap();
                assert!(took <= SECOND + Duration::from_millis(1), "{took:?}");
            }
            Some(error) => assert_eq!(error.kind, ErrorKind::Exhausted),
        }
    }
    assert!((30..=31).contains(&good), "{good}");
}

#[tokio::test(start_paused = true)]
async fn a_flooded_source_does_not_hold_up_another() {
    let gate = Gate::new();
    let mut protection = Protection::default();
    protection.sources.push(("far".to_owned(), bounds(1, 1)));
    let toolbox = Toolbox::builder()
        .load("far", [gate.tool(remote("t"))])
        .load("near", [toolsmith_testing::tools::echoing(remote("u"))])
        .protection(protection)
        .build()
        .unwrap();
    let flood: Vec<_> = (0..100).map(|_| spawn(&toolbox, "flood")).collect();
    gate.inside(1).await;
    settle().await;
    let began = Instant::now();
    for _ in 0..100 {
        assert!(call_as(&toolbox, "flood", "u").await.is_success());
    }
    assert_eq!(began.elapsed(), Duration::ZERO);
    flood.iter().for_each(JoinHandle::abort);
}

#[tokio::test(start_paused = true)]
async fn sources_elsewhere_have_a_bound_of_their_own_and_tools_here_have_none() {
    for (definition, most) in [(remote("t"), 256), (definition("t"), 300)] {
        let gate = Gate::new();
        let toolbox = with_settings(SourceSettings::default(), [gate.tool(definition)]);
        let calls: Vec<_> = (0..300).map(|_| spawn(&toolbox, "a")).collect();
        gate.inside(most).await;
        settle().await;
        assert_eq!(gate.now(), most);
        gate.open();
        for call in calls {
            assert!(call.await.unwrap().is_success());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_bound_that_is_changed_holds_for_who_is_waiting_too() {
    let gate = Gate::new();
    let t = gate.tool(definition("t"));
    let with = |most: usize| {
        let mut protection = Protection::default();
        protection.sources.push(("f".to_owned(), bounds(most, 100)));
        protection
    };
    let reload = |most: usize| {
        let mut reload = toolsmith_runtime::Reload::default();
        reload.files = vec![("f".into(), t.clone())];
        reload.terms.protection = with(most);
        reload
    };
    let builder = Toolbox::builder().files([("f".into(), t.clone())]);
    let toolbox = builder.protection(with(6)).build().unwrap();
    let calls: Vec<_> = (0..30).map(|_| spawn(&toolbox, "a")).collect();
    gate.inside(6).await;
    toolbox.reload(reload(2)).unwrap();
    // Whoever comes next brings the news.
    let late = spawn(&toolbox, "a");
    settle().await;
    gate.release(5);
    settle().await;
    assert_eq!(gate.now(), 2, "five left and one came");
    toolbox.reload(reload(4)).unwrap();
    let later = spawn(&toolbox, "a");
    settle().await;
    assert_eq!(gate.now(), 4);
    gate.open();
    for call in calls.into_iter().chain([late, later]) {
        assert!(call.await.unwrap().is_success());
    }
    assert_eq!(gate.peak(), 6);
}
