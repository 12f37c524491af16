//! Which schemas get in: bombs and broken ones are refused at registration, and
//! what was accepted can be applied to anything.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolsmith_core::{Schema, Source};
use toolsmith_runtime::registry::{RegistryError, SchemaFault};
use toolsmith_runtime::{BuildError, Limits, Toolbox};
use toolsmith_testing::tools::{definition, echoing, with_schema};
use toolsmith_testing::{call, failure};

fn register(schema: Value) -> Result<Toolbox, SchemaFault> {
    match Toolbox::new([echoing(with_schema("tool", schema))]) {
        Ok(toolbox) => Ok(toolbox),
        Err(BuildError::Registry(RegistryError::Schema { fault, which, .. })) => {
            assert_eq!(which, "input");
            Err(fault)
        }
        Err(other) => panic!("{other}"),
    }
}

#[track_caller]
fn fault(schema: Value) -> String {
    match register(schema) {
        Ok(_) => panic!("the schema was accepted"),
        Err(fault) => fault.to_string(),
    }
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(
        json!({"type": "string"}),
        |inner, _| json!({"items": inner}),
    )
}

#[test]
fn what_is_no_schema_is_refused_with_a_place() {
    for (schema, expected) in [
        (json!({"type": "objekt"}), "at `/type`"),
        (
            json!({"type": "object", "properties": []}),
            "at `/properties`",
        ),
        (
            json!({"properties": {"a": {"minimum": "one"}}}),
            "at `/properties/a/minimum`",
        ),
        (json!({"properties": {"a": 5}}), "at `/properties/a`"),
        (json!({"required": "a"}), "at `/required`"),
        (
            json!({"properties": {"a": {"enum": "x"}}}),
            "at `/properties/a/enum`",
        ),
    ] {
        let fault = fault(schema.clone());
        assert!(fault.starts_with(expected), "{schema}: {fault}");
    }
    for schema in [json!(null), json!([]), json!("object"), json!(5)] {
        assert!(Schema::as_received(schema).is_err());
    }
}

#[test]
fn arguments_are_objects() {
    for schema in [
        json!({"type": "string"}),
        json!({"type": ["object", "null"]}),
    ] {
        let fault = fault(schema);
        assert_eq!(
            fault,
            "arguments are an object, so its `type` must be \"object\""
        );
    }
}

#[test]
fn output_schemas_are_checked_too_but_need_not_be_objects() {
    let fine = Schema::as_received(json!({"type": "string"})).unwrap();
    Toolbox::new([echoing(definition("tool").with_output(fine))]).unwrap();
    let bad = Schema::as_received(json!({"type": "strnig"})).unwrap();
    let built = Toolbox::new([echoing(definition("tool").with_output(bad))]);
    let message = built.unwrap_err().to_string();
    assert!(
        message.starts_with("the output schema of tool `tool` cannot be used: "),
        "{message}"
    );
}

#[test]
fn depth_and_size_are_bounded() {
    assert!(register(json!({"properties": {"a": nested(50)}})).is_ok());
    let deep = json!({"properties": {"a": nested(70)}});
    assert_eq!(fault(deep), "it nests deeper than 64 levels");
    let large = json!({"description": "x".repeat(2 << 20)});
    assert_eq!(fault(large), "it is larger than 1048576 bytes");
}

#[test]
fn references_that_lead_outside_are_refused() {
    for reference in [
        "https://example.com/schema.json",
        "file:///etc/passwd",
        "other.json",
        "//example.com/x",
        "#anchor",
        "#/$defs/missing",
        "urn:x",
    ] {
        for keyword in ["$ref", "$dynamicRef"] {
            let fault = fault(json!({"properties": {"a": {keyword: reference}}}));
            assert!(
                fault.contains("leads outside the schema"),
                "{reference}: {fault}"
            );
        }
    }
}

#[test]
fn references_that_expand_without_measure_are_refused() {
    let mut defs = serde_json::Map::new();
    defs.insert("d0".to_owned(), json!({"type": "string"}));
    for level in 1..40 {
        let below = json!({"$ref": format!("#/$defs/d{}", level - 1)});
        let doubled = json!({"properties": {"a": below, "b": below}});
        defs.insert(format!("d{level}"), doubled);
    }
    let bomb = json!({"$defs": defs, "properties": {"a": {"$ref": "#/$defs/d39"}}});
    assert_eq!(fault(bomb), "it expands to more than 100000 schemas");
}

