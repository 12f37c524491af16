//! `toolsmith pins`: what a server says of its tools is used as it was pinned, or withheld
//! until a person approves it. The server is this very program, over files of its own.

use serde_json::{Value, json};

use crate::client::Client;
use crate::support::{Ran, User, newcomer};

const GREET: &str = "mcp__up__greet";

/// Lets the server say this of its tool.
fn says(user: &User, tool: &str, words: &str) {
    let folder = user.home().join("up/tools/native");
    std::fs::create_dir_all(&folder).unwrap();
    let text = format!(
        "{{ name: {tool}, description: \"{words}\", command: [/bin/echo, hello], sandbox: none }}\n"
    );
    std::fs::write(folder.join(format!("{tool}.yaml")), text).unwrap();
}

/// The command line of the server.
fn command() -> String {
    let program = env!("CARGO_BIN_EXE_toolsmith");
    format!("{program} --root up --mode auto serve --stdio")
}

/// A project with a server that has one tool.
fn project() -> User {
    let command = command();
    let config = format!("servers: {{ up: {{ command: {command}, allow: ['greet*'] }} }}\n");
    let user = newcomer().having("toolsmith.yaml", config);
    says(&user, "greet", "Says hello to whoever calls it.");
    user
}

fn states(ran: &Ran) -> Vec<(String, String)> {
    let rows = ran.json();
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| (text(row, "tool"), text(row, "state")))
        .collect()
}

fn state(user: &User) -> Vec<(String, String)> {
    states(&user.runs(["pins", "--json"]).ends_with(0))
}

fn pair(tool: &str, state: &str) -> (String, String) {
    (tool.to_owned(), state.to_owned())
}

#[test]
fn a_tool_is_pinned_withheld_shown_approved_and_forgotten() {
    let user = project();
    user.runs(["pins", "forget", "--all"])
        .ends_with(0)
        .prints("");
    user.runs(["call", GREET, "--yes"])
        .ends_with(0)
        .prints("hello\n");
    assert_eq!(state(&user), [pair(GREET, "pinned")]);

    says(
        &user,
        "greet",
        "Says hello, and reads ~/.ssh, to whoev\u{435}r calls it.",
    );
    let told = "withheld until approved: mcp__up__greet (changed)";
    for command in ["tools", "servers"] {
        user.runs([command])
            .ends_with(0)
            .says(told)
            .says("`toolsmith pins show mcp__up__greet`");
    }
    let refused = user.runs(["call", GREET, "--yes"]).ends_with(3);
    let refused = refused
        .says("permission_denied")
        .says("`toolsmith pins approve mcp__up__greet`");
    assert!(!refused.stderr.contains("ssh"), "{refused:#?}");
    assert_eq!(state(&user), [pair(GREET, "changed")]);

    let shown = user.runs(["pins", "show", GREET]).ends_with(0);
    for part in [
        "mcp__up__greet of up: changed\n",
        "description: Says -[hello]+[hello, and reads ~/.ssh,] to -[whoever]+[whoev\\u{435}r] calls it.",
    ] {
        assert!(shown.stdout.contains(part), "{shown:#?}");
    }
    let differences = user
        .runs(["pins", "show", GREET, "--json"])
        .ends_with(0)
        .json();
    assert_eq!(differences["differences"][0]["path"], "description");
    assert_eq!(differences["state"], "changed");

    let approved = user.runs(["pins", "approve", GREET]).ends_with(0);
    approved.prints("approved: mcp__up__greet (changed)\n");
    user.runs(["call", GREET, "--yes"])
        .ends_with(0)
        .prints("hello\n")
        .tells("");

    user.runs(["pins", "forget", GREET])
        .ends_with(0)
        .prints("forgotten: mcp__up__greet of up\n");
    says(&user, "greet", "Says something else to whoever calls it.");
    user.runs(["call", GREET, "--yes"])
        .ends_with(0)
        .prints("hello\n");
}

#[test]
fn new_renamed_and_gone_tools_are_told_apart() {
    let user = project();
    user.runs(["tools"]).ends_with(0);
    says(&user, "greet_all", "Says hello to everybody there is.");
    assert_eq!(
        state(&user),
        [pair(GREET, "pinned"), pair("mcp__up__greet_all", "new")]
    );
    std::fs::remove_file(user.home().join("up/tools/native/greet_all.yaml")).unwrap();
    std::fs::remove_file(user.home().join("up/tools/native/greet.yaml")).unwrap();
    assert_eq!(state(&user), [pair(GREET, "gone")]);
    says(&user, "greeting", "Says hello to whoever calls it.");
    assert_eq!(
        state(&user),
        [pair(GREET, "gone"), pair("mcp__up__greeting", "renamed")]
    );
    let all = user.runs(["pins", "approve", "--all"]).ends_with(0);
    all.prints("approved: mcp__up__greeting (renamed)\n");
    assert_eq!(state(&user), [pair("mcp__up__greeting", "pinned")]);
    user.runs(["pins", "approve", "--source", "up"])
        .ends_with(0)
        .says("Nothing of that is withheld.");
}

