//! Nothing that a child started outlives it, wherever it went.

use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use toolsmith_process::{Running, become_subreaper};

use crate::support::{PATIENCE, is_known, is_running, line, number, start, until};

const SHORT: Duration = Duration::from_millis(20);
const PROBE: &str = env!("CARGO_BIN_EXE_sandbox-probe");

/// Starts a script that prints the number of a descendant, and returns both.
async fn with_descendant(text: &str) -> (Running, u32) {
    let (running, mut lines) = start(text);
    let descendant = number(&mut lines).await;
    assert!(is_running(descendant), "{text}");
    (running, descendant)
}

#[tokio::test]
async fn a_child_that_ignores_the_request_to_end_is_killed() {
    let (running, mut lines) = start("trap '' TERM; echo ready; while :; do sleep 0.05; done");
    line(&mut lines).await;
    let id = running.id();
    let ending = running.end(SHORT).await;
    assert_eq!(ending.status.unwrap().signal(), Some(9));
    assert!(ending.killed.contains(&id) && ending.survived.is_empty());
    assert!(!is_known(id));
}

#[tokio::test]
async fn what_a_child_left_running_can_be_named() {
    let (mut running, descendant) = with_descendant("setsid sleep 1000 & echo $!; exit 3").await;
    let status = running.wait().await.unwrap();
    assert_eq!(status.code(), Some(3));
    until("it is called what it is", || {
        running.descendants() == [(descendant, "sleep".to_owned())]
    })
    .await;
    let ending = running.end(SHORT).await;
    assert_eq!(ending.killed, [descendant]);
}

/// Each prints the number of a process that tries to get away.
const ESCAPES: &[(&str, &str)] = &[
    ("a background child", "sleep 1000 & echo $!; cat"),
    (
        "one that ignores requests",
        "(trap '' TERM HUP; exec sleep 1000) & echo $!; cat",
    ),
    ("a session of its own", "setsid sleep 1000 & echo $!; cat"),
    (
        "a double fork",
        "(setsid sh -c 'sleep 1000 & echo $!') & cat",
    ),
    (
        "an empty environment in the same session",
        "env -i /bin/sleep 1000 & echo $!; cat",
    ),
    (
        "an empty environment below a marked parent",
        "setsid sh -c 'env -i /bin/sleep 1000 & echo $!; wait' & cat",
    ),
    (
        "its input, output and errors closed",
        "setsid sleep 1000 <&- >/dev/null 2>&- & echo $!; cat",
    ),
    (
        "a child that has exited already",
        "setsid sleep 1000 >/dev/null 2>&1 & echo $!",
    ),
];

#[tokio::test]
async fn descendants_die_with_the_child() {
    for (what, text) in ESCAPES {
        let (running, descendant) = with_descendant(text).await;
        let ending = running.end(SHORT).await;
        assert!(!is_running(descendant), "{what}");
        assert!(ending.survived.is_empty(), "{what}: {ending:?}");
    }
}

#[tokio::test]
async fn descendants_die_when_the_child_is_dropped() {
    for (what, text) in ESCAPES {
        let (running, descendant) = with_descendant(text).await;
        let id = running.id();
        drop(running);
        assert!(!is_running(descendant), "{what}");
        assert!(!is_known(id), "{what}: the child is a zombie");
    }
}

#[tokio::test]
async fn what_was_killed_is_told() {
    let (running, descendant) = with_descendant("setsid sleep 1000 & echo $!; cat").await;
    let ending = running.end(PATIENCE).await;
    assert!(ending.status.unwrap().success());
    assert!(ending.killed.contains(&descendant), "{ending:?}");
}

#[tokio::test]
async fn four_hundred_children_die() {
    let (running, mut lines) = start(
        "i=0; while [ $i -lt 400 ]; do sleep 1000 & echo $!; i=$((i+1)); done; echo ready; wait",
    );
    let mut children = Vec::new();
    for _ in 0..400 {
        children.push(number(&mut lines).await);
    }
    assert_eq!(line(&mut lines).await, "ready");
    let ending = running.end(SHORT).await;
    assert!(ending.survived.is_empty(), "{ending:?}");
    assert!(!children.iter().any(|child| is_running(*child)));
}

