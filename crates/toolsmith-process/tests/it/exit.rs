//! How a child's exit is reported, and what it is given to exit by itself.

use std::os::unix::process::ExitStatusExt as _;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use toolsmith_process::Launch;

use crate::support::{PATIENCE, line, script, start, until};

#[tokio::test]
async fn a_child_that_exits_at_once() {
    let mut running = script("exit 3").start().unwrap();
    assert_eq!(running.wait().await.unwrap().code(), Some(3));
    assert_eq!(running.try_wait().unwrap().unwrap().code(), Some(3));
    let ending = running.end(PATIENCE).await;
    assert_eq!(ending.status.unwrap().code(), Some(3));
    assert!(ending.killed.is_empty() && ending.survived.is_empty());
}

#[tokio::test]
async fn a_child_killed_from_outside() {
    let mut running = Launch::new("/bin/cat").start().unwrap();
    assert!(running.try_wait().unwrap().is_none());
    let id = Pid::from_raw(running.id().try_into().unwrap()).unwrap();
    kill_process(id, Signal::KILL).unwrap();
    assert_eq!(running.wait().await.unwrap().signal(), Some(9));
}

#[tokio::test]
async fn a_child_that_exits_when_its_input_ends_is_not_killed() {
    let (running, mut lines) = start("echo ready; cat; exit 5");
    line(&mut lines).await;
    let begun = Instant::now();
    let ending = running.end(PATIENCE).await;
    assert_eq!(ending.status.unwrap().code(), Some(5));
    assert!(ending.killed.is_empty() && begun.elapsed() < PATIENCE);
}

#[tokio::test]
async fn a_child_that_listens_to_the_request_to_end() {
    let (running, mut lines) =
        start("trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done");
    line(&mut lines).await;
    let ending = running.end(Duration::from_millis(10)).await;
    assert_eq!(ending.status.unwrap().code(), Some(7));
}

#[tokio::test]
async fn what_a_child_said_last_is_there_when_it_has_ended() {
    let running = script("cat; echo last words >&2").start().unwrap();
    let stderr = running.stderr();
    running.end(PATIENCE).await;
    assert_eq!(stderr.text(), "last words\n");
}

#[tokio::test]
async fn a_future_dropped_half_way_ends_the_child() {
    let (running, mut lines) = start("trap '' TERM; echo ready; while :; do sleep 1; done");
    line(&mut lines).await;
    let id = running.id();
    let ending = running.end(PATIENCE);
    let late = tokio::time::timeout(Duration::from_millis(20), ending).await;
    assert!(late.is_err());
    until("the child is gone", || !crate::support::is_running(id)).await;
}
