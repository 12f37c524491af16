//! Everything that is wrong with a call, at once, in words; and what is filled in.

use serde_json::{Value, json};
use toolsmith_core::{RawCall, Schema, Source, ToolDef};
use toolsmith_runtime::{Caller, Limits, Toolbox};
use toolsmith_testing::tools::{add, definition, echoing, with_schema};
use toolsmith_testing::{call, failure, value};

/// An own tool with this hand-written schema, which answers with its arguments.
fn taking(schema: Value) -> ToolDef {
    definition("tool").with_input(Schema::input(schema).unwrap())
}

async fn outcome(schema: Value, arguments: Value) -> toolsmith_core::Outcome {
    let toolbox = Toolbox::new([echoing(taking(schema))]).unwrap();
    call(&toolbox, "tool", arguments).await
}

/// The problems of a call that must be refused, without the signature line.
async fn problems(schema: Value, arguments: Value) -> Vec<String> {
    let outcome = outcome(schema, arguments).await;
    let error = failure(&outcome);
    assert_eq!(error.code(), "invalid_parameters");
    let lines = error
        .message
        .lines()
        .filter_map(|line| line.strip_prefix("- "));
    lines.map(str::to_owned).collect()
}

#[tokio::test]
async fn the_text_a_model_reads() {
    let toolbox = Toolbox::new([add()]).unwrap();
    let outcome = call(&toolbox, "add", json!({"a": "two", "b": "three"})).await;
    let error = failure(&outcome);
    assert_eq!(
        error.message,
        "2 arguments of `add` do not fit:\n\
         - `a`: expected number, got \"two\" (string)\n\
         - `b`: expected number, got \"three\" (string)\n\
         `add` takes (a: number, b: number)."
    );
    assert_eq!(
        error.details,
        Some(json!({"reason": "BAD_ARGUMENT", "problems": [
            {"path": "a", "expected": "number", "found": "\"two\" (string)"},
            {"path": "b", "expected": "number", "found": "\"three\" (string)"},
        ]}))
    );
}

#[tokio::test]
async fn every_kind_of_problem_names_path_expectation_and_what_came() {
    let string = json!({"type": "string"});
    for (property, arguments, expected) in [
        (
            json!({"type": "string"}),
            json!({"x": [1]}),
            "`x`: expected string, got an array of 1 items",
        ),
        (
            json!({"type": ["string", "null"]}),
            json!({"x": {}}),
            "`x`: expected null or string, got an object with 0 fields",
        ),
        (
            json!({"enum": ["red", "green"]}),
            json!({"x": "gren"}),
            "`x`: expected one of \"red\", \"green\", got \"gren\" (string); did you mean \"green\"?",
        ),
        (
            json!({"enum": ["red", 1]}),
            json!({"x": 2}),
            "`x`: expected one of \"red\", 1, got 2",
        ),
        (
            json!({"const": 7}),
            json!({"x": 8}),
            "`x`: expected exactly 7, got 8",
        ),
        (
            json!({"minimum": 3}),
            json!({"x": 2}),
            "`x`: expected at least 3, got 2",
        ),
        (
            json!({"maximum": 3}),
            json!({"x": 4}),
            "`x`: expected at most 3, got 4",
        ),
        (
            json!({"exclusiveMinimum": 3}),
            json!({"x": 3}),
            "`x`: expected more than 3, got 3",
        ),
        (
            json!({"exclusiveMaximum": 3}),
            json!({"x": 3}),
            "`x`: expected less than 3, got 3",
        ),
        (
            json!({"minLength": 3}),
            json!({"x": "ab"}),
            "`x`: expected at least 3 characters, got \"ab\" (string)",
        ),
        (
            json!({"maxLength": 1}),
            json!({"x": "ab"}),
            "`x`: expected at most 1 characters, got \"ab\" (string)",
        ),
        (
            json!({"minItems": 1}),
            json!({"x": []}),
            "`x`: expected at least 1 items, got an array of 0 items",
        ),
        (
            json!({"maxItems": 1}),
            json!({"x": [1, 2]}),
            "`x`: expected at most 1 items, got an array of 2 items",
        ),
        (
            json!({"uniqueItems": true}),
            json!({"x": [1, 1]}),
            "`x`: expected no item twice, got an array of 2 items",
        ),
        (
            json!({"pattern": "^a+$"}),
            json!({"x": "b"}),
            "`x`: expected a text matching /^a+$/, got \"b\" (string)",
        ),
        (
            json!({"anyOf": [{"type": "integer"}, {"type": "boolean"}]}),
            json!({"x": "y"}),
            "`x`: expected integer, or boolean, got \"y\" (string)",
        ),
        (
            json!({"items": {"properties": {"old": string}}}),
            json!({"x": [{}, {"old": 1, "odd": []}]}),
            "`x[1].odd`: expected no such argument, got an array of 0 items; did you mean `old`?",
        ),
    ] {
        let found = problems(json!({"properties": {"x": property}}), arguments).await;
        assert_eq!(found, [expected]);
    }
}

