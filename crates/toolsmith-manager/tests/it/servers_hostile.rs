//! Descriptions of servers that cannot be used. Each is refused with the place and the
//! reason, and none takes long or panics.

use std::path::Path;
use std::sync::Arc;

use toolsmith_manager::servers::{Loaded, MCP_FOLDER, MCP_JSON};
use toolsmith_manager::{IfMissing, Setup};

use crate::servers::Files;

/// What is said first about a `toolsmith.yaml`, without the line itself.
#[track_caller]
fn in_config(content: &[u8]) -> String {
    let files = Files::new([("toolsmith.yaml", content)]);
    let file = Path::new("r/toolsmith.yaml");
    match Setup::open_with(Arc::new(files), file, IfMissing::Fail) {
        Ok(_) => panic!("it was accepted: {}", String::from_utf8_lossy(content)),
        Err(error) => tame(&error.to_string(), "r/toolsmith.yaml:"),
    }
}

/// The same about a file that describes servers and nothing else.
#[track_caller]
fn in_file(file: &str, content: &[u8]) -> String {
    let loaded = Files::new([(file, content)]).loaded();
    let text = String::from_utf8_lossy(content);
    let [error] = &loaded.errors[..] else {
        panic!("not one error: {loaded:?} in {text}");
    };
    assert!(loaded.servers.is_empty(), "{loaded:?} in {text}");
    tame(&error.to_string(), &format!("r/{file}:"))
}

fn tame(shown: &str, file: &str) -> String {
    let is_tame = |c: char| c == '\n' || !c.is_control();
    assert!(shown.chars().all(is_tame), "{shown:?}");
    assert!(shown.len() < 2_000, "{shown}");
    let line = shown.lines().next().unwrap_or_default();
    line.strip_prefix(file).unwrap_or(line).trim().to_owned()
}

/// The end of a message about a key nobody knows.
const KEYS: &str = "known here: name, command, args, cwd, env, env_passthrough, \
    mcp_server_url, url, headers, mcp_api_key, timeout, allow, deny, disabled, protocol, pins";
/// The middle of a message about a name.
const NAME: &str = "is no name for a server: it takes 1 to 40 letters, digits, `_` and `-`, \
    without `__`; try";
/// The end of a message about a duration.
const DURATION: &str =
    "is no duration; write a number and a unit, such as `500ms`, `30s`, `5m` or `2h`";
/// The end of a message about a reference.
const REFERENCE: &str = "is no reference; write ${env:NAME}, ${file:PATH}, ${NAME} or \
    ${NAME:-default}, and `$${` for the characters";

/// A message with its long parts written out.
fn whole(message: &str) -> String {
    message
        .replace("<keys>", KEYS)
        .replace("<name>", NAME)
        .replace("<duration>", DURATION)
        .replace("<reference>", REFERENCE)
}

