//! A run that was recorded is played again, byte for byte, with nothing behind it; and
//! tapes that cannot be recorded or played.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::client::Client;
use crate::mock::{self, Answer};
use crate::support::{Ran, User, newcomer};

const SHAPES: [&str; 5] = ["outcome", "result", "envelope", "message", "mcp"];

/// A folder with two MCP servers, a REST server and a command, and a count of what the
/// REST server was asked.
fn project() -> (User, Arc<AtomicUsize>) {
    let user = newcomer();
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let address = mock::serve(move |request| {
        counted.fetch_add(1, Ordering::Relaxed);
        match request.path.as_str() {
            path if path.starts_with("/large") => Answer::text(200, "many words ".repeat(20_000)),
            path if path.starts_with("/gone") => Answer::text(404, "there is no such city"),
            path => Answer::json(
                200,
                &json!({ "asked": path, "degrees": 0.1 + 0.2, "at": 1e21 }),
            ),
        }
    });
    let binary = env!("CARGO_BIN_EXE_toolsmith");
    for server in ["one", "two"] {
        let home = user.home().join(server);
        std::fs::create_dir(&home).unwrap();
        let home = home.display();
        let file = format!(
            "command: {binary}\nargs: [--root, {home}, serve, --stdio]\n\
             env: {{ MCP_INCLUDE_EXAMPLE_TOOLS: 'true', HOME: {home} }}\n"
        );
        write(&user, &format!("tools/mcp/{server}.yaml"), file);
    }
    for (name, path) in [
        ("weather", "/now"),
        ("history", "/large"),
        ("moon", "/gone"),
    ] {
        let file = format!(
            "name: {name}\ndescription: Tells the weather of a place.\n\
             api_url: http://{address}\npath: {path}\n\
             parameters: {{ properties: {{ city: {{ type: string }} }}, required: [city] }}\n"
        );
        write(&user, &format!("tools/native/{name}.yaml"), file);
    }
    let said = "{ name: say, description: 'Says a few words to whoever calls it.', \
                command: [/bin/echo, said], sandbox: none }\n";
    write(&user, "tools/native/say.yaml", said);
    write(&user, "note.txt", "one\ntwo\n");
    (user, asked)
}

/// Calls of every sort: of each source, that fail, that are refused, and one twice.
fn calls() -> String {
    let calls = [
        json!({ "name": "mcp__one__example_add", "arguments": { "a": 2, "b": 3.25 } }),
        json!({ "id": "mine", "name": "mcp__two__example_echo", "arguments": { "text": "h\u{e9}" } }),
        json!({ "name": "weather", "arguments": { "city": "Oslo" } }),
        json!({ "name": "weather", "arguments": { "city": "Bergen" } }),
        json!({ "name": "history", "arguments": { "city": "Oslo" } }),
        json!({ "name": "moon", "arguments": { "city": "Oslo" } }),
        json!({ "name": "say", "arguments": {} }),
        json!({ "name": "read", "arguments": { "file_path": "note.txt" } }),
        json!({ "name": "read", "arguments": { "file_path": "nothing.txt" } }),
        json!({ "name": "weather", "arguments": { "town": 1 } }),
        json!({ "name": "nobody", "arguments": {} }),
        json!({ "id": "again", "name": "mcp__one__example_add", "arguments": { "b": 3.25, "a": 2 } }),
    ];
    calls.iter().map(|call| format!("{call}\n")).collect()
}

