//! Streams nobody should send.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolsmith_core::RawCall;
use toolsmith_provider::parse::ParseError;
use toolsmith_provider::{Delta, Dictionary, Provider, Stop, Stream, render, script};

use crate::parse_hostile::{nonsense, pointers};
use crate::stream_golden::read;

fn scripted(provider: Provider) -> Vec<u8> {
    let calls = [
        RawCall::new(
            "weather",
            json!({"city": "Zürich \u{1f327}", "days": [1, 2]}),
        ),
        RawCall::new("clock", json!({})),
        RawCall::new("weather", json!({"city": "}{", "days": []})),
    ];
    script::stream(provider, &Dictionary::default(), "One moment.", &calls)
}

/// Those that stream.
fn streaming() -> impl Iterator<Item = Provider> {
    (Provider::ALL.into_iter()).filter(|each| !matches!(each, Provider::Text | Provider::Mcp))
}

#[test]
fn a_stream_cut_off_at_any_byte_makes_no_call_that_was_not_made() {
    for provider in streaming() {
        let bytes = scripted(provider);
        let whole = read(provider, [bytes.as_slice()]).1.unwrap();
        for end in (0..bytes.len()).step_by(7) {
            let mut answer = match read(provider, [&bytes[..end]]).1 {
                Ok(answer) => answer,
                Err(ParseError::NotJson { .. }) => continue,
                Err(error) => panic!("{provider} cut at {end}: {error}"),
            };
            // What was cut within its very last line says so, and is whole all the same.
            answer.notes.clear();
            // What it took is told after its end by some.
            answer.usage = whole.usage;
            let finished = answer.stop != Stop::Broken;
            assert!(
                !finished || answer == whole,
                "{provider} cut at {end}: {answer:?}"
            );
            for (call, made) in answer.calls.iter().zip(&whole.calls) {
                assert!(
                    !call.complete || call.call.arguments == made.call.arguments,
                    "{provider} cut at {end}: {call:?}"
                );
                assert!(!call.complete || call.call.name == made.call.name);
            }
        }
    }
}

/// One of each that are put together alike.
fn unlike() -> impl Iterator<Item = Provider> {
    let alike = [
        Provider::OpenAiFunctions,
        Provider::OpenAiCompatible,
        Provider::Mistral,
        Provider::DeepSeek,
        Provider::Qwen,
    ];
    streaming().filter(move |provider| !alike.contains(provider))
}

#[test]
fn any_part_of_an_event_may_be_of_any_type() {
    let call = [RawCall::new("clock", json!({"zone": "UTC"}))];
    for provider in unlike() {
        let bytes = script::stream(provider, &Dictionary::default(), "One.", &call);
        let text = String::from_utf8(bytes).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (place, line) in lines.iter().enumerate() {
            let (mark, event) = match line.split_once("data: ") {
                Some((_, event)) => ("data: ", event),
                None => ("", *line),
            };
            let Ok(event @ Value::Object(_)) = serde_json::from_str(event) else {
                continue;
            };
            for pointer in pointers(&event) {
                for wrong in nonsense() {
                    let mut event = event.clone();
                    *event.pointer_mut(&pointer).unwrap() = wrong;
                    let wrong = format!("{mark}{event}");
                    let mut lines = lines.clone();
                    lines[place] = &wrong;
                    if let Ok(answer) = read(provider, [lines.join("\n").as_bytes()]).1 {
                        // Whatever was read can be answered, call by call.
                        let results = render::results(provider, &answer, &[]);
                        assert!(results.is_empty() == answer.calls.is_empty());
                    }
                }
            }
        }
    }
}

