//! Streams as providers send them, from files: `tests/golden/stream/<provider>/<case>.json`.
//!
//! A case has the raw `text` of the stream, or its events as `data` (server-sent events)
//! or `lines` (JSON line by line). Each is read in one piece, byte by byte, and in two
//! pieces cut at many places: all must give the same.

use serde_json::{Value, json};
use toolsmith_provider::parse::ParseError;
use toolsmith_provider::stream::{Delta, Stream};
use toolsmith_provider::{Answer, Dictionary, Provider};

use crate::parse_golden::{tell, visit, walk, writes};

#[test]
fn streams_are_read_as_the_files_say_wherever_they_are_cut() {
    walk("stream", |provider, case| {
        let bytes = bytes(case);
        let (deltas, answer) = read(provider, [bytes.as_slice()]);
        let (grown, byte_by_byte) = read(provider, bytes.chunks(1));
        assert_eq!(byte_by_byte, answer, "byte by byte: {}", case["about"]);
        assert_eq!(grown, deltas, "byte by byte: {}", case["about"]);
        for cut in (1..bytes.len()).step_by(bytes.len() / 60 + 1) {
            let (left, right) = bytes.split_at(cut);
            assert_eq!(
                read(provider, [left, right]).1,
                answer,
                "cut at {cut}: {}",
                case["about"]
            );
        }
        let deltas: Vec<Value> = deltas.iter().map(delta).collect();
        json!({"deltas": deltas, "answer": tell(answer)})
    });
}

#[test]
fn a_stream_that_breaks_off_never_gives_a_whole_call_that_is_not_one() {
    if writes() {
        return;
    }
    visit("stream", |_, provider, case| {
        let bytes = bytes(&case);
        if let (_, Ok(whole)) = read(provider, [bytes.as_slice()]) {
            for end in (0..bytes.len()).step_by(bytes.len() / 200 + 1) {
                let Ok(answer) = read(provider, [&bytes[..end]]).1 else {
                    continue;
                };
                for call in answer.calls.iter().filter(|call| call.complete) {
                    let known = whole.calls.iter().any(|each| {
                        each.call.name == call.call.name
                            && each.call.arguments == call.call.arguments
                    });
                    assert!(known, "cut after {end} of {}: {call:?}", case["about"]);
                }
            }
        }
    });
}

pub(crate) fn read<'a>(
    provider: Provider,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<Delta>, Result<Answer, ParseError>) {
    let mut stream = Stream::new(provider, &Dictionary::default());
    let mut deltas = Vec::new();
    for piece in pieces {
        deltas.extend(stream.push(piece));
    }
    (deltas, stream.finish())
}

fn bytes(case: &Value) -> Vec<u8> {
    let events = |key: &str| case[key].as_array().cloned().unwrap_or_default();
    let text: String = match &case["text"] {
        Value::String(text) => text.clone(),
        _ if case.get("data").is_some() => {
            let line = |event: &Value| match event {
                Value::String(text) => format!("data: {text}\n\n"),
                event => format!("data: {event}\n\n"),
            };
            events("data").iter().map(line).collect()
        }
        _ => events("lines")
            .iter()
            .map(|event| format!("{event}\n"))
            .collect(),
    };
    text.into_bytes()
}

fn delta(delta: &Delta) -> Value {
    match delta {
        Delta::Text(text) => json!({"text": text}),
        Delta::Reasoning(text) => json!({"reasoning": text}),
        Delta::Call { index, name } => json!({"call": index, "name": name}),
        Delta::Arguments { index, text } => json!({"call": index, "arguments": text}),
        _ => json!("unknown"),
    }
}
