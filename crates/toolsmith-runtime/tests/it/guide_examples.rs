//! Examples: what is read as a call, what is not, and how calls are written.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolsmith_core::Schema;
use toolsmith_runtime::guide::{ExampleForm, GuideExample};

#[track_caller]
fn reads(code: &str, expected: Value) {
    let Value::Object(expected) = expected else {
        panic!("arguments are an object");
    };
    match GuideExample::read("f", code) {
        GuideExample::Parsed { arguments, .. } => assert_eq!(arguments, expected, "{code}"),
        GuideExample::Shown { why, .. } => panic!("{code}: {why}"),
    }
}

#[track_caller]
fn refuses(code: &str, reason: &str) {
    match GuideExample::read("f", code) {
        GuideExample::Parsed { arguments, .. } => panic!("{code}: {arguments:?}"),
        GuideExample::Shown {
            why, code: shown, ..
        } => {
            assert_eq!(why, reason, "{code}");
            assert_eq!(shown, code.trim());
        }
    }
}

#[test]
fn calls_are_read() {
    reads("f()", json!({}));
    reads("f( )", json!({}));
    reads("f (a=1,)", json!({ "a": 1 }));
    reads(
        "f(a=1, b_2='x')  # and so on",
        json!({ "a": 1, "b_2": "x" }),
    );
    reads(
        "f(\n    a = 1, # one\n    b = 2 \\\n , )\n\n# end",
        json!({ "a": 1, "b": 2 }),
    );
    reads("f(größe=1)", json!({ "größe": 1 }));
    reads(
        "f(**{'from': 1, 'a-b': 2}, c=3)",
        json!({ "from": 1, "a-b": 2, "c": 3 }),
    );
    reads("{\"a\": [1, null]}", json!({ "a": [1, null] }));
    reads("  {}  ", json!({}));
    let dotted = GuideExample::read("a.b-c", "a.b-c(x=1)");
    assert_eq!(dotted.arguments().unwrap()["x"], 1);
}

