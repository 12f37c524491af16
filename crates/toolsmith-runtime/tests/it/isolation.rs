//! What one tool, guard or source does harms nobody else.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolsmith_core::outcome::ResourceContent;
use toolsmith_core::reply::{Inquiry, Question, Response};
use toolsmith_core::tool::{SourceError, ToolSource};
use toolsmith_core::{
    AnyTool, Block, Outcome, Plan, RawCall, Schema, Tool, ToolContext, ToolDef, ToolError,
};
use toolsmith_runtime::permit::{Guard, GuardError, Judgement, Subject};
use toolsmith_runtime::{Caller, Inquirer, Limits, Order, Toolbox};
use toolsmith_testing::tools::{add, answering, definition};
use toolsmith_testing::{BlockingGate, call, failure, value};

struct Slow;

impl Guard for Slow {
    fn name(&self) -> &str {
        "slow"
    }
    async fn judge(&self, _subject: &Subject<'_>) -> Result<Judgement, GuardError> {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        Ok(Judgement::NoOpinion)
    }
}

#[tokio::test(start_paused = true)]
async fn a_guard_that_takes_too_long_denies() {
    let toolbox = Toolbox::builder()
        .tools([add()])
        .guard(Slow)
        .build()
        .unwrap();
    let outcome = call(&toolbox, "add", json!({"a": 1, "b": 2})).await;
    assert_eq!(
        failure(&outcome).message,
        "not allowed by guard slow: the guard took too long"
    );
}

#[tokio::test]
async fn a_plan_that_takes_too_long_does_not_run() {
    let mut limits = Limits::default();
    limits.judging = Duration::ZERO;
    let planned = toolsmith_core::tool::FunctionTool::new(definition("tool"))
        .with_plan(|_: &serde_json::Value| {
            // Any time at all is more than none.
            std::thread::sleep(Duration::from_millis(1));
            Ok(Plan::new("slow"))
        })
        .into_async(async |_: serde_json::Value, _| Outcome::nothing());
    let toolbox = Toolbox::builder()
        .tools([planned])
        .limits(limits)
        .build()
        .unwrap();
    let outcome = call(&toolbox, "tool", json!({})).await;
    assert_eq!(failure(&outcome).code(), "timeout");
}

/// Drops with a panic.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("again");
    }
}

#[tokio::test]
async fn a_panic_that_panics_again_harms_no_other_call() {
    let bomb = AnyTool::from_fn(
        definition("bomb"),
        async |_: serde_json::Value, _| -> Outcome { std::panic::panic_any(Bomb) },
    );
    let toolbox = Toolbox::new([bomb, add()]).unwrap();
    let calls = [
        RawCall::new("bomb", json!({})),
        RawCall::new("add", json!({"a": 1, "b": 2})),
    ];
    let replies = toolbox
        .run_all(calls, &Caller::new("test"), Order::Parallel)
        .await;
    let outcomes: Vec<Outcome> = replies.into_iter().map(|r| r.into_outcome()).collect();
    assert_eq!(failure(&outcomes[0]).code(), "internal");
    assert!(outcomes[1].is_success());
}

struct NoDefinition;

impl Tool for NoDefinition {
    fn definition(&self) -> Arc<ToolDef> {
        panic!("none")
    }
    async fn call(&self, _: toolsmith_core::Arguments, _: ToolContext) -> Outcome {
        Outcome::nothing()
    }
}

#[test]
fn a_tool_that_panics_when_asked_what_it_is_is_left_out() {
    let toolbox = Toolbox::new([]).unwrap();
    let errors = toolbox
        .registry()
        .load("files", [AnyTool::new(NoDefinition), add()]);
    assert_eq!(errors.len(), 1);
    assert!(toolbox.registry().has("add"));
}

struct Source(&'static str, Vec<&'static str>);

impl ToolSource for Source {
    fn name(&self) -> &str {
        self.0
    }
    async fn tools(&self) -> Result<Vec<AnyTool>, SourceError> {
        let me = self.0;
        let tool = |name: &&str| answering(definition(name), move || Outcome::ok(me));
        Ok(self.1.iter().map(tool).collect())
    }
}

#[tokio::test]
async fn a_source_called_direct_does_not_touch_direct_registrations() {
    let toolbox = Toolbox::new([add()]).unwrap();
    toolbox
        .refresh(&Source("direct", vec!["other"]))
        .await
        .unwrap();
    assert!(toolbox.registry().has("add"));
    assert!(toolbox.registry().has("other"));
}

