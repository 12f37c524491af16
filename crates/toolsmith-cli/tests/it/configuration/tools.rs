//! Tools that cannot be: files in `tools/native` and `tools/builtin`, and what the main
//! file says of tools.

use super::{all_in_one_folder, beside_good_files, case, in_the_main_file};

/// What one file in `tools/native` says.
const NATIVE: &[(&str, &str)] = &[
    ("empty", ""),
    ("nothing but comments", "# later\n"),
    ("null", "~\n"),
    ("an unknown key", "name: a\napi_ulr: https://a.test\n"),
    (
        "an unknown key of auth",
        "name: a\napi_url: https://a.test\nauth_method: bearer\nauth:\n  tokn: x\n",
    ),
    (
        "an unknown key of a response",
        "name: a\napi_url: https://a.test\nresponse: { slect: /a }\n",
    ),
    (
        "an unknown key of pagination",
        "name: a\napi_url: https://a.test\npagination: { style: page, itms: /a }\n",
    ),
    (
        "an unknown key of an example",
        "name: a\napi_url: https://a.test\nexamples:\n  - { arguments: {}, coment: x }\n",
    ),
    (
        "an unknown key of a tool in a list",
        "api_url: https://a.test\ntools:\n  - name: a\n    pth: /b\n",
    ),
    (
        "an unknown key of a place",
        "name: a\napi_url: https://a.test\nparameters: { properties: { b: {} } }\nplaces: { b: { inn: query } }\n",
    ),
    (
        "neither an API nor a command",
        "name: a\ndescription: Nothing.\n",
    ),
    (
        "both an API and a command",
        "name: a\napi_url: https://a.test\ncommand: [/bin/true]\n",
    ),
    (
        "keys of a command for an API",
        "name: a\napi_url: https://a.test\nsandbox: none\nstdin: x\n",
    ),
    (
        "keys of an API for a command",
        "name: a\ncommand: [/bin/true]\nmethod: GET\n",
    ),
    (
        "a name with a path",
        "name: ../../etc/passwd\ncommand: [/bin/true]\n",
    ),
    (
        "a name with spaces",
        "name: my tool\ncommand: [/bin/true]\n",
    ),
    ("an empty name", "name: ''\ncommand: [/bin/true]\n"),
    (
        "a name without an end",
        concat!(
            "name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "\ncommand: [/bin/true]\n"
        ),
    ),
    (
        "one name twice in a file",
        "api_url: https://a.test\ntools:\n  - { name: a, path: /a }\n  - { name: a, path: /b }\n",
    ),
    (
        "a list of tools within a list",
        "api_url: https://a.test\ntools:\n  - name: a\n    tools: [{ name: b }]\n",
    ),
    ("a number for a name", "name: 7\ncommand: [/bin/true]\n"),
    ("a list for a name", "name: [a]\ncommand: [/bin/true]\n"),
    (
        "a text for parameters",
        "name: a\ncommand: [/bin/true]\nparameters: none\n",
    ),
    (
        "parameters that are no schema",
        "name: a\ncommand: [/bin/true]\nparameters: { type: strnig }\n",
    ),
    (
        "parameters that refer to the net",
        "name: a\ncommand: [/bin/true]\nparameters: { properties: { a: { $ref: 'https://a.test/s.json' } } }\n",
    ),
    (
        "parameters that are a list",
        "name: a\ncommand: [/bin/true]\nparameters: [a, b]\n",
    ),
    (
        "a word for a switch",
        "name: a\ncommand: [/bin/true]\ndestructive: yes\n",
    ),
    (
        "a time without a unit",
        "name: a\ncommand: [/bin/true]\ntimeout: 30\n",
    ),
    (
        "a time before time",
        "name: a\ncommand: [/bin/true]\ntimeout: -1s\n",
    ),
    (
        "an unknown kind",
        "name: a\ncommand: [/bin/true]\nkind: raed\n",
    ),
    (
        "an unknown effect",
        "name: a\ncommand: [/bin/true]\neffect: none\n",
    ),
    (
        "an unknown method",
        "name: a\napi_url: https://a.test\nmethod: FETCH\n",
    ),
    (
        "an unknown way to authenticate",
        "name: a\napi_url: https://a.test\nauth_method: magic\n",
    ),
    (
        "a way to authenticate without what it takes",
        "name: a\napi_url: https://a.test\nauth_method: bearer\n",
    ),
    (
        "a user without a password",
        "name: a\napi_url: https://a.test\nauth_method: basic\nauth: { username: me }\n",
    ),
    (
        "a user with a colon",
        "name: a\napi_url: https://a.test\nauth_method: basic\nauth: { username: 'me:you', password: x }\n",
    ),
    (
        "a client without a token server",
        "name: a\napi_url: https://a.test\nauth_method: oauth\nauth: { client_id: me, client_secret: x }\n",
    ),
    (
        "a token server that is no address",
        "name: a\napi_url: https://a.test\nauth_method: oauth\nauth: { client_id: me, client_secret: x, token_url: nowhere }\n",
    ),
    ("no address", "name: a\napi_url: a.test/b\n"),
    (
        "an address of a file",
        "name: a\napi_url: file:///etc/passwd\n",
    ),
    (
        "an address with a password",
        "name: a\napi_url: https://me:hunter22@a.test/\n",
    ),
    (
        "an address without a host",
        "name: a\napi_url: 'https://'\n",
    ),
    (
        "an address whose host is an argument",
        "name: a\napi_url: 'https://{host}/'\nparameters: { properties: { host: { type: string } } }\n",
    ),
    (
        "a path that leads upwards",
        "name: a\napi_url: https://a.test\npath: /b/../../c\n",
    ),
    (
        "a path with a query that is an argument's",
        "name: a\napi_url: https://a.test\npath: '/b?c={d}'\n",
    ),
    (
        "a path with a brace that does not close",
        "name: a\napi_url: https://a.test\npath: '/b/{c'\n",
    ),
    (
        "a placeholder that is no parameter",
        "name: a\napi_url: https://a.test\npath: '/b/{c}'\n",
    ),
    (
        "a placeholder in a request that is no parameter",
        "name: a\napi_url: https://a.test\nmethod: POST\nrequest: { x: '{c}' }\n",
    ),
    (
        "a reference that is none",
        "name: a\napi_url: https://a.test\nheaders: { X-Key: '${keychain:x}' }\n",
    ),
    (
        "a reference that does not end",
        "name: a\napi_url: https://a.test\nheaders: { X-Key: '${env:KEY' }\n",
    ),
    (
        "a header with a line feed",
        "name: a\napi_url: https://a.test\nheaders: { X-Key: \"a\\r\\nX-Other: b\" }\n",
    ),
    (
        "a header whose name is none",
        "name: a\napi_url: https://a.test\nheaders: { 'X Key': a }\n",
    ),
    (
        "a header that is not ours to set",
        "name: a\napi_url: https://a.test\nheaders: { Host: b.test }\n",
    ),
    (
        "an argument in a header that is not its to set",
        "name: a\napi_url: https://a.test\nparameters: { properties: { h: { type: string } } }\nplaces: { h: { in: header, name: Host } }\n",
    ),
    (
        "a place for nothing",
        "name: a\napi_url: https://a.test\nplaces: { b: query }\n",
    ),
    (
        "a place nobody knows",
        "name: a\napi_url: https://a.test\nparameters: { properties: { b: {} } }\nplaces: { b: trailer }\n",
    ),
    (
        "a pointer that is none",
        "name: a\napi_url: https://a.test\nresponse: { select: data.items }\n",
    ),
    (
        "a template that is none",
        "name: a\napi_url: https://a.test\nresponse: { template: '{% for x in %}' }\n",
    ),
    (
        "a rate that is none",
        "name: a\napi_url: https://a.test\nrate_limit: often\n",
    ),
    (
        "too many retries",
        "name: a\napi_url: https://a.test\nretries: 1000\n",
    ),
    (
        "pages without a style",
        "name: a\napi_url: https://a.test\npagination: { items: /a }\n",
    ),
    (
        "an unknown adapter",
        "api_url: https://a.test\nadapter: soap\n",
    ),
    ("a command that is empty", "name: a\ncommand: []\n"),
    ("a command that is a text", "name: a\ncommand: rm -rf /\n"),
    (
        "a program that is an argument",
        "name: a\ncommand: ['{program}']\nparameters: { properties: { program: { type: string } } }\n",
    ),
    (
        "a word that names no parameter",
        "name: a\ncommand: [/bin/echo, '{what}']\n",
    ),
    (
        "a word with a brace that does not close",
        "name: a\ncommand: [/bin/echo, '{what']\n",
    ),
    (
        "a folder above",
        "name: a\ncommand: [/bin/true]\ncwd: ../..\n",
    ),
    (
        "a folder from the root",
        "name: a\ncommand: [/bin/true]\ncwd: /etc\n",
    ),
    (
        "a folder that goes down and up",
        "name: a\ncommand: [/bin/true]\ncwd: b/../../c\n",
    ),
    (
        "a variable whose name is none",
        "name: a\ncommand: [/bin/true]\nenv: { 'A=B': c }\n",
    ),
    (
        "a variable that is passed on and can be none",
        "name: a\ncommand: [/bin/true]\nenv_passthrough: ['A=B']\n",
    ),
    (
        "an exit status that is a word",
        "name: a\ncommand: [/bin/true]\nexit_codes: { one: ok }\n",
    ),
    (
        "a sandbox nobody has",
        "name: a\ncommand: [/bin/true]\nsandbox: docker\n",
    ),
    (
        "consent in a place that is none",
        "name: a\ncommand: [/bin/true]\nconsent: { literl: YES }\n",
    ),
];