#[test]
fn many_references_to_something_heavy_are_not_all_followed() {
    let refer = |_| json!({"$ref": "#/$defs/heavy"});
    let many = |letter: &str| -> serde_json::Map<String, Value> {
        let names = (0..8000).map(|n| format!("{letter}{n}"));
        names.map(|name| (name, refer(()))).collect()
    };
    let bomb = json!({"$defs": {"heavy": {"properties": many("x")}}, "properties": many("y")});
    let began = Instant::now();
    assert_eq!(fault(bomb), "it expands to more than 100000 schemas");
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[test]
fn schemas_that_apply_themselves_without_end_are_refused() {
    let with_defs =
        |defs: Value| json!({"$defs": defs, "properties": {"x": {"$ref": "#/$defs/a"}}});
    let a = json!({"$ref": "#/$defs/a"});
    let b = json!({"$ref": "#/$defs/b"});
    for schema in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"anyOf": [{"type": "object"}, {"$ref": "#"}]}),
        json!({"oneOf": [{"$ref": "#"}]}),
        json!({"not": {"$ref": "#"}}),
        json!({"if": {"$ref": "#"}}),
        json!({"if": true, "then": {"$ref": "#"}}),
        json!({"dependentSchemas": {"a": {"$ref": "#"}}}),
        json!({"allOf": [{"anyOf": [{"oneOf": [{"$ref": "#"}]}]}]}),
        with_defs(json!({"a": a})),
        with_defs(json!({"a": {"allOf": [a]}})),
        with_defs(json!({"a": {"anyOf": [{"type": "string"}, a]}})),
        with_defs(json!({"a": b, "b": a})),
        with_defs(json!({"a": {"allOf": [b]}, "b": {"anyOf": [{"type": "null"}, a]}})),
        // Reached first through a nested property, which by itself is harmless.
        with_defs(json!({"a": {"properties": {"p": b}, "allOf": [b]}, "b": {"allOf": [a]}})),
        with_defs(json!({
            "a": {"properties": {"p": b}},
            "b": {"properties": {"q": {"$ref": "#/$defs/c"}}},
            "c": {"allOf": [{"$ref": "#/$defs/d"}]},
            "d": {"$ref": "#/$defs/c"},
        })),
        json!({"$dynamicRef": "#"}),
    ] {
        let fault = fault(schema.clone());
        assert!(
            fault.ends_with("applies itself to the same value without end"),
            "{schema}: {fault}"
        );
    }
}

#[tokio::test]
async fn schemas_that_refer_to_themselves_for_parts_are_fine() {
    let tree = json!({
        "$defs": {"node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
            "required": ["name"],
        }},
        "properties": {"root": {"$ref": "#/$defs/node"}},
    });
    let toolbox = register(tree).unwrap();
    let good = json!({"root": {"name": "a", "children": [{"name": "b"}]}});
    assert!(call(&toolbox, "tool", good).await.is_success());
    let bad = json!({"root": {"name": "a", "children": [{"nam": "b"}]}});
    let outcome = call(&toolbox, "tool", bad).await;
    assert!(failure(&outcome).message.contains("root.children[0].name"));

    let mutual = json!({
        "$defs": {
            "a": {"type": "object", "properties": {"b": {"$ref": "#/$defs/b"}}},
            "b": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}},
        },
        "properties": {"a": {"$ref": "#/$defs/a"}, "itself": {"$ref": "#"}},
    });
    register(mutual).unwrap();
}

