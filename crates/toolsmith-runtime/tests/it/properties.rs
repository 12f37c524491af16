//! Properties, on a few generated cases each.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolsmith_core::event::Redact;
use toolsmith_core::{Outcome, RawCall};
use toolsmith_runtime::shape::{Redactor, clean};
use toolsmith_runtime::{Caller, Limits, Toolbox};
use toolsmith_testing::explain;
use toolsmith_testing::tools::{answering, definition, echoing, with_schema};

fn is_forbidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t' | '\r'))
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}'..='\u{200f}')
        || matches!(
            c,
            '\u{e0000}'..='\u{e0fff}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{ad}'
        )
}

/// Texts in which the characters that matter are common.
fn nasty_text() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        any::<char>().prop_map(String::from),
        "[ -~]{0,8}",
        prop::sample::select(vec![
            "\u{1b}[",
            "\u{1b}]",
            "\u{1b}",
            "\u{9b}",
            "\u{7}",
            "\r",
            "\r\n",
            "\n",
            "\u{202e}",
            "\u{200d}",
            "\u{e0041}",
            "\u{2028}",
            "0;1m",
            "sk-abcdefghijklmnopqrst",
            "Bearer ",
            "\u{1b}\\",
            "\u{feff}",
            "é",
            "🦀",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(pieces, 0..30).prop_map(|pieces| pieces.concat())
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|float| json!(float)),
        nasty_text().prop_map(Value::from),
        "[0-9.\\[\\]{}]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        let key = prop_oneof!["[a-c]", nasty_text()];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..6)
                .prop_map(|fields| Value::Object(Map::from_iter(fields))),
        ]
    })
}

fn run(toolbox: &Toolbox, name: &str, arguments: Value) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let call = RawCall::new(name, arguments);
    runtime
        .block_on(toolbox.run(call, &Caller::new("test")))
        .into_outcome()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn clean_text_holds_nothing_forbidden_and_stays_clean(text in nasty_text()) {
        let cleaned = clean(&text).into_owned();
        prop_assert!(!cleaned.contains(is_forbidden), "{cleaned:?}");
        prop_assert!(!cleaned.replace("\r\n", "").contains('\r'), "{cleaned:?}");
        prop_assert_eq!(&clean(&cleaned), &cleaned);
        let redacted = Redactor::new(["hunter2"]).clean(&text).into_owned();
        prop_assert!(!redacted.contains(is_forbidden));
    }

    #[test]
    fn registered_secrets_never_come_through(before in nasty_text(), after in nasty_text()) {
        let secret = "h\"unt\\er2é\nx";
        let redactor = Redactor::new([secret]);
        let text = format!("{before} {secret} {after}");
        prop_assert!(!redactor.clean(&text).contains(secret));
        let json = Value::from(text).to_string();
        prop_assert!(!redactor.redact(&json).contains("unt\\\\er2"), "{json}");
    }

    #[test]
    fn a_shortened_text_keeps_head_and_tail_within_the_limit(
        text in prop::collection::vec("[a-zé🦀\n]{0,40}", 0..40),
        limit in 1_usize..400,
    ) {
        let text = text.concat();
        let mut limits = Limits::default();
        limits.output_bytes = limit;
        let given = text.clone();
        let tool = answering(definition("tool"), move || Outcome::ok(given.clone()));
        let toolbox = Toolbox::builder().tools([tool]).limits(limits).build().unwrap();
        let outcome = run(&toolbox, "tool", json!({}));
        let shown = outcome.value.unwrap();
        let shown = shown.as_str().unwrap();
        let Some(omitted) = outcome.facts.omitted_bytes else {
            prop_assert_eq!(shown, text);
            return Ok(());
        };
        let omitted = usize::try_from(omitted).unwrap();
        let note = format!("\n[… {omitted} of {} bytes left out; the rest was not kept …]\n", text.len());
        let (head, tail) = shown.split_once(&note).unwrap();
        prop_assert!(text.starts_with(head) && text.ends_with(tail));
        prop_assert_eq!(head.len() + tail.len() + omitted, text.len());
        prop_assert!(head.len() + tail.len() <= limit);
    }

    #[test]
    fn validation_answers_whatever_comes(arguments in any_json(), which in 0_usize..6) {
        let node = json!({"$ref": "#/$defs/n"});
        let schemas = [
            json!(true),
            json!(false),
            json!({"properties": {"a": {"type": "integer"}, "b": {"type": "array", "items": {"type": "string"}}}, "additionalProperties": false}),
            json!({"properties": {"a": {"anyOf": [{"type": "integer"}, {"type": "object"}, {"enum": ["x"]}]}}, "required": ["b"]}),
            json!({"$defs": {"n": {"type": "object", "properties": {"a": node, "b": {"default": 1}}}}, "properties": {"a": node}, "unevaluatedProperties": false}),
            json!({"patternProperties": {"^a": {"type": "boolean"}}, "propertyNames": {"maxLength": 2}, "if": {"required": ["a"]}, "then": {"required": ["b"]}}),
        ];
        let toolbox = Toolbox::new([echoing(with_schema("tool", schemas[which].clone()))]).unwrap();
        let outcome = run(&toolbox, "tool", arguments);
        if let Some(error) = &outcome.error {
            prop_assert_eq!(error.code(), "invalid_parameters");
        }
        let text = serde_json::to_string(&outcome).unwrap();
        prop_assert!(!text.contains(is_forbidden), "{text:?}");
    }
}

