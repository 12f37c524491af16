//! A sandboxed child ends with everything it started, however it ends.

use std::os::unix::process::ExitStatusExt as _;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::ChildStdout;
use toolsmith_process::{Launch, Running, Support};

use super::{machines, workspace};
use crate::support::{PATIENCE, is_running, line, script, until};

const SHORT: Duration = Duration::from_millis(20);

fn start(launch: &Launch) -> (Running, Lines<BufReader<ChildStdout>>) {
    let mut running = launch.start().unwrap();
    let lines = BufReader::new(running.take_stdout().unwrap()).lines();
    (running, lines)
}

/// Finds processes by an argument that only they have.
fn with_argument(argument: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|id: &u32| {
        let words = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        is_running(*id)
            && words
                .split(|byte| *byte == 0)
                .any(|word| word == argument.as_bytes())
    })
    .collect()
}

/// A number of seconds to sleep that nobody else sleeps.
fn unusual_seconds() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("1{:07}.{next:03}", std::process::id())
}

/// Each begins a sleep that tries to get away, and says that it is ready.
const ESCAPES: &[&str] = &[
    "sleep $S & echo ready; cat",
    "(trap '' TERM HUP; exec sleep $S) & echo ready; cat",
    "setsid sleep $S & echo ready; cat",
    "(setsid sh -c 'sleep $S & echo ready') & cat",
    "(env -i setsid /bin/sh -c \"/bin/sleep $S >/dev/null 2>&1 & echo ready\") & cat",
    "setsid sleep $S <&- >/dev/null 2>&- & echo ready; trap '' TERM; while :; do sleep 1; done",
    "i=0; while [ $i -lt 400 ]; do sleep $S & i=$((i+1)); done; echo ready; wait",
];

async fn escape(
    text: &str,
    support: &Support,
    also: impl FnOnce(Launch) -> Launch,
) -> (Running, String) {
    let seconds = unusual_seconds();
    let folder = std::env::temp_dir();
    let launch = script(text)
        .environment([("S", seconds.as_str())])
        .sandbox(workspace(&folder).support(support.clone()));
    let (running, mut lines) = start(&also(launch));
    assert_eq!(line(&mut lines).await, "ready");
    until("it sleeps", || !with_argument(&seconds).is_empty()).await;
    (running, seconds)
}

#[tokio::test]
async fn whatever_a_child_started_ends_with_it() {
    for (machine, support) in machines() {
        for text in ESCAPES {
            // Kept, so that it is not the child's own end that ends them.
            let (running, seconds) = escape(text, &support, Launch::keep_descendants).await;
            let ending = running.end(SHORT).await;
            assert_eq!(with_argument(&seconds), [0; 0], "{machine}: {text}");
            assert!(ending.survived.is_empty(), "{machine}: {text}: {ending:?}");
        }
    }
}

#[tokio::test]
async fn and_when_it_is_dropped() {
    for (machine, support) in machines() {
        for text in ESCAPES {
            let (running, seconds) = escape(text, &support, |launch| launch).await;
            drop(running);
            // Nobody waits for it: the helper learns that it is alone, and ends the others.
            let what = format!("{machine}: {text}: all have ended");
            until(&what, || with_argument(&seconds).is_empty()).await;
        }
    }
}

#[tokio::test]
async fn what_a_child_leaves_behind_ends_when_it_exits() {
    for (machine, support) in machines() {
        let seconds = unusual_seconds();
        let folder = tempfile::tempdir().unwrap();
        let launch = script("setsid sleep $S >/dev/null 2>&1 & exit 7")
            .environment([("S", seconds.as_str())])
            .sandbox(workspace(folder.path()).support(support));
        let (mut running, _lines) = start(&launch);
        assert_eq!(running.wait().await.unwrap().code(), Some(7), "{machine}");
        assert_eq!(with_argument(&seconds), [0; 0], "{machine}");
        let ending = running.end(SHORT).await;
        assert_eq!(ending.status.unwrap().code(), Some(7), "{machine}");
        assert_eq!(
            (ending.killed, ending.survived),
            (Vec::new(), Vec::new()),
            "{machine}"
        );
    }
}

#[tokio::test]
async fn what_is_to_be_kept_lives_until_it_is_ended() {
    for (machine, support) in machines() {
        let seconds = unusual_seconds();
        let folder = tempfile::tempdir().unwrap();
        let launch = script("setsid sleep $S >/dev/null 2>&1 & exit 7")
            .environment([("S", seconds.as_str())])
            .keep_descendants()
            .sandbox(workspace(folder.path()).support(support));
        let (mut running, _lines) = start(&launch);
        assert_eq!(running.wait().await.unwrap().code(), Some(7), "{machine}");
        assert_eq!(
            running.try_wait().unwrap().unwrap().code(),
            Some(7),
            "{machine}"
        );
        until("it sleeps", || with_argument(&seconds).len() == 1).await;
        let left = with_argument(&seconds);
        let ending = running.stop(SHORT).await;
        assert_eq!(with_argument(&seconds), [0; 0], "{machine}");
        assert_eq!(ending.killed, left, "{machine}");
        assert_eq!(ending.status.unwrap().code(), Some(7), "{machine}");
    }
}