#[tokio::test]
async fn a_shadowed_tool_takes_its_place_when_the_first_goes() {
    let toolbox = Toolbox::new([]).unwrap();
    toolbox.refresh(&Source("one", vec!["x"])).await.unwrap();
    toolbox.refresh(&Source("two", vec!["x"])).await.unwrap();
    assert_eq!(value(&call(&toolbox, "x", json!({})).await), json!("one"));
    assert_eq!(toolbox.registry().shadowed().len(), 1);
    toolbox.refresh(&Source("one", vec![])).await.unwrap();
    assert_eq!(value(&call(&toolbox, "x", json!({})).await), json!("two"));
    assert_eq!(toolbox.registry().shadowed(), []);
}

#[tokio::test]
async fn every_piece_of_a_reply_counts() {
    let link = |n: usize| Block::Link {
        uri: format!("file:///{n}/{}", "x".repeat(1000)),
        name: "name".to_owned(),
        description: None,
        mime_type: None,
    };
    let resource = |n: usize| Block::Resource {
        uri: format!("file:///{n}"),
        mime_type: None,
        content: ResourceContent::Text("y".repeat(40_000)),
    };
    let mut links = Outcome::nothing();
    links.content = (0..3000).map(link).collect();
    let mut resources = Outcome::nothing();
    resources.content = (0..100).map(resource).collect();
    let mut empty = Outcome::nothing();
    empty.content = (0..100_000).map(|_| Block::text("")).collect();
    let mut cause = ToolError::failed("no");
    cause.cause = Some(Arc::new(std::io::Error::other("z".repeat(1 << 20))));
    for outcome in [links, resources, empty, Outcome::failure(cause)] {
        let toolbox =
            Toolbox::new([answering(definition("tool"), move || outcome.clone())]).unwrap();
        let outcome = call(&toolbox, "tool", json!({})).await;
        for shape in [outcome.to_mcp(), outcome.to_envelope(), outcome.to_result()] {
            assert!(shape.to_string().len() < 120_000);
        }
    }
}

#[tokio::test]
async fn data_that_is_no_base64_is_left_out() {
    let image = Block::Image {
        data: "\u{202e}\u{1b}]0;x\u{7}".to_owned(),
        mime_type: "image/png".to_owned(),
    };
    let toolbox = Toolbox::new([answering(definition("tool"), move || {
        Outcome::nothing().with_block(image.clone())
    })])
    .unwrap();
    let outcome = call(&toolbox, "tool", json!({})).await;
    assert_eq!(
        outcome.content,
        [Block::text("[image of 9 bytes left out: it is not base64]")]
    );
}

struct Never;

impl Inquirer for Never {
    fn inquire(
        &self,
        _inquiries: Vec<Inquiry>,
    ) -> std::pin::Pin<Box<dyn Future<Output = Vec<Response>> + Send + '_>> {
        Box::pin(async {
            tokio::time::sleep(Duration::from_secs(60)).await;
            vec![Response::Declined]
        })
    }
}

#[tokio::test(start_paused = true)]
async fn asking_for_ever_does_not_stop_the_clock_for_ever() {
    let tool = AnyTool::from_fn(
        definition("tool"),
        async |_: serde_json::Value, context: ToolContext| {
            loop {
                let schema = Schema::no_arguments();
                context.ask(Question::new("still there?", schema)).await;
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        },
    );
    let toolbox = Toolbox::new([tool]).unwrap();
    let caller = Caller::new("test")
        .with_inquirer(Never)
        .with_timeout(Duration::from_secs(1));
    let outcome = toolbox
        .run(RawCall::new("tool", json!({})), &caller)
        .await
        .into_outcome();
    assert_eq!(failure(&outcome).code(), "timeout");
}

#[test]
fn execute_says_no_where_it_would_hang() {
    let toolbox = Toolbox::new([add()]).unwrap();
    let add = || RawCall::new("add", json!({"a": 1, "b": 2}));
    let current = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let caller = Caller::new("test");
    let outcome = toolbox.execute(add(), &caller, current.handle());
    assert_eq!(failure(&outcome.into_outcome()).code(), "internal");
    let multi = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_time()
        .build()
        .unwrap();
    let handle = multi.handle().clone();
    let inside = multi.block_on(async { toolbox.execute(add(), &caller, &handle) });
    assert_eq!(failure(&inside.into_outcome()).code(), "internal");
    let outcome = toolbox.execute(add(), &caller, &handle).into_outcome();
    assert!(outcome.is_success());
}

/// Sixteen threads, all wanted by one tool: two are left to the others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_slow_blocking_tool_leaves_threads_to_the_others() {
    let gate = BlockingGate::new();
    let mut limits = Limits::default();
    limits.blocking_threads = 16;
    let toolbox = Toolbox::builder()
        .tools([
            gate.tool(definition("slow")),
            toolsmith_testing::tools::blocking_echo(),
        ])
        .limits(limits)
        .build()
        .unwrap();
    let slow = {
        let toolbox = toolbox.clone();
        tokio::spawn(async move {
            let calls = (0..32).map(|_| RawCall::new("slow", json!({})));
            let caller = Caller::new("test");
            toolbox.run_all(calls, &caller, Order::Parallel).await
        })
    };
    gate.wait_until(|now, _| now == 14);
    let outcome = call(&toolbox, "blocking_echo", json!({"text": "quick"})).await;
    assert!(outcome.is_success(), "{outcome:?}");
    gate.release(32);
    let replies = slow.await.unwrap();
    assert!(
        replies
            .into_iter()
            .all(|reply| reply.into_outcome().is_success())
    );
}

