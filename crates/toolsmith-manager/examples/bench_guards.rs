//! What the guards and the records cost: CPU time per call with all of them on, above the
//! same call with none; and what a source that is flooded costs one that is not.
//!
//! Every figure compares two ways in one run, in turns, so that a busy machine slows
//! both. CPU time is the process's own, all threads together.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use toolsmith_core::tool::FunctionTool;
use toolsmith_core::{AnyTool, Binding, Kind, Outcome, RawCall, Schema, Source, ToolDef};
use toolsmith_manager::records::{RecordFile, RecordPlace};
use toolsmith_runtime::shield::{CallerSettings, Protection, SourceSettings};
use toolsmith_runtime::{Caller, Toolbox};

const ROUNDS: usize = 9;
const CALLS: u64 = 10_000;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let benches = async { [guards().await, records().await, flood().await] };
    match runtime.block_on(benches).iter().all(|good| *good) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Everything on, against nothing.
async fn guards() -> bool {
    let folder = Folder::new("all");
    let guarded = toolbox(Guards::All, Some(&folder));
    compare(
        "all guards and records on: CPU above none",
        &guarded,
        Some(10.0),
    )
    .await
}

/// The records alone, to tell where it goes.
async fn records() -> bool {
    let folder = Folder::new("records");
    let recorded = toolbox(Guards::None, Some(&folder));
    compare("of which records", &recorded, None).await;
    let guarded = toolbox(Guards::All, None);
    compare("of which guards", &guarded, None).await
}

async fn compare(what: &str, with: &Toolbox, goal: Option<f64>) -> bool {
    let without = toolbox(Guards::None, None);
    for toolbox in [with, &without] {
        calls(toolbox, CALLS / 10).await;
    }
    let mut above = Vec::new();
    for _ in 0..ROUNDS {
        let plain = per_call(calls(&without, CALLS)).await;
        above.push(per_call(calls(with, CALLS)).await - plain);
    }
    verdict(what, median(&mut above), "µs", goal)
}

/// A source whose line is full and whose calls hang, beside one that is well.
async fn flood() -> bool {
    let (quiet, flooded) = (beside(), beside());
    let mut stuck = Vec::new();
    for number in 0..400 {
        let toolbox = flooded.clone();
        stuck.push(tokio::spawn(async move {
            let caller = Caller::new(format!("flood-{}", number % 7));
            let call = RawCall::new("hang", json!({}));
            toolbox.run(call, &caller).await;
        }));
    }
    while load(&flooded) != (4, 64) {
        tokio::task::yield_now().await;
    }
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let without = per_call(calls(&quiet, CALLS)).await;
        ratios.push(per_call(calls(&flooded, CALLS)).await / without);
    }
    let still_full = load(&flooded) == (4, 64);
    stuck.iter().for_each(tokio::task::JoinHandle::abort);
    let what = "a healthy source beside a flooded one, against a quiet one";
    verdict(what, median(&mut ratios), "×", Some(1.1)) && still_full
}

fn load(toolbox: &Toolbox) -> (usize, usize) {
    let sources = toolbox.sources();
    let bad = sources.iter().find(|source| source.name == "bad");
    bad.map_or((0, 0), |bad| (bad.running, bad.waiting))
}

/// A well source, and one that takes four calls and never answers.
fn beside() -> Toolbox {
    let hang = ToolDef::new("hang").expect("a name");
    let hang = hang.with_kind(Kind::Think).with_source(Source::Rest);
    let hang = FunctionTool::new(hang)
        .with_binding(Binding::default().with_timeout(Duration::from_secs(3600)))
        .into_async(async |_: Value, _| std::future::pending::<Outcome>().await);
    let mut narrow = SourceSettings::default();
    (narrow.concurrency, narrow.queue) = (Some(4), Some(64));
    let mut protection = Protection::default();
    protection.sources.push(("bad".to_owned(), narrow));
    Toolbox::builder()
        .load("well", tools(&Source::Rest, &Binding::default()))
        .load("bad", [hang])
        .protection(protection)
        .without_log()
        .build()
        .expect("a toolbox")
}

#[derive(Clone, Copy, PartialEq)]
enum Guards {
    None,
    All,
}

fn toolbox(guards: Guards, records: Option<&Folder>) -> Toolbox {
    let mut builder = Toolbox::builder().without_log();
    builder = match guards {
        Guards::None => builder.load("far", tools(&Source::Builtin, &Binding::default())),
        Guards::All => {
            // High enough to refuse nobody, so that every call pays for all of them.
            let often = "1000000000/s".parse().ok();
            let mut binding = Binding::default()
                .with_retries(2)
                .with_cache(Duration::from_secs(60));
            (binding.rate, binding.quota) = (often, often);
            let mut source = SourceSettings::default();
            (source.rate, source.quota) = (often, often);
            let mut callers = CallerSettings::default();
            (callers.rate, callers.quota) = (often, often);
            let mut protection = Protection::default();
            protection.sources.push(("far".to_owned(), source));
            protection.callers = callers;
            builder
                .load("far", tools(&Source::Rest, &binding))
                .protection(protection)
        }
    };
    if let Some(folder) = records {
        let place = RecordPlace::of_root(&folder.0, &folder.0);
        builder = builder.recorder(RecordFile::new(place, SystemTime::now));
    }
    builder.build().expect("a toolbox")
}

fn tools(source: &Source, binding: &Binding) -> Vec<AnyTool> {
    let number = |text: &str| json!({ "type": "number", "description": text });
    let schema = json!({
        "properties": { "a": number("The first number."), "b": number("The second number.") },
        "required": ["a", "b"],
    });
    let schema = Schema::input(schema).expect("a schema");
    let tools = (0..10).map(|at| {
        let definition = ToolDef::new(format!("add_{at}"))
            .expect("a name")
            .with_description("Adds two numbers and returns the sum.")
            .with_kind(Kind::Think)
            .with_source(source.clone())
            .with_input(schema.clone());
        let tool = FunctionTool::new(definition).with_binding(binding.clone());
        tool.into_async(async |numbers: Value, _| {
            let number = |name: &str| numbers[name].as_f64().unwrap_or(f64::NAN);
            Outcome::ok(number("a") + number("b"))
        })
    });
    tools.collect()
}

/// Calls `add_0` to `add_9` in turn, each time with other arguments: no answer that was
/// kept saves anything.
async fn calls(toolbox: &Toolbox, calls: u64) {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let caller = Caller::new("bench");
    for _ in 0..calls {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("add_{}", number % 10);
        let call = RawCall::new(name, json!({ "a": number, "b": 1.5 }));
        let outcome = toolbox.run(call, &caller).await.into_outcome();
        assert!(outcome.is_success(), "{outcome:?}");
        assert_eq!(outcome.facts.cached, None);
    }
}

/// Microseconds of CPU per call that something took.
async fn per_call(work: impl Future<Output = ()>) -> f64 {
    let before = cpu();
    work.await;
    (cpu() - before).as_secs_f64() * 1e6 / CALLS as f64
}

fn verdict(what: &str, figure: f64, unit: &str, goal: Option<f64>) -> bool {
    let Some(goal) = goal else {
        println!("{what:62} {figure:8.2} {unit:2}");
        return true;
    };
    let good = figure <= goal;
    let word = if good { "ok" } else { "MISSED" };
    println!("{what:62} {figure:8.2} {unit:2}  (goal ≤ {goal} {unit})  {word}");
    good
}

fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanos = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanos)
}

/// A folder for records, gone afterwards.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("toolsmith-bench-guards-{name}-{}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
