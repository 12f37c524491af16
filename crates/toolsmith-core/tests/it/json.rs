//! JSON from outside, and values too deep to be dropped as usual.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolsmith::json::{self, JsonError, MAX_DEPTH, MAX_VALUES};

const ROOM: usize = 64 << 20;

fn refusal(text: &str) -> String {
    json::parse(text.as_bytes(), ROOM).unwrap_err().to_string()
}

fn nested(depth: usize) -> String {
    "[".repeat(depth) + &"]".repeat(depth)
}

/// Lists and objects in turn, built without recursion.
fn deep(levels: usize) -> Value {
    let mut value = Value::Null;
    for level in 0..levels {
        value = if level % 2 == 0 {
            Value::Array(vec![value])
        } else {
            Value::Object([("a".to_owned(), value)].into_iter().collect())
        };
    }
    value
}

#[test]
fn plain_json_is_read_as_serde_reads_it() {
    let texts = [
        "null",
        " true ",
        "-0",
        "1.5e3",
        "18446744073709551615",
        "-9223372036854775808",
        "\"\\u00e9 \\ud83d\\ude00\"",
        "[]",
        "{\"b\": 1, \"a\": [{}, \"x\"]}",
    ];
    for text in texts {
        let ours = json::parse(text.as_bytes(), ROOM).unwrap();
        let theirs: Value = serde_json::from_str(text).unwrap();
        assert_eq!(ours, theirs, "{text}");
        assert_eq!(
            ours.to_string(),
            theirs.to_string(),
            "the order of keys in {text}"
        );
    }
}

#[test]
fn an_outline_keeps_the_outermost_levels() {
    let text = br#"{"a": [1, [2]], "b": {"c": {"d": "x"}, "e": "y"}, "f": "z"}"#;
    let outlines = [
        json!({}),
        json!({ "a": [], "b": {}, "f": "z" }),
        json!({ "a": [1, []], "b": { "c": {}, "e": "y" }, "f": "z" }),
    ];
    for (levels, expected) in outlines.into_iter().enumerate() {
        assert_eq!(json::outline(text, ROOM, levels).unwrap(), expected);
    }
    // Few keys are found in one way and many in another.
    let keys = |twice: usize| {
        let fields: Vec<String> = (0..100)
            .chain([twice])
            .map(|n| format!("\"{n}\":0"))
            .collect();
        format!("{{{}}}", fields.join(","))
    };
    assert!(json::outline(keys(100).as_bytes(), ROOM, 0).is_ok());
    for twice in [0, 15, 16, 17, 99] {
        assert!(json::outline(keys(twice).as_bytes(), ROOM, 0).is_err());
    }
}

#[test]
fn what_is_refused_says_why_and_where() {
    let cases = [
        ("", "EOF while parsing a value at line 1 column 0"),
        ("{} {}", "trailing characters at line 1 column 4"),
        ("[1,]", "trailing comma at line 1 column 4"),
        ("NaN", "expected value at line 1 column 1"),
        ("1e999", "number out of range at line 1 column 5"),
        (
            "{\"a\":1,\n\"a\":2}",
            "duplicate key \"a\" at line 2 column 3",
        ),
        (
            "[{\"b\":{\"a\":1,\"\\u0061\":2}}]",
            "duplicate key \"a\" at line 1 column 21",
        ),
        ("{\"\":1,\"\":2}", "duplicate key \"\" at line 1 column 8"),
        (
            "\"\\ud800\"",
            "unexpected end of hex escape at line 1 column 8",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(refusal(text), message, "{text}");
        // Also where nothing of it would be kept.
        let outline = json::outline(text.as_bytes(), ROOM, 0).unwrap_err();
        assert_eq!(outline.to_string(), message, "{text}");
    }
    let long = "k".repeat(1_000);
    let message = refusal(&format!("{{\"{long}\":1,\"{long}\":2}}"));
    assert!(message.len() < 140, "{message}");
}

#[test]
fn size_and_encoding_come_first() {
    let error = json::parse(b"[1, 2]", 5).unwrap_err();
    assert!(matches!(error, JsonError::TooLarge { bytes: 6, limit: 5 }));
    assert_eq!(
        error.to_string(),
        "the JSON is larger than the 5 bytes that are accepted"
    );
    assert!(json::parse(b"[1, 2]", 6).is_ok());
    let error = json::parse(b"[\"a\xff\"]", ROOM).unwrap_err();
    assert!(matches!(error, JsonError::NotUtf8 { valid_up_to: 3 }));
    assert_eq!(
        error.to_string(),
        "the JSON is not valid UTF-8 after byte 3"
    );
}

#[test]
fn depth_is_bounded_exactly() {
    assert!(json::parse(nested(MAX_DEPTH).as_bytes(), ROOM).is_ok());
    let message = "nested deeper than 100 levels at line 1 column 10";
    assert!(refusal(&nested(MAX_DEPTH + 1)).starts_with(message));
    assert!(refusal(&nested(100_000)).starts_with(message));
    assert!(refusal(&"[".repeat(1_000_000)).starts_with(message));
    let objects = "{\"a\":".repeat(100_000);
    assert!(refusal(&objects).starts_with("nested deeper than 100 levels"));
}

#[test]
fn the_number_of_values_is_bounded_exactly() {
    let list = |items: usize| format!("[{}0]", "0,".repeat(items - 1));
    assert!(json::parse(list(MAX_VALUES - 1).as_bytes(), ROOM).is_ok());
    assert!(refusal(&list(MAX_VALUES)).starts_with("more than 1048576 values at line 1 column "));
}

#[test]
fn depth_is_measured_without_recursion() {
    assert!(!json::depth_exceeds(&json!(1), 0));
    assert!(json::depth_exceeds(&json!([]), 0));
    assert!(!json::depth_exceeds(&json!([1, { "a": 2 }]), 2));
    assert!(json::depth_exceeds(&json!([1, { "a": [2] }]), 2));
    let value = deep(100_000);
    assert!(json::depth_exceeds(&value, 99_999));
    assert!(!json::depth_exceeds(&value, 100_000));
    // Dropping it as usual would overflow the stack, and so end the test.
    json::dismantle(value);
}

#[test]
fn size_is_measured_until_it_is_too_much() {
    assert!(json::size_exceeds(&json!("12345"), 6));
    assert!(!json::size_exceeds(&json!("12345"), 7));
    assert!(json::size_exceeds(&json!({ "key": ["a", "b"] }), 10));
    assert!(!json::size_exceeds(&json!({ "key": ["a", "b"] }), 100));
    let value = deep(100_000);
    assert!(json::size_exceeds(&value, 100_000));
    json::dismantle(value);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map(".*", inner, 0..8)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_is_written_is_read_back(value in any_json()) {
        let text = value.to_string();
        let ours = json::parse(text.as_bytes(), ROOM).unwrap();
        prop_assert_eq!(ours.to_string(), serde_json::from_str::<Value>(&text).unwrap().to_string());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = json::parse(&bytes, ROOM);
    }

    #[test]
    fn the_measured_size_is_never_above_what_is_written(value in any_json()) {
        let written = value.to_string().len();
        // Numbers and words count eight, a separator for the last item one.
        prop_assert!(!json::size_exceeds(&value, written * 9 + 16));
    }
}