/// What stands under `servers: { a: … }`, and what is said of it.
const SERVERS: &[(&str, &str)] = &[
    (
        "{}",
        "3:5: give `command` for a program, or `url` for a server that runs by itself",
    ),
    (
        "~",
        "3:5: give `command` for a program, or `url` for a server that runs by itself",
    ),
    ("[]", "3:5: expected a mapping (`key: value`)"),
    ("text", "3:5: expected a mapping (`key: value`)"),
    (
        "cwd: b",
        "3:5: give `command` for a program, or `url` for a server that runs by itself",
    ),
    (
        "{command: b, url: 'http://h'}",
        "3:5: give `command` or `url`, not both",
    ),
    (
        "{comand: b}",
        "3:6: unknown key `comand`; did you mean `command`?",
    ),
    (
        "{command: b, colour: red}",
        "3:18: unknown key `colour`; <keys>",
    ),
    (
        "{command: b, command: c}",
        "3:18: key `command` stands here twice",
    ),
    ("command: ''", "3:14: `command` is empty"),
    ("command: []", "3:14: `command` is empty"),
    ("command: ['']", "3:14: `command` is empty"),
    (
        "command: \"'b\"",
        "3:14: the command has a quote that does not end",
    ),
    (
        "command: 5",
        "3:5: invalid type: integer `5`, expected a command, as one text or as a list of words",
    ),
    (
        "command: {a: b}",
        "3:14: invalid type: map, expected a command, as one text or as a list of words",
    ),
    ("command: [[b]]", "3:15: expected a text"),
    ("command: \"a\\0b\"", "3:14: it holds a NUL character"),
    (
        "{name: b, command: b}",
        "3:5: the name of a server here is the key it stands under",
    ),
    ("{command: b, args: c}", "3:24: expected a list"),
    ("{command: b, args: [{a: b}]}", "3:25: expected a text"),
    (
        "{command: b, headers: {A: b}}",
        "3:5: `headers` goes with `url`, and this server has a `command`",
    ),
    (
        "{command: b, mcp_api_key: c}",
        "3:5: `mcp_api_key` goes with `url`, and this server has a `command`",
    ),
    (
        "{url: 'http://h', args: [a]}",
        "3:5: `args` goes with `command`, and this server has a `url`",
    ),
    (
        "{url: 'http://h', env: {A: b}}",
        "3:5: `env` goes with `command`, and this server has a `url`",
    ),
    (
        "{url: 'http://h', cwd: /}",
        "3:5: `cwd` goes with `command`, and this server has a `url`",
    ),
    (
        "{url: 'http://h', mcp_server_url: 'http://i'}",
        "3:5: duplicate field `url`",
    ),
    (
        "url: ''",
        "3:10: `url`: it is no URL: it begins with neither http:// nor https://",
    ),
    (
        "url: h",
        "3:10: `url`: it is no URL: it begins with neither http:// nor https://",
    ),
    (
        "url: ftp://h",
        "3:10: `url`: a server is reached by http:// or https://, not by ftp://",
    ),
    (
        "url: file:///etc/passwd",
        "3:10: `url`: a server is reached by http:// or https://, not by file://",
    ),
    ("url: 'http://'", "3:10: `url`: it is no URL: empty host"),
    (
        "url: 'http://u@h/'",
        "3:10: `url`: a URL with a user name or password in it is not accepted; use headers or mcp_api_key",
    ),
    (
        "url: 'http://u:hunter2@h/'",
        "3:10: `url`: a URL with a user name or password in it is not accepted; use headers or mcp_api_key",
    ),
    (
        "url: 'http://h/#x'",
        "3:10: `url`: the part from `#` on is never sent to a server; leave it out",
    ),
    (
        "url: \"http://h/\\r\\nX: y\"",
        "3:10: `url`: it is no URL: it holds blanks or control characters",
    ),
    (
        "url: 'http://h h/'",
        "3:10: `url`: it is no URL: it holds blanks or control characters",
    ),
    (
        "url: 'http://h:99999/'",
        "3:10: `url`: it is no URL: invalid port number",
    ),
    (
        "url: javascript:alert(1)",
        "3:10: `url`: a server is reached by http:// or https://, not by javascript://",
    ),
    (
        "{url: 'http://h', headers: {'A B': c}}",
        "3:33: \"A B\" is no name of a header",
    ),
    (
        "{url: 'http://h', headers: {'': c}}",
        "3:33: \"\" is no name of a header",
    ),
    (
        "{url: 'http://h', headers: {A: \"b\\r\\nX: y\"}}",
        "3:36: the value of a header holds a line break or another control character",
    ),
    (
        "{url: 'http://h', headers: {\"A\\r\\nB\": c}}",
        "3:33: \"A\\r B\" is no name of a header",
    ),
    (
        "{url: 'http://h', headers: {A: b, a: c}}",
        "3:5: header `a` is given twice; capitals make no difference",
    ),
    (
        "{url: 'http://h', headers: {Host: c}}",
        "3:33: the header `Host` is set by the connection itself",
    ),
    (
        "{url: 'http://h', headers: {Authorization: '${A}'}, mcp_api_key: '${B}'}",
        "3:5: header `Authorization` is given twice; capitals make no difference",
    ),
    (
        "{url: 'http://h', headers: [a]}",
        "3:32: expected a mapping (`key: value`)",
    ),
    (
        "{url: 'http://h', mcp_api_key: ''}",
        "3:36: `mcp_api_key` is empty",
    ),
    (
        "{url: 'http://h', mcp_api_key: {value: b}}",
        "3:37: the key `header` is missing here",
    ),
    (
        "{url: 'http://h', mcp_api_key: {header: A, value: b, c: d}}",
        "3:58: unknown key `c`; known here: header, value",
    ),
    (
        "{url: 'http://h', mcp_api_key: [a]}",
        "3:23: invalid type: sequence, expected a key such as ${env:KEY}, or {header: X-Api-Key, value: ${env:KEY}}",
    ),
    (
        "{url: 'http://h', mcp_api_key: {header: 'A:', value: b}}",
        "3:5: \"A:\" is no name of a header",
    ),
    (
        "{command: b, env: {'': c}}",
        "3:24: \"\" is no name of an environment variable",
    ),
    (
        "{command: b, env: {'A=B': c}}",
        "3:24: \"A=B\" is no name of an environment variable",
    ),
    (
        "{command: b, env: {A: '${'}}",
        "3:27: a reference begins with `${` and does not end; write `$${` for the characters",
    ),
    (
        "{command: b, env: {A: '${input:b}'}}",
        "3:27: `${input:b}` <reference>",
    ),
    ("{command: b, env: {A: [b]}}", "3:27: expected a text"),
    (
        "{command: b, env: [A]}",
        "3:23: expected a mapping (`key: value`)",
    ),
    ("{command: b, env_passthrough: A}", "3:35: expected a list"),
    (
        "{command: b, env_passthrough: ['A=B']}",
        "3:36: \"A=B\" is no name of an environment variable",
    ),
    ("{command: b, timeout: 30}", "3:27: \"30\" <duration>"),
    ("{command: b, timeout: soon}", "3:27: \"soon\" <duration>"),
    (
        "{command: b, timeout: 0s}",
        "3:27: it must be longer than nothing",
    ),
    ("{command: b, timeout: -1s}", "3:27: \"-1s\" <duration>"),
    (
        "{command: b, timeout: 1000000h}",
        "3:27: \"1000000h\" <duration>",
    ),
    ("{command: b, allow: a}", "3:25: expected a list"),
    (
        "{command: b, allow: ['[']}",
        "3:26: error parsing glob '[': unclosed character class; missing ']'",
    ),
    ("{command: b, deny: [{a: b}]}", "3:25: expected a text"),
    (
        "{command: b, disabled: 'no'}",
        "3:28: expected true or false",
    ),
    ("{command: b, disabled: 1}", "3:28: expected true or false"),
    (
        "{command: b, protocol: http}",
        "3:28: unknown word `http`; known here: auto, stateless, legacy",
    ),
    ("!!str b", "3:5: tags such as `!!str` are not supported"),
    (
        "{<<: {command: b}}",
        "3:6: merge keys (`<<`) are not supported",
    ),
    (
        "{command: !x b}",
        "3:15: tags such as `!x` are not supported",
    ),
    (
        "{command: b, env: {A: *x}}",
        "3:27: the alias names no anchor before it",
    ),
];

