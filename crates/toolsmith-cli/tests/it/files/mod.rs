//! Tools, servers, sets and agents come and go with their files, while commands run and
//! while clients are served.

mod sets;

use std::net::SocketAddr;
use std::path::Path;

use serde_json::{Value, json};

use crate::client::{Client, Web, names, until};
use crate::mock::{self, Answer};
use crate::support::{Ran, User, newcomer};

fn write(user: &User, path: &str, content: impl AsRef<[u8]>) {
    let path = user.home().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

fn remove(user: &User, path: &str) {
    std::fs::remove_file(user.home().join(path)).unwrap();
}

/// A server that tells what it was asked for.
fn weather() -> SocketAddr {
    mock::serve(|request| {
        Answer::json(200, &json!({ "asked": request.path, "by": request.method }))
    })
}

fn weather_tool(address: SocketAddr, path: &str) -> String {
    format!(
        "name: weather\ndescription: Tells the weather of a place, from {path}.\n\
         api_url: http://{address}\npath: {path}\n\
         parameters: {{ properties: {{ city: {{ type: string }} }}, required: [city] }}\n"
    )
}

const FILE: &str = "tools/native/weather.yaml";

fn echo(name: &str, words: &str) -> String {
    format!(
        "{{ name: {name}, description: 'Says a few words to whoever calls it.', command: [/bin/echo, {words}], sandbox: none }}\n"
    )
}

/// What a call said, or why it failed.
fn told(result: &Value) -> String {
    let text = &result["content"][0]["text"];
    text.as_str()
        .map_or_else(|| result.to_string(), str::to_owned)
}

#[test]
fn a_file_is_a_tool_at_once() {
    let (user, address) = (newcomer(), weather());
    let call = [
        "call",
        "weather",
        "city=Troms\u{f8} & co",
        "--yes",
        "--json",
    ];
    let unknown = |ran: Ran| assert_eq!(ran.json()["error"]["code"], "unknown_tool", "{ran:#?}");
    unknown(user.runs(call).ends_with(1));
    write(&user, FILE, weather_tool(address, "/v1"));
    let reply = user.runs(call).ends_with(0).json();
    assert_eq!(
        reply["value"]["asked"], "/v1?city=Troms%C3%B8+%26+co",
        "{reply}"
    );
    assert_eq!(reply["value"]["by"], "GET");
    write(&user, FILE, weather_tool(address, "/v2/now"));
    let reply = user.runs(call).ends_with(0).json();
    assert!(
        reply["value"]["asked"]
            .as_str()
            .unwrap()
            .starts_with("/v2/now?"),
        "{reply}"
    );
    remove(&user, FILE);
    unknown(user.runs(call).ends_with(1));
}

#[test]
fn a_running_server_follows_a_file() {
    let (user, address) = (newcomer(), weather());
    let mut client = Client::start(&user, &["--yes"]);
    assert!(!client.names().contains(&"weather".to_owned()));

    // It comes, in a folder that was not there.
    write(&user, FILE, weather_tool(address, "/v1"));
    client.until_tools(|tools| names(tools).contains(&"weather".to_owned()));
    let result = client.call("weather", &json!({ "city": "Oslo" }));
    assert_eq!(
        result["structuredContent"]["asked"], "/v1?city=Oslo",
        "{result}"
    );

    // It changes.
    write(&user, FILE, weather_tool(address, "/v2"));
    client.until_tools(|tools| {
        let weather = tools.iter().find(|tool| tool["name"] == "weather");
        weather.is_some_and(|tool| tool["description"].as_str().unwrap().contains("/v2"))
    });
    let result = client.call("weather", &json!({ "city": "Oslo" }));
    assert_eq!(
        result["structuredContent"]["asked"], "/v2?city=Oslo",
        "{result}"
    );

    // Half of it is written: what it said before holds.
    let whole = weather_tool(address, "/v3");
    let cut = whole.find("properties").unwrap();
    for (half, said) in [
        (&whole[..cut], "weather.yaml:"),
        ("name: weather\napi_ulr: x\n", "api_ulr"),
        ("", "weather.yaml: it is empty"),
    ] {
        write(&user, FILE, half);
        client.wait_for(said);
        let result = client.call("weather", &json!({ "city": "Oslo" }));
        assert_eq!(
            result["structuredContent"]["asked"], "/v2?city=Oslo",
            "{result}"
        );
    }

    // It is whole.
    write(&user, FILE, &whole);
    client.until_tools(|tools| {
        tools
            .iter()
            .any(|tool| tool["description"].as_str().unwrap().contains("/v3"))
    });

    // It goes.
    remove(&user, FILE);
    client.until_tools(|tools| !names(tools).contains(&"weather".to_owned()));
    let result = client.call("weather", &json!({ "city": "Oslo" }));
    assert!(result["structuredContent"]["asked"].is_null(), "{result}");
    client.end();
}

/// A call that began before its file changed is answered as it began.
#[test]
fn a_call_under_way_ends_as_it_began() {
    let user = newcomer();
    let home = user.home().display().to_string();
    let slow = |word: &str| {
        format!(
            "{{ name: slow, description: 'Says {word} once the gate is open, and no sooner.', command: [/bin/sh, -c, 'touch {home}/begun; until [ -e {home}/gate ]; do sleep 0.02; done; echo {word}'], sandbox: none }}\n"
        )
    };
    write(&user, "tools/native/slow.yaml", slow("old"));
    let web = Web::start(&user, &["--yes"]);
    let session = web.session("/mcp");
    let mut listening = session.listen();
    std::thread::scope(|scope| {
        let call = scope.spawn(|| session.call("slow", &json!({})));
        until("the call began", || Path::new(&home).join("begun").exists());
        write(&user, "tools/native/slow.yaml", slow("new"));
        listening.tools_changed();
        write(&user, "gate", "");
        let result = call.join().unwrap();
        assert_eq!(told(&result).trim(), "old", "{result}");
    });
    assert_eq!(told(&session.call("slow", &json!({}))).trim(), "new");
}

#[test]
fn a_client_over_http_is_told_of_files() {
    let (user, address) = (newcomer(), weather());
    let web = Web::start(&user, &["--yes"]);
    let session = web.session("/mcp");
    let mut listening = session.listen();
    assert!(!session.names().contains(&"weather".to_owned()));
    write(&user, FILE, weather_tool(address, "/v1"));
    listening.tools_changed();
    assert!(session.names().contains(&"weather".to_owned()));
    let result = session.call("weather", &json!({ "city": "Oslo" }));
    assert_eq!(
        result["structuredContent"]["asked"], "/v1?city=Oslo",
        "{result}"
    );
    remove(&user, FILE);
    listening.tools_changed();
    assert!(!session.names().contains(&"weather".to_owned()));
}

#[test]
fn of_two_with_one_name_the_first_is_used() {
    let user = newcomer();
    write(&user, "tools/native/a.yaml", echo("twice", "first"));
    write(&user, "tools/native/b.yaml", echo("twice", "second"));
    write(
        &user,
        "tools/builtin/c.sh",
        "#!/bin/sh\n# ---\n# name: twice\n# sandbox: none\n# ---\necho third\n",
    );
    // A tool that comes with the program comes last.
    write(&user, "tools/native/read.yaml", echo("read", "mine"));
    let ran = user.runs(["call", "twice", "--yes"]).ends_with(0);
    assert_eq!(ran.stdout.trim(), "first");
    for (tool, by) in [
        ("./tools/native/b.yaml", "./tools/native/a.yaml"),
        ("./tools/builtin/c.sh", "./tools/native/a.yaml"),
    ] {
        let line = ran.stderr.lines().find(|line| line.contains(tool));
        assert!(
            line.is_some_and(|line| line.starts_with("warning: tool `twice`") && line.contains(by)),
            "{ran:#?}"
        );
    }
    let ran = user.runs(["call", "read", "--yes"]).ends_with(0);
    assert_eq!(ran.stdout.trim(), "mine");

    let list = user
        .runs(["tools", "--shadowed", "--json"])
        .ends_with(0)
        .json();
    let row =
        |name: &str, origin: &str, by: &str| json!({ "name": name, "origin": origin, "by": by });
    let rows = [
        row("twice", "./tools/native/b.yaml", "./tools/native/a.yaml"),
        row("twice", "./tools/builtin/c.sh", "./tools/native/a.yaml"),
        row("read", "built-in tools", "./tools/native/read.yaml"),
    ];
    let list = list.as_array().unwrap();
    assert_eq!(list.len(), 3, "{list:?}");
    for wanted in &rows {
        let is_same = |row: &&Value| {
            ["name", "origin", "by"]
                .iter()
                .all(|key| row[key] == wanted[key])
        };
        assert!(
            list.iter().any(|row| is_same(&row)),
            "{wanted} is not in {list:?}"
        );
    }
    // Told once: by the list, or by what a check finds.
    let ran = user.runs(["tools", "--shadowed"]).ends_with(0).tells("");
    assert_eq!(ran.stdout.lines().count(), 3, "{ran:#?}");
    let check = user.runs(["check"]);
    assert_eq!(check.stderr.matches("`read`").count(), 1, "{check:#?}");
    for text in [
        "./tools/native/b.yaml",
        "./tools/builtin/c.sh",
        "./tools/native/read.yaml",
    ] {
        assert!(ran.stdout.contains(text), "{ran:#?}");
    }
    // Each name is there once.
    let all = user.runs(["tools", "--json"]).json();
    let all = names(all.as_array().unwrap());
    assert_eq!(all.iter().filter(|name| *name == "twice").count(), 1);
    assert_eq!(all.iter().filter(|name| *name == "read").count(), 1);
}

/// Who takes the first away gets the second, also while it runs.
#[test]
fn the_next_of_one_name_takes_over() {
    let user = newcomer();
    write(&user, "tools/native/a.yaml", echo("twice", "first"));
    write(&user, "tools/native/b.yaml", echo("twice", "second"));
    let mut client = Client::start(&user, &["--yes"]);
    assert_eq!(told(&client.call("twice", &json!({}))).trim(), "first");
    remove(&user, "tools/native/a.yaml");
    until("the second is used", || {
        told(&client.call("twice", &json!({}))).trim() == "second"
    });
    remove(&user, "tools/native/b.yaml");
    client.until_tools(|tools| !names(tools).contains(&"twice".to_owned()));
}

/// Its server is this program in the same folder, which has the same server, and so on.
#[test]
fn a_file_that_has_its_own_program_started_has_an_end() {
    let program = env!("CARGO_BIN_EXE_toolsmith");
    let config = format!("servers: {{ me: {{ command: {program} serve --stdio }} }}\n");
    let user = newcomer().having("toolsmith.yaml", config);
    let tools = user.runs(["tools", "--source", "mcp", "--json"]);
    let tools = tools.ends_with(0).json();
    let names: Vec<&str> = { tools.as_array().unwrap().iter() }
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"mcp__me__read"), "{names:?}");
    let is_deeper = |name: &&str| name.contains("mcp__me__mcp__");
    assert!(!names.iter().any(is_deeper), "{names:?}");
    user.runs(["call", "mcp__me__glob", "pattern=*.yaml", "--yes"])
        .ends_with(0)
        .tells("");
}

