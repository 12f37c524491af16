//! Schemas that mean harm, or mean nothing.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolsmith_core::json::size;
use toolsmith_provider::{Provider, judge};

use crate::lower_support::{declare_one, lowered, lowering};

/// Declares a schema to everybody, both ways, and has all of it judged.
fn survive(schema: &Value) {
    survive_at(schema, lowering());
}

fn survive_at(schema: &Value, providers: impl Iterator<Item = Provider>) {
    for provider in providers {
        for strict in [false, true] {
            let declared = declare_one(provider, schema.clone(), strict);
            let faults = judge::judge(provider, &declared.request.clone().into());
            assert!(
                faults.is_empty(),
                "{provider} {strict} {:#?}",
                &faults[..faults.len().min(3)]
            );
            for arguments in [json!({}), json!(null), json!({"value": 1, "a": {"a": []}})] {
                let out = declared.dictionary.declared_arguments("tool", arguments);
                declared.dictionary.arguments("tool", out);
            }
        }
    }
}

fn nested(levels: usize, wrap: impl Fn(Value) -> Value) -> Value {
    (0..levels).fold(json!({"type": "string"}), |inner, _| wrap(inner))
}

#[test]
fn nonsense_is_read_as_what_it_must_mean() {
    let cases = [
        json!(true),
        json!(false),
        json!({}),
        json!({"type": "dict", "properties": {"a": {"type": "float"}}}),
        json!({"type": "string"}),
        json!({"type": ["array", "null"], "items": {"type": "str"}}),
        json!({"type": 7}),
        json!({"type": []}),
        json!({"type": "object", "properties": []}),
        json!({"type": "object", "properties": {"a": "string", "b": 5, "c": null}}),
        json!({"type": "object", "required": true, "properties": {"a": {"required": true}}}),
        json!({"type": "object", "required": "a"}),
        json!({"type": "object", "required": ["a", "a", 5, "b"]}),
        json!({"type": "object", "required": ["a"], "additionalProperties": false}),
        json!({"type": "object", "properties": {"a": {"enum": []}, "b": {"enum": "x"}}}),
        json!({"type": "object", "properties": {"a": {"enum": [{"x": 1}, [2]]}}}),
        json!({"type": "object", "properties": {"a": {"type": "integer", "enum": ["x"]}}}),
        json!({"type": "object", "properties": {"a": {"anyOf": []}, "b": {"oneOf": {}}}}),
        json!({"type": "object", "properties": {"a": false}}),
        json!({"type": "object", "properties": {"a": {"anyOf": [false, false]}}}),
        json!({"type": "object", "properties": {"a": {"not": {}}}}),
        json!({"type": "object", "properties": {"a": {"allOf": [{"type": "string"}, {"type": "integer"}]}}}),
        json!({"type": "object", "properties": {"a": {"minimum": 3, "exclusiveMinimum": true}}}),
        json!({"type": "object", "properties": {"a": {"minLength": -1, "maxLength": "x"}}}),
        json!({"type": "object", "properties": {"": {"type": "string"}, "\u{0}": {}}}),
        json!({"oneOf": [{"type": "string"}, {"type": "integer"}]}),
        json!({"anyOf": [{"type": "null"}]}),
        json!({"enum": [{"a": 1}]}),
        json!({"const": {"a": 1}}),
    ];
    for case in cases {
        survive(&case);
    }
}

