//! Sets and agents: on every command, and at paths of their own.

use serde_json::{Value, json};

use super::{echo, remove, told, write};
use crate::client::{Client, Web, names, until};
use crate::support::{User, newcomer};

/// A folder with tools, a set and an agent that has a policy.
fn shared() -> User {
    let user = newcomer();
    for name in ["one", "two", "three"] {
        write(
            &user,
            &format!("tools/native/{name}.yaml"),
            echo(name, name),
        );
    }
    write(
        &user,
        "tools/builtin/four.sh",
        "#!/bin/sh\n# ---\n# name: four\n# description: A script with a header of its own, which says four.\n# sandbox: none\n# ---\necho four\n",
    );
    write(&user, "configs/tool_sets/pair.yaml", "tools: [two, one]\n");
    write(
        &user,
        "configs/tool_sets/all.yaml",
        "tools: [pair, 'th*', four]\n",
    );
    write(
        &user,
        "agents/careful.yaml",
        "tool_sets: [pair]\ntools: [four, one]\npolicy: { mode: auto, deny: [one] }\n",
    );
    write(
        &user,
        "agents/asking.yaml",
        "tools: [two]\npolicy: { mode: plan }\n",
    );
    user
}

#[test]
fn sets_and_agents_on_every_command() {
    let user = shared();
    let listed = |words: &[&str]| {
        let ran = user
            .runs([&["tools", "--json"], words].concat())
            .ends_with(0);
        names(ran.json().as_array().unwrap())
    };
    assert_eq!(listed(&["--set", "pair"]), ["two", "one"]);
    assert_eq!(listed(&["--set", "all"]), ["two", "one", "three", "four"]);
    assert_eq!(listed(&["--agent", "careful"]), ["two", "one", "four"]);

    user.runs(["show", "two", "--set", "pair"]).ends_with(0);
    user.runs(["show", "four", "--set", "pair"])
        .ends_with(1)
        .prints("");
    user.runs(["show", "read", "--agent", "careful"])
        .ends_with(1)
        .prints("");

    user.runs(["call", "two", "--set", "pair", "--yes"])
        .ends_with(0)
        .prints("two\n");
    user.runs(["call", "three", "--set", "pair", "--yes"])
        .ends_with(1)
        .prints("");
    user.runs(["call", "four", "--agent", "careful"])
        .ends_with(0)
        .prints("four\n");
    // Its policy holds, whatever else is said.
    user.runs(["call", "one", "--agent", "careful", "--yes"])
        .ends_with(3)
        .prints("");
    user.runs(["call", "one", "--agent", "careful", "--allow", "one"])
        .ends_with(3)
        .prints("");
    user.runs(["call", "two", "--agent", "asking", "--yes"])
        .ends_with(3)
        .prints("");
    user.runs(["call", "one", "--yes"])
        .ends_with(0)
        .prints("one\n");

    let calls = "{\"name\":\"two\",\"arguments\":{}}\n{\"name\":\"three\",\"arguments\":{}}\n";
    write(&user, "calls", calls);
    let ran = user
        .runs([
            "batch", "calls", "--as", "envelope", "--set", "pair", "--yes",
        ])
        .ends_with(1);
    let replies = ran.lines();
    assert_eq!(
        (&replies[0]["success"], &replies[1]["success"]),
        (&json!(true), &json!(false)),
        "{ran:#?}"
    );

    let guide = user
        .runs(["guide", "--agent", "careful"])
        .ends_with(0)
        .stdout;
    assert!(
        guide.contains("four") && !guide.contains("three"),
        "{guide}"
    );

    let mut client = Client::start(&user, &["--agent", "careful", "--yes"]);
    assert_eq!(client.names(), ["two", "one", "four"]);
    assert_eq!(told(&client.call("four", &json!({}))).trim(), "four");
    let refused = client.call("one", &json!({}));
    assert_eq!(refused["isError"], true, "{refused}");
    let unknown = client.call("three", &json!({}));
    assert!(!told(&unknown).trim().eq("three"), "{unknown}");
    client.end();

    let sets = user.runs(["sets", "--json"]).ends_with(0).json();
    let rows: Vec<(&str, &Value)> = sets
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["name"].as_str().unwrap(), &row["tools"]))
        .collect();
    assert!(
        rows.contains(&("careful", &json!(["two", "one", "four"]))),
        "{sets}"
    );
}

#[test]
fn sets_and_agents_have_paths() {
    let user = shared();
    let web = Web::start(&user, &["--yes"]);
    for path in ["sets/pair", "sets/all", "agents/careful", "agents/asking"] {
        assert!(
            web.said().contains(&format!("/mcp/{path}"))
                || web.status(&format!("/mcp/{path}")) == 200,
            "{path}"
        );
    }
    let pair = web.session("/mcp/sets/pair");
    assert_eq!(pair.names(), ["two", "one"]);
    assert_eq!(told(&pair.call("one", &json!({}))).trim(), "one");
    let beyond = pair.call("four", &json!({}));
    assert_ne!(told(&beyond).trim(), "four", "{beyond}");

    let careful = web.session("/mcp/agents/careful");
    assert_eq!(careful.names(), ["two", "one", "four"]);
    assert_eq!(told(&careful.call("two", &json!({}))).trim(), "two");
    let refused = careful.call("one", &json!({}));
    assert_eq!(refused["isError"], true, "{refused}");
    let asking = web.session("/mcp/agents/asking").call("two", &json!({}));
    assert_eq!(asking["isError"], true, "{asking}");

    // Elsewhere that policy says nothing.
    let whole = web.session("/mcp");
    assert!(whole.names().len() > 10);
    assert_eq!(told(&whole.call("one", &json!({}))).trim(), "one");

    for path in [
        "/mcp/sets/none",
        "/mcp/agents/pair",
        "/mcp/sets/../agents/careful",
        "/mcp/sets/pair%00",
        "/mcp/sets/",
        "/mcp/agents/careful/x",
        "/mcp/sets/PAIR",
    ] {
        assert_eq!(web.status(path), 404, "{path}");
    }
    // The session of one path is none at another.
    let stolen = web.post("/mcp", "Mcp-Session-Id: 00000000-0000-0000-0000-000000000000\r\nMcp-Protocol-Version: 2025-11-25\r\n", &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }));
    assert_eq!(stolen.status, 404);
}

#[test]
fn a_set_that_appears_is_a_path() {
    let user = shared();
    let web = Web::start(&user, &["--yes"]);
    assert_eq!(web.status("/mcp/sets/late"), 404);
    write(&user, "configs/tool_sets/late.yaml", "tools: [three]\n");
    until("there is a path", || web.status("/mcp/sets/late") == 200);
    let late = web.session("/mcp/sets/late");
    assert_eq!(late.names(), ["three"]);
    let mut listening = late.listen();
    write(
        &user,
        "configs/tool_sets/late.yaml",
        "tools: [three, four]\n",
    );
    listening.tools_changed();
    until("the set is larger", || late.names() == ["three", "four"]);
    // One that is broken meanwhile stays as it was.
    write(&user, "configs/tool_sets/late.yaml", "tools: [\n");
    until("it is told of", || web.said().contains("late.yaml:"));
    assert_eq!(late.names(), ["three", "four"]);
    remove(&user, "configs/tool_sets/late.yaml");
    until("the path is gone", || web.status("/mcp/sets/late") == 404);
}
