//! Properties of repair: valid JSON stays, damage is mended or refused, and never
//! becomes another value in silence.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolsmith_provider::repair::{Step, repair};

/// JSON of any kind, with texts that hold what confuses readers.
pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[a-z ,:{}\\[\\]\"'\\\\/#\n\té“”-]{0,12}",
        Just("he said \"hi\" and left".to_owned()),
        Just("```json\n{}\n```".to_owned()),
        Just("// no, \"x\": 1".to_owned()),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        (-1e6..1e6_f64).prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((text.clone(), inner), 0..5)
                .prop_map(|fields| fields.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

/// The same, with an object or a list outside.
fn any_container() -> impl Strategy<Value = Value> {
    any_json().prop_map(|value| match value {
        Value::Object(_) | Value::Array(_) => value,
        scalar => json!({ "a": scalar }),
    })
}

fn written(value: &Value, pretty: bool) -> String {
    if pretty {
        serde_json::to_string_pretty(value).unwrap()
    } else {
        value.to_string()
    }
}

/// Where structure, outside of strings, has a byte.
fn outside_strings(text: &str, wanted: u8) -> Vec<usize> {
    let mut found = Vec::new();
    let (mut inside, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        if !inside && byte == wanted {
            found.push(at);
        }
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => inside = !inside,
            _ => {}
        }
    }
    found
}

/// Repairs to this value, with some step named.
fn mends(text: &str, value: &Value) -> Result<(), TestCaseError> {
    let repaired = repair(text).map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?;
    prop_assert_eq!(&repaired.value, value, "{}", text);
    prop_assert!(!repaired.truncated, "{}", text);
    Ok(())
}

/// Repairs to this value, or is flagged, or is an error: never another value in silence.
fn never_lies(text: &str, value: &Value) -> Result<(), TestCaseError> {
    match repair(text) {
        Ok(repaired) if !repaired.truncated => prop_assert_eq!(&repaired.value, value, "{}", text),
        _ => {}
    }
    Ok(())
}

fn python(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Number(number) => out.push_str(&number.to_string()),
        Value::String(text) => {
            let inside = text
                .replace('\\', "\\\\")
                .replace('\'', "\\'")
                .replace('\n', "\\n");
            out.push_str(&format!("'{inside}'"));
        }
        Value::Array(items) => {
            out.push('[');
            for item in items {
                python(item, out);
                out.push_str(", ");
            }
            out.push(']');
        }
        Value::Object(fields) => {
            out.push('{');
            for (key, item) in fields {
                python(&Value::from(key.as_str()), out);
                out.push_str(": ");
                python(item, out);
                out.push_str(", ");
            }
            out.push('}');
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn valid_json_is_untouched(value in any_json(), pretty: bool) {
        let repaired = repair(&written(&value, pretty)).unwrap();
        prop_assert_eq!(&repaired.value, &value);
        prop_assert!(repaired.steps().is_empty() && !repaired.truncated);
    }

    #[test]
    fn surroundings_are_left_out(value in any_container(), pretty: bool) {
        let text = written(&value, pretty);
        mends(&format!("```json\n{text}\n```"), &value)?;
        mends(&format!("\u{feff}{text}"), &value)?;
        mends(&format!("Here you are: {text}\nGood luck!"), &value)?;
        mends(&format!("{text}<|im_end|>"), &value)?;
        mends(&format!("// first\n/* second */ {text} # third"), &value)?;
        let escaped = Value::from(text.as_str()).to_string();
        if outside_strings(&text, b'"').first() == Some(&1) {
            mends(&escaped[1..escaped.len() - 1], &value)?;
        }
    }

    #[test]
    fn commas_too_many_go(value in any_container(), pretty: bool) {
        let text = written(&value, pretty);
        for at in outside_strings(&text, b',') {
            mends(&format!("{},{}", &text[..at], &text[at..]), &value)?;
            mends(&format!("{}, // why{}\n{}", &text[..at], ',', &text[at + 1..]), &value)?;
        }
        for closer in [b'}', b']'] {
            for at in outside_strings(&text, closer) {
                mends(&format!("{},{}", &text[..at], &text[at..]), &value)?;
            }
        }
    }

    #[test]
    fn a_comma_too_few_never_lies(value in any_container(), pretty: bool) {
        let text = written(&value, pretty);
        for at in outside_strings(&text, b',') {
            // Two numbers that meet are one, and valid.
            let damaged = format!("{}{}", &text[..at], &text[at + 1..]);
            if serde_json::from_str::<Value>(&damaged).is_err() {
                never_lies(&damaged, &value)?;
            }
        }
    }

    #[test]
    fn a_quote_too_few_never_lies(value in any_container(), pretty: bool) {
        let text = written(&value, pretty);
        for at in outside_strings(&text, b'"') {
            never_lies(&format!("{}{}", &text[..at], &text[at + 1..]), &value)?;
        }
    }

    #[test]
    fn a_bracket_too_few_never_lies(value in any_container(), pretty: bool) {
        let text = written(&value, pretty);
        for closer in [b'}', b']'] {
            for at in outside_strings(&text, closer) {
                let repaired = repair(&format!("{}{}", &text[..at], &text[at + 1..]));
                if at + 1 == text.len() {
                    prop_assert!(repaired.is_ok_and(|repaired| repaired.truncated), "{}", text);
                }
            }
        }
    }

    #[test]
    fn truncation_is_told(value in any_container(), pretty: bool) {
        let text = written(&value, pretty);
        for at in (0..text.len()).filter(|&at| text.is_char_boundary(at)) {
            if let Ok(repaired) = repair(&text[..at]) {
                prop_assert!(repaired.truncated, "{}", &text[..at]);
            }
        }
    }

    #[test]
    fn python_reads_the_same(value in any_container()) {
        let mut text = String::new();
        python(&value, &mut text);
        mends(&text, &value)?;
    }

    #[test]
    fn raw_newlines_read_the_same(words in prop::collection::vec("[a-z]{1,5}", 1..6)) {
        let value = json!({ "text": words.join("\n\t"), "more": [1] });
        mends(&format!("{{\"text\": \"{}\", \"more\": [1]}}", words.join("\n\t")), &value)?;
    }

    #[test]
    fn quoted_words_inside_read_the_same(words in prop::collection::vec("[a-z]{1,5}", 2..6)) {
        let text = format!("x \"{}\" y", words.join("\" and \""));
        mends(&format!("{{\"text\": \"{text}\", \"more\": [\"{text}\"]}}"),
            &json!({ "text": text, "more": [text] }))?;
    }

    #[test]
    fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let _ = repair(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn nothing_that_looks_like_json_panics(text in "[\\[\\]{}(),:\"'“”’\\\\/*#`a1. \ntrue-]{0,40}") {
        if let Ok(repaired) = repair(&text) {
            // What was mended is JSON like any other.
            prop_assert_eq!(repair(&repaired.value.to_string()).unwrap().value, repaired.value);
        }
    }
}

#[test]
fn depth_is_bounded() {
    for open in ["[", "{\"a\":", "(", "[{a:"] {
        assert!(repair(&open.repeat(100_000)).is_err());
    }
    let deep = format!("{}{}", "[".repeat(99), "]".repeat(98));
    assert!(repair(&deep).unwrap().truncated);
}

#[test]
fn hostile_texts_end() {
    // Each would take minutes if a look ahead were repeated from every quote.
    for piece in [
        "\" ",
        "\"/* ",
        "\" '",
        "\", \"",
        "{\"a",
        "\"\\",
        "“ ",
        "\" \"a\" ",
        ", ",
        "{",
        "# ",
        "```\n",
        "\"a\"„ ",
        "\"a\"‚ ",
    ] {
        let _ = repair(&format!("[{}", piece.repeat(200_000)));
        let _ = repair(&format!("{{\"a\": \"x {}", piece.repeat(200_000)));
    }
}

#[test]
fn spaces_that_json_does_not_know_are_named_on_either_side() {
    for text in [
        "{\"a\":1}\u{a0}",
        "\u{a0}{\"a\":1}",
        "[1]\u{c}\n",
        "\u{feff}[]",
    ] {
        let repaired = repair(text).unwrap();
        assert_eq!(repaired.kinds(), [Step::Spaces], "{text:?}");
    }
}