#[test]
fn references_lead_nowhere_or_in_circles() {
    let cases = [
        json!({"properties": {"a": {"$ref": "#/nowhere"}}}),
        json!({"properties": {"a": {"$ref": "http://example.org/schema"}}}),
        json!({"properties": {"a": {"$ref": "#/properties/a"}}}),
        json!({"properties": {"a": {"$ref": "#/properties/b"}, "b": {"$ref": "#/properties/a"}}}),
        json!({"properties": {"a": {"$ref": "#"}}}),
        json!({"$ref": "#"}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
        json!({"$ref": "#/$defs/N", "$defs": {"N": {"type": "object", "properties": {
            "next": {"$ref": "#/$defs/N"}, "all": {"type": "array", "items": {"$ref": "#/$defs/N"}}}}}}),
        json!({"properties": {"a": {"$ref": "#/$defs/x%20y~1z"}}, "$defs": {"x y/z": {"type": "string"}}}),
        json!({"properties": {"a": {"$ref": "#/$defs/%"}}, "$defs": {"%": {"allOf": [{"$ref": "#/$defs/%"}]}}}),
        json!({"properties": {"a": {"$ref": 5}}}),
        json!({"properties": {"a": {"$ref": "#/properties"}}}),
    ];
    for case in cases {
        survive(&case);
    }
}

#[test]
fn depth_ends_somewhere() {
    for levels in [5, 60, 200] {
        survive(&nested(
            levels,
            |inner| json!({"type": "object", "properties": {"a": inner}}),
        ));
        survive(&nested(
            levels,
            |inner| json!({"type": "array", "items": inner}),
        ));
        survive(&nested(
            levels,
            |inner| json!({"anyOf": [inner, {"type": "integer"}]}),
        ));
        survive(&nested(levels, |inner| json!({"allOf": [inner]})));
        survive(&nested(
            levels,
            |inner| json!({"not": inner, "default": {"a": {}}}),
        ));
    }
}

#[test]
fn sixty_levels_are_all_declared() {
    let schema = nested(
        60,
        |inner| json!({"type": "object", "properties": {"a": inner}}),
    );
    let declared = declare_one(Provider::Anthropic, schema, false);
    let lowered = lowered(&declared).unwrap();
    let pointer = "/properties/a".repeat(60);
    assert_eq!(lowered.pointer(&pointer), Some(&json!({"type": "string"})));
}

#[test]
fn a_hundred_thousand_levels_do_not_overflow() {
    let mut schema = json!({"type": "string"});
    for _ in 0..100_000 {
        // The macro would copy what is inside, and recurse.
        let properties = Map::from_iter([("a".to_owned(), schema)]);
        schema = Value::Object(Map::from_iter([(
            "properties".to_owned(),
            Value::Object(properties),
        )]));
    }
    // Dropping it recurses, and that is nobody's business here.
    let offer = std::mem::ManuallyDrop::new(crate::lower_support::offer_of(schema));
    for provider in Provider::ALL {
        for strict in [false, true] {
            let options = crate::lower_support::options(strict);
            toolsmith_provider::declare(provider, &offer, &options).unwrap();
        }
    }
}

#[test]
fn many_properties_are_all_declared() {
    let properties: Map<String, Value> = (0..10_000)
        .map(|index| {
            (
                format!("p.{index}"),
                json!({"type": "integer", "minimum": index}),
            )
        })
        .collect();
    let required: Vec<&String> = properties.keys().collect();
    let schema = json!({"type": "object", "properties": properties, "required": required});
    let some = [Provider::OpenAi, Provider::Anthropic, Provider::Gemini];
    survive_at(&schema, some.into_iter());
    let declared = declare_one(Provider::Gemini, schema, false);
    let lowered = lowered(&declared).unwrap();
    assert_eq!(lowered["properties"].as_object().unwrap().len(), 10_000);
}

#[test]
fn bombs_of_references_stay_small() {
    let mut definitions = Map::new();
    for level in 0..30 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        let inner = json!({"type": "object", "properties": {"a": next, "b": next, "c": next}});
        definitions.insert(format!("d{level}"), inner);
    }
    definitions.insert("d30".to_owned(), json!({"type": "string"}));
    let schema = json!({"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": definitions});
    let some = [Provider::OpenAi, Provider::Gemini];
    survive_at(&schema, some.into_iter());
    for provider in some {
        let declared = declare_one(provider, schema.clone(), false);
        assert!(
            size(declared.tools()) < 2_000_000,
            "{provider} {}",
            size(declared.tools())
        );
    }
    let branches = |inner: &Value| json!({"anyOf": vec![inner.clone(); 4], "minLength": 3});
    let bomb = (0..5).fold(json!({"type": "string"}), |inner, _| branches(&inner));
    survive(&json!({"properties": {"a": bomb}}));
}

