//! Programs that tools run, through the binary: what they see, what is told of them, and
//! what is left of them when the server goes, in whatever way.

use std::fs;

use serde_json::{Value, json};

use crate::client::{Client, until};
use crate::support::newcomer;

/// The shape of a key, which is nobody's.
const KEY: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

/// The processes whose environment holds a mark.
pub(crate) fn living(mark: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let pair = format!("MARK={mark}");
    let is_marked = |id: &u32| {
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|each| each == pair.as_bytes())
    };
    ids.filter(is_marked).collect()
}

/// What a model reads.
fn text(answer: &Value) -> String {
    let blocks = answer["content"].as_array().unwrap();
    let texts: Vec<&str> = blocks
        .iter()
        .filter_map(|block| block["text"].as_str())
        .collect();
    texts.join("\n")
}

#[test]
fn a_command_runs_in_a_sandbox_and_is_told_of() {
    let user = newcomer().having("a.txt", "one\n");
    let ran = user.runs([
        "--yes",
        "--json",
        "call",
        "bash",
        "command=cat a.txt; echo x > new",
    ]);
    let outcome = ran.ends_with(0).json();
    assert_eq!(outcome["content"][0]["text"], "one");
    for fact in [
        "command",
        "execution_time",
        "exit_code",
        "stdout_length",
        "sandbox",
        "cwd",
        "session_id",
    ] {
        assert!(!outcome["metadata"][fact].is_null(), "{fact}: {outcome}");
    }
    assert_eq!(fs::read_to_string(user.home().join("new")).unwrap(), "x\n");
    let outside = tempfile::tempdir().unwrap();
    let command = format!("command=echo x > {}/file", outside.path().display());
    let ran = user.runs(["--yes", "call", "bash", &command]).ends_with(1);
    assert!(ran.stdout.contains("this may be the sandbox"), "{ran:?}");
    assert!(fs::read_dir(outside.path()).unwrap().next().is_none());
    let late = [
        "--yes",
        "call",
        "bash",
        "command=echo begun; sleep 60",
        "timeout=1000",
    ];
    let ran = user.runs(late).ends_with(124);
    assert!(ran.stdout.starts_with("begun\n"), "{ran:?}");
    // Nobody is asked, so nothing runs.
    user.runs(["call", "bash", "command=true"]).ends_with(3);
}

#[test]
fn no_secret_of_the_parent_is_seen_or_told() {
    let user = newcomer()
        .with("GITHUB_TOKEN", KEY)
        .with("XDG_SECRET", "open-sesame-open-sesame")
        .with("LD_PRELOAD_X", "1")
        .having("key.txt", KEY);
    let ran = user.runs([
        "--yes",
        "--json",
        "call",
        "bash",
        "command=env; cat /proc/$PPID/environ; cat key.txt",
    ]);
    for said in [&ran.stdout, &ran.stderr] {
        assert!(
            !said.contains(KEY) && !said.contains("GITHUB_TOKEN"),
            "{said}"
        );
        assert!(
            !said.contains("open-sesame") && !said.contains("LD_PRELOAD_X"),
            "{said}"
        );
    }
    assert!(ran.stdout.contains("NO_COLOR=1"), "{}", ran.stdout);
    // The file that a long output is kept in holds none either.
    let command = "command=seq 20000; cat key.txt; echo; seq 10";
    let outcome = user
        .runs(["--yes", "--json", "call", "bash", command])
        .ends_with(0)
        .json();
    let path = outcome["metadata"]["full_output_path"].as_str().unwrap();
    let kept = fs::read_to_string(path).unwrap();
    assert!(kept.starts_with("1\n2\n") && kept.ends_with("\n9\n10\n"));
    assert!(!kept.contains(KEY));
    // And a tool may read it.
    let path = format!("file_path={path}");
    let ran = user.runs(["call", "read", &path, "limit=2"]).ends_with(0);
    assert!(ran.stdout.contains("lines 1-2 of 20011"), "{ran:?}");
}

#[test]
fn a_server_that_ends_or_is_killed_leaves_nothing() {
    for is_killed in [false, true] {
        let user = newcomer();
        // A server that is killed leaves the temporary folders of its programs behind.
        let temporary = user.home().join("temporary");
        fs::create_dir(&temporary).unwrap();
        let user = user.with("TMPDIR", temporary.to_str().unwrap());
        let mut client = Client::start(&user, &["--mode", "auto"]);
        let mark = format!("{}-{is_killed}", std::process::id());
        let commands = [
            "sleep 1000 & setsid -f sleep 1000; sleep 1000",
            "trap '' TERM HUP INT; ( setsid bash -c 'trap \"\" TERM; while :; do sleep 1; done' & ) ; while :; do sleep 1; done",
        ];
        for command in commands {
            let arguments =
                json!({ "command": command, "run_in_background": true, "env": { "MARK": mark } });
            let answer = client.call("bash", &arguments);
            assert!(text(&answer).contains("started as job"), "{answer}");
        }
        until("all of them run", || living(&mark).len() >= 6);
        match is_killed {
            true => drop(client),
            false => drop(client.end()),
        }
        until("nothing of them runs", || living(&mark).is_empty());
    }
}

#[test]
fn jobs_of_a_server_are_read_and_ended() {
    let user = newcomer();
    let mut client = Client::start(&user, &["--mode", "auto"]);
    let arguments =
        json!({ "command": "read -r line; echo \"<$line>\"", "run_in_background": true });
    let answer = client.call("bash", &arguments);
    assert_eq!(answer["structuredContent"]["id"], "1", "{answer}");
    client.call("shell_input", &json!({ "id": "1", "text": "hello\n" }));
    let answer = client.call("shell_output", &json!({ "id": "1", "wait_ms": 20_000 }));
    assert!(text(&answer).contains("<hello>"), "{answer}");
    let answer = client.call("shell_list", &json!({}));
    assert!(text(&answer).starts_with("1\t"), "{answer}");
    client.end();
}
