//! What is wrong with files, and where.

use toolsmith_core::reference::Place;

use crate::http_server::make_from;

/// Checks that a file comes to one problem, and what it says.
fn check(yaml: &str, told: &str) {
    let made = make_from(yaml);
    let messages: Vec<&str> = made
        .problems
        .iter()
        .map(|problem| &*problem.message)
        .collect();
    assert_eq!(messages.len(), 1, "{yaml}: {messages:?}");
    assert!(messages[0].contains(told), "{yaml}: {messages:?}");
    assert_eq!(made.tools.len(), 0, "{yaml}");
}

#[test]
fn what_is_neither_or_both() {
    check("{ name: t }", "neither `api_url` nor `command`");
    check(
        "{ name: t, api_url: 'http://a/', command: [ls] }",
        "both `api_url` and `command`",
    );
    check(
        "{ tools: [{ name: t, tools: [{ name: u }] }] }",
        "`tools` within `tools`",
    );
    check("{ api_url: 'http://a/' }", "no `name`");
    check("{ name: getUser, api_url: 'http://a/' }", "small letters");
    check("{ name: 'a b', api_url: 'http://a/' }", "holds ' '");
    for key in [
        "stdin: x",
        "cwd: x",
        "env: { A: b }",
        "exit_codes: { 1: ok }",
        "sandbox: none",
        "output: json",
    ] {
        let name = key.split(':').next().unwrap();
        check(
            &format!("{{ name: t, api_url: 'http://a/', {key} }}"),
            &format!("`{name}` means nothing for an API"),
        );
    }
    check(
        "{ name: t, api_url: 'http://a/', schema_path: /x }",
        "`schema_path` means nothing",
    );
    check(
        "{ name: t, command: [ls], path: /x }",
        "`path` means nothing for a command",
    );
    check(
        "{ name: t, adapter: execute, api_url: 'http://a/', method: GET }",
        "`method` means nothing",
    );
    check("{ name: t, adapter: execute }", "needs `api_url`");
    check(
        "{ adapter: execute, api_url: 'http://a/' }",
        "needs a `name`",
    );
}

/// What a tool does not take over from its file is not left out in silence: a consent that
/// nobody asks for would be none.
#[test]
fn what_only_a_single_tool_can_say() {
    for key in [
        "path: /x",
        "consent: DELETE",
        "examples: [{ arguments: {} }]",
        "returns: A number.",
        "env_passthrough: [HOME]",
        "exit_codes: { 1: ok }",
        "schema_path: /x",
        "execute_path: /x",
    ] {
        let name = key.split(':').next().unwrap();
        check(
            &format!("{{ api_url: 'http://a/', {key}, tools: [{{ name: t, disabled: true }}] }}"),
            &format!("`{name}` belongs to a single tool"),
        );
    }
}

#[test]
fn addresses_that_are_none() {
    for (url, told) in [
        ("ftp://a/", "no URL of http or https"),
        ("a.example/path", "no URL of http or https"),
        ("https://", "no URL"),
        ("https:///path", "no URL"),
        ("https://user:pass@a/", "a user name or a password"),
        ("https://a/#part", "a `#`"),
        ("https://{host}/", "cannot depend on an argument"),
        ("https://a b/", "a space"),
        ("https://a\\b/", "a backslash"),
        ("https://a:99999/", "no URL"),
        ("https://a/../b", "leads elsewhere"),
        ("https://a/x/%2E%2e", "leads elsewhere"),
    ] {
        check(&format!("{{ name: t, api_url: '{url}' }}"), told);
    }
    for (url, secret) in [
        ("https://user:hunter2@a/", "hunter2"),
        ("https://a/${env:BRACED}", "den"),
        ("${env:BRACED}", "den"),
    ] {
        let told = format!(
            "{:?}",
            make_from(&format!("{{ name: t, api_url: '{url}' }}")).problems
        );
        assert!(told.contains("`api_url`"), "{told}");
        assert!(!told.contains(secret), "{told}");
    }
}