#[tokio::test]
async fn a_child_that_keeps_forking_is_overtaken() {
    let (running, mut lines) = start(
        "trap '' TERM; i=0; while [ $i -lt 3000 ]; do setsid sleep 1000 >/dev/null & \
         i=$((i+1)); [ $i -eq 20 ] && echo ready; done; cat",
    );
    line(&mut lines).await;
    let ending = running.end(Duration::ZERO).await;
    assert!(ending.survived.is_empty(), "{ending:?}");
    assert!(!ending.killed.iter().any(|id| is_running(*id)));
}

/// No session, parent or variable tells where such a process came from.
const HIDDEN: &str = "(env -i setsid /bin/sh -c '/bin/sleep 1000 >/dev/null 2>&1 & echo $!') & cat";

#[tokio::test]
async fn a_subreaper_finds_who_left_no_trace_and_leaves_no_zombie() {
    become_subreaper().unwrap();
    let (running, descendant) = with_descendant(HIDDEN).await;
    running.end(SHORT).await;
    // It goes with the last launch from which it can have come, maybe another test's.
    until("it is gone", || !is_known(descendant)).await;
}

#[tokio::test]
async fn a_mark_that_is_nobodys_hides_nobody() {
    become_subreaper().unwrap();
    let (running, descendant) = with_descendant(
        "(env TOOLSMITH_LAUNCH=0 setsid sh -c 'sleep 1000 >/dev/null 2>&1 & echo $!') & cat",
    )
    .await;
    running.end(SHORT).await;
    until("it is gone", || !is_known(descendant)).await;
}

#[tokio::test]
async fn a_process_whose_first_thread_has_ended_is_alive() {
    become_subreaper().unwrap();
    let (running, mut lines) = start(&format!("setsid {PROBE} leave-to-a-thread & cat"));
    let descendant = number(&mut lines).await;
    until("it looks dead", || !is_running(descendant)).await;
    let ending = running.end(SHORT).await;
    assert!(ending.killed.contains(&descendant), "{ending:?}");
    until("it is gone", || !is_known(descendant)).await;
}

#[tokio::test]
async fn a_look_without_a_free_descriptor_is_no_look() {
    let (mut running, mut lines) = start(&format!("exec {PROBE} drop-without-descriptors"));
    assert_eq!(line(&mut lines).await, "drop-without-descriptors=done");
    assert!(running.wait().await.unwrap().success());
}

#[tokio::test]
async fn one_launch_does_not_end_what_may_be_anothers() {
    become_subreaper().unwrap();
    let (first, mut lines) = start("echo ready; cat");
    line(&mut lines).await;
    let (second, descendant) = with_descendant(HIDDEN).await;
    first.end(SHORT).await;
    assert!(is_running(descendant));
    drop(second);
    until("it is gone", || !is_known(descendant)).await;
}

#[tokio::test]
async fn a_child_of_another_kind_is_left_alone() {
    become_subreaper().unwrap();
    let mut other = std::process::Command::new("/bin/sleep")
        .arg("1000")
        .spawn()
        .unwrap();
    let (running, _) = with_descendant("sleep 1000 & echo $!; cat").await;
    running.end(SHORT).await;
    assert!(is_running(other.id()));
    other.kill().unwrap();
    assert_eq!(other.wait().unwrap().signal(), Some(9));
}

#[tokio::test]
async fn a_child_that_is_stopped_may_end_by_itself_first() {
    let (running, mut lines) =
        start("trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.01; done");
    line(&mut lines).await;
    let ending = running.stop(PATIENCE).await;
    assert_eq!(ending.status.unwrap().code(), Some(3));
    assert_eq!(line(&mut lines).await, "bye");
}

#[tokio::test]
async fn stopping_reaches_what_a_child_left_behind() {
    let (mut running, descendant) =
        with_descendant("setsid sleep 1000 >/dev/null 2>&1 & echo $!").await;
    assert!(running.wait().await.unwrap().success());
    let ending = running.stop(PATIENCE).await;
    assert!(ending.killed.contains(&descendant), "{ending:?}");
    assert!(!is_running(descendant));
}