/// An asynchronous tool that was quick for long and then blocks holds up the caller it
/// began for; from then on its callers hear in time that its time is up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_begins_to_block_is_waited_for_once() {
    let gate = BlockingGate::new();
    let inside = gate.clone();
    let tool = AnyTool::from_fn(definition("moody"), move |how: serde_json::Value, _| {
        let gate = inside.clone();
        async move {
            match how["how"].as_str() {
                Some("slow") => std::thread::sleep(Duration::from_millis(5)),
                Some("blocked") => gate.pass(),
                _ => {}
            }
            Outcome::ok("done")
        }
    });
    let toolbox = Toolbox::builder().tools([tool]).build().unwrap();
    for _ in 0..100 {
        let outcome = call(&toolbox, "moody", json!({ "how": "quick" })).await;
        assert_eq!(value(&outcome), json!("done"));
    }
    let outcome = call(&toolbox, "moody", json!({ "how": "slow" })).await;
    assert_eq!(value(&outcome), json!("done"));
    let blocked = tokio::spawn(async move {
        let caller = Caller::new("test").with_timeout(Duration::from_millis(10));
        let call = RawCall::new("moody", json!({ "how": "blocked" }));
        toolbox.run(call, &caller).await.into_outcome()
    });
    gate.wait_until(|now, _| now == 1);
    let outcome = tokio::time::timeout(Duration::from_secs(20), blocked).await;
    gate.release(1);
    let outcome = outcome.expect("it is answered while it blocks").unwrap();
    assert!(failure(&outcome).to_string().contains("still runs"));
}

/// While one call blocks where it began, others of the tool are answered in time.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_tool_that_blocks_where_it_began_is_joined_by_nobody() {
    let gate = BlockingGate::new();
    let inside = gate.clone();
    let tool = AnyTool::from_fn(definition("moody"), move |how: serde_json::Value, _| {
        let gate = inside.clone();
        async move {
            if how["blocks"] == true {
                gate.pass();
            }
            Outcome::ok("done")
        }
    });
    let toolbox = Toolbox::builder().tools([tool]).build().unwrap();
    for _ in 0..100 {
        call(&toolbox, "moody", json!({})).await;
    }
    let run = |limit: u64| {
        let toolbox = toolbox.clone();
        tokio::spawn(async move {
            let caller = Caller::new("test").with_timeout(Duration::from_millis(limit));
            let call = RawCall::new("moody", json!({ "blocks": true }));
            toolbox.run(call, &caller).await.into_outcome()
        })
    };
    let first = run(60_000);
    gate.wait_until(|now, _| now == 1);
    let second = tokio::time::timeout(Duration::from_secs(20), run(10)).await;
    gate.release(2);
    let second = second.expect("it is answered while it blocks").unwrap();
    assert!(failure(&second).to_string().contains("still runs"));
    assert_eq!(value(&first.await.unwrap()), json!("done"));
}