#[tokio::test]
async fn draft_07_is_known_by_its_schema_keyword() {
    // A list under `items` and `additionalItems` mean something in draft-07 only.
    let tuple = |draft: Option<&str>| {
        let mut schema = json!({
            "properties": {"t": {
                "type": "array",
                "items": [{"type": "string"}],
                "additionalItems": false,
            }},
        });
        if let Some(draft) = draft {
            schema["$schema"] = draft.into();
        }
        schema
    };
    let toolbox = register(tuple(Some("http://json-schema.org/draft-07/schema#"))).unwrap();
    assert!(
        call(&toolbox, "tool", json!({"t": ["a"]}))
            .await
            .is_success()
    );
    assert!(
        !call(&toolbox, "tool", json!({"t": [{}]}))
            .await
            .is_success()
    );
    assert!(
        !call(&toolbox, "tool", json!({"t": ["a", "b"]}))
            .await
            .is_success()
    );
    assert!(
        register(tuple(None)).is_err(),
        "2020-12 has no list under items"
    );
}

#[tokio::test]
async fn boolean_schemas_accept_everything_or_nothing() {
    let anything = register(json!(true)).unwrap();
    assert!(
        call(&anything, "tool", json!({"a": [1, {"b": null}]}))
            .await
            .is_success()
    );
    let nothing = register(json!(false)).unwrap();
    let outcome = call(&nothing, "tool", json!({})).await;
    assert_eq!(failure(&outcome).code(), "invalid_parameters");
    let nested = register(json!({"properties": {"yes": true, "no": false}})).unwrap();
    assert!(
        call(&nested, "tool", json!({"yes": [[]]}))
            .await
            .is_success()
    );
    let outcome = call(&nested, "tool", json!({"no": 1})).await;
    assert!(
        failure(&outcome)
            .message
            .contains("`no`: expected nothing here, got 1")
    );
}

#[test]
fn patterns_the_linear_engine_cannot_run_are_refused() {
    for pattern in [
        "(",
        "a{2,1}",
        "(?=x)y",
        "(?<!x)y",
        r"(a)\1",
        &"(a{1000}){1000}".repeat(3),
    ] {
        for schema in [
            json!({"properties": {"a": {"pattern": pattern}}}),
            json!({"properties": {"a": {"patternProperties": {pattern: true}}}}),
            json!({"$defs": {"x": {"pattern": pattern}}, "properties": {"a": {"$ref": "#/$defs/x"}}}),
        ] {
            assert!(register(schema).is_err(), "{pattern}");
        }
    }
    register(json!({"properties": {"a": {"pattern": r"^[a-z]+(\.[a-z]+)*$"}}})).unwrap();
}

#[tokio::test]
async fn patterns_run_in_linear_time() {
    let toolbox = register(json!({"properties": {"a": {"pattern": "^(a+)+$"}}})).unwrap();
    // A backtracking engine would not come back from this in years.
    let text = format!("{}!", "a".repeat(50_000));
    assert!(
        !call(&toolbox, "tool", json!({"a": text}))
            .await
            .is_success()
    );
}

#[tokio::test]
async fn formats_are_enforced_and_unknown_ones_left_alone() {
    let of = |format: &str| json!({"type": "string", "format": format});
    let toolbox = register(json!({"properties": {
        "email": of("email"), "uri": of("uri"), "when": of("date-time"), "odd": of("odd"),
    }}))
    .unwrap();
    for (name, good, bad) in [
        ("email", "a@example.com", "a@"),
        ("uri", "https://example.com/a", "not a uri"),
        ("when", "2024-01-02T03:04:05Z", "yesterday"),
    ] {
        assert!(
            call(&toolbox, "tool", json!({name: good}))
                .await
                .is_success(),
            "{good}"
        );
        let outcome = call(&toolbox, "tool", json!({name: bad})).await;
        let message = &failure(&outcome).message;
        assert!(
            message.contains(&format!("`{name}`: expected a valid ")),
            "{message}"
        );
    }
    assert!(
        call(&toolbox, "tool", json!({"odd": "anything"}))
            .await
            .is_success()
    );
}

