//! A process that is killed in the middle of its calls: whatever was answered is recorded,
//! nothing twice, and the next start works.

#![cfg(unix)]

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolsmith_core::{AnyTool, CancellationToken, Effect, Outcome, RawCall, ToolDef, ToolError};
use toolsmith_manager::records::{RecordFile, RecordPlace, RecordReader, RecordTerms, Skipped};
use toolsmith_runtime::{Caller, Order, Toolbox};

fn place(state: &Path) -> RecordPlace {
    RecordPlace::of_root(state.join("records"), Path::new("/project"))
}

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000)
}

fn tool(name: &str, effect: Effect, work: fn() -> Outcome) -> AnyTool {
    let definition = ToolDef::new(name).unwrap().with_effect(effect);
    AnyTool::from_fn(definition, move |_: Value, _| async move { work() })
}

fn toolbox(state: &Path) -> Toolbox {
    let mut terms = RecordTerms::default();
    // Small enough that it is killed while it rotates, too; nothing is dropped.
    (terms.bytes, terms.files) = (64 << 10, 100);
    let forever = ToolDef::new("forever").unwrap().with_effect(Effect::Read);
    let forever = AnyTool::from_fn(forever, async |_: Value, _| {
        std::future::pending::<Outcome>().await
    });
    let tools = [
        tool("good", Effect::Read, || Outcome::text("x".repeat(300))),
        tool("bad", Effect::Read, || {
            Outcome::failure(ToolError::internal("no"))
        }),
        tool("panics", Effect::Read, || panic!("as it should")),
        tool("denied", Effect::Execute, Outcome::nothing),
        forever,
    ];
    let builder = Toolbox::builder().tools(tools).without_log();
    let file = RecordFile::new(place(state), now).with_terms(terms);
    builder.recorder(file).build().unwrap()
}

/// Numbers without a pattern, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// Makes one random call, or a few at once, and tells which were answered.
async fn make(toolbox: &Toolbox, numbers: &mut Numbers, first: u64) -> Vec<String> {
    let names = ["good", "bad", "panics", "denied", "nothing", "good"];
    let caller = Caller::new("me");
    let mut call = |n: u64| {
        let at = usize::try_from(numbers.below(names.len() as u64)).unwrap();
        let id = format!("c{}", first + n);
        RawCall::new(names[at], json!({ "n": n })).with_id(id.as_str())
    };
    match first % 7 {
        0 => {
            let calls: Vec<RawCall> = (0..3).map(&mut call).collect();
            let ids = calls.iter().flat_map(|call| &call.id);
            let ids = ids.map(|id| id.as_str().to_owned()).collect();
            toolbox.run_all(calls, &caller, Order::Parallel).await;
            ids
        }
        1 => {
            // Given up before it is answered: dropped, or cancelled.
            let token = CancellationToken::new();
            let caller = caller.with_cancellation(token.clone());
            let id = format!("c{first}");
            let forever = RawCall::new("forever", json!({})).with_id(id.as_str());
            let running = toolbox.run(forever, &caller);
            if first.is_multiple_of(2) {
                let _ = tokio::time::timeout(Duration::from_millis(1), running).await;
                // Its end is recorded by what ends it in the background.
                return Vec::new();
            }
            token.cancel();
            running.await;
            vec![id]
        }
        _ => {
            let call = call(0);
            let id = call.id.clone().unwrap();
            toolbox.run(call, &caller).await;
            vec![id.as_str().to_owned()]
        }
    }
}

/// What tells the process that is killed what to do. The harness takes it for the name of
/// a test there is not.
const TOLD: &str = "killed=";

/// The process that is killed. It is told on its command line where to begin, how many
/// calls to make and where to keep records; otherwise it does nothing.
#[test]
fn child() {
    let mut arguments = std::env::args();
    let Some(told) = arguments.find_map(|each| each.strip_prefix(TOLD).map(str::to_owned)) else {
        return;
    };
    let (begin, rest) = told.split_once(',').unwrap();
    let (calls, state) = rest.split_once(',').unwrap();
    let (begin, calls): (u64, u64) = (begin.parse().unwrap(), calls.parse().unwrap());
    std::panic::set_hook(Box::new(|_| {}));
    let runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = { runtime }.worker_threads(2).enable_time().build().unwrap();
    let toolbox = toolbox(Path::new(state));
    let mut tasks = Vec::new();
    for lane in 0..4 {
        let toolbox = toolbox.clone();
        tasks.push(runtime.spawn(async move {
            let mut numbers = Numbers(begin + lane);
            let mut number = begin + lane * calls;
            let end = number + calls / 4 * 3;
            while number < end {
                for id in make(&toolbox, &mut numbers, number).await {
                    // One write each: the pipe is read after the end, too.
                    let line = format!("done {id}\n");
                    std::io::stderr().write_all(line.as_bytes()).unwrap();
                }
                number += 3;
            }
        }));
    }
    runtime.block_on(async {
        for task in tasks {
            task.await.unwrap();
        }
    });
}

fn start(state: &Path, begin: u64, calls: u64) -> Child {
    let told = format!("{TOLD}{begin},{calls},{}", state.display());
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "records_kill::child", "--nocapture", &told])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Kills a process once it has told of so many calls; gives all it told of.
fn killed_after(mut child: Child, most: usize) -> Vec<String> {
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let mut done = Vec::new();
    let mut line = String::new();
    while done.len() < most && told.read_line(&mut line).unwrap() > 0 {
        done.extend(line.strip_prefix("done ").map(|id| id.trim().to_owned()));
        line.clear();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // What was in the pipe was answered, too.
    let mut rest = String::new();
    told.read_to_string(&mut rest).unwrap();
    let whole = rest
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    let ids = whole.filter_map(|line| line.strip_prefix("done "));
    done.extend(ids.map(|id| id.trim().to_owned()));
    done
}

fn read(state: &Path) -> (Vec<String>, Skipped) {
    let mut reader = RecordReader::new(place(state));
    let mut ids = Vec::new();
    while let Some(stored) = reader.next().unwrap() {
        ids.push(stored.record.id.into_owned());
    }
    let (rest, skipped) = reader.finish();
    ids.extend(rest.into_iter().map(|stored| stored.record.id.into_owned()));
    (ids, skipped)
}

/// Two processes write the same files; both are killed in the middle, and a third goes on.
fn check(calls: u64) {
    let state = TempDir::new().unwrap();
    let most = usize::try_from(calls / 2).unwrap();
    let one = start(state.path(), 0, calls);
    let other = start(state.path(), 100_000_000, calls);
    let mut done = killed_after(one, most);
    done.extend(killed_after(other, most));
    assert!(done.len() >= 2 * most, "{}", done.len());
    let third = start(state.path(), 200_000_000, calls / 4);
    done.extend(killed_after(third, usize::MAX));
    let (ids, skipped) = read(state.path());
    let found: HashSet<&String> = ids.iter().collect();
    assert_eq!(found.len(), ids.len(), "none is there twice");
    let missing: Vec<_> = done.iter().filter(|id| !found.contains(id)).collect();
    assert!(
        missing.is_empty(),
        "{} are missing: {:?}",
        missing.len(),
        missing.first()
    );
    // At most what each of the two was in the middle of.
    assert!(skipped.unreadable <= 2, "{skipped}");
}

#[test]
fn whatever_was_answered_before_the_end_is_recorded_once() {
    // Some of them are several calls: more than 10,000 in all.
    check(9000);
}