/// Whole configurations.
const CONFIGURATIONS: &[(&str, &str)] = &[
    ("servers: []\n", "1:10: expected a mapping (`key: value`)"),
    ("servers: a\n", "1:10: expected a mapping (`key: value`)"),
    (
        "servers: [{name: a, command: b}]\n",
        "1:10: expected a mapping (`key: value`)",
    ),
    (
        "servers:\n  a: {command: b}\n  a: {command: c}\n",
        "3:3: key `a` stands here twice",
    ),
    (
        "servers:\n  a b: {command: c}\n",
        "2:3: \"a b\" <name> `a-b`",
    ),
    (
        "servers:\n  a__b: {command: c}\n",
        "2:3: \"a__b\" <name> `a_b`",
    ),
    (
        "servers:\n  '': {command: c}\n",
        "2:3: \"\" <name> `server`",
    ),
    (
        "servers:\n  é: {command: c}\n",
        "2:3: \"é\" <name> `server`",
    ),
    (
        "servers:\n\ta: {command: c}\n",
        "2:2: tabs disallowed within this context (block indentation)",
    ),
    (
        "server:\n  a: {command: c}\n",
        "1:1: unknown key `server`; did you mean `servers`?",
    ),
    ("servers:\n  a: {command: b\n", "2:6: unclosed bracket '{'"),
    ("servers:\n  [a]: {command: b}\n", "2:3: expected a text"),
    (
        "servers:\n  a: &a {command: *a}\n",
        "2:19: the alias stands inside what it stands for",
    ),
];