/// Branches of choices, many of which overlap, nest or lie about themselves.
fn branch() -> impl Strategy<Value = Value> {
    let tag = || prop_oneof![Just("a"), Just("b"), Just("c")];
    let leaf = prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"type": "integer"})),
        Just(json!({"type": "number", "minimum": 2})),
        Just(json!({"type": "null"})),
        Just(json!({"enum": ["a", "b"]})),
        Just(json!({"const": "a"})),
        Just(json!({"enum": [1, "a"]})),
        Just(json!({"type": ["string", "null"]})),
        Just(json!({"$ref": "#/$defs/leaf"})),
        Just(json!({"$ref": "#/$defs/tree"})),
        Just(json!(true)),
        Just(json!({"type": "array", "items": {"type": "integer"}})),
        tag().prop_map(|tag| json!({"type": "object", "properties": {"k": {"const": tag}}})),
    ];
    leaf.prop_recursive(3, 12, 3, move |inner| {
        let closed = prop_oneof![Just(json!(false)), Just(json!(true))];
        prop_oneof![
            (tag(), inner.clone(), closed.clone()).prop_map(|(tag, inner, closed)| json!({
                "type": "object",
                "properties": {"k": {"const": tag}, "v": inner},
                "required": ["k"],
                "additionalProperties": closed,
            })),
            (tag(), inner.clone(), closed).prop_map(|(key, inner, closed)| json!({
                "type": "object",
                "properties": {key: inner},
                "required": [key],
                "additionalProperties": closed,
            })),
            (choice_word(), prop::collection::vec(inner.clone(), 1..4))
                .prop_map(|(word, branches)| json!({word: branches})),
            (choice_word(), prop::collection::vec(inner, 1..3)).prop_map(|(word, branches)| {
                json!({word: branches, "type": "object", "unevaluatedProperties": false})
            }),
        ]
    })
}

fn choice_word() -> impl Strategy<Value = String> {
    prop_oneof![Just("oneOf".to_owned()), Just("anyOf".to_owned())]
}

fn chosen() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!("a")),
        Just(json!("c")),
        Just(json!(1)),
        Just(json!(2.5)),
        Just(json!(null)),
        Just(json!([1])),
        Just(json!({})),
        Just(json!({"k": "a"})),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let key = prop_oneof![Just("a"), Just("b"), Just("k"), Just("v")];
        let tag = prop_oneof![Just("a"), Just("b")];
        prop_oneof![
            prop::collection::btree_map(key.prop_map(str::to_owned), inner.clone(), 0..3)
                .prop_map(|fields| json!(fields)),
            (tag, inner).prop_map(|(tag, inner)| json!({"k": tag, "v": inner})),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Choices are rewritten before they are compiled; the same values must pass.
    #[test]
    fn choices_mean_what_they_say(
        word in choice_word(),
        branches in prop::collection::vec(branch(), 1..4),
        value in chosen(),
    ) {
        let schema = json!({
            "type": "object",
            "properties": {"x": {word: branches}},
            "$defs": {
                "leaf": {"type": "object", "properties": {"k": {"const": "b"}}, "required": ["k"]},
                "tree": {"anyOf": [
                    {"type": "string"},
                    {"type": "object", "properties": {"v": {"$ref": "#/$defs/tree"}},
                     "required": ["v"], "additionalProperties": false},
                ]},
            },
        });
        let arguments = json!({"x": value});
        let plain = jsonschema::validator_for(&schema).unwrap().is_valid(&arguments);
        let Ok(toolbox) = Toolbox::new([echoing(with_schema("tool", schema.clone()))]) else {
            return Ok(());
        };
        let explained = explain(&toolbox, RawCall::new("tool", arguments.clone()), &Caller::new("test"));
        // What would take too long to judge is refused before it is judged.
        if explained.error.as_ref().is_some_and(|e| e.message.contains("nest deeper")) {
            return Ok(());
        }
        let fits = explained.error.is_none() && explained.repairs.is_empty();
        prop_assert_eq!(fits, plain, "{} {} {:?}", schema, arguments, explained.error);
    }
}