/// A tool with a runtime of its own cannot hold up a caller that has but one thread.
#[tokio::test]
async fn a_tool_that_blocks_on_another_runtime_holds_up_nobody() {
    let tools = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_time()
        .build()
        .unwrap();
    let (here, gate) = (std::thread::current().id(), BlockingGate::new());
    let inside = gate.clone();
    let tool = AnyTool::from_fn(definition("blocks"), move |_: serde_json::Value, _| {
        let gate = inside.clone();
        async move {
            assert_ne!(std::thread::current().id(), here);
            gate.pass();
            Outcome::ok("done")
        }
    });
    let toolbox = Toolbox::builder().tools([tool]);
    let toolbox = toolbox.runtime(tools.handle().clone()).build().unwrap();
    let caller = Caller::new("test").with_timeout(Duration::from_millis(10));
    let outcome = toolbox
        .run(RawCall::new("blocks", json!({})), &caller)
        .await;
    gate.release(1);
    tools.shutdown_background();
    let outcome = outcome.into_outcome();
    assert!(failure(&outcome).to_string().contains("still runs"));
}

/// However deep it goes, it does not pile up on one stack.
#[tokio::test]
async fn a_tool_that_calls_itself_goes_deep() {
    let own: Arc<std::sync::OnceLock<Toolbox>> = Arc::default();
    let inside = Arc::clone(&own);
    let tool = AnyTool::from_fn(definition("deep"), move |left: serde_json::Value, _| {
        let toolbox = inside.get().cloned();
        async move {
            match (left["left"].as_u64(), toolbox) {
                (Some(left @ 1..), Some(toolbox)) => {
                    let call = RawCall::new("deep", json!({ "left": left - 1 }));
                    toolbox.run(call, &Caller::new("test")).await.into_outcome()
                }
                _ => Outcome::ok("bottom"),
            }
        }
    });
    let toolbox = Toolbox::builder().tools([tool]).build().unwrap();
    assert!(own.set(toolbox.clone()).is_ok());
    for _ in 0..100 {
        call(&toolbox, "deep", json!({})).await;
    }
    let outcome = call(&toolbox, "deep", json!({ "left": 3_000 })).await;
    assert_eq!(value(&outcome), json!("bottom"));
}

/// A tool that never lets the clock be looked at ends all the same.
#[tokio::test]
async fn a_tool_that_uses_up_its_turns_runs_out_of_time() {
    let tool = AnyTool::from_fn(definition("busy"), |how: serde_json::Value, _| async move {
        for _ in 0..how["turns"].as_u64().unwrap_or_default() {
            tokio::task::consume_budget().await;
        }
        Outcome::ok("done")
    });
    let toolbox = Toolbox::builder().tools([tool]).build().unwrap();
    for _ in 0..100 {
        call(&toolbox, "busy", json!({})).await;
    }
    let caller = Caller::new("test").with_timeout(Duration::from_millis(20));
    let busy = RawCall::new("busy", json!({ "turns": u64::MAX }));
    let outcome = toolbox.run(busy, &caller).await.into_outcome();
    assert!(failure(&outcome).to_string().contains("ran out of time"));
}

/// Wherever a tool begins, its panics are its own: in a poll, and when what it holds is
/// dropped.
#[tokio::test]
async fn a_well_behaved_tool_may_panic_too() {
    let tool = AnyTool::from_fn(
        definition("moody"),
        |how: serde_json::Value, _| async move {
            let _held = Thorn(how["drop"] == true);
            if how["wait"] == true {
                std::future::pending::<()>().await;
            }
            assert!(how["panic"] != true, "it exploded");
            Outcome::ok("done")
        },
    );
    let toolbox = Toolbox::builder().tools([tool]).build().unwrap();
    for _ in 0..100 {
        let outcome = call(&toolbox, "moody", json!({})).await;
        assert_eq!(value(&outcome), json!("done"));
    }
    let outcome = call(&toolbox, "moody", json!({ "panic": true })).await;
    let told = failure(&outcome).to_string();
    assert_eq!(told, "internal: the tool panicked: it exploded");
    let caller = Caller::new("test").with_timeout(Duration::from_millis(1));
    let waits = RawCall::new("moody", json!({ "wait": true, "drop": true }));
    let outcome = toolbox.run(waits, &caller).await.into_outcome();
    assert!(failure(&outcome).to_string().contains("it was stopped"));
    let outcome = call(&toolbox, "moody", json!({})).await;
    assert_eq!(value(&outcome), json!("done"));
}

/// Panics when it is dropped.
struct Thorn(bool);

impl Drop for Thorn {
    fn drop(&mut self) {
        assert!(!self.0, "it stings");
    }
}