/// The `.mcp.json` of others.
const JSON: &[(&str, &str)] = &[
    ("", "1:1: EOF while parsing a value"),
    (" ", "1:1: EOF while parsing a value"),
    ("[]", "expected an object with `mcpServers`"),
    ("null", "expected an object with `mcpServers`"),
    ("{", "1:1: EOF while parsing an object"),
    (
        "{\"mcpServers\": []}",
        "`mcpServers`: expected an object of servers",
    ),
    (
        "{\"mcpServers\": {\"a\": 1}}",
        "mcpServers.a: expected an object",
    ),
    (
        "{\"mcpServers\": {\"a\": {}}}",
        "mcpServers.a: give `command` for a program, or `url` for a server that runs by itself",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"command\": \"b\"}, \"a\": {\"command\": \"c\"}}}",
        "1:42: duplicate key \"a\"",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"command\": \"b\",}}}",
        "1:38: trailing comma",
    ),
    ("// c\n{}", "1:1: expected value"),
    (
        "{\"mcpServers\": {\"a\": {\"command\": [\"b\"]}}}",
        "mcpServers.a: command: expected a text",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"command\": \"b\", \"url\": \"http://h\"}}}",
        "mcpServers.a: give `command` or `url`, not both",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"command\": \"b\", \"args\": \"c\"}}}",
        "mcpServers.a: args: expected a list of texts",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"command\": \"b\", \"args\": [1]}}}",
        "mcpServers.a: args: expected a list of texts",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"command\": \"b\", \"env\": [\"c\"]}}}",
        "mcpServers.a: env: expected an object of texts",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"command\": \"b\", \"env\": {\"c\": {}}}}}",
        "mcpServers.a: env.c: expected a text",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"command\": \"b\", \"env\": {\"c=d\": \"e\"}}}}",
        "mcpServers.a: \"c=d\" is no name of an environment variable",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"type\": \"sse\", \"url\": \"http://h/sse\"}}}",
        "mcpServers.a: the transport `sse` is not spoken here; most such servers have a streamable HTTP address too: give that as `url`, with the type `http`",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"type\": \"ws\", \"url\": \"http://h/sse\"}}}",
        "mcpServers.a: type: expected stdio or http, found \"ws\"",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"type\": \"http\", \"command\": \"b\"}}}",
        "mcpServers.a: its type is http, and it has a `command`",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"type\": \"stdio\", \"url\": \"http://h\"}}}",
        "mcpServers.a: its type is stdio, and it has a `url`",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"url\": \"http://u:hunter2@h\"}}}",
        "mcpServers.a: `url`: a URL with a user name or password in it is not accepted; use headers or mcp_api_key",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"url\": \"ws://h\"}}}",
        "mcpServers.a: `url`: a server is reached by http:// or https://, not by ws://",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"url\": \"http://h\", \"headers\": {\"A\": \"b\\r\\nC: d\"}}}}",
        "mcpServers.a: the value of a header holds a line break or another control character",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"url\": \"http://h\", \"headers\": {\"A\": \"${input:x}\"}}}}",
        "mcpServers.a: headers.A: `${input:x}` <reference>",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"command\": \"b\", \"disabled\": \"yes\"}}}",
        "mcpServers.a: disabled: expected true or false",
    ),
    (
        "{\"mcpServers\": {\"a b\": {\"command\": \"b\"}}}",
        "mcpServers.a b: \"a b\" <name> `a-b`",
    ),
    (
        "{\"mcpServers\": {\"\\u001b[31m\": {\"command\": \"b\"}}}",
        "mcpServers.·[31m: \"\\u{1b}[31m\" <name> `31m`",
    ),
    ("{\n  \"é\": 1,, \"a\": 2\n}", "2:10: key must be a string"),
    (
        "{\"mcpServers\": {\"a\": {\"command\": \"a\\u0000b\"}}}",
        "mcpServers.a: command: it holds a NUL character",
    ),
    ("{} {}", "1:4: trailing characters"),
];

/// Files of one server each.
const FILES: &[(&str, &[u8], &str)] = &[
    ("tools/mcp/a.yaml", b"", "1:1: unexpected end of input"),
    (
        "tools/mcp/a.yaml",
        b"- a\n",
        "1:1: expected a mapping (`key: value`)",
    ),
    (
        "tools/mcp/a.yaml",
        b"command: a\nurl: http://h\n",
        "give `command` or `url`, not both",
    ),
    (
        "tools/mcp/a.yaml",
        b"name: a b\ncommand: a\n",
        "1:7: \"a b\" <name> `a-b`",
    ),
    (
        "tools/mcp/a__b.yaml",
        b"command: a\n",
        "the file's name: \"a__b\" <name> `a_b`, or set `name:`",
    ),
    (
        "tools/mcp/a.yaml",
        b"command: a\n---\ncommand: b\n",
        "2:1: a second document begins here; a configuration is one",
    ),
    (
        "tools/mcp/a.yaml",
        b"command: \xff\n",
        "1:10: it is not UTF-8 from here on",
    ),
    (
        "tools/mcp/a.yaml",
        b"command: a\nenv:\n\tA: b\n",
        "3:2: tabs disallowed within this context (block indentation)",
    ),
];

