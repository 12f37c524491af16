//! Hostile texts in every place of a request never change where it goes or what it is
//! made of, as the server sees it.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};
use toolsmith_core::ErrorKind;
use toolsmith_runtime::Toolbox;
use toolsmith_testing::call;

use crate::http_server::{Seen, Server, toolbox};

/// Texts that mean something somewhere.
const HOSTILE: &[&str] = &[
    "",
    ".",
    "..",
    "...",
    "/",
    "//",
    "\\",
    "..\\..",
    "../../etc/passwd",
    "/../",
    "./",
    "%2e%2e",
    "%2E%2E%2F",
    "%252e",
    "%",
    "%0d%0a",
    "%00",
    "a/b",
    "a?b=c",
    "a#b",
    "a&b=c",
    "a=b&c=d",
    "a;b",
    "a:b@c",
    "@evil.example",
    "//evil.example/",
    "http://evil.example/",
    "https:evil.example",
    "\r\nX-Injected: yes",
    "\nX-Injected: yes",
    "\rX",
    "a\r\n\r\nGET /admin HTTP/1.1\r\n",
    "\0",
    "\u{7f}",
    "\u{85}",
    "\u{2028}",
    "\t",
    " ",
    "  a  ",
    "\"",
    "'",
    "`",
    "\"}",
    "\\\"",
    "\\u0022",
    "{a}",
    "{{a}}",
    "${env:SECRET}",
    "${SECRET}",
    "{{ value }}",
    "{% if %}",
    "a,b",
    "a|b",
    "a b",
    "[]",
    "a[b]",
    "x=y; z=w",
    "; admin=true",
    "--boundary\r\n",
    "--",
    "\r\n--x--\r\n",
    "Content-Disposition: form-data; name=\"x\"",
    "ü",
    "日本",
    "\u{202e}",
    "\u{feff}",
    "\u{1f600}",
    "null",
    "true",
    "-1",
    "1e999",
    "<script>",
    "${jndi:ldap://x}",
    "$(id)",
    "`id`",
    "|id",
    "+",
    "*",
];

const PLACES: &[&str] = &[
    "path", "mixed", "query", "list", "header", "cookie", "object", "field", "part",
];

/// One tool for each form of body, with an argument in every other place.
struct Target {
    server: Server,
    tools: Vec<(&'static str, Toolbox)>,
    sent: AtomicUsize,
}

impl Target {
    async fn new() -> Self {
        let server = Server::saying(json!(1)).await;
        let shared = "api_url: 'SERVER/base/{path}', path: '/a/v{mixed}/z', method: POST, \
            api_key: hidden-key, headers: { X-Own: own }, \
            parameters: { properties: { path: {}, mixed: {}, query: {}, list: {}, header: {}, \
                cookie: {}, object: {}, field: {}, part: {} } }";
        let places = "query: query, list: { in: query, list: comma }, \
            header: { in: header, name: X-Arg }, cookie: cookie, \
            object: { in: query, object: deep }";
        let whole = "field: whole_body, part: query";
        let tools = [
            ("json", format!("body: json, places: {{ {places} }}")),
            ("form", format!("body: form, places: {{ {places} }}")),
            (
                "multipart",
                format!("body: multipart, places: {{ {places} }}"),
            ),
            (
                "text",
                format!("body: text, places: {{ {places}, {whole} }}"),
            ),
            (
                "whole",
                format!("body: json, places: {{ {places}, {whole} }}"),
            ),
            (
                "written",
                format!(
                    "places: {{ {places} }}, request: {{ a: '{{field}}', b: 'x {{part}} y', \
                     c: ['{{field}}'], d: {{ e: fixed }} }}"
                ),
            ),
        ];
        let tools = tools.map(|(form, more)| {
            let tool = server.tool(&format!("{{ name: t, {shared}, {more} }}"));
            (form, toolbox(&tool))
        });
        let tools = tools.into();
        let sent = AtomicUsize::new(0);
        Self {
            server,
            tools,
            sent,
        }
    }

    /// Calls every tool with these texts, and looks at what arrives.
    async fn check(&self, texts: &[(&str, &str)]) {
        self.check_forms(self.tools.len(), texts).await;
    }