#[test]
fn native_tools() {
    let files = NATIVE.iter().copied();
    insta::assert_snapshot!(all_in_one_folder("tools/native", "yaml", files));
}

/// What refers to a variable or a file that is not there is told at its place by its name.
#[test]
fn references_to_nothing() {
    let api = "name: a\napi_url: https://a.test\nauth_method: bearer\nauth:\n  token: ${env:NO_SUCH_TOKEN}\n";
    let key = "name: a\napi_url: https://a.test\nauth_method: api_key\nauth:\n  key: ${file:secrets/none}\n";
    let command =
        "name: a\ncommand: [/bin/true]\nsandbox: none\nenv:\n  B: ${env:NO_SUCH_VARIABLE}\n";
    let url = "name: a\napi_url: https://${env:NO_SUCH_HOST}/\n";
    let cases = [
        case("a token").file("tools/native/bad.yaml", api),
        case("a key in a file").file("tools/native/bad.yaml", key),
        case("a key in a folder")
            .file("secrets/none/x", "")
            .file("tools/native/bad.yaml", key),
        case("a key in a file without an end")
            .made(|home| {
                std::fs::create_dir(home.join("secrets")).unwrap();
                std::os::unix::fs::symlink("/dev/zero", home.join("secrets/none")).unwrap();
            })
            .file("tools/native/bad.yaml", key),
        case("a variable of a command").file("tools/native/bad.yaml", command),
        case("a host").file("tools/native/bad.yaml", url),
        case("a server's variable").file(
            "tools/mcp/bad.yaml",
            "command: /bin/true\nenv:\n  KEY: ${env:NO_SUCH_KEY}\n",
        ),
        case("a server's header").file(
            "tools/mcp/bad.yaml",
            "url: https://a.test/mcp\nmcp_api_key: ${env:NO_SUCH_KEY}\n",
        ),
    ];
    insta::assert_snapshot!(beside_good_files(cases));
}

