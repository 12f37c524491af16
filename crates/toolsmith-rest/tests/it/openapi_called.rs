//! Documents made at random, and their operations called: what reaches a server is what
//! the document says.
//!
//! The whole way is gone here: the document is read and imported, its tools are made and
//! registered, and each is called over loopback. What is expected stands in
//! `openapi_request`, which knows nothing of that way.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestCaseError, TestRunner};
use serde_json::{Value, json};
use toolsmith_rest::make;
use toolsmith_rest::openapi::{self, Options, ReadLimits};
use toolsmith_runtime::{Mode, Policy, Toolbox};

use crate::http_server::{Seen, Server, ok, surroundings};
use crate::openapi_generated::{described, operations};
use crate::openapi_request::{Operation, Request, Sent};

/// How many documents, of some operations each.
const DOCUMENTS: u32 = 160;

/// Where they come from.
const SEED: u64 = 20_260_601;

#[test]
fn what_reaches_a_server_is_what_the_document_says() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let server = runtime.block_on(Server::answering(|_, _| ok(&json!({ "done": true }))));
    let usual = ProptestConfig::default();
    let mut runner = TestRunner::new(ProptestConfig {
        cases: DOCUMENTS,
        failure_persistence: None,
        // The same documents each time, unless `PROPTEST_RNG_SEED` asks for others.
        rng_seed: match usual.rng_seed {
            RngSeed::Random => RngSeed::Fixed(SEED),
            given @ RngSeed::Fixed(_) => given,
        },
        ..usual
    });
    let outcome = runner.run(&operations(), |operations| {
        runtime.block_on(check(&server, &operations))
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

async fn check(server: &Server, operations: &[Operation]) -> Result<(), TestCaseError> {
    let document = described(operations).to_string();
    let document = openapi::read(document.as_bytes(), &ReadLimits::default()).unwrap();
    let mut options = Options::default();
    options.api_url = Some(format!("{}/base/v1", server.url));
    let imported = openapi::import(&document, &options).unwrap();
    prop_assert_eq!(&imported.left_out, &[]);
    let made = make(&imported.entry, &surroundings());
    prop_assert_eq!(&made.problems, &[]);
    let toolbox = Toolbox::builder()
        .tools(made.tools)
        .policy(Policy::new(Mode::Auto))
        .without_log()
        .build()
        .unwrap();
    for (operation, tool) in operations.iter().zip(&imported.entry.tools) {
        let arguments = Value::Object(operation.arguments(&tool.value));
        server.take();
        let outcome = toolsmith_testing::call(&toolbox, &operation.id, arguments.clone()).await;
        prop_assert_eq!(&outcome.error, &None, "{}", arguments);
        prop_assert_eq!(outcome.value, Some(json!({ "done": true })));
        let seen = server.take();
        prop_assert_eq!(seen.len(), 1);
        let mut expected = operation.expected();
        expected
            .segments
            .splice(0..0, ["base".to_owned(), "v1".to_owned()]);
        prop_assert_eq!(decoded(&seen[0]), expected, "{}", arguments);
    }
    Ok(())
}

/// A request as a server reads it.
fn decoded(seen: &Seen) -> Request {
    let mut request = Request {
        method: seen.method.clone(),
        query: seen.pairs(),
        ..Request::default()
    };
    request.query.sort();
    let segments = seen.path.strip_prefix('/').unwrap().split('/');
    request.segments = segments.map(unescaped).collect();
    // Each header once, and none that nobody asked for.
    let mut headers: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in &seen.headers {
        let before = headers.insert(name.clone(), value.clone());
        assert_eq!(before, None, "{name} is there twice");
    }
    for own in [
        "host",
        "accept",
        "accept-encoding",
        "user-agent",
        "content-length",
    ] {
        headers.remove(own);
    }
    let kind = headers.remove("content-type");
    let cookies = headers.remove("cookie").unwrap_or_default();
    for cookie in cookies.split("; ").filter(|cookie| !cookie.is_empty()) {
        let (name, value) = cookie.split_once('=').unwrap();
        let before = request.cookies.insert(name.to_owned(), unescaped(value));
        assert_eq!(before, None, "{name} is there twice");
    }
    request.headers = headers;
    request.body = kind.map(|kind| body(&kind, seen));
    if request.body.is_none() {
        assert_eq!(seen.body, b"", "a body of no type");
    }
    request
}

fn body(kind: &str, seen: &Seen) -> Sent {
    if let Some(boundary) = kind.strip_prefix("multipart/form-data; boundary=") {
        return Sent::Multipart(parts(&seen.text(), boundary));
    }
    match kind {
        "application/json" => Sent::Json(seen.json()),
        "application/x-www-form-urlencoded" => {
            let pairs = url::form_urlencoded::parse(&seen.body);
            let mut pairs: Vec<_> = pairs.into_owned().collect();
            pairs.sort();
            Sent::Form(pairs)
        }
        "text/plain; charset=utf-8" => Sent::Text(seen.text()),
        other => panic!("{other} was not asked for"),
    }
}

/// The parts of a form: what stands between two marks, each with its name.
fn parts(text: &str, boundary: &str) -> Vec<(String, String)> {
    let mark = format!("--{boundary}");
    let mut pieces: Vec<&str> = text.split(&mark).collect();
    assert_eq!(pieces.remove(0), "", "it begins with a mark");
    assert_eq!(pieces.pop(), Some("--\r\n"), "it ends with the last mark");
    let mut parts: Vec<(String, String)> = pieces
        .into_iter()
        .map(|piece| {
            let piece = piece.strip_prefix("\r\n").unwrap();
            let piece = piece.strip_suffix("\r\n").unwrap();
            let (head, value) = piece.split_once("\r\n\r\n").unwrap();
            let name = head.lines().find_map(|line| {
                let rest = line.strip_prefix("Content-Disposition: form-data; name=\"")?;
                rest.strip_suffix('"')
            });
            (unescaped(name.unwrap()), value.to_owned())
        })
        .collect();
    parts.sort();
    parts
}

/// A text without its `%XX`. What is not one stands for itself.
fn unescaped(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes.get(at + 1..at + 3);
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if bytes[at] == b'%' => {
                plain.push(byte);
                at += 3;
            }
            _ => {
                plain.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(plain).unwrap()
}