    /// Calls so many of the tools.
    async fn check_forms(&self, forms: usize, texts: &[(&str, &str)]) {
        let text = |place: &str| {
            let found = texts.iter().find(|(name, _)| *name == place);
            found.map_or("harmless", |(_, text)| *text).to_owned()
        };
        let mut given = Map::new();
        for place in PLACES {
            let value = match *place {
                "list" => json!([text(place), "second"]),
                "object" => json!({ "k": text(place) }),
                place => json!(text(place)),
            };
            given.insert((*place).to_owned(), value);
        }
        for (form, toolbox) in self.tools.iter().take(forms) {
            let outcome = call(toolbox, "t", Value::Object(given.clone())).await;
            let seen = self.server.take();
            match outcome.error {
                Some(error) => {
                    assert_eq!(error.kind, ErrorKind::InvalidParameters, "{error}");
                    assert_eq!(seen.len(), 0, "what was refused was sent: {texts:?}");
                    assert!(may_be_refused(&text), "{texts:?}: {error}");
                }
                None => {
                    assert_eq!(seen.len(), 1);
                    self.sent.fetch_add(1, Ordering::Relaxed);
                    looks_right(form, &seen[0], &text);
                }
            }
        }
    }
}

/// What may be refused instead of being sent: nothing that has a harmless form.
fn may_be_refused(text: &dyn Fn(&str) -> String) -> bool {
    let in_header = |place: &str| text(place).chars().any(char::is_control);
    matches!(text("path").as_str(), "" | "." | "..")
        || text("mixed").is_empty()
        || in_header("header")
        || in_header("cookie")
}

fn looks_right(form: &str, seen: &Seen, text: &dyn Fn(&str) -> String) {
    // Where it goes.
    assert_eq!(seen.method, "POST");
    let segments: Vec<&str> = seen.path.split('/').collect();
    assert_eq!(segments.len(), 6, "{}", seen.path);
    assert_eq!((segments[1], segments[3], segments[5]), ("base", "a", "z"));
    assert_eq!(decoded(segments[2]), text("path"));
    assert_eq!(decoded(segments[4]), format!("v{}", text("mixed")));
    // What it is made of.
    let mut expected = vec![
        ("query".to_owned(), text("query")),
        ("list".to_owned(), format!("{},second", text("list"))),
        ("object[k]".to_owned(), text("object")),
    ];
    if matches!(form, "text" | "whole") {
        expected.push(("part".to_owned(), text("part")));
    }
    assert_eq!(seen.pairs(), expected, "{}", seen.query);
    assert_eq!(seen.query.matches('&').count(), expected.len() - 1);
    let mut names: Vec<&str> = seen.headers.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "accept",
            "accept-encoding",
            "content-length",
            "content-type",
            "cookie",
            "host",
            "user-agent",
            "x-api-key",
            "x-arg",
            "x-own",
        ]
    );
    assert_eq!(seen.header("x-own"), Some("own"));
    assert_eq!(seen.header("x-api-key"), Some("hidden-key"));
    assert_eq!(seen.header("x-arg"), Some(text("header").trim()));
    let cookie = seen.header("cookie").unwrap();
    assert!(!cookie.contains([';', ',', ' ']), "{cookie}");
    assert_eq!(
        decoded(cookie.strip_prefix("cookie=").unwrap()),
        text("cookie")
    );
    body_looks_right(form, seen, text);
}

/// What stands behind `%XX`.
fn decoded(encoded: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = encoded.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first == b'%' {
            let digits = str::from_utf8(&after[..2]).unwrap();
            bytes.push(u8::from_str_radix(digits, 16).unwrap());
            rest = &after[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).unwrap()
}

fn body_looks_right(form: &str, seen: &Seen, text: &dyn Fn(&str) -> String) {
    let (field, part) = (text("field"), text("part"));
    match form {
        "json" => assert_eq!(seen.json(), json!({ "field": field, "part": part })),
        "whole" => assert_eq!(seen.json(), json!(field)),
        "text" => assert_eq!(seen.text(), field),
        "written" => assert_eq!(
            seen.json(),
            json!({ "a": field, "b": format!("x {part} y"), "c": [field], "d": { "e": "fixed" } })
        ),
        "form" => {
            let pairs: Vec<(String, String)> = url::form_urlencoded::parse(&seen.body)
                .into_owned()
                .collect();
            assert_eq!(
                pairs,
                [("field".to_owned(), field), ("part".to_owned(), part)]
            );
        }
        "multipart" => {
            let kind = seen.header("content-type").unwrap();
            let boundary = kind.split_once("boundary=").unwrap().1;
            let body = seen.text();
            let parts: Vec<&str> = body.split(&format!("--{boundary}")).collect();
            let head =
                |name| format!("\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
            assert_eq!(
                parts,
                [
                    "",
                    &format!("{}{field}\r\n", head("field")),
                    &format!("{}{part}\r\n", head("part")),
                    "--\r\n"
                ]
            );
        }
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn hostile_texts_in_one_place() {
    let target = Target::new().await;
    for place in PLACES {
        // Only what is in the body depends on its form.
        let forms = if matches!(*place, "field" | "part") {
            6
        } else {
            1
        };
        for text in HOSTILE {
            target.check_forms(forms, &[(place, text)]).await;
        }
    }
}

#[test]
fn hostile_texts_in_all_places() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let target = runtime.block_on(Target::new());
    let piece = prop_oneof![
        proptest::sample::select(HOSTILE).prop_map(str::to_owned),
        any::<String>(),
        "[\\x00-\\x7f]{0,12}",
        "[./\\\\%?#&=;,\r\n\"{}\\[\\]]{0,8}",
    ];
    let text = proptest::collection::vec(piece, 1..3).prop_map(|pieces| pieces.concat());
    let texts = proptest::collection::vec(text, PLACES.len());
    let mut runner = TestRunner::new(Config {
        cases: 64,
        failure_persistence: None,
        ..Config::default()
    });
    let checked = runner.run(&texts, |texts| {
        let texts: Vec<(&str, &str)> = PLACES
            .iter()
            .copied()
            .zip(texts.iter().map(String::as_str))
            .collect();
        runtime.block_on(target.check(&texts));
        // With the same texts where none can be refused, so that most of it is sent.
        let sent: Vec<(&str, &str)> = texts
            .into_iter()
            .filter(|(place, _)| !matches!(*place, "header" | "cookie"))
            .collect();
        runtime.block_on(target.check(&sent));
        Ok(())
    });
    checked.unwrap();
    assert!(
        target.sent.load(Ordering::Relaxed) > 200,
        "too little was sent to show anything"
    );
}
