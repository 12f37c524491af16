//! Answers nobody should send: never a panic, never a call that was not made.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolsmith_core::RawCall;
use toolsmith_core::call::RawArguments;
use toolsmith_provider::parse::{ParseError, parse};
use toolsmith_provider::{Dictionary, Provider, render, script};

fn scripted(provider: Provider) -> String {
    let calls = [
        RawCall::new(
            "weather",
            json!({"city": "Zürich \u{1f327}", "days": [1, 2, {"deep": null}]}),
        ),
        RawCall::new("clock", json!({})),
    ];
    let calls = if provider == Provider::Mcp {
        &calls[..1]
    } else {
        &calls
    };
    script::body(provider, &Dictionary::default(), "One moment.", calls).to_string()
}

#[test]
fn a_body_cut_off_at_any_byte_is_no_answer() {
    for provider in Provider::ALL
        .into_iter()
        .filter(|each| *each != Provider::Text)
    {
        let body = scripted(provider);
        for end in 0..body.len() {
            let answer = parse(provider, &body.as_bytes()[..end], &Dictionary::default());
            assert!(
                matches!(answer, Err(ParseError::NotJson { .. })),
                "{provider} cut at {end}: {answer:?}"
            );
        }
    }
}

#[test]
fn any_part_of_an_answer_may_be_of_any_type() {
    for provider in Provider::ALL {
        let body: Value = serde_json::from_str(&scripted(provider)).unwrap_or(Value::Null);
        for pointer in pointers(&body) {
            for wrong in &nonsense() {
                let mut body = body.clone();
                *body.pointer_mut(&pointer).unwrap() = wrong.clone();
                if let Ok(answer) = parse(
                    provider,
                    body.to_string().as_bytes(),
                    &Dictionary::default(),
                ) {
                    // Whatever was read can be answered, call by call.
                    let results = render::results(provider, &answer, &[]);
                    assert!(results.is_empty() == answer.calls.is_empty());
                }
            }
        }
    }
}

/// What stands where something else should.
pub(crate) fn nonsense() -> [Value; 9] {
    [
        json!(null),
        json!(7),
        json!("{"),
        json!([]),
        json!({}),
        json!([[1]]),
        json!([null]),
        json!(["x"]),
        json!({"a": 1}),
    ]
}

/// Every place in a value.
pub(crate) fn pointers(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut waiting = vec![(String::new(), value)];
    while let Some((pointer, value)) = waiting.pop() {
        match value {
            Value::Array(items) => {
                waiting.extend(
                    items
                        .iter()
                        .enumerate()
                        .map(|(index, item)| (format!("{pointer}/{index}"), item)),
                );
            }
            Value::Object(fields) => {
                waiting.extend(
                    fields
                        .iter()
                        .map(|(key, field)| (format!("{pointer}/{key}"), field)),
                );
            }
            _ => {}
        }
        found.push(pointer);
    }
    found
}

#[test]
fn bytes_that_are_no_text_are_replaced_and_noted() {
    for provider in Provider::ALL
        .into_iter()
        .filter(|each| *each != Provider::Text)
    {
        let body = scripted(provider).into_bytes();
        let mut damaged = body.clone();
        let place = body
            .windows(2)
            .position(|two| two == "ü".as_bytes())
            .unwrap();
        damaged[place] = 0xff;
        damaged[place + 1] = b'?';
        let answer = parse(provider, &damaged, &Dictionary::default()).unwrap();
        assert!(
            answer.notes.iter().any(|note| note.contains("UTF-8")),
            "{provider}"
        );
        let call = &answer.calls[0].call;
        assert!(
            matches!(&call.arguments, RawArguments::Json(value) if value["city"].as_str().unwrap().contains('\u{fffd}'))
        );
        assert!(
            call.repairs.iter().any(|note| note.contains("UTF-8")),
            "{provider}"
        );
        if let Some(other) = answer.calls.get(1) {
            assert!(
                other.call.repairs.is_empty(),
                "{provider}: only what was damaged says so"
            );
        }
    }
}

#[test]
fn what_nests_without_end_is_refused() {
    for provider in Provider::ALL
        .into_iter()
        .filter(|each| *each != Provider::Text)
    {
        let deep = "[".repeat(100_000);
        assert!(parse(provider, deep.as_bytes(), &Dictionary::default()).is_err());
        let body = format!("{{\"choices\": {deep}");
        assert!(parse(provider, body.as_bytes(), &Dictionary::default()).is_err());
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for provider in Provider::ALL {
            let _ = parse(provider, &bytes, &Dictionary::default());
        }
    }

    #[test]
    fn no_json_makes_it_panic(text in "(\\{\"(choices|content|candidates|output|message|error|type|role)\": ?(\\[\\]|\\{\\}|1|\"x\"|null|\\[\\{\"(message|delta|text)\": \\{\\}\\}\\]),? ?){0,4}\\}*") {
        for provider in Provider::ALL {
            let _ = parse(provider, text.as_bytes(), &Dictionary::default());
        }
    }
}