#[test]
fn a_script_is_a_tool() {
    let user = newcomer();
    let script = "#!/bin/sh\n# ---\n# name: greet\n# description: Greets somebody by the name that is given.\n# parameters:\n#   properties: { who: { type: string } }\n#   required: [who]\n# sandbox: none\n# ---\ncat\necho \" done\"\n";
    write(&user, "tools/builtin/greet.sh", script);
    write(
        &user,
        "tools/builtin/helper.sh",
        "#!/bin/sh\necho no tool\n",
    );
    let shown = user.runs(["show", "greet", "--json"]).ends_with(0).json();
    assert_eq!(shown["source"], "native", "{shown}");
    assert_eq!(shown["input_schema"]["required"], json!(["who"]), "{shown}");
    let ran = user
        .runs(["call", "greet", "who=$(id) \"x\"", "--yes"])
        .ends_with(0);
    assert!(
        ran.stdout.contains("$(id)") && ran.stdout.contains("done"),
        "{ran:#?}"
    );
    user.runs(["call", "greet", "--yes"])
        .ends_with(1)
        .says("who");
    let all = user.runs(["tools", "--json"]).json();
    assert!(!names(all.as_array().unwrap()).contains(&"helper".to_owned()));
}

/// A server with one tool, as a shell script.
fn server_script(word: &str) -> String {
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "sh", "version": "1" },
    });
    let list = json!([{ "name": "say", "description": "Says a word that it was given.", "inputSchema": { "type": "object" } }]);
    format!(
        r#"#!/bin/sh
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) echo '{{"jsonrpc":"2.0","id":'"$id"',"result":{hello}}}' ;;
    *'"tools/list"'*) echo '{{"jsonrpc":"2.0","id":'"$id"',"result":{{"tools":{list}}}}}' ;;
    *'"tools/call"'*) echo '{{"jsonrpc":"2.0","id":'"$id"',"result":{{"content":[{{"type":"text","text":"{word}"}}]}}}}' ;;
    *'"id"'*) echo '{{"jsonrpc":"2.0","id":'"$id"',"error":{{"code":-32601,"message":"no"}}}}' ;;
  esac
