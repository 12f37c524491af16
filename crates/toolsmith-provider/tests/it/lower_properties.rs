//! What lowering promises, for schemas and values nobody thought of: a value that fits its
//! schema fits the lowered one, and comes back as it was.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolsmith_provider::judge;

use crate::lower_support::{as_json_schema, declare_one, lowered, lowering};

/// A schema, and a value that fits it.
#[derive(Clone, Debug)]
struct Case {
    schema: Value,
    value: Value,
}

fn case(schema: Value, value: Value) -> Case {
    Case { schema, value }
}

fn leaf() -> impl Strategy<Value = Case> + Clone {
    prop_oneof![
        "[a-z]{0,6}".prop_map(|text| case(json!({"type": "string"}), json!(text))),
        "[a-z]{3,6}".prop_map(|text| {
            let schema = json!({"type": "string", "minLength": 3, "maxLength": 6, "title": "T"});
            case(schema, json!(text))
        }),
        "[a-z]{2}[0-9]".prop_map(|text| {
            case(
                json!({"type": "string", "pattern": "^[a-z]+[0-9]$"}),
                json!(text),
            )
        }),
        "[a-z]{2}[0-9]".prop_map(|text| {
            case(
                json!({"type": "string", "pattern": "^(?!x1)[a-z]+[0-9]$"}),
                json!(text),
            )
        }),
        Just(case(
            json!({"type": "string", "format": "uri"}),
            json!("https://example.org/")
        )),
        Just(case(
            json!({"type": "string", "format": "date"}),
            json!("2026-01-02")
        )),
        (-5i64..9).prop_map(|number| {
            let schema = json!({"type": "integer", "minimum": -5, "exclusiveMaximum": 9});
            case(schema, json!(number))
        }),
        (0i64..5).prop_map(|number| {
            case(
                json!({"type": "number", "multipleOf": 3}),
                json!(number * 3),
            )
        }),
        any::<bool>()
            .prop_map(|value| case(json!({"type": "boolean", "default": true}), json!(value))),
        Just(case(json!({"type": "null"}), Value::Null)),
        prop::sample::select(vec![json!("a"), json!("b")])
            .prop_map(|value| case(json!({"enum": ["a", "b"]}), value)),
        prop::sample::select(vec![json!(1), json!(2)])
            .prop_map(|value| case(json!({"type": "integer", "enum": [1, 2]}), value)),
        prop::sample::select(vec![
            json!(1),
            json!("1"),
            json!(true),
            json!(null),
            json!("")
        ])
        .prop_map(|value| case(json!({"enum": [1, "1", true, null, ""]}), value)),
        Just(case(json!({"const": "fixed"}), json!("fixed"))),
        Just(case(json!({"const": 7}), json!(7))),
        prop::sample::select(vec![json!("x"), json!(3), json!(null)])
            .prop_map(|value| case(json!({"type": ["string", "integer", "null"]}), value)),
        prop::sample::select(vec![json!("x"), json!({"k": [1]}), json!([2]), json!("5")])
            .prop_map(|value| case(json!({}), value)),
        prop::sample::select(vec![json!({}), json!({"k": 1}), json!({"k": {"x": null}})])
            .prop_map(|value| case(json!({"type": "object"}), value)),
        Just(case(json!(true), json!([true]))),
        prop::sample::select(vec![json!([]), json!([1, "a"])])
            .prop_map(|value| case(json!({"type": "array"}), value)),
    ]
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "a",
        "b",
        "kind",
        "a.b",
        "a_b",
        "a b",
        "ä",
        "$x",
        "9",
        "type",
        "properties",
        "$ref",
        "a-very-long-name-that-goes-on-and-on-until-nobody-remembers-how-it-began-or-why",
    ])
    .prop_map(str::to_owned)
}

/// How a property stands in its object.
#[derive(Clone, Copy, Debug)]
enum Standing {
    Required,
    Given,
    Absent,
}

fn fields(
    inner: impl Strategy<Value = Case>,
) -> impl Strategy<Value = Vec<(String, Case, Standing)>> {
    let standing = prop_oneof![
        Just(Standing::Required),
        Just(Standing::Given),
        Just(Standing::Absent)
    ];
    let fields = prop::collection::vec((name(), inner, standing), 0..4);
    fields.prop_map(|mut fields| {
        let mut seen = std::collections::HashSet::new();
        fields.retain(|(name, _, _)| seen.insert(name.clone()));
        fields
    })
}