#[tokio::test]
async fn everything_wrong_is_told_at_once() {
    let schema = json!({
        "properties": {
            "path": {"type": "string"},
            "mode": {"enum": ["fast", "slow"]},
            "options": {"type": "object", "properties": {"depth": {"type": "integer"}}},
            "edits": {"type": "array", "items": {
                "type": "object",
                "properties": {"old_string": {"type": "string"}},
                "required": ["old_string"],
            }},
        },
        "required": ["path"],
    });
    let arguments = json!({
        "pth": "x",
        "mode": "fst",
        "options": {"dept": 1, "depth": "deep"},
        "edits": [{}, {"old_string": []}],
    });
    let mut found = problems(schema, arguments).await;
    found.sort();
    assert_eq!(
        found,
        [
            "`edits[0].old_string`: expected string, got nothing",
            "`edits[1].old_string`: expected string, got an array of 0 items",
            "`mode`: expected one of \"fast\", \"slow\", got \"fst\" (string); did you mean \"fast\"?",
            "`options.dept`: expected no such argument, got 1; did you mean `depth`?",
            "`options.depth`: expected integer, got \"deep\" (string)",
            "`path`: expected string, got nothing",
            "`pth`: expected no such argument, got \"x\" (string); did you mean `path`?",
        ]
    );
}

#[tokio::test]
async fn an_unknown_argument_like_nothing_is_to_be_left_out() {
    let found = problems(json!({"properties": {"path": true}}), json!({"zzz": null})).await;
    assert_eq!(
        found,
        ["`zzz`: expected no such argument, got null; leave it out"]
    );
    let outcome = outcome(json!({}), json!({"a": 1})).await;
    assert!(
        failure(&outcome)
            .message
            .ends_with("`tool` takes no arguments.")
    );
}

#[tokio::test]
async fn what_a_model_reads_stays_short() {
    let many: serde_json::Map<_, _> = (0..5000).map(|n| (format!("a{n}"), json!(n))).collect();
    let found = problems(json!({"properties": {"x": true}}), Value::Object(many)).await;
    assert_eq!(found.len(), 20);
    let long = json!({"x": "y".repeat(100_000), "z".repeat(100_000): 1});
    let outcome = outcome(json!({"properties": {"x": {"type": "integer"}}}), long).await;
    assert!(failure(&outcome).message.len() < 1000);
}

#[tokio::test]
async fn the_signature_line_names_every_argument() {
    let schema = json!({
        "properties": {
            "name": {"type": "string"},
            "mode": {"enum": ["a", "b"]},
            "any": true,
            "maybe": {"type": ["integer", "null"]},
            "yes": {"const": "YES"},
        },
        "required": ["name", "yes"],
    });
    let outcome = outcome(schema, json!({})).await;
    let last = failure(&outcome).message.lines().last().unwrap();
    assert_eq!(
        last,
        "`tool` takes (name: string, mode?: one of \"a\", \"b\", any?: a value, \
         maybe?: integer or null, yes: exactly \"YES\")."
    );
}