#[tokio::test]
async fn a_wide_recursive_schema_does_not_make_deep_arguments_dear() {
    // Every level of the value is put to eight copies of the same schema: a value
    // ten levels deep would cost a billion applications.
    let branch = json!({"properties": {"x": {"$ref": "#/$defs/n"}}, "required": ["x"]});
    let branches: Vec<Value> = (0..8).map(|_| branch.clone()).collect();
    let toolbox = register(json!({
        "$defs": {"n": {"type": "object", "anyOf": branches}},
        "properties": {"n": {"$ref": "#/$defs/n"}},
    }))
    .unwrap();
    let deep = (0..60).fold(json!({"y": 1}), |inner, _| json!({"x": inner}));
    let outcome = call(&toolbox, "tool", json!({"n": deep})).await;
    assert_eq!(failure(&outcome).code(), "invalid_parameters");
}

#[tokio::test]
async fn compiled_schemas_stay_within_their_bound_and_all_tools_answer() {
    let mut limits = Limits::default();
    limits.compiled_schemas = 8;
    let tool = |number: usize| {
        let schema = json!({"properties": {"n": {"const": number}}, "required": ["n"]});
        echoing(with_schema(&format!("tool_{number}"), schema))
    };
    let toolbox = Toolbox::builder()
        .limits(limits)
        .tools((0..50).map(tool))
        .build()
        .unwrap();
    assert_eq!(toolbox.compiled_schemas(), 0);
    for round in 0..3 {
        for number in 0..50 {
            let name = format!("tool_{number}");
            assert!(
                call(&toolbox, &name, json!({"n": number}))
                    .await
                    .is_success()
            );
            assert!(
                !call(&toolbox, &name, json!({"n": number + 1}))
                    .await
                    .is_success()
            );
            let compiled = toolbox.compiled_schemas();
            assert!((1..=8).contains(&compiled), "{compiled} in round {round}");
        }
    }
}

#[test]
fn schemas_of_imported_tools_stay_as_they_came() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "x-odd": [1]});
    let source = Source::Mcp {
        server: "s".to_owned(),
    };
    let imported = with_schema("Odd-Tool", schema.clone()).with_source(source);
    let toolbox = Toolbox::new([echoing(imported)]).unwrap();
    let registered = toolbox.registry().get("Odd-Tool").unwrap();
    assert_eq!(*registered.input.as_value(), schema);
}

/// A choice between objects told apart by a tag, two of which hold another one.
fn filter() -> Value {
    let holding = |tag: &str| {
        json!({
            "type": "object",
            "properties": {"inner": {"$ref": "#/$defs/F"}, "k": {"type": "string", "const": tag}},
            "required": ["k", "inner"],
        })
    };
    let leaf = json!({
        "type": "object",
        "properties": {"v": {"type": "integer"}, "k": {"type": "string", "const": "leaf"}},
        "required": ["k", "v"],
    });
    json!({
        "type": "object",
        "properties": {"f": {"$ref": "#/$defs/F"}},
        "required": ["f"],
        "$defs": {"F": {"oneOf": [holding("not"), holding("opt"), leaf]}},
    })
}

/// The same without tags: every branch must be tried.
fn blind_filter() -> Value {
    let holding = |other: &str| {
        json!({
            "type": "object",
            "properties": {"inner": {"$ref": "#/$defs/F"}, other: {"type": "integer"}},
            "required": ["inner"],
        })
    };
    json!({
        "type": "object",
        "properties": {"f": {"$ref": "#/$defs/F"}},
        "$defs": {"F": {"anyOf": [holding("a"), holding("b"), {"type": "object", "required": ["v"]}]}},
    })
}

fn filtered(levels: usize, leaf: Value) -> Value {
    (0..levels).fold(leaf, |inner, _| json!({"k": "opt", "inner": inner}))
}

#[tokio::test]
async fn tagged_choices_may_nest_deep_and_stay_quick() {
    let toolbox = register(filter()).unwrap();
    for levels in [8, 40] {
        let fine = filtered(levels, json!({"k": "leaf", "v": 1}));
        let wrong = filtered(levels, json!({"k": "leaf", "v": "zz"}));
        let begun = Instant::now();
        for arguments in [json!({"f": fine}), json!({"f": fine.to_string()})] {
            assert!(call(&toolbox, "tool", arguments).await.is_success());
        }
        for arguments in [json!({"f": wrong}), json!({"f": wrong.to_string()})] {
            let outcome = call(&toolbox, "tool", arguments).await;
            let path = format!("`f{}.v`", ".inner".repeat(levels));
            let expected = format!("{path}: expected integer, got \"zz\" (string)");
            assert!(failure(&outcome).message.contains(&expected), "{levels}");
        }
        assert!(begun.elapsed() < Duration::from_secs(1), "{levels}");
    }
}

