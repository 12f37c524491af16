//! What the tests share: scripts, lines of output, and waiting for a condition.

use std::fs;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::ChildStdout;
use toolsmith_process::{Launch, Running};

/// Long enough for a machine under load; only a failing test takes as long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn script(text: &str) -> Launch {
    Launch::new("/bin/sh")
        .arguments(["-c", text])
        .environment([("PATH", "/usr/local/bin:/usr/bin:/bin")])
}

/// Starts a script and returns it with the lines it prints.
pub(crate) fn start(text: &str) -> (Running, Lines<BufReader<ChildStdout>>) {
    let mut running = script(text).start().unwrap();
    let lines = BufReader::new(running.take_stdout().unwrap()).lines();
    (running, lines)
}

pub(crate) async fn line(lines: &mut Lines<BufReader<ChildStdout>>) -> String {
    let line = tokio::time::timeout(PATIENCE, lines.next_line()).await;
    line.unwrap().unwrap().unwrap()
}

#[cfg(target_os = "linux")]
pub(crate) async fn number(lines: &mut Lines<BufReader<ChildStdout>>) -> u32 {
    line(lines).await.trim().parse().unwrap()
}

/// Waits until a condition holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Tells whether a process runs; a dead one that nobody took notice of does not.
pub(crate) fn is_running(id: u32) -> bool {
    state(id).is_some_and(|state| state != "Z" && state != "X")
}

/// Tells whether a process has left any trace.
#[cfg(target_os = "linux")]
pub(crate) fn is_known(id: u32) -> bool {
    state(id).is_some()
}

fn state(id: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(") ")?;
    Some(after_name.split(' ').next()?.to_owned())
}