/// A value that can stand in no header is told of without being told.
#[test]
fn what_is_referred_to_is_never_shown() {
    let value = "line-one-of-a-secret\r\nX-Other: line-two-of-a-secret";
    let tool =
        "name: a\napi_url: https://a.test\nauth_method: bearer\nauth:\n  token: ${env:BAD_TOKEN}\n";
    let url = "name: a\napi_url: ${env:BAD_TOKEN}\n";
    let server = "url: https://a.test/mcp\nmcp_api_key: ${env:BAD_TOKEN}\n";
    let cases = [
        ("a token", "tools/native/bad.yaml", tool),
        ("an address", "tools/native/bad.yaml", url),
        ("a server", "tools/mcp/bad.yaml", server),
    ]
    .map(|(name, file, text)| case(name).with("BAD_TOKEN", value).file(file, text));
    let told = beside_good_files(cases);
    assert!(!told.contains("-of-a-secret"), "{told}");
    insta::assert_snapshot!(told);
}

/// Without a word about it, a command runs in the sandbox of its project.
#[cfg(target_os = "linux")]
#[test]
fn a_command_without_a_word_about_a_sandbox_runs_in_one() {
    let case = case("").file(
        "tools/native/touch.yaml",
        "{ name: touch_it, command: [/bin/sh, -c, 'touch made && touch tools/made'] }\n",
    );
    case.user.runs(["check"]).ends_with(0);
    case.user
        .runs(["call", "touch_it", "--yes"])
        .ends_with(1)
        .says("this may be the sandbox (workspace-write, network off)");
    let home = case.user.home();
    assert!(home.join("made").exists());
    assert!(!home.join("tools/made").exists());
    std::fs::write(
        home.join("toolsmith.yaml"),
        "sandbox: { mode: read-only }\n",
    )
    .unwrap();
    std::fs::remove_file(home.join("made")).unwrap();
    case.user
        .runs(["call", "touch_it", "--yes"])
        .ends_with(1)
        .says("read-only");
    assert!(!home.join("made").exists());
}