#[tokio::test]
async fn a_string_is_measured_once_it_is_read() {
    let toolbox = register(blind_filter()).unwrap();
    let mut refusals = 0;
    for levels in [1, 5, 8, 10, 11, 12, 16, 24, 40] {
        let wrong = filtered(levels, json!({"z": 1}));
        let begun = Instant::now();
        let mut messages = Vec::new();
        for arguments in [json!({"f": wrong}), json!({"f": wrong.to_string()})] {
            let outcome = call(&toolbox, "tool", arguments).await;
            messages.push(failure(&outcome).message.clone());
        }
        assert_eq!(messages[0], messages[1]);
        refusals += usize::from(messages[0].contains("nest deeper than"));
        assert!(begun.elapsed() < Duration::from_secs(3), "{levels}");
    }
    assert!((2..6).contains(&refusals), "{refusals}");
}

#[test]
fn what_is_left_over_from_what_is_left_over_is_refused() {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        for unevaluated in ["unevaluatedProperties", "unevaluatedItems"] {
            let nested = |levels| {
                let mut schema = (0..levels).fold(
                    json!({"type": "object"}),
                    |inner, _| json!({keyword: [inner], unevaluated: {"type": "integer"}}),
                );
                schema["type"] = json!("object");
                schema
            };
            assert!(register(nested(4)).is_ok());
            assert!(fault(nested(14)).starts_with("it expands to more than"));
        }
    }
}

#[tokio::test]
async fn data_that_looks_like_a_reference_is_data() {
    for property in [
        json!({"default": {"$ref": "x"}}),
        json!({"examples": [{"$ref": "a.yaml"}]}),
        json!({"const": {"$ref": "https://example.com"}}),
        json!({"enum": [{"$ref": "x"}]}),
    ] {
        let schema = json!({"type": "object", "properties": {"a": property}});
        let toolbox = register(schema).unwrap();
        assert!(call(&toolbox, "tool", json!({})).await.is_success());
    }
    let schema = json!({"type": "object", "properties": {"$ref": {"type": "string"}}});
    let toolbox = register(schema).unwrap();
    assert!(
        call(&toolbox, "tool", json!({"$ref": "x"}))
            .await
            .is_success()
    );
}

#[tokio::test]
async fn only_two_versions_of_json_schema_are_followed() {
    for address in [
        "https://json-schema.org/draft/2020-12/schema",
        "http://json-schema.org/draft/2020-12/schema#",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft-07/schema",
    ] {
        let schema = json!({"$schema": address, "type": "object"});
        let toolbox = register(schema).unwrap();
        assert!(
            call(&toolbox, "tool", json!({})).await.is_success(),
            "{address}"
        );
    }
    for address in [
        json!("http://json-schema.org/draft-04/schema#"),
        json!("https://json-schema.org/draft/2019-09/schema"),
        json!("http://example.com/s"),
        json!("ftp://json-schema.org/draft-07/schema"),
        json!(7),
    ] {
        assert_eq!(
            fault(json!({"$schema": address, "type": "object"})),
            format!(
                "its `$schema` is {address}; only draft 2020-12 (the default) and draft-07 are followed"
            )
        );
    }
}

#[test]
fn dependencies_can_go_round_in_circles_too() {
    let circle = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "definitions": {"a": {"dependencies": {"x": {"$ref": "#/definitions/a"}, "y": ["x"]}}},
        "allOf": [{"$ref": "#/definitions/a"}],
    });
    assert!(fault(circle).contains("without end"));
}