#[tokio::test]
async fn all_are_waited_for_when_they_are_kept() {
    for (machine, support) in machines() {
        let folder = tempfile::tempdir().unwrap();
        let launch = script("(sleep 0.2; echo last) & exit 0")
            .keep_descendants()
            .sandbox(workspace(folder.path()).support(support));
        let (mut running, mut lines) = start(&launch);
        assert!(running.wait().await.unwrap().success(), "{machine}");
        running.wait_for_all().await.unwrap();
        assert_eq!(line(&mut lines).await, "last", "{machine}");
        assert!(lines.next_line().await.unwrap().is_none(), "{machine}");
    }
}

#[tokio::test]
async fn exits_and_signals_are_told_as_they_were() {
    for (machine, support) in machines() {
        let folder = tempfile::tempdir().unwrap();
        let status = async |text: &str| {
            let sandbox = workspace(folder.path()).support(support.clone());
            let mut running = script(text).sandbox(sandbox).start().unwrap();
            running.wait().await.unwrap()
        };
        for code in [0, 1, 2, 126, 127, 128, 137, 255] {
            let told = status(&format!("exit {code}")).await;
            assert_eq!(told.code(), Some(code), "{machine}");
        }
        for signal in [1, 2, 3, 6, 9, 11, 13, 15] {
            let told = status(&format!("kill -{signal} $$; sleep 10")).await;
            assert_eq!(told.signal(), Some(signal), "{machine}");
            assert!(!told.core_dumped(), "{machine}");
        }
    }
}

#[tokio::test]
async fn a_child_listens_to_the_request_to_end() {
    for (machine, support) in machines() {
        let folder = tempfile::tempdir().unwrap();
        let launch =
            script("trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.01; done")
                .sandbox(workspace(folder.path()).support(support));
        let (running, mut lines) = start(&launch);
        assert_eq!(line(&mut lines).await, "ready");
        let ending = running.stop(PATIENCE).await;
        assert_eq!(ending.status.unwrap().code(), Some(3), "{machine}");
        assert_eq!(line(&mut lines).await, "bye", "{machine}");
    }
}

#[tokio::test]
async fn a_child_that_kills_its_group_only_ends_itself() {
    for (machine, support) in machines() {
        let folder = tempfile::tempdir().unwrap();
        let launch =
            script("kill -TERM 0; sleep 10").sandbox(workspace(folder.path()).support(support));
        let mut running = launch.start().unwrap();
        assert_eq!(
            running.wait().await.unwrap().signal(),
            Some(15),
            "{machine}"
        );
    }
}

/// Not a test by itself: the host in the test below, in a process that can be killed.
#[tokio::test]
async fn host() {
    let Some(seconds) = std::env::var_os("TOOLSMITH_TEST_HOST") else {
        return;
    };
    let support = match std::env::var("TOOLSMITH_TEST_MACHINE").unwrap().as_str() {
        "namespaces" => super::support(),
        _ => super::support().without_namespaces("left out by a test"),
    };
    let text = "setsid sleep $S & (trap '' TERM; exec sleep $S) & sleep $S";
    let folder = std::env::temp_dir();
    let _running = script(text)
        .environment([("S", seconds)])
        .sandbox(workspace(&folder).support(support))
        .start()
        .unwrap();
    tokio::time::sleep(PATIENCE).await;
}

#[tokio::test]
async fn a_killed_host_leaves_nothing() {
    for (machine, _) in machines() {
        let seconds = unusual_seconds();
        let variables = ["PATH", "TMPDIR", super::PROGRAMS]
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?)));
        let host = Launch::new(std::env::current_exe().unwrap())
            .arguments(["--exact", "sandbox::ending::host", "--nocapture"])
            .environment(variables)
            .environment([
                ("TOOLSMITH_TEST_HOST", seconds.as_str()),
                ("TOOLSMITH_TEST_MACHINE", machine),
            ])
            .start()
            .unwrap();
        until("they sleep", || with_argument(&seconds).len() == 3).await;
        let id = Pid::from_raw(host.id().try_into().unwrap()).unwrap();
        kill_process(id, Signal::KILL).unwrap();
        until("nothing is left", || with_argument(&seconds).is_empty()).await;
    }
}

#[tokio::test]
async fn other_launches_are_not_delayed() {
    let folder = tempfile::tempdir().unwrap();
    let slow = script("sleep 1000").sandbox(workspace(folder.path()));
    let slow = slow.start().unwrap();
    let begun = Instant::now();
    for _ in 0..10 {
        let launch = script("true").sandbox(workspace(folder.path()));
        assert!(launch.start().unwrap().wait().await.unwrap().success());
    }
    assert!(begun.elapsed() < PATIENCE);
    drop(slow);
}