/// What one file in `tools/builtin` says of the tools that come with the program.
#[test]
fn switches_of_built_in_tools() {
    let cases = [
        ("an unknown key", "name: grep\ntimout: 3s\n"),
        (
            "an unknown key in a list",
            "tools:\n  grep: { disabeld: true }\n",
        ),
        ("no name", "disabled: true\n"),
        (
            "both forms",
            "name: grep\ntools: { read: { disabled: true } }\n",
        ),
        ("a number for a switch", "name: grep\ndisabled: 1\n"),
        ("an exposure nobody knows", "name: grep\nexposure: secret\n"),
    ];
    insta::assert_snapshot!(all_in_one_folder("tools/builtin", "yaml", cases));
}

#[test]
fn scripts() {
    let cases = [
        ("a header that does not end", "#!/bin/sh\n# ---\n# name: a\n"),
        ("a header that breaks off", "#!/bin/sh\n# ---\n# name: a\necho\n# ---\n"),
        ("an unknown key", "#!/bin/sh\n# ---\n# name: a\n# paramters: {}\n# ---\n"),
        ("a command in a header", "#!/bin/sh\n# ---\n# name: a\n# command: [/bin/true]\n# ---\n"),
        ("an API in a header", "#!/bin/sh\n# ---\n# name: a\n# api_url: https://a.test\n# ---\n"),
        ("nothing runs it", "# ---\n# name: a\n# ---\n"),
        ("a name that is none", "#!/bin/sh\n# ---\n# name: A Tool\n# ---\n"),
        ("an indented mistake", "#!/usr/bin/env python3\n\n# ---\n# name: a\n# parameters:\n#   properties: [x]\n# sandbx: none\n# ---\n"),
    ]
    .map(|(name, text)| (name, text.as_bytes()));
    let latin = b"#!/bin/sh\n# ---\n# name: a\n# description: caf\xe9\n# ---\n";
    let latin = ("a header that is not UTF-8", &latin[..]);
    let cases = cases.into_iter().chain([latin]);
    insta::assert_snapshot!(all_in_one_folder("tools/builtin", "sh", cases));
}