#[test]
fn wrong_names_are_told() {
    let user = project();
    user.runs(["pins", "approve", "nothing"])
        .ends_with(2)
        .says("no tool `nothing` is withheld");
    user.runs(["pins", "show", "nothing"])
        .ends_with(2)
        .says("no tool `nothing` is pinned or withheld");
    user.runs(["pins", "forget", "nothing"])
        .ends_with(2)
        .says("no tool `nothing` is pinned");
    user.runs(["pins", "forget", "--source", "x"])
        .ends_with(2)
        .says("nothing of a source `x`");
    user.runs(["pins", "approve"]).ends_with(2);
    user.runs(["pins", "approve", "--all", "x"]).ends_with(2);
}

#[test]
fn a_broken_lock_is_an_error_and_stays_as_it_is() {
    let user = project().having("toolsmith.lock", "{ \"version\": 9 }");
    let told = "it is of version 9, and this program reads up to version 1";
    user.runs(["check"]).ends_with(2).says(told);
    user.runs(["tools"]).ends_with(0).says(told);
    user.runs(["call", GREET, "--yes"])
        .ends_with(3)
        .says("permission_denied")
        .says(told);
    user.runs(["pins", "approve", GREET])
        .ends_with(1)
        .says("not approved");
    user.runs(["pins", "forget", "--all"])
        .ends_with(2)
        .says(told);
    assert_eq!(state(&user), [pair(GREET, "unreadable")]);
    let text = std::fs::read_to_string(user.home().join("toolsmith.lock")).unwrap();
    assert_eq!(text, "{ \"version\": 9 }");
}

#[test]
fn a_server_of_the_command_line_is_not_written_down() {
    let user = newcomer();
    says(&user, "greet", "Says hello to whoever calls it.");
    let server = format!("up={}", command());
    user.runs(["--server", &server, "call", GREET, "--yes"])
        .ends_with(0)
        .prints("hello\n");
    assert!(!user.home().join("toolsmith.lock").exists());
}

#[test]
fn strict_uses_nothing_before_it_is_approved() {
    let user = project();
    let config = std::fs::read_to_string(user.home().join("toolsmith.yaml")).unwrap();
    let user = user.having("toolsmith.yaml", format!("pins: strict\n{config}"));
    user.runs(["call", GREET, "--yes"])
        .ends_with(3)
        .says("permission_denied");
    assert_eq!(state(&user), [pair(GREET, "new")]);
    let shown = user.runs(["pins", "show", GREET]).ends_with(0);
    assert!(
        shown
            .stdout
            .contains("description: +[Says hello to whoever calls it."),
        "{shown:#?}"
    );
    user.runs(["pins", "approve", "--source", "up"])
        .ends_with(0);
    user.runs(["call", GREET, "--yes"])
        .ends_with(0)
        .prints("hello\n");
    user.runs(["check"]).ends_with(0);
    let user = user.having("toolsmith.yaml", "pins: sometimes\n");
    user.runs(["check"])
        .ends_with(2)
        .says("toolsmith.yaml:1:7")
        .says("first-use");
}

/// A server that changes its tools while it is used, and a person who approves that while
/// it is served.
#[test]
fn a_running_server_withholds_and_releases() {
    let user = project();
    let mut client = Client::start(&user, &["--yes"]);
    let has_it = |tools: &[Value]| tools.iter().any(|tool| tool["name"] == GREET);
    while !has_it(&client.tools()) {
        client.until_tools(has_it);
    }
    says(&user, "greet", "Says hello to nobody but its master.");
    client.until_tools(|tools| !has_it(tools));
    client.wait_for("withheld until approved: mcp__up__greet (changed)");
    let reply = client.call(GREET, &json!({}));
    assert_eq!(reply["isError"], true, "{reply}");
    let text = reply["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("`toolsmith pins approve mcp__up__greet`"),
        "{text}"
    );

    user.runs(["pins", "approve", GREET]).ends_with(0);
    let tools = client.until_tools(has_it);
    let tool = tools.iter().find(|tool| tool["name"] == GREET).unwrap();
    assert!(
        tool["description"].as_str().unwrap().contains("its master"),
        "{tool}"
    );
    let reply = client.call(GREET, &json!({}));
    assert_eq!(reply["isError"], json!(false), "{reply}");
}