#[test]
fn paths_places_and_templates() {
    let with = |more: &str| {
        format!(
            "{{ name: t, api_url: 'http://a/', parameters: {{ properties: {{ a: {{}}, b: {{}} }} }}, {more} }}"
        )
    };
    for (more, told) in [
        (
            "path: '/{c}'",
            "the path names `{c}`, which is no parameter",
        ),
        ("path: '/{a'", "without its other half"),
        ("path: '/a}'", "without its other half"),
        ("path: '/{}'", "without its other half"),
        ("path: '/{{a}}'", "without its other half"),
        ("path: '/x/../y'", "leads elsewhere"),
        ("path: '/x\\y'", "which no path may"),
        ("path: '/x#y'", "a `#`"),
        ("path: '/x?q={a}'", "under `places`"),
        ("places: { c: query }", "`c` is no parameter"),
        ("places: { a: path }", "`a` is in no path"),
        ("path: '/{a}', places: { a: query }", "in the path already"),
        (
            "places: { a: { in: header, name: 'X Y' } }",
            "no header's name",
        ),
        (
            "places: { a: { in: header, name: \"X\\r\\nY\" } }",
            "no header's name",
        ),
        (
            "places: { a: { in: header, name: Host } }",
            "only the client writes",
        ),
        (
            "places: { a: { in: header, name: transfer-encoding } }",
            "only the client writes",
        ),
        (
            "places: { a: { in: header, name: Content-Type } }",
            "which the file fills itself",
        ),
        (
            "places: { a: { in: cookie, name: 'x;y' } }",
            "no cookie's name",
        ),
        (
            "places: { a: { in: header, name: X }, b: { in: header, name: x } }",
            "go to the same place",
        ),
        ("places: { a: whole_body, b: body }", "others are fields"),
        (
            "places: { a: whole_body, b: whole_body }",
            "go to the same place",
        ),
        (
            "api_key: abc, places: { a: { in: header, name: x-api-key } }",
            "the file fills itself",
        ),
        (
            "api_key: abc, auth: { in: query, name: a }",
            "the file fills itself",
        ),
        (
            "headers: { X-A: b }, places: { a: { in: header, name: x-a } }",
            "the file fills itself",
        ),
        (
            "idempotency_header: X-Once, places: { a: { in: header, name: x-once } }",
            "the file fills itself",
        ),
        ("method: POST, body: text", "place it as `whole_body`"),
        (
            "method: POST, request: { x: '{c}', y: '{a}{b}' }",
            "`request` names `{c}`",
        ),
        (
            "method: POST, request: { x: '{a}' }",
            "the argument `b` goes nowhere",
        ),
        ("response: { select: data }", "no JSON pointer"),
        ("response: { template: '{% for %}' }", "`response.template`"),
        ("pagination: { style: cursor }", "needs `next`"),
        (
            "pagination: { style: page, items: data }",
            "no JSON pointer",
        ),
    ] {
        check(&with(more), told);
    }
}

#[test]
fn problems_have_places_and_harm_their_own_tool_only() {
    let made = make_from(
        "api_url: http://127.0.0.1:9
tools:
  - name: good
  - name: bad
    path: '/{x}'
  - name: good
    path: /other
  - name: lost
    api_url: nowhere
  - name: odd
    places: { a: query }
",
    );
    assert_eq!(made.tools.len(), 1);
    let told: Vec<(usize, &str)> = made
        .problems
        .iter()
        .map(|problem| (problem.place.line, &*problem.message))
        .collect();
    assert_eq!(
        told,
        [
            (
                5,
                "the path names `{x}`, which is no parameter; declare it under `parameters`"
            ),
            (6, "there is another tool `good` in this file"),
            (
                9,
                "`api_url`: it is no URL of http or https; write it as https://host/path"
            ),
            (
                10,
                "under `places`, `a` is no parameter; declare it under `parameters`"
            ),
        ]
    );
    assert_ne!(made.problems[3].place, Place::default());
}

#[test]
fn a_disabled_tool_is_left_out() {
    let made = make_from("{ name: t, api_url: nonsense, disabled: true }");
    assert_eq!((made.tools.len(), made.problems.len()), (0, 0));
}