#[test]
fn texts_are_read() {
    for (text, expected) in [
        ("''", ""),
        ("'a' \"b\"", "ab"),
        ("('a'\n   'b' # c\n 'c')", "abc"),
        ("'it''s'", "its"),
        (r#"'a"b'"#, "a\"b"),
        (r"'it\'s'", "it's"),
        (r#""say \"x\"""#, "say \"x\""),
        ("'''a\n'b''c'''", "a\n'b''c"),
        ("\"\"\"# no comment\n\"x\\\"\"\"\"", "# no comment\n\"x\""),
        (
            r"'\\ \n \t \r \a \b \f \v \0 \x41 \101 \7'",
            "\\ \n \t \r \u{7} \u{8} \u{c} \u{b} \0 A A \u{7}",
        ),
        (r"'\u00e9 \U0001F980 \377'", "é 🦀 ÿ"),
        (r"'\d \. \é'", r"\d \. \é"),
        ("'a\\\nb'", "ab"),
        (r"r'\d+\n\''", r"\d+\n\'"),
        (r#"R"C:\x" u'z' U"y""#, r"C:\xzy"),
        ("'🦀é'", "🦀é"),
    ] {
        reads(&format!("f(a={text})"), json!({ "a": expected }));
    }
}

#[test]
fn numbers_and_constants_are_read() {
    for (text, expected) in [
        ("0", json!(0)),
        ("00", json!(0)),
        ("-7", json!(-7)),
        ("- 7", json!(-7)),
        ("+-+7", json!(-7)),
        ("1_000_000", json!(1_000_000)),
        ("0xFf", json!(255)),
        ("0x_ff", json!(255)),
        ("0xe", json!(14)),
        ("0o17", json!(15)),
        ("-0b101", json!(-5)),
        ("18446744073709551615", json!(u64::MAX)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("1.5", json!(1.5)),
        ("1.", json!(1.0)),
        (".5", json!(0.5)),
        ("1e3", json!(1000.0)),
        ("1_0.2_5E-1_0", json!(10.25e-10)),
        ("-0.0", json!(-0.0)),
        ("True", json!(true)),
        ("False", json!(false)),
        ("None", json!(null)),
        ("(1)", json!(1)),
        ("((('x')))", json!("x")),
    ] {
        reads(&format!("f(a={text})"), json!({ "a": expected }));
    }
}

#[test]
fn lists_tuples_and_dicts_are_read() {
    for (text, expected) in [
        ("[]", json!([])),
        ("()", json!([])),
        ("(1,)", json!([1])),
        ("(1, 2)", json!([1, 2])),
        ("[1, [2, (3,)], ]", json!([1, [2, [3]]])),
        ("{}", json!({})),
        (
            "{'a': 1, \"b\" 'c': {'d': None,},}",
            json!({ "a": 1, "bc": { "d": null } }),
        ),
    ] {
        reads(&format!("f(a={text})"), json!({ "a": expected }));
    }
}

#[test]
fn the_comment_is_above_the_call() {
    let example = GuideExample::read("f", "# List it\n  #   by time\n\nf(a='''\n# text\n''')");
    assert_eq!(example.comment(), Some("List it by time"));
    assert_eq!(example.arguments().unwrap()["a"], "\n# text\n");
    let example = GuideExample::read("f", "#\n# Only words\n");
    assert_eq!(example.comment(), Some("Only words"));
    assert!(example.arguments().is_none());
}

#[test]
fn what_is_no_literal_call_is_shown_with_the_reason() {
    let no_call = "it is no call of the form f(key=value, …)";
    refuses("", no_call);
    refuses("x = f(a=1)", no_call);
    refuses("await f(a=1)", no_call);
    refuses("f", no_call);
    refuses("import os", no_call);
    refuses("g(a=1)", "it calls `g`, not `f`");
    refuses("acme_f(a=1)", "it calls `acme_f`, not `f`");
    refuses("print(f(a=1))", "it calls `print`, not `f`");
    for (code, reason) in [
        ("f(1)", "arguments are written key=value, in line 1"),
        ("f(*x)", "arguments are written key=value, in line 1"),
        ("f(a==1)", "arguments are written key=value, in line 1"),
        ("f(**x)", "only {…} can follow **, in line 1"),
        ("f(a=1, a=2)", "\"a\" is given twice, in line 1"),
        ("f(a=1, **{'a': 2})", "\"a\" is given twice, in line 1"),
        ("f(a={'b': 1, 'b': 2})", "\"b\" is given twice, in line 1"),
        (
            "f(from=1)",
            "`from` is a word of Python; write **{\"from\": …}, in line 1",
        ),
        ("f(a=1 b=2)", "`,` or `)` is missing, in line 1"),
        ("f(a=1,\n  b=x)", "`x` is no literal, in line 2"),
        ("f(a=true)", "`true` is no literal, in line 1"),
        ("f(a=1 + 2)", "`,` or `)` is missing, in line 1"),
        ("f(a=g())", "`g` is no literal, in line 1"),
        ("f(a=[1 2])", "`,` or `]` is missing, in line 1"),
        ("f(a={1: 2})", "keys are texts, in line 1"),
        ("f(a={'b', 'c'})", "`:` is missing, in line 1"),
        ("f(a=b'x')", "a text with the prefix `b` is none, in line 1"),
        ("f(a=f'x')", "a text with the prefix `f` is none, in line 1"),
        (
            "f(a='x' rb'y')",
            "a text with the prefix `rb` is none, in line 1",
        ),
        ("f(a='x", "a text has no end, in line 1"),
        ("f(a='x\ny')", "a text ends with its line, in line 2"),
        ("f(a='\\x4')", "an escape wants 2 digits, in line 1"),
        ("f(a='\\ud800')", "0xd800 is no character, in line 1"),
        (
            "f(a='\\N{DASH}')",
            "characters by name, \\N{…}, are not read, in line 1",
        ),
        ("f(a=012)", "`012` is no number that can be told, in line 1"),
        (
            "f(a=1__0)",
            "`1__0` is no number that can be told, in line 1",
        ),
        (
            "f(a=1e999)",
            "`1e999` is no number that can be told, in line 1",
        ),
        ("f(a=1j)", "`1j` is no number that can be told, in line 1"),
        (
            "f(a=99999999999999999999)",
            "`99999999999999999999` is no number that can be told, in line 1",
        ),
        ("f(a=...)", "`...` is no number that can be told, in line 1"),
        ("f(a=)", "')' begins no value, in line 1"),
        ("f(a=", "a value is missing, in line 1"),
        ("f(", "arguments are written key=value, in line 1"),
        ("f()\nf()", "there is more than one call, in line 2"),
        ("f(a=1);", "there is more than one call, in line 1"),
        (
            "{\"a\": 1, \"a\": 2}",
            "it begins like JSON, but duplicate key \"a\" at line 1 column 12",
        ),
    ] {
        refuses(code, reason);
    }
}

#[test]
fn depth_and_size_are_bounded() {
    let deep = |n: usize| format!("f(a={}{})", "[".repeat(n), "]".repeat(n));
    assert!(GuideExample::read("f", &deep(64)).arguments().is_some());
    for code in [deep(65), deep(5000), "f(a=".to_owned() + &"(".repeat(8000)] {
        let GuideExample::Shown { why, .. } = GuideExample::read("f", &code) else {
            panic!("it was read");
        };
        assert_eq!(why, "it nests deeper than 64 levels, in line 1");
    }
    let long = format!("f(a='{}')", "x".repeat(1 << 20));
    let GuideExample::Shown { why, code, .. } = GuideExample::read("f", &long) else {
        panic!("it was read");
    };
    assert_eq!(why, "it is longer than 16384 bytes");
    assert!(code.len() <= 16384);
}

fn schema() -> Schema {
    Schema::as_received(json!({ "type": "object", "properties": {
        "text": { "type": "string" },
        "n": { "type": "number" },
        "yes": { "type": "boolean" },
        "list": { "type": "array", "items": { "type": "string" } },
        "numbers": { "type": "array", "items": { "type": "integer" } },
        "object": { "type": "object" },
        "maybe": { "type": ["string", "null"] },
        "any": {},
    }}))
    .unwrap()
}

#[track_caller]
fn written(arguments: Value, form: ExampleForm) -> String {
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object");
    };
    let example = GuideExample::Parsed {
        comment: None,
        arguments,
    };
    example.written(form, "f", &schema())
}

#[test]
fn calls_are_written_as_python() {
    for (arguments, expected) in [
        (json!({}), "f()"),
        (
            json!({ "a": "it's", "b": "say \"x\"", "c": [true, null, -1.5] }),
            r#"f(a="it's", b='say "x"', c=[True, None, -1.5])"#,
        ),
        (
            json!({ "a": "\\d\n\t\u{202e}\u{7}\u{e0041}" }),
            r#"f(a="\\d\n\t\u202e\x07\U000e0041")"#,
        ),
        (
            json!({ "a-b": 1, "c": 2, "in": {} }),
            r#"f(c=2, **{"a-b": 1, "in": {}})"#,
        ),
        (
            json!({ "first": "x".repeat(50), "second": "y".repeat(50) }),
            &format!(
                "f(\n    first=\"{}\",\n    second=\"{}\",\n)",
                "x".repeat(50),
                "y".repeat(50)
            ),
        ),
    ] {
        assert_eq!(written(arguments, ExampleForm::Python), expected);
    }
}

#[test]
fn calls_are_written_as_commands() {
    for (arguments, expected) in [
        (json!({}), "toolsmith call f"),
        (
            json!({ "text": "a b's $HOME `x`", "n": 2.5, "yes": false }),
            r"toolsmith call f text='a b'\''s $HOME `x`' n=2.5 yes=false",
        ),
        (json!({ "text": "" }), "toolsmith call f text=''"),
        (
            json!({ "list": ["a", "b c"] }),
            "toolsmith call f list=a list='b c'",
        ),
        (json!({ "list": [] }), "toolsmith call f list='[]'"),
        (
            json!({ "list": ["[1]"] }),
            r#"toolsmith call f list='["[1]"]'"#,
        ),
        (
            json!({ "numbers": [1, 2] }),
            "toolsmith call f numbers='[1,2]'",
        ),
        (
            json!({ "object": { "a": 1 } }),
            r#"toolsmith call f object='{"a":1}'"#,
        ),
        (json!({ "maybe": null }), "toolsmith call f maybe=null"),
        // What a pair would be read as is not what is meant.
        (
            json!({ "maybe": "null" }),
            r#"toolsmith call f --args '{"maybe":"null"}'"#,
        ),
        (
            json!({ "text": 5 }),
            r#"toolsmith call f --args '{"text":5}'"#,
        ),
        (
            json!({ "any": "5" }),
            r#"toolsmith call f --args '{"any":"5"}'"#,
        ),
        (
            json!({ "text": "x", "unknown": 1 }),
            r#"toolsmith call f --args '{"text":"x","unknown":1}'"#,
        ),
        (
            json!({ "text": "\u{1b}[31m" }),
            r#"toolsmith call f --args '{"text":"\u001b[31m"}'"#,
        ),
    ] {
        assert_eq!(written(arguments, ExampleForm::CommandLine), expected);
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|float| json!(float)),
        any::<String>().prop_map(Value::from),
        "[\\\\'\"`#\n\r]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        let key = prop_oneof!["[a-z]{1,5}", any::<String>()];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..5)
                .prop_map(|fields| Value::Object(Map::from_iter(fields))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// What is written as Python or JSON reads back as the same arguments.
    #[test]
    fn what_is_written_reads_back(
        fields in prop::collection::vec(("[a-z_-]{1,6}", any_value()), 0..4)
    ) {
        let arguments = Map::from_iter(fields);
        for form in [ExampleForm::Python, ExampleForm::Json] {
            let code = written(Value::Object(arguments.clone()), form);
            let read = GuideExample::read("f", &code);
            prop_assert_eq!(read.arguments(), Some(&arguments), "{}", code);
        }
    }

    /// Whatever is written, reading it comes to an end, and nothing is lost.
    #[test]
    fn anything_can_be_read(code in "[f(){}\\[\\]'\"\\\\#=,:0-9eExa-b_.*\n \u{1b}é-]{0,60}") {
        let _ = GuideExample::read("f", &code);
        let _ = GuideExample::read("f", &format!("f(a={code})"));
    }
}