#[test]
fn a_name_that_grows_without_end_is_not_told_again_and_again() {
    let piece = |name: &str| {
        let call = json!({"index": 0, "function": {"name": name}});
        let event = json!({"choices": [{"delta": {"tool_calls": [call]}}]});
        format!("data: {event}\n\n")
    };
    let text = piece(&"x".repeat(1 << 20)) + &piece("y").repeat(400);
    let (deltas, answer) = read(Provider::OpenAi, [text.as_bytes()]);
    let told = |delta: &Delta| match delta {
        Delta::Call { name, .. } => name.len(),
        _ => 0,
    };
    let told: usize = deltas.iter().map(told).sum();
    assert!(told < 4 << 20, "{told} bytes of names");
    assert_eq!(answer.unwrap().calls.len(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn the_name_of_many_events_is_not_kept_whole_for_each() {
    fn resident_kilobytes() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let mut lines = status.lines();
        let line = lines.find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }
    let before = resident_kilobytes();
    // A long name, and many events that have it.
    let named = format!("event: {}\ndata: \"\n", "n".repeat(1 << 20)) + &"data: {}\n".repeat(600);
    let _ = read(Provider::Anthropic, [named.as_bytes()]);
    let grown = resident_kilobytes() - before;
    assert!(grown < 200_000, "grew by {grown} kB");
}

#[test]
fn bytes_that_are_no_text_are_replaced_and_noted() {
    for provider in streaming() {
        let mut bytes = scripted(provider);
        let place = bytes
            .windows(2)
            .position(|two| two == "ü".as_bytes())
            .unwrap();
        bytes[place] = 0xff;
        bytes[place + 1] = b'?';
        let answer = read(provider, bytes.chunks(1)).1.unwrap();
        assert!(
            answer.notes.iter().any(|note| note.contains("UTF-8")),
            "{provider}"
        );
        assert_eq!(answer.calls.len(), 3, "{provider}");
    }
}

#[test]
fn line_endings_and_comments_do_not_matter() {
    for provider in streaming() {
        let text = String::from_utf8(scripted(provider)).unwrap();
        let expected = read(provider, [text.as_bytes()]).1.unwrap();
        let with_marks = format!("\u{feff}{text}");
        let mut variants = vec![text.replace('\n', "\r\n"), with_marks];
        if text.contains("data:") {
            variants.push(text.replace('\n', "\r"));
            variants.push(text.replace("data: ", ": a comment\nid: 7\nretry: 10\ndata:"));
            variants.push(text.replace("\n\n", "\n"));
        } else {
            variants.push(format!("[{}]", text.trim().replace('\n', ",\n")));
            variants.push(text.replace('\n', ""));
        }
        for variant in variants {
            assert_eq!(
                read(provider, variant.as_bytes().chunks(1)).1.unwrap(),
                expected,
                "{provider}: {variant}"
            );
        }
    }
}

#[test]
fn what_is_too_large_is_not_read_on() {
    let mut stream = Stream::new(Provider::OpenAi, &Dictionary::default());
    let event = format!(
        "data: {}\n\n",
        json!({"choices": [{"delta": {"content": "x".repeat(1 << 20)}}]})
    );
    for _ in 0..80 {
        stream.push(event.as_bytes());
    }
    let answer = stream.finish().unwrap();
    assert_eq!(answer.stop, Stop::Broken);
    assert!(answer.text.len() <= 16 << 20);
    assert!(!answer.notes.is_empty());
}

#[test]
fn what_takes_few_bytes_and_much_memory_is_not_read_on() {
    // Two bytes each, and seventy where they are kept.
    let zeros = vec![0; 1 << 18];
    let sizes = [
        (
            Provider::OpenAi,
            json!({"choices": [{"delta": {"reasoning_details": zeros}}]}),
        ),
        (
            Provider::Anthropic,
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "x", "x": zeros}}),
        ),
        (
            Provider::Gemini,
            json!({"candidates": [{"content": {"parts": [{"x": zeros}]}}]}),
        ),
    ];
    for (provider, event) in sizes {
        let mut stream = Stream::new(provider, &Dictionary::default());
        let event = format!("data: {event}\n\n");
        for _ in 0..8 {
            stream.push(event.as_bytes());
        }
        let answer = stream.finish().unwrap();
        assert_eq!(answer.stop, Stop::Broken, "{provider}");
        let kept: usize = answer.turn.iter().map(toolsmith_core::json::size).sum();
        assert!(kept < 12 << 20, "{provider} {kept}");
        assert!(!answer.notes.is_empty(), "{provider}");
    }
}

#[test]
fn more_calls_than_anybody_makes_are_not_kept_in_silence() {
    for provider in unlike() {
        let calls: Vec<RawCall> = (0..4100)
            .map(|number| RawCall::new("f", json!({ "n": number })))
            .collect();
        let bytes = script::stream(provider, &Dictionary::default(), "", &calls);
        let answer = read(provider, [bytes.as_slice()]).1.unwrap();
        assert!(answer.calls.len() >= 4096, "{provider}");
        if answer.calls.len() < calls.len() {
            assert_eq!(answer.stop, Stop::Broken, "{provider}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0_usize..200) {
        for provider in Provider::ALL {
            let (left, right) = bytes.split_at(cut.min(bytes.len()));
            let _ = read(provider, [left, right]);
        }
    }

    #[test]
    fn no_order_of_events_makes_it_panic(order in prop::collection::vec(0_usize..40, 0..30)) {
        for provider in streaming() {
            let text = String::from_utf8(scripted(provider)).unwrap();
            let separator = if text.contains("data:") { "\n\n" } else { "\n" };
            let events: Vec<&str> = text.split(separator).collect();
            let shuffled: String = order.iter().map(|index| format!("{}{separator}", events[index % events.len()])).collect();
            let (_, whole) = read(provider, [shuffled.as_bytes()]);
            let (_, pieces) = read(provider, shuffled.as_bytes().chunks(7));
            prop_assert_eq!(whole, pieces);
        }
    }
}

#[test]
fn text_that_is_none_is_shown_the_same_however_it_was_cut() {
    // Half a character behind a byte that begins none, and nothing after it.
    let bytes = b"a\x8c\xe2";
    let shown = |pieces: &mut dyn Iterator<Item = &[u8]>| {
        let mut stream = Stream::new(Provider::Text, &Dictionary::default());
        let mut deltas: Vec<Delta> = pieces.flat_map(|piece| stream.push(piece)).collect();
        let (last, answer) = stream.finish_with_deltas();
        deltas.extend(last);
        let text = |delta: &Delta| match delta {
            Delta::Text(text) => text.clone(),
            other => panic!("{other:?}"),
        };
        (
            deltas.iter().map(text).collect::<String>(),
            answer.unwrap().text,
        )
    };
    let expected = (
        "a\u{fffd}\u{fffd}".to_owned(),
        "a\u{fffd}\u{fffd}".to_owned(),
    );
    assert_eq!(shown(&mut [bytes.as_slice()].into_iter()), expected);
    assert_eq!(shown(&mut bytes.chunks(1)), expected);
}