fn object_of(fields: &[(String, Case, Standing)]) -> Case {
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut value = Map::new();
    for (name, field, standing) in fields {
        properties.insert(name.clone(), field.schema.clone());
        if matches!(standing, Standing::Required) {
            required.push(json!(name));
        }
        if !matches!(standing, Standing::Absent) {
            value.insert(name.clone(), field.value.clone());
        }
    }
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    case(schema, Value::Object(value))
}

fn object(inner: impl Strategy<Value = Case> + Clone) -> impl Strategy<Value = Case> {
    (fields(inner.clone()), 0..6, inner).prop_map(|(fields, kind, extra)| {
        let mut made = object_of(&fields);
        match kind {
            0 => made.schema["additionalProperties"] = json!(false),
            1 => {
                made.schema["additionalProperties"] = json!(true);
                made.value["extra"] = json!([1]);
            }
            2 => {
                made.schema["additionalProperties"] = extra.schema;
                made.value["extra"] = extra.value;
            }
            3 => {
                made.schema["additionalProperties"] = json!(false);
                made.schema["patternProperties"] = json!({"^x-": extra.schema});
                made.value["x-extra"] = extra.value;
            }
            _ => {}
        }
        made
    })
}

fn list(inner: impl Strategy<Value = Case>) -> impl Strategy<Value = Case> {
    (inner, 0usize..3, 0..4).prop_map(|(item, count, kind)| {
        let values = vec![item.value.clone(); count];
        match kind {
            0 => case(
                json!({"type": "array", "prefixItems": [item.schema, {"type": "integer"}], "items": false}),
                json!([item.value, 3]),
            ),
            1 => case(
                json!({"type": "array", "items": item.schema, "minItems": count, "maxItems": 9}),
                json!(values),
            ),
            _ => case(json!({"type": "array", "items": item.schema}), json!(values)),
        }
    })
}

fn union(inner: impl Strategy<Value = Case> + Clone) -> impl Strategy<Value = Case> {
    let parts = prop::collection::vec(inner, 1..4);
    (parts, any::<prop::sample::Index>(), 0..4, any::<u32>()).prop_map(
        |(cases, index, kind, number)| {
            let value = index.get(&cases).value.clone();
            let mut schemas: Vec<Value> = cases.into_iter().map(|case| case.schema).collect();
            let keyword = if kind == 0 { "oneOf" } else { "anyOf" };
            if kind == 1 {
                schemas.push(json!({"type": "null"}));
            }
            let mut schema = json!({ keyword: schemas });
            if kind == 2 {
                // Each its own words: where those of the whole have to stand in a branch, they
                // would make it the same as another that happens to say them too.
                schema["description"] = json!(format!("One of them, {number}"));
            }
            case(schema, value)
        },
    )
}

/// A schema behind a reference: hoisted into the definitions of the root afterwards.
const HOISTED: &str = "x-hoisted";

fn tree() -> impl Strategy<Value = Case> + Clone {
    leaf().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            3 => object(inner.clone()),
            2 => list(inner.clone()),
            2 => union(inner.clone()),
            1 => inner.clone().prop_map(|each| case(json!({ HOISTED: each.schema }), each.value)),
            1 => inner.clone().prop_map(|each| {
                case(json!({"allOf": [each.schema, {"description": "Both"}]}), each.value)
            }),
            1 => inner.prop_map(|each| {
                let schema = json!({"anyOf": [each.schema, {"type": "null"}], "default": null});
                case(schema, each.value)
            }),
        ]
    })
}

fn root() -> impl Strategy<Value = Case> {
    prop_oneof![
        4 => object(tree()),
        1 => (fields(tree()), fields(tree()), fields(tree()), 0..3).prop_map(
            |(mut base, one, other, kind)| {
                // An object that is silent about others takes none in strict mode, even
                // where another schema speaks of them.
                base.retain(|(name, _, _)| {
                    !one.iter().chain(&other).any(|(known, _, _)| known == name)
                });
                let (base, one, other) = (object_of(&base), object_of(&one), object_of(&other));
                let mut value = base.value.clone();
                for (name, field) in one.value.as_object().unwrap() {
                    value[name] = field.clone();
                }
                let mut schema = base.schema;
                match kind {
                    0 => schema["anyOf"] = json!([one.schema, other.schema]),
                    1 => schema = json!({"type": "object", "oneOf": [one.schema, other.schema]}),
                    _ => schema["allOf"] = json!([one.schema]),
                }
                if kind == 1 {
                    value = one.value;
                }
                case(schema, value)
            }
        ),
    ]
    .prop_map(|mut made| {
        let mut definitions = Map::new();
        made.schema = hoist(made.schema, &mut definitions);
        if !definitions.is_empty() {
            made.schema["$defs"] = Value::Object(definitions);
        }
        made
    })
    .prop_filter("the value fits", |made| {
        jsonschema::validator_for(&made.schema).is_ok_and(|checker| checker.is_valid(&made.value))
    })
}