#[test]
fn what_is_referred_to_often_is_not_written_out_beyond_bounds() {
    let properties: Map<String, Value> = (0..3_000)
        .map(|index| (format!("p{index}"), json!({"$ref": "#/$defs/long"})))
        .collect();
    let long = json!({"type": "string", "description": "x".repeat(100_000)});
    let schema = json!({"type": "object", "properties": properties, "$defs": {"long": long}});
    for provider in [Provider::OpenAi, Provider::Gemini] {
        let declared = declare_one(provider, schema.clone(), false);
        let written = size(declared.tools());
        assert!(written < 20 << 20, "{provider} {written}");
        let lowered = lowered(&declared).unwrap();
        assert_eq!(lowered["properties"].as_object().unwrap().len(), 3_000);
    }
}

#[test]
fn the_path_of_a_change_is_bounded() {
    let inner: Map<String, Value> = (0..3_000)
        .map(|index| (format!("p{index}"), json!({"const": index})))
        .collect();
    let outer = json!({("x".repeat(100_000)): {"type": "object", "properties": inner}});
    let declared = declare_one(Provider::OpenAi, json!({"properties": outer}), false);
    let changes = &declared.report[0].changes;
    assert!(changes.len() > 3_000);
    let told: usize = changes.iter().map(|change| change.path.len()).sum();
    assert!(told < 16 << 20, "{told} bytes of paths");
}

#[test]
fn definitions_of_one_name_are_told_apart() {
    let mut definitions = Map::new();
    let mut properties = Map::new();
    for index in 0..2_000 {
        let itself = json!({"$ref": format!("#/$defs/d{index}/node")});
        let node = json!({"type": "object", "properties": {"next": itself}});
        definitions.insert(format!("d{index}"), json!({ "node": node }));
        properties.insert(format!("p{index}"), itself);
    }
    // One that has the very name another would get.
    let itself = json!({"$ref": "#/$defs/node2"});
    let node = json!({"type": "object", "properties": {"next": itself}});
    definitions.insert("node2".to_owned(), node);
    properties.shift_insert(1, "q".to_owned(), itself);
    let schema = json!({"type": "object", "properties": properties, "$defs": definitions});
    let declared = declare_one(Provider::OpenAi, schema, false);
    let lowered = lowered(&declared).unwrap();
    assert_eq!(lowered["$defs"].as_object().unwrap().len(), 2_001);
    assert_eq!(
        lowered["properties"]["p1"],
        json!({"$ref": "#/$defs/node3"})
    );
}

#[test]
fn what_hides_is_not_declared() {
    let hidden = "a\u{202e}b\u{200b}c\u{e0041}d\u{1b}[31m";
    let schema = json!({"type": "object", "description": hidden, "properties": {
        "a": {"type": "string", "title": hidden, "description": hidden, "default": hidden,
            "examples": [{"of": hidden}], "not": {"const": hidden}},
        "b": {"anyOf": [{"const": "x", "description": hidden}, {"const": "y"}]},
    }});
    for provider in Provider::ALL {
        let declared = declare_one(provider, schema.clone(), false);
        let told = match &declared.structured {
            Some(structured) => structured.prompt.clone(),
            None => Value::from(declared.request).to_string(),
        };
        // MCP's form is for programs, which get schemas as they are.
        if provider != Provider::Mcp {
            let plain = |c: char| toolsmith_core::clean::is_plain(c);
            assert!(told.chars().all(plain), "{provider} {told:?}");
        }
    }
}