#[tokio::test]
async fn defaults_are_filled_in_nested_ones_too() {
    let schema = json!({
        "$defs": {"o": {"properties": {"c": {"default": "C"}}}},
        "properties": {
            "a": {"type": "integer", "default": 1},
            "o": {"type": "object", "properties": {"b": {"default": [2]}}},
            "r": {"$ref": "#/$defs/o"},
            "l": {"type": "array", "items": {"properties": {"d": {"default": null}}}},
            "plain": {"type": "string"},
            "choice": {"anyOf": [{"properties": {"e": {"default": 5}}}]},
        },
    });
    let got = outcome(
        schema.clone(),
        json!({"o": {}, "r": {}, "l": [{}, {"d": 1}], "choice": {}}),
    )
    .await;
    assert_eq!(
        value(&got),
        json!({"a": 1, "o": {"b": [2]}, "r": {"c": "C"}, "l": [{"d": null}, {"d": 1}], "choice": {}})
    );
    assert_eq!(got.facts.repairs, [""; 0]);
    // What was said stays, and objects nobody mentioned are not invented.
    let got = outcome(schema.clone(), json!({"a": 9})).await;
    assert_eq!(value(&got), json!({"a": 9}));

    let source = Source::Mcp {
        server: "s".to_owned(),
    };
    let imported = with_schema("tool", schema).with_source(source);
    let toolbox = Toolbox::new([echoing(imported)]).unwrap();
    let got = call(&toolbox, "tool", json!({"o": {}})).await;
    assert_eq!(value(&got), json!({"o": {}}));
}

#[tokio::test]
async fn a_default_that_does_not_fit_is_a_problem_like_any_other() {
    let found = problems(
        json!({"properties": {"a": {"type": "integer", "default": {}}}}),
        json!({}),
    )
    .await;
    assert_eq!(
        found,
        ["`a`: expected integer, got an object with 0 fields"]
    );
}

