//! What the door costs: CPU time per call above the bare function.
//!
//! Every figure compares two ways in one run, in turns, so that a busy machine
//! slows both. CPU time is the process's own, all threads together. Words on the
//! command line choose among async, blocking, size and memory.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;
use toolsmith_core::{AnyTool, Kind, Outcome, RawCall, Schema, ToolDef};
use toolsmith_runtime::{Caller, Order, Toolbox};
use toolsmith_testing::bench::{Goal, Run, Verdict, cpu, judged, median, resident, title, told};

const ROUNDS: usize = 7;
const CALLS: u64 = 20_000;

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let wants = |name: &str| wanted.is_empty() || wanted.iter().any(|w| w == name);
    let run = Run::begin();
    title("a call through the whole pipeline: CPU above the bare function");
    let mut verdict = Verdict::Met;
    if wants("async") {
        verdict = verdict.and(on(1, cost("an async tool", Some(10.0), Style::Async)));
        // Tokio wakes an idle worker every other spawn to look for something to
        // steal. That is no cost of the door, but a server with little to do has it.
        let beside = cost("the same, beside an idle worker", None, Style::Async);
        verdict = verdict.and(on(2, beside));
    }
    if wants("blocking") {
        let blocking = cost("a blocking tool", Some(60.0), Style::Blocking);
        verdict = verdict.and(on(1, blocking));
    }
    if wants("size") {
        verdict = verdict.and(on(1, size()));
    }
    if wants("memory") {
        verdict = verdict.and(on(2, memory()));
    }
    run.end(verdict)
}

/// Runs a bench in a task of a fresh runtime, as servers and agents call: from
/// outside, every call would also wake a sleeping thread and be charged for it.
fn on(workers: usize, bench: impl Future<Output = Verdict> + Send + 'static) -> Verdict {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()
        .expect("a runtime");
    let bench = runtime.spawn(bench);
    runtime.block_on(bench).unwrap_or(Verdict::NotMet)
}

#[derive(Clone, Copy)]
enum Style {
    Async,
    Blocking,
}

#[derive(serde::Deserialize)]
struct Sum {
    a: f64,
    b: f64,
}

static SUMS: AtomicU64 = AtomicU64::new(0);

/// The work itself, kept from being optimised away.
fn sum(sum: &Sum) -> f64 {
    SUMS.fetch_add(1, Ordering::Relaxed);
    std::hint::black_box(sum.a + sum.b)
}

async fn sum_async(numbers: &Sum) -> f64 {
    sum(numbers)
}

fn toolbox(tools: usize, style: Style) -> Toolbox {
    let schema = json!({
        "properties": {
            "a": { "type": "number", "description": "The first number." },
            "b": { "type": "number", "description": "The second number." },
        },
        "required": ["a", "b"],
    });
    let schema = Schema::input(schema).expect("a schema");
    let tools = (0..tools).map(|number| {
        let definition = ToolDef::new(format!("add_{number}"))
            .expect("a name")
            .with_description("Adds two numbers and returns the sum.")
            .with_kind(Kind::Think)
            .with_input(schema.clone());
        match style {
            Style::Async => AnyTool::from_fn(definition, async |numbers: Sum, _context| {
                Outcome::ok(sum_async(&numbers).await)
            }),
            Style::Blocking => AnyTool::from_blocking_fn(definition, |numbers: Sum, _context| {
                Outcome::ok(sum(&numbers))
            }),
        }
    });
    Toolbox::new(tools).expect("a toolbox")
}

/// Calls `add_0` to `add_9` in turn.
async fn through_the_door(toolbox: &Toolbox, caller: &Caller, calls: u64) {
    for number in 0..calls {
        let call = RawCall::new(
            format!("add_{}", number % 10),
            json!({"a": number, "b": 1.5}),
        );
        let outcome = toolbox.run(call, caller).await.into_outcome();
        assert!(outcome.is_success(), "{outcome:?}");
    }
}

async fn bare(style: Style, calls: u64) {
    for number in 0..calls {
        let value = json!({"a": number, "b": 1.5});
        let numbers: Sum = serde_json::from_value(value).expect("two numbers");
        match style {
            Style::Async => sum_async(&numbers).await,
            Style::Blocking => sum(&numbers),
        };
    }
}

/// Microseconds of CPU per call that something took.
async fn per_call(calls: u64, work: impl Future<Output = ()>) -> f64 {
    let before = cpu();
    work.await;
    (cpu() - before).as_secs_f64() * 1e6 / calls as f64
}

async fn cost(name: &'static str, goal: Option<f64>, style: Style) -> Verdict {
    let toolbox = toolbox(10, style);
    let caller = Caller::new("bench");
    through_the_door(&toolbox, &caller, CALLS / 10).await;
    let mut above = Vec::new();
    for _ in 0..ROUNDS {
        let bare = per_call(CALLS, bare(style, CALLS)).await;
        let door = per_call(CALLS, through_the_door(&toolbox, &caller, CALLS)).await;
        above.push(door - bare);
    }
    let above = median(above);
    match goal {
        Some(goal) => judged(name, above, "µs", Goal::AtMost(goal)),
        None => {
            told(name, above, "µs");
            Verdict::Met
        }
    }
}

/// The same ten tools, among ten and among ten thousand.
async fn size() -> Verdict {
    let (few, many) = (toolbox(10, Style::Async), toolbox(10_000, Style::Async));
    let caller = Caller::new("bench");
    for toolbox in [&few, &many] {
        through_the_door(toolbox, &caller, CALLS / 10).await;
    }
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let among_few = per_call(CALLS, through_the_door(&few, &caller, CALLS)).await;
        let among_many = per_call(CALLS, through_the_door(&many, &caller, CALLS)).await;
        ratios.push(among_many / among_few);
    }
    let what = "among 10,000 tools, against among 10";
    judged(what, median(ratios), "×", Goal::AtMost(1.2))
}

/// Memory after 100,000 further calls, one by one and in a batch, against memory
/// after a few batches as large: what the allocator keeps of those is no leak.
async fn memory() -> Verdict {
    let toolbox = toolbox(10, Style::Async);
    let caller = Caller::new("bench");
    let batch = async || {
        let calls = (0..10_000).map(|n| RawCall::new("add_1", json!({"a": n, "b": 1})));
        let replies = toolbox.run_all(calls, &caller, Order::Parallel).await;
        assert_eq!(replies.len(), 10_000);
    };
    through_the_door(&toolbox, &caller, 10_000).await;
    for _ in 0..4 {
        batch().await;
    }
    let before = resident();
    through_the_door(&toolbox, &caller, 90_000).await;
    batch().await;
    let grown = resident() - before;
    let what = "memory grown by 100,000 calls";
    judged(what, grown, "MB", Goal::AtMost(4.0))
}