#[tokio::test]
async fn a_rewritten_choice_accepts_what_it_did_before() {
    let object = |name: &str| {
        json!({
            "type": "object", "properties": {name: {"type": "integer"}},
            "required": [name], "additionalProperties": false,
        })
    };
    let keyed = json!([{"enum": ["A", "B"]}, object("C"), object("D")]);
    let literals = json!([{"const": "a"}, {"enum": ["a", "b"]}, {"type": "integer"}]);
    for (keyword, branches, value, fits) in [
        ("oneOf", &keyed, json!("A"), true),
        ("oneOf", &keyed, json!("C"), false),
        ("oneOf", &keyed, json!({"C": 1}), true),
        ("oneOf", &keyed, json!({"C": 1, "D": 1}), false),
        ("anyOf", &keyed, json!({"C": 1, "D": 1}), false),
        ("oneOf", &keyed, json!({}), false),
        ("oneOf", &keyed, json!([]), false),
        ("oneOf", &literals, json!("a"), false),
        ("oneOf", &literals, json!("b"), true),
        ("anyOf", &literals, json!("a"), true),
        ("anyOf", &literals, json!("c"), false),
    ] {
        let schema = json!({"type": "object", "properties": {"x": {keyword: branches}}});
        let toolbox = register(schema).unwrap();
        let outcome = call(&toolbox, "tool", json!({"x": value})).await;
        assert_eq!(outcome.is_success(), fits, "{keyword} {value}");
    }
}

/// Each item at the bottom would be looked at a thousand times, and there are many.
#[tokio::test]
async fn many_values_deep_inside_a_branching_schema_are_refused() {
    let branch = |name: &str| {
        json!({
            "type": "object",
            "properties": {"n": {"$ref": "#/$defs/f"}, name: {"type": "array"}},
            "additionalProperties": false,
        })
    };
    let schema = json!({
        "type": "object",
        "properties": {"f": {"$ref": "#/$defs/f"}},
        "$defs": {"f": {"anyOf": [branch("v"), branch("w")]}},
    });
    let toolbox = register(schema).unwrap();
    let nested = |items: usize| {
        let mut value = json!({"v": vec![1; items]});
        for _ in 0..7 {
            value = json!({"n": value});
        }
        json!({"f": value})
    };
    assert!(call(&toolbox, "tool", nested(100)).await.is_success());
    let outcome = call(&toolbox, "tool", nested(100_000)).await;
    assert_eq!(
        failure(&outcome).message,
        "the arguments of `tool` are too large for a schema that makes so much work of each \
         value; send less at once"
    );
}

#[test]
fn circles_and_documents_in_odd_places_are_found() {
    // Reached only through a property of a schema that stands under no keyword.
    let circle = json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/odd/first"}},
        "odd": {
            "first": {"properties": {"x": {"$ref": "#/odd/second"}}},
            "second": {"allOf": [{"$ref": "#/odd/second"}]},
        },
    });
    let error = register(circle).unwrap_err().to_string();
    assert!(error.contains("without end"), "{error}");
    let embedded = json!({
        "type": "object",
        "properties": {"a": {"$id": "other", "$defs": {"b": true}, "$ref": "#/$defs/b"}},
        "$defs": {"b": true},
    });
    let error = register(embedded).unwrap_err().to_string();
    assert!(error.contains("`$id` of its own"), "{error}");
    let whole = json!({"$id": "https://example.com/tool", "type": "object"});
    assert!(register(whole).is_ok());
}

#[tokio::test]
async fn many_values_of_a_heavy_schema_are_refused() {
    let many = |schema: Value| -> Vec<Value> { vec![schema; 20_000] };
    let tree = json!({"allOf": many(json!({"minimum": 0})), "items": {"$ref": "#/$defs/tree"}});
    let schemas = [
        json!({"properties": {"a": {"items": {"allOf": many(json!({"minimum": 0}))}}}}),
        json!({"properties": {"a": {"allOf": many(json!({"items": {"minimum": 0}}))}}}),
        json!({"properties": {"a": {"$ref": "#/$defs/tree"}}, "$defs": {"tree": tree}}),
    ];
    for schema in schemas {
        let toolbox = register(schema).unwrap();
        let few = call(&toolbox, "tool", json!({"a": [1, 2, 3]})).await;
        assert!(few.is_success());
        let outcome = call(&toolbox, "tool", json!({"a": vec![1; 10_000]})).await;
        let message = &failure(&outcome).message;
        assert!(message.contains("are too large for a schema"), "{message}");
    }
}