/// What the main file says.
#[test]
fn settings() {
    let rules = format!("policy:\n  deny: [{}]\n", "a, ".repeat(600));
    let cases = [
        ("an unknown key", "tols: [read]\n"),
        ("an unknown key of serve", "serve:\n  prefx: a\n"),
        ("an unknown key of limits", "limits: { timout: 3s }\n"),
        (
            "an unknown key of a binding",
            "bindings:\n  read: { time: 3s }\n",
        ),
        ("an unknown key of the policy", "policy: { alow: [read] }\n"),
        ("an unknown key of the guide", "guide: { titel: x }\n"),
        (
            "an unknown key of the strategy",
            "output_strategy: { function_caling: true }\n",
        ),
        (
            "an unknown key of a server",
            "servers:\n  a: { comand: /bin/true }\n",
        ),
        (
            "an unknown key of a document",
            "openapi:\n  a: { fil: a.json }\n",
        ),
        (
            "an unknown key of a filter",
            "openapi:\n  a: { file: a.json, include: { tag: [x] } }\n",
        ),
        (
            "an unknown key of a rule",
            "policy:\n  rules: [{ effect: deny, tol: x }]\n",
        ),
        ("a list for limits", "limits: [1]\n"),
        ("a text for servers", "servers: none\n"),
        ("a list for servers", "servers: [a]\n"),
        ("a number for a prefix", "prefix: [1]\n"),
        ("a prefix with a path", "prefix: ../a\n"),
        ("a limit below nothing", "limits: { output_bytes: -1 }\n"),
        ("a limit of nothing", "limits: { output_bytes: 0 }\n"),
        ("a limit that is half", "limits: { output_bytes: 1.5 }\n"),
        ("a limit that is a word", "limits: { output_bytes: many }\n"),
        ("a mode nobody knows", "policy: { mode: yolo }\n"),
        ("a rule that is none", "policy: { deny: ['read('] }\n"),
        (
            "a glob that is none",
            "bindings: { '[': { timeout: 1s } }\n",
        ),
        ("too many rules", &rules),
        ("a name of a set with a path", "tool_sets: [../../etc]\n"),
        ("a member that is empty", "tools: ['']\n"),
        (
            "yes for true",
            "output_strategy: { function_calling: yes }\n",
        ),
        (
            "both a file and an address",
            "openapi:\n  a: { file: a.json, url: https://a.test }\n",
        ),
        (
            "a name of a document with a path",
            "openapi:\n  ../a: { file: a.json }\n",
        ),
        (
            "a document at no address",
            "openapi:\n  a: { url: a.test/openapi.json }\n",
        ),
        (
            "a document in another scheme",
            "openapi:\n  a: { url: 'file:///etc/passwd' }\n",
        ),
        ("a template above", "guide: { template: ../t.md }\n"),
        (
            "an unknown key of a source",
            "sources: { a: { rat: 1/s } }\n",
        ),
        ("a rate that is none", "sources: { a: { rate: often } }\n"),
        ("a quota of nothing", "callers: { quota: 0/d }\n"),
        ("an unknown key of callers", "callers: { limit: 1/s }\n"),
        ("nobody at once", "sources: { a: { concurrency: 0 } }\n"),
        ("a line without end", "sources: { a: { queue: 1000001 } }\n"),
        (
            "a circuit that is a word",
            "sources:\n  a:\n    circuit: never\n",
        ),
        (
            "a circuit for nothing",
            "sources:\n  a:\n    circuit: { failures: 0 }\n",
        ),
        (
            "a share of more than all",
            "sources:\n  a:\n    circuit: { share: 1.5 }\n",
        ),
        ("too many tries", "bindings: { a: { retries: 11 } }\n"),
        (
            "an answer kept for nothing",
            "bindings: { a: { cache: 0s } }\n",
        ),
        ("a source that is no glob", "sources: { 'a[': {} }\n"),
    ]
    .map(|(name, text)| case(name).main(text));
    insta::assert_snapshot!(in_the_main_file(cases));
}
