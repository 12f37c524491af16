//! `toolsmith doctor` and `toolsmith sets`: what there is, and how it is doing.

use std::io::{Read, Write};
use std::net::TcpListener;

use serde_json::Value;

use crate::support::{User, newcomer};

fn put(user: &User, path: &str, content: &str) {
    let path = user.home().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

/// What was tried: its sort, which one, and whether it is well.
fn tried(user: &User, status: i32) -> Vec<(String, String, bool)> {
    let run = user.runs(["doctor", "--json"]).ends_with(status);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["ok"], status == 0, "{report}");
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let rows = report["findings"].as_array().unwrap().iter();
    let row = |row: &Value| {
        assert_eq!(row["ok"] == true, row["advice"].is_null(), "{row}");
        (text(row, "sort"), text(row, "what"), row["ok"] == true)
    };
    rows.map(row).collect()
}

#[test]
fn a_folder_without_anything_is_well() {
    let user = newcomer();
    let tried = tried(&user, 0);
    let others: Vec<_> = tried
        .iter()
        .filter(|(sort, ..)| sort != "sandbox")
        .collect();
    assert_eq!(others.len(), 1, "{tried:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_layers_of_the_sandbox_and_the_modes_are_told() {
    let user = newcomer();
    put(&user, "toolsmith.yaml", "sandbox: { mode: read-only }\n");
    let run = user.runs(["doctor"]).ends_with(0);
    let lines: Vec<&str> = run
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("ok   sandbox   "))
        .collect();
    let begins = [
        "landlock: version ",
        "seccomp: system calls can be filtered",
        "namespaces: ",
        "read-only (as configured): programs run",
        "workspace-write: programs run",
        "full: programs run",
    ];
    assert_eq!(lines.len(), begins.len(), "{run:?}");
    for (line, begin) in lines.iter().zip(begins) {
        assert!(line.starts_with(begin), "{line}");
    }
}

#[test]
fn everything_the_files_name_is_tried() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let there = format!("http://{}", listener.local_addr().unwrap());
    // Taken and given back: nobody listens there.
    let gone = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let gone = format!("http://{gone}");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
        }
    });
    let user = newcomer().with("PATH", "/usr/bin:/bin");
    let api = |url: &str| format!("description: Asks an API for something.\napi_url: {url}\n");
    put(&user, "tools/native/there.yaml", &api(&there));
    put(&user, "tools/native/gone.yaml", &api(&gone));
    let secret = "auth_method: bearer\nauth: { token: '${env:NOT_SET_HERE}' }\n";
    put(&user, "tools/native/secret.yaml", &(api(&there) + secret));
    put(
        &user,
        "tools/native/has.yaml",
        "description: Runs a shell, which is there.\ncommand: [sh]\nsandbox: none\n",
    );
    put(
        &user,
        "tools/native/lacks.yaml",
        "description: Runs what is not there.\ncommand: [no-such-program]\nsandbox: none\n",
    );
    put(&user, "tools/native/broken.yaml", "name: [\n");
    put(&user, "tools/mcp/dead.yaml", "command: /bin/false\n");
    put(
        &user,
        "tools/mcp/off.yaml",
        "command: /bin/false\ndisabled: true\n",
    );
    put(&user, "configs/tool_sets/round.yaml", "tools: [round]\n");

    let tried = tried(&user, 2);
    let is = |sort: &str, what: &str| {
        let found = tried
            .iter()
            .find(|(each, which, _)| each == sort && which.contains(what));
        found
            .unwrap_or_else(|| panic!("no {sort} {what} in {tried:#?}"))
            .2
    };
    assert!(is("api", &there));
    assert!(!is("api", &gone));
    assert!(!is("secret", "secret.yaml"));
    assert!(is("program", "sh"));
    assert!(!is("program", "no-such-program"));
    assert!(!is("file", "broken.yaml"));
    assert!(!is("file", "round.yaml"));
    assert!(!is("server", "dead"));
    assert!(is("server", "off"));

    let run = user.runs(["doctor"]).ends_with(2);
    assert!(
        run.stdout.contains("→ set it in the environment"),
        "{run:?}"
    );
    assert!(run.stdout.contains("NOT_SET_HERE"), "{run:?}");
}

#[test]
fn sets_and_agents_are_listed_with_their_tools() {
    let user = newcomer();
    put(
        &user,
        "configs/tool_sets/looking.yaml",
        "tools: [read, grep]\n",
    );
    put(
        &user,
        "agents/one.yaml",
        "tool_sets: [looking]\ntools: [glob, read]\nmodel: a/b\n",
    );
    put(&user, "configs/tool_sets/round.yaml", "tools: [round]\n");
    let run = user.runs(["sets", "--json"]).ends_with(0);
    let rows: Value = serde_json::from_str(&run.stdout).unwrap();
    let names: Vec<&str> = rows
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| row["name"].as_str())
        .collect();
    assert_eq!(names, ["looking", "round", "one"]);
    assert_eq!(rows[0]["tools"], serde_json::json!(["read", "grep"]));
    assert!(
        rows[1]["error"].as_str().unwrap().contains("circle"),
        "{rows}"
    );
    assert_eq!(
        rows[2]["tools"],
        serde_json::json!(["read", "grep", "glob"])
    );
    assert_eq!(rows[2]["model"], "a/b");
    let run = user.runs(["sets"]).ends_with(0);
    assert!(
        run.stdout.contains("agent  one      read, grep, glob\n"),
        "{run:?}"
    );
}