#[tokio::test]
async fn whole_floats_are_integers() {
    let schema = json!({"properties": {
        "n": {"type": "integer"}, "x": {"type": "number"}, "l": {"items": {"type": "integer"}},
    }});
    let got = outcome(schema.clone(), json!({"n": 5.0, "x": 5.0, "l": [-1.0]})).await;
    assert_eq!(value(&got).to_string(), r#"{"n":5,"x":5.0,"l":[-1]}"#);
    let found = problems(schema, json!({"n": 5.5})).await;
    assert_eq!(found, ["`n`: expected integer, got 5.5"]);
}

#[tokio::test]
async fn arguments_of_another_type_than_object_are_refused_and_null_is_none() {
    for (arguments, expected) in [
        (
            json!([1, 2]),
            "the arguments of `tool` must be an object, not an array of 2 items",
        ),
        (
            json!("x"),
            "the arguments of `tool` must be an object, not \"x\" (string)",
        ),
        (json!(5), "the arguments of `tool` must be an object, not 5"),
        (
            json!(true),
            "the arguments of `tool` must be an object, not true",
        ),
    ] {
        let got = outcome(json!({}), arguments).await;
        let error = failure(&got);
        assert_eq!(
            (error.code(), error.message.as_str()),
            ("invalid_parameters", expected)
        );
    }
    assert_eq!(value(&outcome(json!({}), Value::Null).await), json!({}));
}

#[tokio::test]
async fn arguments_that_could_not_be_read_are_answered_like_any_other() {
    let toolbox = Toolbox::new([echoing(taking(json!({})))]).unwrap();
    let malformed = RawCall::malformed("tool", "EOF while parsing at line 1 column 5");
    let reply = toolbox.run(malformed, &Caller::new("test")).await;
    assert_eq!(
        failure(&reply.into_outcome()).to_string(),
        "invalid_parameters: the arguments of `tool` cannot be read: EOF while parsing at line 1 column 5"
    );
}

#[tokio::test]
async fn size_is_bounded() {
    let mut limits = Limits::default();
    limits.argument_bytes = 1000;
    let toolbox = Toolbox::builder()
        .limits(limits)
        .tools([echoing(with_schema("tool", json!(true)))])
        .build()
        .unwrap();
    assert!(
        call(&toolbox, "tool", json!({"x": "y".repeat(900)}))
            .await
            .is_success()
    );
    for large in [
        json!({"x": "y".repeat(1100)}),
        json!({"y".repeat(1100): 1}),
        json!({"x": vec![1; 600]}),
    ] {
        let got = call(&toolbox, "tool", large).await;
        assert_eq!(
            failure(&got).message,
            "the arguments of `tool` take more than 1000 bytes"
        );
    }
}

#[tokio::test]
async fn what_coercion_uncovers_is_completed_too() {
    let schema = json!({"properties": {
        "limit": {"type": "integer", "default": 10},
        "o": {"type": "object", "properties": {
            "d": {"type": "integer", "default": 3}, "i": {"type": "integer"},
        }},
    }});
    let got = outcome(schema.clone(), json!({"limit": null})).await;
    assert_eq!(value(&got), json!({"limit": 10}));
    let got = outcome(schema, json!({"limit": 1, "o": "{\"i\":5.0}"})).await;
    assert_eq!(value(&got).to_string(), r#"{"limit":1,"o":{"i":5,"d":3}}"#);
    // A default of null that its own type refuses is left out, as it always was.
    let schema = json!({"properties": {"a": {"type": "integer", "default": null}}});
    assert_eq!(value(&outcome(schema, json!({})).await), json!({}));
}

#[tokio::test]
async fn whole_numbers_are_found_wherever_the_schema_leads() {
    let schema = json!({"properties": {
        "m": {"type": "object", "additionalProperties": {"type": "integer"}},
        "n": {"type": ["integer", "null"]},
        "p": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]},
        "c": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "x": {"type": ["integer", "number"]},
    }});
    let came = json!({"m": {"a": 5.0}, "n": 5.0, "p": ["s", 5.0], "c": 5.0, "x": 5.0});
    assert_eq!(
        value(&outcome(schema, came).await).to_string(),
        r#"{"m":{"a":5},"n":5,"p":["s",5],"c":5,"x":5.0}"#
    );
}