fn hoist(schema: Value, definitions: &mut Map<String, Value>) -> Value {
    match schema {
        Value::Object(object) => {
            let mut hoisted: Map<String, Value> = object
                .into_iter()
                .map(|(key, value)| (key, hoist(value, definitions)))
                .collect();
            match hoisted.shift_remove(HOISTED) {
                Some(inner) => {
                    let name = format!("d{}", definitions.len());
                    let reference = format!("#/$defs/{name}");
                    definitions.insert(name, inner);
                    json!({ "$ref": reference })
                }
                None => Value::Object(hoisted),
            }
        }
        Value::Array(list) => list
            .into_iter()
            .map(|each| hoist(each, definitions))
            .collect(),
        other => other,
    }
}

/// A value without the nulls that may stand for what is left out.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(object) => object
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key.clone(), without_nulls(value)))
            .collect(),
        Value::Array(list) => list.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}

fn check(schema: &Value, value: &Value) -> Result<(), TestCaseError> {
    let own = jsonschema::validator_for(schema).unwrap();
    for provider in lowering() {
        for strict in [false, true] {
            let declared = declare_one(provider, schema.clone(), strict);
            let told = || {
                let tools = serde_json::to_string_pretty(&declared.request).unwrap();
                format!("{provider} strict {strict}\n{schema:#}\n{value}\n{tools}")
            };
            let faults = judge::judge(provider, &declared.request.clone().into());
            prop_assert!(faults.is_empty(), "{faults:#?}\n{}", told());
            let out = declared
                .dictionary
                .declared_arguments("tool", value.clone());
            if let Some(lowered) = lowered(&declared) {
                let lowered = as_json_schema(&lowered);
                let checker = jsonschema::validator_for(&lowered).unwrap();
                let error = checker
                    .iter_errors(&out)
                    .next()
                    .map(|error| error.to_string());
                prop_assert!(error.is_none(), "out {out}: {error:?}\n{}", told());
            }
            let back = declared.dictionary.arguments("tool", out.clone());
            prop_assert!(own.is_valid(&back), "out {out} back {back}\n{}", told());
            prop_assert_eq!(
                without_nulls(&back),
                without_nulls(value),
                "out {} {}",
                out,
                told()
            );
        }
    }
    Ok(())
}

