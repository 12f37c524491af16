//! What the guards and the records cost: CPU time per call with all of them on, above the
//! same call with none; and what a source that is flooded costs one that is not.
//!
//! Every figure compares two ways in one run, in turns, so that a busy machine slows
//! both. CPU time is the process's own, all threads together.

use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use toolsmith_core::tool::FunctionTool;
use toolsmith_core::{AnyTool, Binding, Kind, Outcome, RawCall, Schema, Source, ToolDef};
use toolsmith_manager::records::{RecordFile, RecordPlace};
use toolsmith_runtime::shield::{CallerSettings, Protection, SourceSettings};
use toolsmith_runtime::{Caller, Toolbox};
use toolsmith_testing::bench::{Goal, Run, Verdict, cpu, judged, median, title, told};

const ROUNDS: usize = 9;
const CALLS: u64 = 10_000;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let run = Run::begin();
    let benches = async {
        title("guards and records: CPU of a call above the same with none");
        let guards = guards().await;
        records().await;
        title("a healthy source beside a flooded one");
        guards.and(flood().await)
    };
    run.end(runtime.block_on(benches))
}

/// Everything on, against nothing.
async fn guards() -> Verdict {
    let folder = Folder::new("all");
    let above = compare(&toolbox(Guards::All, Some(&folder))).await;
    let what = "all guards and records on";
    judged(what, above, "µs", Goal::AtMost(10.0))
}

/// The records alone, to tell where it goes.
async fn records() {
    let folder = Folder::new("records");
    let recorded = compare(&toolbox(Guards::None, Some(&folder))).await;
    told("of which records", recorded, "µs");
    let guarded = compare(&toolbox(Guards::All, None)).await;
    told("of which guards", guarded, "µs");
}

/// Microseconds of CPU that a call takes more than one through no guard.
async fn compare(with: &Toolbox) -> f64 {
    let without = toolbox(Guards::None, None);
    for toolbox in [with, &without] {
        calls(toolbox, CALLS / 10).await;
    }
    let mut above = Vec::new();
    for _ in 0..ROUNDS {
        let plain = per_call(calls(&without, CALLS)).await;
        above.push(per_call(calls(with, CALLS)).await - plain);
    }
    median(above)
}

/// A source whose line is full and whose calls hang, beside one that is well.
async fn flood() -> Verdict {
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
    let ratio = median(ratios);
    let what = "CPU of a call, against beside a quiet one";
    judged(what, ratio, "×", Goal::AtMost(1.1)).and(Verdict::of(still_full))
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