fn write(user: &User, path: &str, content: impl AsRef<[u8]>) {
    let path = user.home().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

/// Takes away whatever a tool could be made of.
fn strip(user: &User) {
    std::fs::remove_dir_all(user.home().join("tools")).unwrap();
    std::fs::remove_file(user.home().join("note.txt")).unwrap();
}

#[test]
fn a_recorded_run_is_played_byte_for_byte_with_nothing_behind_it() {
    let (user, asked) = project();
    write(&user, "calls.jsonl", calls());
    let mut live: Vec<(Vec<&str>, Ran)> = Vec::new();
    for shape in SHAPES {
        let tape = format!("{shape}.tape");
        let words = [
            "--record",
            &tape,
            "--yes",
            "batch",
            "calls.jsonl",
            "--as",
            shape,
        ];
        let ran = user.runs(words).ends_with(1);
        live.push((vec!["batch", "calls.jsonl", "--as", shape], ran));
    }
    let words = [
        "--record",
        "call.tape",
        "--yes",
        "--json",
        "call",
        "weather",
        "city=Oslo",
    ];
    let one = user.runs(words).ends_with(0);
    assert!(one.stdout.contains("0.30000000000000004"), "{one:#?}");
    let before = asked.load(Ordering::Relaxed);
    strip(&user);
    for ((words, ran), shape) in live.iter().zip(SHAPES) {
        let tape = format!("{shape}.tape");
        let played = ["--replay", &tape, "--yes"]
            .into_iter()
            .chain(words.iter().copied());
        let played = user.runs(played).ends_with(1);
        assert_eq!(played.stdout, ran.stdout, "{shape}");
    }
    let words = [
        "--replay",
        "call.tape",
        "--yes",
        "--json",
        "call",
        "weather",
        "city=Oslo",
    ];
    assert_eq!(user.runs(words).ends_with(0).stdout, one.stdout);
    // The list is that of the tape too.
    let listed = user
        .runs(["--replay", "outcome.tape", "tools"])
        .ends_with(0);
    assert!(
        listed.stdout.contains("mcp__two__example_echo"),
        "{listed:#?}"
    );
    assert_eq!(
        asked.load(Ordering::Relaxed),
        before,
        "somebody asked the server"
    );
}

#[test]
fn policy_holds_for_what_is_played() {
    let (user, _) = project();
    let call = ["call", "weather", "city=Oslo"];
    let words = ["--record", "tape", "--yes"].into_iter().chain(call);
    user.runs(words).ends_with(0);
    strip(&user);
    let denied = ["--replay", "tape", "--yes", "--deny", "weather"];
    user.runs(denied.into_iter().chain(call))
        .ends_with(3)
        .says("permission_denied");
    // Nobody is there to be asked.
    user.runs(["--replay", "tape"].into_iter().chain(call))
        .ends_with(3);
    // The arguments are checked.
    let wrong = ["--replay", "tape", "--yes", "call", "weather", "town=Oslo"];
    user.runs(wrong).ends_with(1).says("invalid_parameters");
}

#[test]
fn a_call_that_was_not_recorded_is_told_apart() {
    let (user, _) = project();
    let record = ["--record", "tape", "--yes", "call", "weather", "city=Oslo"];
    user.runs(record).ends_with(0);
    let play = |more: &[&str], city: &str| {
        let words = [
            &["--replay", "tape", "--yes"],
            more,
            &["call", "weather", city],
        ]
        .concat();
        user.runs(words)
    };
    let other = play(&[], "city=Rome").ends_with(1);
    let other = other.says("`weather` was not recorded with these arguments");
    other.says("Oslo").prints("");
    let never = ["--replay", "tape", "--yes", "call", "say"];
    user.runs(never).ends_with(1).says("it was never called");
    let twice = "{\"name\":\"weather\",\"arguments\":{\"city\":\"Oslo\"}}\n".repeat(2);
    write(&user, "twice", twice);
    let batch = |more: &[&str]| {
        let words = [
            &["--replay", "tape", "--yes"],
            more,
            &["batch", "twice", "--sequential"],
        ];
        user.runs(words.concat())
    };
    let once = batch(&[]).ends_with(1);
    assert!(once.stdout.contains("and this is one more"), "{once:#?}");
    batch(&["--replay-order", "arguments"]).ends_with(0);
    let strict = batch(&["--replay-order", "strict"]).ends_with(1);
    assert!(
        strict.stdout.contains("all 1 recorded calls were made"),
        "{strict:#?}"
    );
}

#[test]
fn a_tape_is_served_to_clients() {
    let (user, asked) = project();
    write(&user, "calls.jsonl", calls());
    user.runs(["--record", "tape", "--yes", "batch", "calls.jsonl"])
        .ends_with(1);
    strip(&user);
    let before = asked.load(Ordering::Relaxed);
    let order = ["--replay", "tape", "--replay-order", "arguments", "--yes"];
    let mut client = Client::start(&user, &order);
    for _ in 0..3 {
        let answer = client.call("weather", &json!({ "city": "Oslo" }));
        assert_eq!(
            answer["structuredContent"]["asked"], "/now?city=Oslo",
            "{answer}"
        );
    }
    assert_eq!(asked.load(Ordering::Relaxed), before);
}

#[test]
fn tapes_that_cannot_be_used_are_told_why() {
    let user = newcomer().with("MCP_INCLUDE_EXAMPLE_TOOLS", "true");
    let call = ["call", "example_add", "a=1", "b=2"];
    let record = |file: &str| user.runs(["--record", file].into_iter().chain(call));
    let play = |file: &str| user.runs(["--replay", file].into_iter().chain(call));
    record("good").ends_with(0);
    let mode = std::fs::metadata(user.home().join("good"))
        .unwrap()
        .permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    play("good").ends_with(0);
    let good = std::fs::read_to_string(user.home().join("good")).unwrap();
    // None is written over.
    record("good")
        .ends_with(2)
        .says("good: there is a file already");
    assert_eq!(
        std::fs::read_to_string(user.home().join("good")).unwrap(),
        good
    );
    std::fs::create_dir(user.home().join("folder")).unwrap();
    let fifo = Command::new("mkfifo")
        .arg(user.home().join("fifo"))
        .status();
    assert!(fifo.unwrap().success());
    record("folder")
        .ends_with(2)
        .says("there is a file already");
    record("fifo").ends_with(2).says("there is a file already");
    record("nowhere/tape")
        .ends_with(2)
        .says("it cannot be written");
    let newer = good.replacen("\"toolsmith_tape\":1", "\"toolsmith_tape\":2", 1);
    let older = good.replacen("\"toolsmith_tape\":1", "\"toolsmith_tape\":0", 1);
    let mut lines: Vec<&str> = good.lines().collect();
    lines[3] = "{\"tool\": nothing}";
    for (name, content, expected) in [
        ("empty", "", "it is empty"),
        ("blank", "\n", "it is empty"),
        ("prose", "Dear diary,\n", "line 1: this is no tape"),
        ("other", "{\"a\":1}\n", "line 1: this is no tape"),
        (
            "newer",
            &*newer,
            "it has version 2, and this program reads version 1",
        ),
        (
            "older",
            &*older,
            "it has version 0, which is no longer read",
        ),
        ("corrupt", &*lines.join("\n"), "corrupt: line 4: "),
    ] {
        write(&user, name, content);
        play(name).ends_with(2).says(expected);
    }
    play("missing")
        .ends_with(2)
        .says("missing: there is no such file");
    play("folder").ends_with(2).says("folder: it is a folder");
    play("fifo")
        .ends_with(2)
        .says("fifo: it is no regular file");
    // A torn last line is left out.
    write(
        &user,
        "torn",
        format!("{good}{{\"call\":{{\"origin\":\"buil"),
    );
    play("torn")
        .ends_with(0)
        .says("the last line was torn and is left out");
    user.runs(["--record", "x", "tools"])
        .ends_with(2)
        .says("--record goes with");
    user.runs(["--replay", "good", "init"])
        .ends_with(2)
        .says("--replay goes with");
}

#[test]
fn a_full_disk_is_told_once_and_harms_no_call() {
    let user = newcomer().with("MCP_INCLUDE_EXAMPLE_TOOLS", "true");
    let call = ["call", "example_add", "a=1", "b=2"];
    // No file may be larger than its first lines.
    let script = "ulimit -f 8; trap '' XFSZ; exec \"$0\" \"$@\"";
    let mut command = Command::new("/bin/sh");
    let binary = env!("CARGO_BIN_EXE_toolsmith");
    command
        .args(["-c", script, binary, "--record", "tape"])
        .args(call);
    command
        .env_clear()
        .env("HOME", user.home())
        .current_dir(user.home());
    command.env("MCP_INCLUDE_EXAMPLE_TOOLS", "true");
    let ran = Ran::from(command.output().unwrap()).ends_with(0);
    assert_eq!(
        ran.stderr.matches("it is incomplete").count(),
        1,
        "{ran:#?}"
    );
    // What fits is whole, and can be played as far as it goes.
    let tape = std::fs::read_to_string(user.home().join("tape")).unwrap();
    assert!(tape.lines().count() > 1 && tape.ends_with('\n'));
    for line in tape.lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
    user.runs(["--replay", "tape", "tools"]).ends_with(0);
}

#[test]
fn no_secret_is_on_a_tape() {
    let (user, _) = project();
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let text = format!(
        "{{\"name\":\"mcp__one__example_echo\",\"arguments\":{{\"text\":\"{secret}\"}}}}\n"
    );
    write(&user, "calls.jsonl", text);
    let live = user
        .runs(["--record", "tape", "--yes", "batch", "calls.jsonl"])
        .ends_with(0);
    let tape = std::fs::read_to_string(user.home().join("tape")).unwrap();
    assert!(
        !tape.contains(&secret) && tape.contains("[redacted]"),
        "{tape}"
    );
    let played = user
        .runs(["--replay", "tape", "--yes", "batch", "calls.jsonl"])
        .ends_with(0);
    assert_eq!(played.stdout, live.stdout);
}