pub(crate) fn check_again(schema: &Value) -> Result<(), TestCaseError> {
    for provider in lowering() {
        for strict in [false, true] {
            let once = declare_one(provider, schema.clone(), strict);
            let Some(first) = lowered(&once) else {
                continue;
            };
            // What was not fit for strict mode was lowered for the other.
            let strict = once.report[0].strict;
            let twice = declare_one(provider, first.clone(), strict);
            let second = lowered(&twice).unwrap_or_default();
            let told = format!("{provider} strict {strict}\n{schema:#}\n{first:#}\n{second:#}");
            prop_assert_eq!(twice.report[0].strict, strict, "{}", told);
            prop_assert_eq!(first, second, "{}", told);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn values_survive_there_and_back(made in root()) {
        check(&made.schema, &made.value)?;
    }

    #[test]
    fn lowering_twice_changes_nothing(made in root()) {
        check_again(&made.schema)?;
    }
}

#[test]
fn listed_values_in_unions_within_unions_are_one_list() {
    let inner = json!({"anyOf": [{"const": 7}, {"const": 8}]});
    let union = json!({"anyOf": [{"enum": ["a", "b"]}, inner, {"type": "null"}]});
    let schema = json!({"type": "object", "properties": {"a": union}});
    check_again(&schema).unwrap();
    for value in [json!("a"), json!(7), json!(8), json!(null)] {
        check(&schema, &json!({"a": value})).unwrap();
    }
}

#[test]
fn lists_of_unions_within_unions_that_overlap_are_one_list() {
    let odd = json!({"enum": [1, "1", true, null, ""]});
    let inner = json!({"oneOf": [{"enum": ["a", "b"]}, {"oneOf": [odd]}]});
    let union = json!({"oneOf": [inner, odd]});
    let schema = json!({"type": "object", "properties": {"b": union}, "required": ["b"]});
    check_again(&schema).unwrap();
}

#[test]
fn what_is_said_about_listed_values_stays() {
    let (one, two) = (json!({"enum": ["a"]}), json!({"enum": ["a", "b"]}));
    for inner in [one, two.clone()] {
        let inner = json!({"anyOf": [inner, inner], "description": "These are best"});
        let union = json!({"anyOf": [two, inner]});
        let schema = json!({"type": "object", "properties": {"a": union}});
        check_again(&schema).unwrap();
        check(&schema, &json!({"a": "a"})).unwrap();
        for provider in lowering() {
            let declared = declare_one(provider, schema.clone(), false);
            let text = serde_json::to_string(&declared.request).unwrap();
            assert!(text.contains("These are best"), "{provider}\n{text}");
        }
    }
}

#[test]
fn a_branch_that_repeats_one_of_an_inner_union_is_left_out() {
    let number = json!({"type": "number", "multipleOf": 3});
    let object = json!({"type": "object", "properties": {"a b": {"type": "string"}}});
    // Two of them cannot be told apart.
    let inner = json!({"anyOf": [number, {"enum": [1, 2]}, object]});
    let union = json!({"anyOf": [inner, number]});
    let schema = json!({"type": "object", "properties": {"a": union}});
    check_again(&schema).unwrap();
    check(&schema, &json!({"a": {"a b": "x"}})).unwrap();
}

#[test]
fn what_only_words_can_say_takes_nothing_away() {
    let branch = |name: String, required: bool| {
        let required: Vec<&str> = if required { vec!["a"] } else { Vec::new() };
        let properties = json!({"a": {"type": "string"}, name: {"type": "string"}});
        json!({"type": "object", "properties": properties, "required": required})
    };
    let many: Vec<Value> = (0..70).map(|i| branch(format!("p{i}"), i < 64)).collect();
    let named = |name: &str| json!({"properties": {name: {"type": "integer"}}, "required": [name]});
    let deep = (0..12).fold(
        named("deep"),
        |inner, level| json!({"type": "object", "anyOf": [inner, named(&format!("q{level}"))]}),
    );
    let own = json!({"a": {"type": "string"}});
    let two = [
        json!([named("b"), named("c")]),
        json!([named("d"), named("e")]),
    ];
    let is_x = json!({"properties": {"a": {"const": "x"}}, "required": ["a"]});
    let cases = [
        (
            json!({"type": "object", "anyOf": many}),
            json!({"p69": "x"}),
        ),
        (deep, json!({"deep": 1})),
        (
            json!({"type": "object", "properties": own, "if": is_x, "then": named("b")}),
            json!({"a": "x", "b": 1}),
        ),
        (
            json!({"type": "object", "properties": own, "dependentSchemas": {"a": named("b")}}),
            json!({"a": "x", "b": 1}),
        ),
        (
            json!({"type": "object", "properties": own, "anyOf": two[0], "oneOf": two[1]}),
            json!({"b": 1, "d": 1}),
        ),
        (
            json!({"type": "object", "properties": {"o": {
                "type": "object", "anyOf": two[0], "oneOf": two[1]}}}),
            json!({"o": {"b": 1, "d": 1}}),
        ),
        (
            json!({"type": "object", "anyOf": [
                {"properties": own, "anyOf": two[0]}, {"properties": {"z": {"type": "string"}}}]}),
            json!({"a": "x", "c": 1}),
        ),
    ];
    for (schema, value) in cases {
        assert!(jsonschema::is_valid(&schema, &value), "{schema} {value}");
        check(&schema, &value).unwrap();
        check_again(&schema).unwrap();
    }
}

#[test]
fn null_that_a_branch_demands_is_not_left_out() {
    let nullable = json!({"type": ["string", "null"], "default": null});
    let schema = json!({"type": "object", "oneOf": [
        {"type": "object", "properties": {"a": nullable}, "required": ["a"]},
        {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]}]});
    for value in [json!({"a": null}), json!({"a": "x"}), json!({"b": "x"})] {
        check(&schema, &value).unwrap();
    }
}
