//! Readers that leave early, and nothing but data on stdout.

use std::io::Read;
use std::process::Stdio;

use crate::support::user;

/// As `| head -c 1` does it: one byte is read, then the pipe is closed.
#[test]
fn a_reader_that_leaves_is_no_fault() {
    let mut lines = String::new();
    for _ in 0..2000 {
        lines.push_str("{\"name\":\"example_echo\",\"arguments\":{\"text\":\"some text\"}}\n");
    }
    let user = user().having("calls", lines);
    for words in [
        &["batch", "calls"][..],
        &["tools", "--json"],
        &["call", "example_flood", "bytes=1000000"],
        &["completions", "bash"],
        &["--help"],
    ] {
        let mut child = user.command(words).spawn().unwrap();
        let mut first = [0];
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut first).unwrap();
        drop(stdout);
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{words:?} {stderr}");
        assert_eq!(stderr, "", "{words:?}");
    }
}

/// Whatever goes wrong, stdout holds JSON where JSON was asked for.
#[test]
fn stderr_gone_stops_nothing() {
    let output = user()
        .command(["call", "example_panic", "--json", "-vvv"])
        .stderr(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["error"]["code"], "internal");
}
