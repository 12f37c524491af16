//! `check`, and what a broken configuration does to every command. The configurations
//! themselves are tested where they are read.

use serde_json::json;

use crate::support::{newcomer, user};

#[test]
fn a_good_configuration_is_told_in_one_line() {
    newcomer()
        .runs(["check"])
        .ends_with(0)
        .tells("")
        .prints("no configuration file: 31 tools, 0 findings\n");
    let user = user().having("toolsmith.yaml", "policy: { deny: ['example_delete'] }\n");
    user.runs(["check"])
        .ends_with(0)
        .tells("")
        .prints("./toolsmith.yaml: 39 tools, 0 findings\n");
    assert_eq!(
        user.runs(["check", "--json", "--strict"])
            .ends_with(0)
            .json(),
        json!({ "file": "./toolsmith.yaml", "tools": 39, "servers": [], "errors": [], "findings": [], "ok": true })
    );
}

#[test]
fn findings_are_warnings_until_somebody_is_strict() {
    let user = user().having(
        "toolsmith.yaml",
        "bindings: { nothing: { timeout: 1s } }\n\
         policy: { deny: [nobody, 'example_delete(nmae: x)'] }\n",
    );
    let findings = [
        "bindings: \"nothing\" names no tool",
        "policy: rule `deny nobody` names no tool",
        "policy: no tool of rule `deny example_delete(nmae: x)` has an argument `nmae`",
    ];
    let told = |mark: &str| -> String {
        findings
            .iter()
            .map(|finding| format!("{mark}: {finding}\n"))
            .collect()
    };
    let line = "./toolsmith.yaml: 39 tools, 3 findings\n";
    user.runs(["check"])
        .ends_with(0)
        .tells(&told("warning"))
        .prints(line);
    user.runs(["check", "--strict"])
        .ends_with(2)
        .tells(&told("error"))
        .prints(line);
    assert_eq!(
        user.runs(["check", "--strict", "--json"])
            .ends_with(2)
            .json(),
        json!({ "file": "./toolsmith.yaml", "tools": 39, "servers": [], "errors": [], "findings": findings, "ok": false })
    );
}

#[test]
fn servers_that_cannot_be_used_are_errors() {
    let user = newcomer()
        .having("toolsmith.yaml", "servers:\n  a: { command: b }\n")
        .having(
            ".mcp.json",
            r#"{"mcpServers": {"a": {"command": "c"}, "b c": {"command": "d"}, "e": {"url": "http://h"}}}"#,
        );
    let error = "./.mcp.json: mcpServers.b c: \"b c\" is no name for a server: it takes 1 to 40 \
        letters, digits, `_` and `-`, without `__`; try `b-c`";
    let warning = "./.mcp.json: server `a` is not used: ./toolsmith.yaml:2:3 has that name first";
    user.runs(["check"])
        .ends_with(2)
        .tells(&format!("error: {error}\nwarning: {warning}\n"))
        .prints("./toolsmith.yaml: 31 tools, 2 servers, 1 error, 1 finding\n");
    assert_eq!(
        user.runs(["check", "--json"]).ends_with(2).json(),
        json!({
            "file": "./toolsmith.yaml",
            "tools": 31,
            "servers": ["a", "e"],
            "errors": [error],
            "findings": [warning],
            "ok": false,
        })
    );
    // What is not about the rest leaves the rest alone.
    user.runs(["tools"]).ends_with(0);
}

#[test]
fn a_broken_configuration_stops_every_command_with_the_place() {
    let user = user().having("toolsmith.yaml", "limits:\n  timeout: soon\n");
    for words in [
        &["check"][..],
        &["tools"],
        &["show", "example_add"],
        &["call", "example_add", "a=1", "b=2"],
        &["batch"],
    ] {
        user.runs(words).ends_with(2).prints("").tells(
            "error: ./toolsmith.yaml:2:12: \"soon\" is no duration; write a number and a unit, \
             such as `500ms`, `30s`, `5m` or `2h`\n  \
             |\n2 |   timeout: soon\n  |            ^\n",
        );
    }
}

#[test]
fn a_file_somebody_asked_for_must_be_there() {
    let user = newcomer();
    user.runs(["check", "--config", "none.yaml"])
        .ends_with(2)
        .prints("")
        .tells("error: none.yaml: there is no such file\n");
    user.runs(["check", "--config", "."])
        .ends_with(2)
        .tells("error: .: it is a folder\n");
}
