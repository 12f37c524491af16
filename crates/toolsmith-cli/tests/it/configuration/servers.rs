//! Servers that cannot be reached as they are described: `tools/mcp` and `.mcp.json`.

use super::{all_in_one_folder, beside_good_files, case};

#[test]
fn servers_in_files() {
    let cases = [
        ("neither a command nor an address", "{}\n"),
        ("both", "command: /bin/true\nurl: https://a.test/mcp\n"),
        ("an unknown key", "comand: /bin/true\n"),
        (
            "an unknown key of the API key",
            "url: https://a.test/mcp\nmcp_api_key: { heder: X-Key, value: a }\n",
        ),
        ("an empty command", "command: ''\n"),
        ("a command whose quotes do not close", "command: uvx 'mcp\n"),
        (
            "a number for arguments",
            "command: /bin/true\nargs: [1, { a: b }]\n",
        ),
        ("no address", "url: a.test/mcp\n"),
        ("an address of a file", "url: file:///etc/passwd\n"),
        (
            "an address with a password",
            "url: https://me:hunter22@a.test/mcp\n",
        ),
        (
            "a header for a command",
            "command: /bin/true\nheaders: { A: b }\n",
        ),
        (
            "a variable for an address",
            "url: https://a.test/mcp\nenv: { A: b }\n",
        ),
        (
            "a header with a line feed",
            "url: https://a.test/mcp\nheaders: { A: \"b\\nC: d\" }\n",
        ),
        (
            "a header twice",
            "url: https://a.test/mcp\nheaders: { A: b, a: c }\n",
        ),
        (
            "a variable whose name is none",
            "command: /bin/true\nenv: { 'A=B': c }\n",
        ),
        (
            "a reference that is none",
            "command: /bin/true\nenv: { A: '${exec:id}' }\n",
        ),
        ("a name with an end", "name: a__b\ncommand: /bin/true\n"),
        ("a time that is none", "command: /bin/true\ntimeout: soon\n"),
        ("a glob that is none", "command: /bin/true\nallow: ['[']\n"),
        (
            "a protocol nobody speaks",
            "command: /bin/true\nprotocol: soap\n",
        ),
    ];
    insta::assert_snapshot!(all_in_one_folder("tools/mcp", "yaml", cases));
    let named =
        case("a file's name that is none").file("tools/mcp/my server.yaml", "command: /bin/true\n");
    insta::assert_snapshot!("servers_by_file_name", beside_good_files([named]));
}

#[test]
fn servers_of_other_clients() {
    let deep = format!(
        "{{\"mcpServers\": {}{}}}",
        "[".repeat(50_000),
        "]".repeat(50_000)
    );
    let wide = (0..200).map(|n| format!("\"s{n}\": {{\"command\": \"a\"}}"));
    let wide = format!(
        "{{\"mcpServers\": {{{}}}}}",
        wide.collect::<Vec<_>>().join(",")
    );
    let huge = format!("{{\"x\": \"{}\"}}", "x".repeat(2 << 20));
    let texts: Vec<(&'static str, Vec<u8>)> = [
        ("empty", ""),
        ("no JSON", "mcpServers:\n  a: b\n"),
        (
            "cut off",
            "{\n  \"mcpServers\": {\n    \"a\": { \"command\": \"x",
        ),
        ("a comma too many", "{\n  \"mcpServers\": {},\n}\n"),
        (
            "a key twice",
            "{\"mcpServers\": {\"a\": {\"command\": \"x\"}, \"a\": {\"command\": \"y\"}}}",
        ),
        ("a list", "[]"),
        ("a list of servers", "{\"mcpServers\": []}"),
        (
            "a server that is a text",
            "{\"mcpServers\": {\"a\": \"x\"}}",
        ),
        ("a server without anything", "{\"mcpServers\": {\"a\": {}}}"),
        (
            "a command that is a list",
            "{\"mcpServers\": {\"a\": {\"command\": [\"x\"]}}}",
        ),
        (
            "arguments that are a text",
            "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"args\": \"y\"}}}",
        ),
        (
            "a name that is none",
            "{\"mcpServers\": {\"a/../b\": {\"command\": \"x\"}}}",
        ),
        (
            "an old transport",
            "{\"mcpServers\": {\"a\": {\"type\": \"sse\", \"url\": \"https://a.test/sse\"}}}",
        ),
        (
            "a name that steers a terminal",
            "{\"mcpServers\": {\"\\u001b[31m\\u202e\": {\"command\": \"x\"}}}",
        ),
        ("deep", &deep),
        ("many", &wide),
        ("huge", &huge),
    ]
    .map(|(name, text)| (name, text.as_bytes().to_vec()))
    .into();
    let bytes = [
        (
            "not UTF-8",
            b"{\"mcpServers\": {\"a\": {\"command\": \"\xff\"}}}".to_vec(),
        ),
        ("UTF-16", b"\xff\xfe{\0}\0".to_vec()),
        ("NUL characters", vec![0; 64]),
    ];
    let all = texts.into_iter().chain(bytes);
    let cases = all.map(|(name, text)| case(name).file(".mcp.json", text));
    insta::assert_snapshot!(beside_good_files(cases));
}