done
"#
    )
}

#[test]
fn a_server_comes_and_goes_with_its_file() {
    let user = newcomer().with("PATH", "/usr/bin:/bin");
    write(&user, "server.sh", server_script("hello"));
    write(&user, "other.sh", server_script("goodbye"));
    let home = user.home().display().to_string();
    let mut client = Client::start(&user, &["--yes"]);
    assert!(!client.names().contains(&"mcp__late__say".to_owned()));
    write(
        &user,
        "tools/mcp/late.yaml",
        format!("command: [/bin/sh, {home}/server.sh]\nprotocol: legacy\n"),
    );
    client.until_tools(|tools| names(tools).contains(&"mcp__late__say".to_owned()));
    assert_eq!(told(&client.call("mcp__late__say", &json!({}))), "hello");
    write(
        &user,
        "tools/mcp/late.yaml",
        format!("command: [/bin/sh, {home}/other.sh]\nprotocol: legacy\n"),
    );
    until("the other one answers", || {
        told(&client.call("mcp__late__say", &json!({}))) == "goodbye"
    });
    remove(&user, "tools/mcp/late.yaml");
    client.until_tools(|tools| !names(tools).contains(&"mcp__late__say".to_owned()));
    client.end();
}

#[test]
fn tools_of_a_server_that_is_not_reached_are_not_unknown() {
    let closed = mock::serve(|_| Answer::json(401, &json!({})));
    let user = newcomer();
    write(&user, "tools/mcp/down.yaml", "command: /nowhere/at-all\n");
    let locked = format!("url: http://{closed}/mcp\n");
    write(&user, "tools/mcp/locked.yaml", locked);
    let unset = "url: http://127.0.0.1:9/mcp\nmcp_api_key: ${env:NO_SUCH_KEY}\n";
    write(&user, "tools/mcp/unset.yaml", unset);
    let kinds = [
        ("down", "unavailable"),
        ("locked", "permission_denied"),
        ("unset", "unavailable"),
    ];
    for (server, kind) in kinds {
        let tool = format!("mcp__{server}__look");
        let ran = user.runs(["call", &tool, "--yes", "--json"]);
        let error = &ran.json()["error"];
        assert_eq!(error["code"], *kind, "{ran:#?}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("`toolsmith servers`"), "{message}");
    }
    let ran = user.runs(["call", "mcp__other__look", "--yes", "--json"]);
    assert_eq!(ran.json()["error"]["code"], "unknown_tool", "{ran:#?}");

    let mut client = Client::start(&user, &["--yes"]);
    for (server, kind) in kinds {
        let tool = format!("mcp__{server}__look");
        // At first it is being reached.
        until("it was tried in vain", || {
            told(&client.call(&tool, &json!({}))).starts_with(kind)
        });
    }
    // Where nobody describes the server any more, it is unknown.
    remove(&user, "tools/mcp/unset.yaml");
    until("the file is gone", || {
        told(&client.call("mcp__unset__look", &json!({}))).starts_with("unknown_tool")
    });
    client.end();
}