#[tokio::test]
async fn of_several_alternatives_the_one_that_was_meant_is_explained() {
    let tagged = json!({"oneOf": [
        {"type": "object", "properties": {"k": {"const": "file"}, "path": {"type": "string"}},
         "required": ["k", "path"], "additionalProperties": false},
        {"type": "object", "properties": {"k": {"const": "size"}, "bytes": {"type": "integer"}},
         "required": ["k", "bytes"], "additionalProperties": false},
    ]});
    let keyed = json!({"oneOf": [
        {"enum": ["all"]},
        {"type": "object", "properties": {"file": {"type": "object",
            "properties": {"path": {"type": "string"}}, "required": ["path"]}},
         "required": ["file"], "additionalProperties": false},
        {"type": "object", "properties": {"size": {"type": "integer"}},
         "required": ["size"], "additionalProperties": false},
    ]});
    let blind = json!({"anyOf": [
        {"type": "object", "properties": {"a": {"type": "object",
            "properties": {"n": {"type": "integer"}}}}, "required": ["a"]},
        {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]},
        {"type": "object", "properties": {"c": {"type": "integer"}}, "required": ["b"]},
    ]});
    for (choice, came, expected) in [
        (
            &tagged,
            json!({"k": "size", "bytes": "many"}),
            &["`x.bytes`: expected integer, got \"many\" (string)"][..],
        ),
        (
            &tagged,
            json!({"k": "file", "path": "p", "pth": 1}),
            &["`x.pth`: expected no such argument, got 1; did you mean `path`?"],
        ),
        (
            &tagged,
            json!({"k": "fil"}),
            &[
                "`x.k`: expected one of \"file\", \"size\", got \"fil\" (string); did you mean \"file\"?",
            ],
        ),
        (
            &tagged,
            json!({"path": "p"}),
            &["`x.k`: expected exactly \"file\", or exactly \"size\", got nothing"],
        ),
        (
            &keyed,
            json!({"file": {"path": []}}),
            &["`x.file.path`: expected string, got an array of 0 items"],
        ),
        (
            &keyed,
            json!({"file": {}}),
            &["`x.file.path`: expected string, got nothing"],
        ),
        (
            &keyed,
            json!({"other": 1}),
            &[
                "`x`: expected an object with \"file\", or an object with \"size\", got an object with 1 fields",
            ],
        ),
        (
            &keyed,
            json!("al"),
            &["`x`: expected one of \"all\", or object, got \"al\" (string)"],
        ),
        (
            &blind,
            json!({"a": {"n": "many"}}),
            &["`x.a.n`: expected integer, got \"many\" (string)"],
        ),
        (
            &blind,
            json!({}),
            &[
                "`x`: expected an object with \"a\", or an object with \"b\", got an object with 0 fields",
            ],
        ),
    ] {
        let schema = json!({"properties": {"x": {"$ref": "#/$defs/c"}}, "$defs": {"c": choice}});
        assert_eq!(problems(schema, json!({"x": came})).await, expected);
    }
    // And what it says can be mended is mended there.
    for (choice, came, mended) in [
        (
            &tagged,
            json!({"k": "size", "bytes": "5"}),
            json!({"k": "size", "bytes": 5}),
        ),
        (&keyed, json!({"size": "5"}), json!({"size": 5})),
        (&blind, json!({"a": {"n": "5"}}), json!({"a": {"n": 5}})),
    ] {
        let schema = json!({"properties": {"x": choice}});
        let got = outcome(schema, json!({"x": came})).await;
        assert_eq!(value(&got), json!({"x": mended}));
    }
}

#[tokio::test]
async fn what_a_reference_leads_to_is_explained_too() {
    let schema = json!({
        "$defs": {"o": {"type": "object", "properties": {"path": {"type": "string"}},
            "required": ["path"], "additionalProperties": false}},
        "properties": {"x": {"$ref": "#/$defs/o"}},
    });
    let mut found = problems(schema, json!({"x": {"pth": 1}})).await;
    found.sort();
    assert_eq!(
        found,
        [
            "`x.path`: expected string, got nothing",
            "`x.pth`: expected no such argument, got 1; did you mean `path`?",
        ]
    );
}

/// Models bring names from other tools; each is mended and named, and an argument that is
/// there twice is refused.
#[tokio::test]
async fn other_names_of_arguments_are_mended_and_told() {
    let schema = json!({
        "properties": {
            "file_path": { "type": "string" },
            "edits": { "type": "array", "items": {
                "type": "object",
                "properties": { "old_string": { "type": "string" } },
                "additionalProperties": false,
            } },
        },
        "required": ["file_path"],
        "additionalProperties": false,
    });
    let definition = definition("edit")
        .with_input(Schema::input(schema).unwrap())
        .with_aliases("file_path", &["path", "filePath"])
        .with_aliases("old_string", &["edits.old_str"]);
    let toolbox = Toolbox::new([echoing(definition)]).unwrap();
    let given = json!({ "path": "a", "edits": [{ "old_str": "b" }, { "old_string": "c" }] });
    let outcome = call(&toolbox, "edit", given).await;
    let expected =
        json!({ "file_path": "a", "edits": [{ "old_string": "b" }, { "old_string": "c" }] });
    assert_eq!(value(&outcome), expected);
    assert_eq!(
        outcome.facts.repairs,
        [
            "`old_str` in `edits` was read as `old_string`",
            "`path` was read as `file_path`"
        ]
    );
    let outcome = call(&toolbox, "edit", json!({ "path": "a", "file_path": "b" })).await;
    assert!(
        failure(&outcome).to_string().contains("path"),
        "{outcome:?}"
    );
}
