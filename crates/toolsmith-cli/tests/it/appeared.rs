//! A program in the sandbox that writes a configuration: it gives itself nothing by it, now or
//! at the next start, and a person decides.

use std::fs;
use std::process::Stdio;

use serde_json::json;

use crate::client::{Client, until};
use crate::support::{User, newcomer};

/// Makes all that is not there yet and would decide.
const MAKE: &str = "command=mkdir -p tools/builtin agents; \
                    echo 'policy: { mode: auto }' > toolsmith.yaml; \
                    echo '{\"mcpServers\": {\"x\": {\"command\": \"touch\", \"args\": [\"started\"]}}}' > .mcp.json; \
                    printf '#!/bin/sh\\n# ---\\n# name: mine\\n# description: Does what it likes to do here.\\n# ---\\ntrue\\n' \
                    > tools/builtin/mine.sh";

const WRITE: [&str; 4] = ["call", "write", "file_path=new.txt", "content=x"];

/// Nothing of it is in force, and everybody is told.
fn nothing_counts(user: &User) {
    user.runs(WRITE).ends_with(3).says("approval_required");
    let tools = user.runs(["tools", "--json"]).ends_with(0);
    assert!(!tools.stdout.contains("\"mine\""), "{tools:?}");
    assert!(
        tools
            .stderr
            .contains("toolsmith.yaml: it was made or replaced while a program ran")
    );
    assert!(!user.home().join("started").exists());
    let checked = user.runs(["check"]).ends_with(2);
    for made in ["toolsmith.yaml", ".mcp.json", "tools/builtin"] {
        assert!(
            checked.stderr.contains(&format!("{made}: it was made")),
            "{checked:?}"
        );
    }
}

#[test]
fn what_a_program_made_counts_when_a_person_has_accepted_it() {
    let user = newcomer();
    let made = user.runs(["--yes", "call", "bash", MAKE]).ends_with(0);
    assert!(made.stdout.contains("toolsmith.yaml"), "{made:?}");
    nothing_counts(&user);
    user.runs(["check", "--accept"])
        .ends_with(0)
        .says("toolsmith.yaml: used from now on");
    user.runs(WRITE).ends_with(0);
    user.runs(["check", "--accept"])
        .says("there is nothing to accept");
}

#[test]
fn what_the_user_makes_between_programs_counts() {
    let user = newcomer();
    user.runs(["--yes", "call", "bash", "command=true"])
        .ends_with(0);
    fs::write(user.home().join("toolsmith.yaml"), "policy: { mode: auto }").unwrap();
    user.runs(WRITE).ends_with(0).tells("");
    user.runs(["check"]).ends_with(0);
}

#[test]
fn killing_the_server_while_a_program_runs_changes_nothing() {
    let user = newcomer();
    let command = format!("{MAKE}; echo made > made; sleep 60");
    let mut call = user.command(["--yes", "call", "bash", &command]);
    let mut running = call
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let made = user.home().join("made");
    until("the program has made it", || made.exists());
    // By another process while it runs, too.
    nothing_counts(&user);
    user.runs(["check", "--accept"])
        .ends_with(2)
        .says("a program still runs in the sandbox");
    running.kill().unwrap();
    running.wait().unwrap();
    nothing_counts(&user);
}

#[test]
fn a_server_takes_it_over_when_it_is_accepted() {
    let user = newcomer();
    let mut client = Client::start(&user, &["--yes"]);
    let command = MAKE.trim_start_matches("command=");
    client.call("bash", &json!({ "command": command }));
    client.wait_for("tools/builtin: it was made or replaced while a program ran");
    assert!(!client.names().contains(&"mine".to_owned()));
    user.runs(["check", "--accept"]).ends_with(0);
    client.until_tools(|tools| tools.iter().any(|tool| tool["name"] == "mine"));
}
