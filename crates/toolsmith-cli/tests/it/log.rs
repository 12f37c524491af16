//! `toolsmith log`: what was called is shown, chosen, counted, drawn and followed.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Ran, User, newcomer, user};

/// A user who has made some calls.
fn experienced() -> User {
    let user = user();
    user.runs(["call", "example_add", "a=2", "b=3"])
        .ends_with(0);
    user.runs(["call", "example_echo", "text=hello"])
        .ends_with(0);
    user.runs(["call", "example_ad", "a=2"]).ends_with(1);
    user.runs(["call", "example_add", "a=x", "b=3"]);
    user.runs(["--deny", "example_echo", "call", "example_echo", "text=no"])
        .ends_with(3);
    user
}

fn lines(ran: &Ran) -> Vec<&str> {
    ran.stdout.lines().collect()
}

/// The file of the only project.
fn file(user: &User) -> PathBuf {
    let records = user.home().join("state/toolsmith/records");
    let mut projects = std::fs::read_dir(records).unwrap();
    projects.next().unwrap().unwrap().path().join("calls.jsonl")
}

#[test]
fn calls_are_recorded_and_shown() {
    let user = experienced();
    let ran = user.runs(["log"]).ends_with(0).tells("");
    let lines = lines(&ran);
    assert_eq!(lines.len(), 5, "{ran:#?}");
    let words = |line: &str| -> Vec<String> {
        let words = line.split_whitespace().skip(2);
        let words = words.enumerate().filter(|(at, _)| *at != 1);
        words.take(3).map(|(_, word)| word.to_owned()).collect()
    };
    assert_eq!(words(lines[0]), ["ok", "example_add", "cli"]);
    assert!(lines[0].ends_with(r#"{"a":2,"b":3}"#), "{}", lines[0]);
    assert_eq!(words(lines[2]), ["failed", "example_ad", "cli"]);
    assert!(lines[2].contains("unknown_tool: "), "{}", lines[2]);
    assert_eq!(words(lines[4]), ["denied", "example_echo", "cli"]);
}

#[test]
fn records_are_chosen_by_what_they_say() {
    let user = experienced();
    for (options, count) in [
        (vec!["--tool", "example_add"], 2),
        (vec!["--tool", "example_*"], 5),
        (vec!["--source", "builtin"], 4),
        (vec!["--source", "mcp"], 0),
        (vec!["--caller", "cli"], 5),
        (vec!["--caller", "somebody"], 0),
        (vec!["--failed"], 3),
        (vec!["--denied"], 1),
        (vec!["--since", "1h"], 5),
        (vec!["--since", "2020-01-31"], 5),
        (vec!["--since", "2999-01-31T00:00:00Z"], 0),
        (vec!["--last", "2"], 2),
        (vec!["--last", "0"], 5),
        (vec!["--failed", "--last", "1"], 1),
    ] {
        let mut arguments = vec!["log"];
        arguments.extend(&options);
        let ran = user.runs(arguments).ends_with(0);
        assert_eq!(lines(&ran).len(), count, "{options:?}: {ran:#?}");
        if count == 0 {
            assert!(ran.stderr.contains("No recorded call of "), "{ran:#?}");
        }
    }
    for options in [
        ["--since", "yesterday"],
        ["--tool", "[x"],
        ["--last", "some"],
    ] {
        let mut arguments = vec!["log"];
        arguments.extend(&options);
        let ran = user.runs(arguments).ends_with(2);
        assert!(ran.stderr.contains(options[0]), "{ran:#?}");
    }
}

#[test]
fn json_is_what_is_stored() {
    let user = experienced();
    let ran = user.runs(["log", "--json"]).ends_with(0).tells("");
    assert_eq!(ran.stdout, std::fs::read_to_string(file(&user)).unwrap());
    let first: Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(first["v"], 1);
    assert_eq!(first["decision"]["allowed"], true);
    assert_eq!(first["result"], "5");
}

#[test]
fn tools_are_counted_and_drawn() {
    let user = experienced();
    let ran = user.runs(["log", "--summary", "--json"]).ends_with(0);
    let counted = ran.json();
    let of = |at: usize| {
        let tool = &counted[at];
        json!([
            tool["tool"],
            tool["calls"],
            tool["failures"],
            tool["denied"]
        ])
    };
    assert_eq!(of(0), json!(["(no such tool)", 1, 1, 0]), "{counted}");
    assert_eq!(of(1), json!(["example_add", 2, 1, 0]));
    assert_eq!(of(2), json!(["example_echo", 2, 1, 1]));
    assert_eq!(counted[0]["durations"], Value::Null);
    assert!(counted[1]["durations"]["p99_us"].is_u64());
    let ran = user.runs(["log", "--summary"]).ends_with(0).tells("");
    let table = lines(&ran);
    assert_eq!(table.len(), 4);
    let columns: Vec<_> = table[0].split_whitespace().collect();
    let expected = ["tool", "calls", "failed", "denied", "p50", "p95", "p99"];
    assert_eq!(columns, expected);
    let ran = user.runs(["log", "--plot"]).ends_with(0).tells("");
    assert!(ran.stdout.starts_with("all tools: 2 calls\n"), "{ran:#?}");
    let is_plain = |c: char| c.is_ascii_graphic() || matches!(c, ' ' | '\n');
    assert!(ran.stdout.chars().all(is_plain), "{ran:#?}");
    assert!(lines(&ran).iter().all(|line| line.len() <= 80), "{ran:#?}");
    let ran = user.runs(["log", "--plot", "--tool", "example_*"]);
    assert!(ran.stdout.contains("example_echo: 1 call\n"), "{ran:#?}");
}

#[test]
fn no_records_are_no_error() {
    let user = newcomer();
    let ran = user.runs(["log"]).ends_with(0).prints("");
    assert!(ran.stderr.starts_with("No calls of "), "{ran:#?}");
    let ran = user.runs(["log", "--summary"]).ends_with(0).prints("");
    assert!(ran.stderr.contains("are recorded"), "{ran:#?}");
}

#[test]
fn a_torn_line_and_a_newer_record_are_told_of() {
    let user = experienced();
    let mut text = std::fs::read_to_string(file(&user)).unwrap();
    let newer = text.lines().next().unwrap().replace("\"v\":1", "\"v\":9");
    text.push_str(&newer);
    text.push_str("\n{\"v\":1,\"at\":\"20");
    std::fs::write(file(&user), text).unwrap();
    let ran = user.runs(["log"]).ends_with(0);
    assert_eq!(lines(&ran).len(), 5);
    assert_eq!(
        ran.stderr,
        "warning: 1 line that is no whole record was skipped (calls.jsonl, line 7); 1 record \
         was written by a newer toolsmith and skipped; use that one to read them\n"
    );
    // The next call is recorded all the same.
    user.runs(["call", "example_add", "a=1", "b=1"])
        .ends_with(0);
    assert_eq!(lines(&user.runs(["log"])).len(), 6);
}

#[test]
fn what_steers_a_terminal_is_spelled_out() {
    let user = user();
    let evil = "text=\u{1b}[31m\u{202e}x";
    user.runs(["call", "example_echo", evil]);
    let called = "\u{1b}]0;x\u{7}";
    user.runs(["call", called]);
    let ran = user.runs(["log"]).ends_with(0);
    assert!(!ran.stdout.contains('\u{202e}'), "{ran:#?}");
    assert_eq!(lines(&ran).len(), 2, "{ran:#?}");
}

#[test]
fn the_configuration_says_whether_and_what_is_recorded() {
    let user = user().having("toolsmith.yaml", "records: { enabled: false }\n");
    user.runs(["call", "example_echo", "text=hello"])
        .ends_with(0);
    user.runs(["log"]).ends_with(0).prints("");
    let user = user.having("toolsmith.yaml", "records: { keep_arguments: false }\n");
    user.runs(["call", "example_echo", "text=hello"])
        .ends_with(0);
    let ran = user.runs(["log", "--json"]);
    assert!(!ran.stdout.contains("hello"), "{ran:#?}");
    for wrong in ["{ files: 1 }", "{ bytes: 12 }", "{ enabeld: true }", "[]"] {
        let user = newcomer().having("toolsmith.yaml", format!("records: {wrong}\n"));
        let ran = user.runs(["check"]).ends_with(2);
        assert!(ran.stderr.contains("toolsmith.yaml:1:"), "{ran:#?}");
    }
}

#[cfg(unix)]
#[test]
fn what_cannot_be_recorded_is_told_once_and_the_calls_go_on() {
    let user = experienced();
    std::fs::remove_file(file(&user)).unwrap();
    std::fs::create_dir(file(&user)).unwrap();
    let calls = "{\"name\": \"example_echo\", \"arguments\": {\"text\": \"hi\"}}\n".repeat(5);
    let user = user.typing(calls);
    let ran = user.runs(["batch"]).ends_with(0);
    assert_eq!(lines(&ran).len(), 5);
    let warnings = ran.stderr.matches("calls go on without records").count();
    assert_eq!(warnings, 1, "{ran:#?}");
    let ran = user.runs(["log"]).ends_with(2);
    assert!(
        ran.stderr.contains("calls.jsonl: it is no regular file"),
        "{ran:#?}"
    );
    let mut command = user.command(["call", "example_echo", "text=hi"]);
    let homeless = command.env_remove("HOME").env_remove("XDG_STATE_HOME");
    let ran = Ran::from(homeless.output().unwrap()).ends_with(0);
    assert_eq!(
        ran.stderr,
        "warning: calls are not recorded: set HOME or XDG_STATE_HOME\n"
    );
}

/// A limit on the size of files ends a write in its middle, as a full disk does.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_once_and_leaves_whole_lines() {
    let call = "{\"name\": \"example_echo\", \"arguments\": {\"text\": \"hi\"}}\n";
    let user = user();
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" batch --sequential";
    let mut limited = user.command::<&str>([]);
    let program = limited.get_program().to_owned();
    let variables: Vec<_> = limited
        .get_envs()
        .map(|(name, value)| (name.to_owned(), value.unwrap().to_owned()))
        .collect();
    limited = std::process::Command::new("/bin/sh");
    let mut running = limited
        .args(["-c", script])
        .arg(program)
        .env_clear()
        .envs(variables)
        .current_dir(user.home())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = running.stdin.take().unwrap();
    stdin.write_all(call.repeat(60).as_bytes()).unwrap();
    drop(stdin);
    let ran = Ran::from(running.wait_with_output().unwrap()).ends_with(0);
    assert_eq!(lines(&ran).len(), 60, "every call was answered");
    let told = ran.stderr.matches("calls go on without records").count();
    assert_eq!(told, 1, "{}", ran.stderr);
    let before = user.runs(["log", "--json"]).ends_with(0);
    assert!(
        before.stderr.contains("1 line that is no whole record"),
        "{before:#?}"
    );
    let kept = lines(&before).len();
    assert!((1..60).contains(&kept), "{kept}");
    // With room again, the next one begins on a line of its own.
    let again = user.runs(["call", "example_add", "a=1", "b=2"]);
    again.ends_with(0).tells("");
    let after = user.runs(["log", "--json"]);
    assert_eq!(lines(&after).len(), kept + 1, "{after:#?}");
    let text = std::fs::read_to_string(file(&user)).unwrap();
    assert_eq!(text.lines().count(), kept + 2, "{text}");
}

#[test]
fn following_goes_on_across_rotation_and_ends_with_its_reader() {
    let user = experienced();
    let mut command = user.command(["log", "--follow", "--last", "1", "--json"]);
    let mut following = command.spawn().unwrap();
    let mut shown = BufReader::new(following.stdout.take().unwrap());
    let mut line = String::new();
    shown.read_line(&mut line).unwrap();
    assert!(line.contains("\"denied\"") || line.contains("permission_denied"));
    for n in 0..3 {
        // As a full file gives way.
        if n == 1 {
            let current = file(&user);
            std::fs::rename(&current, current.with_file_name("calls.1.jsonl")).unwrap();
        }
        let text = format!("text=number{n}");
        user.runs(["call", "example_echo", &text]).ends_with(0);
        line.clear();
        shown.read_line(&mut line).unwrap();
        assert!(line.contains(&format!("number{n}")), "{line}");
    }
    // Nothing more is written, and still it notices.
    drop(shown);
    let status = following.wait().unwrap();
    assert!(status.success(), "{status}");
}

#[test]
fn calls_of_a_server_are_recorded_before_they_are_answered() {
    let user = user();
    let mut command = user.command(["serve", "--stdio"]);
    let mut serving = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = serving.stdin.take().unwrap();
    let mut stdout = BufReader::new(serving.stdout.take().unwrap());
    let mut ask = |message: Value| {
        writeln!(stdin, "{message}").unwrap();
    };
    let client = json!({"name": "tests", "version": "1"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    ask(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}));
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    ask(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let meta = json!({"traceparent": parent});
    let call =
        json!({"name": "example_echo", "arguments": {"text": "served"}, "_meta": meta.clone()});
    ask(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}));
    line.clear();
    stdout.read_line(&mut line).unwrap();
    assert!(line.contains("served"), "{line}");
    // No time to say goodbye.
    serving.kill().unwrap();
    serving.wait().unwrap();
    let ran = user.runs(["log", "--json"]).ends_with(0).tells("");
    let record: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(record["result"], "served");
    assert_eq!(record["trace"], parent);
    let mut rest = String::new();
    let _ = stdout.read_to_string(&mut rest);
}