#[test]
fn servers_in_the_configuration() {
    for (server, message) in SERVERS {
        let text = format!("servers:\n  a:\n    {server}\n");
        assert_eq!(in_config(text.as_bytes()), whole(message), "{server}");
    }
    for (text, message) in CONFIGURATIONS {
        assert_eq!(in_config(text.as_bytes()), whole(message), "{text}");
    }
}

#[test]
fn servers_in_files_of_their_own() {
    for (file, content, message) in FILES {
        assert_eq!(in_file(file, content), whole(message), "{file}");
    }
    for (text, message) in JSON {
        assert_eq!(in_file(MCP_JSON, text.as_bytes()), whole(message), "{text}");
    }
}

#[test]
fn bombs() {
    let bomb = "servers:\n  a:\n    command: b\n    env:\n      A: &a [x,x,x,x,x,x,x,x,x]\n      \
                B: &b [*a,*a,*a,*a,*a,*a,*a,*a]\n      C: &c [*b,*b,*b,*b,*b,*b,*b,*b]\n";
    assert_eq!(in_config(bomb.as_bytes()), "5:13: expected a text");
    let mut many = "servers:\n  z: &z {command: a}\n".to_owned();
    for index in 0..150 {
        many.push_str(&format!("  a{index}: *z\n"));
    }
    assert!(in_config(many.as_bytes()).contains("more than"), "{many}");
    let deep = format!("servers: {{a: {}", "{a: ".repeat(5_000));
    assert!(in_config(deep.as_bytes()).contains("1:"));
    let deep = format!("{{\"mcpServers\": {}", "{\"a\":".repeat(100_000));
    assert!(in_file(MCP_JSON, deep.as_bytes()).contains("nested deeper than 100 levels"));
    let large = vec![b' '; (1 << 20) + 1];
    assert!(in_file(MCP_JSON, &large).contains("is larger than the 1048576 bytes"));
    assert!(in_file("tools/mcp/a.yaml", &large).contains("it is larger than 1048576 bytes"));
}

#[test]
fn too_many() {
    let servers: Vec<String> = (0..101)
        .map(|index| format!("\"a{index}\": {{\"command\": \"b\"}}"))
        .collect();
    let servers = servers.join(", ");
    let message = "more than 100 servers are not accepted";
    assert!(in_config(format!("servers: {{{servers}}}").as_bytes()).contains(message));
    let json = format!("{{\"mcpServers\": {{{servers}}}}}");
    assert!(in_file(MCP_JSON, json.as_bytes()).contains(message));
}

#[test]
fn not_utf8() {
    assert_eq!(
        in_config(b"servers:\n  a: {command: \xff}\n"),
        "2:16: it is not UTF-8 from here on"
    );
    assert_eq!(
        in_file(MCP_JSON, b"{\"\xc3\x28\": 1}"),
        "the JSON is not valid UTF-8 after byte 2"
    );
    assert_eq!(
        in_file(MCP_JSON, b"\xff\xfe{\0}\0"),
        "the JSON is not valid UTF-8 after byte 0"
    );
}

fn on_disk(root: &Path) -> Loaded {
    Setup::open(root).unwrap().load().unwrap().servers()
}

#[test]
fn folders_in_place_of_files_and_files_in_place_of_folders() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join(MCP_JSON)).unwrap();
    std::fs::create_dir_all(root.path().join(MCP_FOLDER).join("a.yaml")).unwrap();
    std::fs::write(root.path().join(MCP_FOLDER).join(".b.yaml"), "?").unwrap();
    std::fs::write(root.path().join(MCP_FOLDER).join("b.yaml~"), "?").unwrap();
    std::fs::write(root.path().join(MCP_FOLDER).join("c.yml"), "command: c").unwrap();
    let loaded = on_disk(root.path());
    let errors: Vec<&str> = loaded.errors.iter().map(|e| e.message.as_str()).collect();
    assert_eq!(errors, ["it is a folder", "it is a folder"]);
    assert_eq!(loaded.servers.len(), 1, "{loaded:?}");

    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("tools")).unwrap();
    std::fs::write(root.path().join(MCP_FOLDER), "").unwrap();
    let loaded = on_disk(root.path());
    assert_eq!(loaded.errors.len(), 1, "{loaded:?}");
    assert!(
        loaded.errors[0].message.starts_with("it cannot be read"),
        "{loaded:?}"
    );

    let root = tempfile::tempdir().unwrap();
    let loaded = on_disk(root.path());
    assert!(
        loaded.errors.is_empty() && loaded.servers.is_empty(),
        "{loaded:?}"
    );
}