#[test]
fn what_hides_in_names_and_choices_is_told_without_it_and_comes_back() {
    let (name, choice, other) = ("na\u{e0041}me", "fa\u{202e}st", "fast");
    let schema = json!({"type": "object", "required": [name], "properties": {
        name: {"enum": [choice, other, "\u{200b}"]},
        "only": {"const": choice},
        "mixed": {"enum": [1, choice]},
        "text": {"type": "string", "pattern": "^\u{200b}?x$"},
        "inner": {"type": "object", "properties": {name: {"type": "string"}}},
    }});
    let own = json!({
        name: choice,
        "only": choice,
        "mixed": choice,
        "text": "x",
        "inner": {name: "x"},
    });
    for provider in lowering() {
        for strict in [false, true] {
            let declared = declare_one(provider, schema.clone(), strict);
            let told = Value::from(declared.request).to_string();
            let plain = |c: char| toolsmith_core::clean::is_plain(c);
            assert!(told.chars().all(plain), "{provider} {told:?}");
            let dictionary = &declared.dictionary;
            let sent = dictionary.declared_arguments("tool", own.clone());
            let sent_text = sent.to_string();
            assert!(sent_text.chars().all(plain), "{provider} {sent_text:?}");
            assert_eq!(dictionary.arguments("tool", sent), own, "{provider}");
        }
    }
}

/// JSON made of the words of schemas.
fn garbage() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "type",
        "properties",
        "required",
        "items",
        "anyOf",
        "oneOf",
        "allOf",
        "$ref",
        "$defs",
        "enum",
        "const",
        "not",
        "if",
        "additionalProperties",
        "patternProperties",
        "format",
        "pattern",
        "minimum",
        "minItems",
        "description",
        "nullable",
        "default",
        "prefixItems",
        "unevaluatedProperties",
        "title",
        "a",
        "b.c",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..4).prop_map(Value::from),
        prop::sample::select(vec![
            "string",
            "integer",
            "object",
            "array",
            "null",
            "float",
            "#",
            "#/$defs/a",
            "#/properties/a",
            "a",
            "b.c",
            "uuid",
            "",
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 5, move |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            4 => prop::collection::vec((word.clone(), inner), 0..5).prop_map(|entries| {
                entries.into_iter().map(|(word, value)| (word.to_owned(), value)).collect()
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn garbage_never_breaks_the_rules(schema in garbage()) {
        let schema = if schema.is_object() { schema } else { json!({"properties": {"a": schema}}) };
        survive(&schema);
    }

    #[test]
    fn garbage_is_lowered_once(schema in garbage()) {
        let schema = if schema.is_object() { schema } else { json!({"properties": {"a": schema}}) };
        crate::lower_properties::check_again(&schema)?;
    }
}

#[test]
fn unions_within_unions_take_no_time() {
    // Each node is one of several that differ below only, and all contain nodes again.
    let variant = |kind: Value| {
        json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/n"},
            "data": {"type": "object"}, "tail": kind}, "required": ["tail"]})
    };
    let schema = json!({"properties": {"root": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"anyOf": [
        variant(json!({"const": "a"})), variant(json!({"const": "b"})),
        variant(json!({"type": "integer"})),
        {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}, "x": {"type": "string"}},
            "required": ["x"]},
    ]}}});
    let leaf = json!({"tail": 5});
    let value = (0..60).fold(
        leaf,
        |next, _| json!({"next": next, "data": {"k": 1}, "tail": "b"}),
    );
    let arguments = json!({ "root": value });
    for provider in [Provider::OpenAi, Provider::Anthropic, Provider::Gemini] {
        let declared = declare_one(provider, schema.clone(), true);
        let out = declared
            .dictionary
            .declared_arguments("tool", arguments.clone());
        let back = declared.dictionary.arguments("tool", out);
        assert_eq!(back, arguments, "{provider}");
    }
}

/// A definition that nothing refers to in the end is not declared.
#[test]
fn definitions_of_what_is_left_out_are_left_out_too() {
    crate::lower_properties::check_again(&json!({"unevaluatedProperties": {"$ref": "#"}})).unwrap();
}
