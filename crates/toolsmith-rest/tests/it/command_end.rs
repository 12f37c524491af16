//! How commands end: floods, limits, being given up, running out of time.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;
use toolsmith_core::{CancellationToken, ErrorKind, RawCall, Reply};
use toolsmith_runtime::permit::{Mode, Policy};
use toolsmith_runtime::{Caller, Toolbox};
use toolsmith_testing::{Recording, failure, value};

use crate::command::{at_length, call, made, made_in, message, shell, toolbox};

/// Long enough for a machine under load; only a failing test takes as long.
const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn lines_are_handed_on_as_they_come() {
    let folder = tempfile::tempdir().unwrap();
    let go = folder.path().join("go");
    let script = format!(
        "printf 'one\\ntw'; while [ ! -e '{}' ]; do sleep 0.01; done; printf 'o\\nthree'",
        go.display()
    );
    let recording = Recording::new();
    let box_ = Toolbox::builder()
        .tools(made(&shell(&script, "")).tools)
        .policy(Policy::new(Mode::Auto))
        .recorder(recording.clone())
        .build()
        .unwrap();
    let running =
        tokio::spawn(async move { toolsmith_testing::call(&box_, "it", json!({})).await });
    until("the first line is there", || recording.output() == "one\n").await;
    fs::write(&go, "").unwrap();
    assert_eq!(value(&running.await.unwrap()), "one\ntwo\nthree");
    assert_eq!(recording.output(), "one\ntwo\nthree");
}

#[tokio::test]
async fn a_flood_is_drained_counted_and_told() {
    let flood = 20 << 20;
    let script = format!("head -c {flood} /dev/zero | tr '\\0' x; echo end >&2");
    let yaml = shell(&script, "");
    let outcome = at_length(&yaml, json!({})).await;
    let kept = 4 << 20;
    assert_eq!(value(&outcome).as_str().unwrap().len(), kept);
    assert_eq!(outcome.metadata["omitted_output_bytes"], flood - kept);
    assert!(outcome.model_text().ends_with(&format!(
        "wrote {} more bytes, which were not kept]",
        flood - kept
    )));
    assert_eq!(outcome.metadata["stderr"], "end");
    // As JSON, half of it is none.
    let yaml = shell(&script, "output: json");
    assert!(message(&at_length(&yaml, json!({})).await).contains("more JSON than is read"));
    // On standard error, only the end matters.
    let script = format!("head -c {flood} /dev/zero | tr '\\0' x >&2; echo end >&2; exit 1");
    let yaml = shell(&script, "");
    let said = message(&at_length(&yaml, json!({})).await);
    assert!(
        said.ends_with("xxxend") && said.len() < 4096,
        "{}",
        said.len()
    );
}

#[tokio::test]
async fn a_limit_in_the_middle_of_a_character_cuts_before_it() {
    let script = "printf x; yes ä | tr -d '\\n' | head -c 4194400";
    let yaml = shell(script, "");
    let outcome = at_length(&yaml, json!({})).await;
    assert!(value(&outcome).as_str().unwrap().ends_with('ä'));
}

/// Each writes the numbers of its processes to a file, and runs on.
const STUBBORN: &[(&str, &str)] = &[
    ("it sleeps", "echo $$ >pids; exec sleep 1000"),
    (
        "it ignores requests",
        "trap '' TERM; echo $$ >pids; while :; do sleep 0.1; done",
    ),
    (
        "it has children in sessions of their own",
        "setsid sleep 1000 & a=$!; (trap '' TERM HUP; exec sleep 1000) & echo $$ $a $! >pids; wait",
    ),
    ("it floods", "echo $$ >pids; exec yes"),
    (
        "it closed its output",
        "echo $$ >pids; exec sleep 1000 >&- 2>&-",
    ),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_given_up_leaves_nothing_running() {
    for (what, script) in STUBBORN {
        let (reply, pids) = give_up(script, |caller, token| {
            (caller.with_cancellation(token.clone()), true)
        })
        .await;
        let outcome = reply.into_outcome();
        assert_eq!(failure(&outcome).kind, ErrorKind::Cancelled, "{what}");
        assert!(!pids.is_empty());
        for pid in pids {
            assert!(
                !is_running(pid),
                "{what}: {pid} is still there: {outcome:?}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_runs_out_of_time_leaves_nothing_running() {
    for (what, script) in STUBBORN {
        let limit = Duration::from_millis(300);
        let (reply, pids) = give_up(script, |caller, _| (caller.with_timeout(limit), false)).await;
        let outcome = reply.into_outcome();
        assert_eq!(failure(&outcome).kind, ErrorKind::Timeout, "{what}");
        for pid in pids {
            assert!(
                !is_running(pid),
                "{what}: {pid} is still there: {outcome:?}"
            );
        }
    }
}

/// Runs a script until it has told its numbers, gives it up or lets it run out of time,
/// and tells what came of it.
async fn give_up(
    script: &str,
    arrange: impl FnOnce(Caller, &CancellationToken) -> (Caller, bool),
) -> (Reply, Vec<u32>) {
    let folder = tempfile::tempdir().unwrap();
    let tools = toolbox(made_in(folder.path(), &shell(script, "")));
    let token = CancellationToken::new();
    let (caller, cancels) = arrange(Caller::new("test"), &token);
    let running =
        tokio::spawn(async move { tools.run(RawCall::new("it", json!({})), &caller).await });
    let file = folder.path().join("pids");
    if cancels {
        until("the script has told its numbers", || {
            fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n'))
        })
        .await;
        token.cancel();
    }
    let reply = running.await.unwrap();
    let pids = fs::read_to_string(&file).unwrap_or_default();
    let pids = pids.split_whitespace().map(|pid| pid.parse().unwrap());
    (reply, pids.collect())
}

#[tokio::test]
async fn what_a_program_leaves_behind_is_ended_with_it() {
    let script = "sleep 1000 & echo $!";
    let outcome = call(&shell(script, ""), json!({})).await;
    let pid = value(&outcome).as_str().unwrap().trim().parse().unwrap();
    assert!(!is_running(pid));
    assert_eq!(outcome.metadata["killed_processes"], 1);
}

#[tokio::test]
async fn what_was_said_before_the_end_is_kept() {
    let (reply, _) = give_up("echo so far; echo $$ >pids; sleep 1000", |caller, token| {
        (caller.with_cancellation(token.clone()), true)
    })
    .await;
    let outcome = reply.into_outcome();
    assert!(outcome.model_text().contains("so far"), "{outcome:?}");
}

/// Waits until a condition holds.
async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Tells whether a process runs; a dead one that nobody took notice of does not.
fn is_running(pid: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.as_bytes()[0]);
    state.is_some_and(|state| state != b'Z' && state != b'X')
}
