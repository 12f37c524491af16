//! Ctrl-C and SIGTERM end a call, and the call is answered.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::{Ran, User, user};

struct Running {
    child: Child,
    stderr: BufReader<ChildStderr>,
}

impl Running {
    /// Starts it, and waits until a line of its log says so.
    fn start(user: &User, words: &[&str], log: &str) -> Self {
        let mut child = user.command([words, &["-vvv"]].concat()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let mut running = Self { child, stderr };
        running.wait_for(log);
        running
    }

    fn wait_for(&mut self, log: &str) {
        let mut line = String::new();
        while !line.contains(log) {
            line.clear();
            let read = self.stderr.read_line(&mut line).unwrap();
            assert_ne!(read, 0, "it ended before it said {log:?}");
        }
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).unwrap();
    }

    fn end(mut self) -> Ran {
        let mut stderr = String::new();
        self.stderr.read_to_string(&mut stderr).unwrap();
        let output = self.child.wait_with_output().unwrap();
        Ran {
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr,
            status: output.status.code(),
        }
    }
}

#[test]
fn a_signal_cancels_the_call_and_it_is_answered() {
    for signal in [Signal::INT, Signal::TERM] {
        let user = user();
        let call = [
            "call",
            "example_sleep",
            "ms=86000000",
            "--timeout",
            "1h",
            "--json",
        ];
        let running = Running::start(&user, &call, "Tool called: example_sleep");
        running.signal(signal);
        let ran = running.end();
        assert_eq!(ran.status, Some(130), "{signal:?} {ran:#?}");
        let reply = ran.json();
        assert_eq!(reply["error"]["code"], "cancelled", "{signal:?}");
        assert_eq!(reply["facts"]["tool"], "example_sleep");
    }
}

#[test]
fn a_signal_cancels_a_whole_batch_and_every_call_is_answered() {
    let line = "{\"name\":\"example_sleep\",\"arguments\":{\"ms\":86000000}}\n";
    let user = user().having("calls", line.repeat(100));
    let batch = ["batch", "calls", "--as", "envelope", "--timeout", "1h"];
    let running = Running::start(&user, &batch, "Tool called: example_sleep");
    running.signal(Signal::INT);
    let ran = running.end();
    assert_eq!(ran.status, Some(130), "{ran:#?}");
    let replies = ran.lines();
    assert_eq!(replies.len(), 100);
    for reply in replies {
        assert_eq!(reply["error_type"], json!("cancelled"), "{reply}");
    }
}

/// With a long grace the first signal only asks; the second does not wait for it.
#[test]
fn a_second_signal_ends_it_at_once() {
    let user = user().having("toolsmith.yaml", "limits: { grace: 1h, longest: 10h }\n");
    let call = ["call", "example_sleep", "ms=86000000", "--timeout", "1h"];
    let mut running = Running::start(&user, &call, "Tool called: example_sleep");
    running.signal(Signal::INT);
    running.wait_for("interrupted: stopping; once more ends it at once");
    running.signal(Signal::INT);
    let ran = running.end();
    assert_eq!(ran.status, Some(130), "{ran:#?}");
    assert_eq!(ran.stdout, "");
}
