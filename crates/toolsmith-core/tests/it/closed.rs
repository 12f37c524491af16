//! Schemas against real validation and real reading: what a type writes fits its
//! schema, what fits is read, and an unknown field is refused at every level.

use std::collections::BTreeMap;

use proptest::prelude::*;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolsmith::Schema;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Everything {
    flag: bool,
    byte: u8,
    word: i32,
    large: u64,
    real: f64,
    letter: char,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    optional: Option<Leaf>,
    list: Vec<Option<i8>>,
    map: BTreeMap<String, Leaf>,
    pair: (u16, String),
    words: Vec<Word>,
    internal: Internal,
    external: External,
    adjacent: Adjacent,
    untagged: Untagged,
    flattened: Flattened,
    tree: Tree,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Leaf {
    size: u32,
    empty: Empty,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Empty {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Word {
    /// The first.
    One,
    Two,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type")]
enum Internal {
    Fields { leaf: Leaf },
    Held(Leaf),
    Nothing,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
enum External {
    Fields {
        leaf: Leaf,
    },
    Held(Leaf),
    /// Documented.
    Nothing,
    Plain,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "content")]
enum Adjacent {
    Fields { leaf: Leaf },
    Nothing,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Text(String),
    Fields { leaf: Leaf },
    List(Vec<Untagged>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Flattened {
    own: bool,
    #[serde(flatten)]
    leaf: Leaf,
    #[serde(flatten)]
    shape: External,
    #[serde(flatten)]
    other: Internal,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Tree {
    leaf: Leaf,
    children: Vec<Tree>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Box<Tree>>,
}

fn leaf() -> impl Strategy<Value = Leaf> {
    any::<u32>().prop_map(|size| Leaf {
        size,
        empty: Empty {},
    })
}

fn internal() -> impl Strategy<Value = Internal> {
    prop_oneof![
        leaf().prop_map(|leaf| Internal::Fields { leaf }),
        leaf().prop_map(Internal::Held),
        Just(Internal::Nothing),
    ]
}

fn external() -> impl Strategy<Value = External> {
    prop_oneof![
        leaf().prop_map(|leaf| External::Fields { leaf }),
        leaf().prop_map(External::Held),
        Just(External::Nothing),
        Just(External::Plain),
    ]
}

fn tree() -> impl Strategy<Value = Tree> {
    let bare = leaf().prop_map(|leaf| Tree {
        leaf,
        children: Vec::new(),
        next: None,
    });
    bare.prop_recursive(3, 8, 2, |inner| {
        (
            leaf(),
            prop::collection::vec(inner.clone(), 0..3),
            prop::option::of(inner.prop_map(Box::new)),
        )
            .prop_map(|(leaf, children, next)| Tree {
                leaf,
                children,
                next,
            })
    })
}

fn untagged() -> impl Strategy<Value = Untagged> {
    let flat = prop_oneof![
        any::<String>().prop_map(Untagged::Text),
        leaf().prop_map(|leaf| Untagged::Fields { leaf }),
    ];
    flat.prop_recursive(2, 6, 3, |inner| {
        prop::collection::vec(inner, 0..3).prop_map(Untagged::List)
    })
}

/// A field of either flattened enum may be called the same as one of the other,
/// so only one of them carries a leaf.
fn flattened() -> impl Strategy<Value = Flattened> {
    (any::<bool>(), leaf(), external()).prop_map(|(own, leaf, shape)| Flattened {
        own,
        leaf,
        shape,
        other: Internal::Nothing,
    })
}

fn everything() -> impl Strategy<Value = Everything> {
    let scalars = (
        any::<bool>(),
        any::<u8>(),
        any::<i32>(),
        any::<u64>(),
        -1e15..1e15,
        any::<char>(),
        any::<String>(),
    );
    let collections = (
        prop::option::of(leaf()),
        prop::collection::vec(any::<Option<i8>>(), 0..4),
        prop::collection::btree_map(any::<String>(), leaf(), 0..3),
        any::<(u16, String)>(),
        prop::collection::vec(prop_oneof![Just(Word::One), Just(Word::Two)], 0..3),
    );
    let enums = (
        internal(),
        external(),
        prop_oneof![
            leaf().prop_map(|leaf| Adjacent::Fields { leaf }),
            Just(Adjacent::Nothing)
        ],
        untagged(),
        flattened(),
        tree(),
    );
    (scalars, collections, enums).prop_map(
        |(
            (flag, byte, word, large, real, letter, text),
            (optional, list, map, pair, words),
            (internal, external, adjacent, untagged, flattened, tree),
        )| Everything {
            flag,
            byte,
            word,
            large,
            real,
            letter,
            text,
            optional,
            list,
            map,
            pair,
            words,
            internal,
            external,
            adjacent,
            untagged,
            flattened,
            tree,
        },
    )
}

fn validator(schema: &Schema) -> jsonschema::Validator {
    jsonschema::validator_for(schema.as_value()).unwrap()
}

#[track_caller]
fn fits(validator: &jsonschema::Validator, value: &Value) {
    if let Err(error) = validator.validate(value) {
        panic!("{error} at {}: {value:#}", error.instance_path());
    }
}

/// Every way to put one unknown field into an object somewhere in a value, except
/// where the object is a map and takes any.
fn with_unknown_fields(value: &Value, path: &str) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    match value {
        Value::Object(object) => {
            if !path.ends_with("/map") {
                let mut more = object.clone();
                more.insert("unknown".to_owned(), json!(1));
                all.push((path.to_owned(), Value::Object(more)));
            }
            for (name, inner) in object {
                for (path, changed) in with_unknown_fields(inner, &format!("{path}/{name}")) {
                    let mut object = object.clone();
                    object.insert(name.clone(), changed);
                    all.push((path, Value::Object(object)));
                }
            }
        }
        Value::Array(list) => {
            for (index, inner) in list.iter().enumerate() {
                for (path, changed) in with_unknown_fields(inner, &format!("{path}/{index}")) {
                    let mut list = list.clone();
                    list[index] = changed;
                    all.push((path, Value::Array(list)));
                }
            }
        }
        _ => {}
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_a_type_writes_fits_and_is_read_again(everything in everything()) {
        thread_local! {
            static INPUT: jsonschema::Validator = validator(&Schema::arguments_of::<Everything>());
            static OUTPUT: jsonschema::Validator = validator(&Schema::value_of::<Everything>());
        }
        let value = serde_json::to_value(&everything).unwrap();
        INPUT.with(|validator| fits(validator, &value));
        OUTPUT.with(|validator| fits(validator, &value));
        let again: Everything = serde_json::from_value(value.clone()).unwrap();
        prop_assert_eq!(again, everything);
        for (path, changed) in with_unknown_fields(&value, "") {
            INPUT.with(|validator| {
                assert!(!validator.is_valid(&changed), "an unknown field passes at {path:?}");
            });
        }
    }

    #[test]
    fn what_fits_a_number_is_read(number in prop_oneof![any::<i64>(), -70_000i64..70_000, Just(i64::from(u32::MAX)), Just(i64::from(u32::MAX) + 1)]) {
        agree::<u8>(number)?;
        agree::<u16>(number)?;
        agree::<u32>(number)?;
        agree::<u64>(number)?;
        agree::<i8>(number)?;
        agree::<i16>(number)?;
        agree::<i32>(number)?;
        agree::<i64>(number)?;
    }
}

fn agree<T: JsonSchema + DeserializeOwned>(number: i64) -> Result<(), TestCaseError> {
    let value = json!(number);
    let validates = validator(&Schema::value_of::<T>()).is_valid(&value);
    let is_read = serde_json::from_value::<T>(value).is_ok();
    prop_assert_eq!(validates, is_read, "{} as {}", number, T::schema_name());
    Ok(())
}

#[test]
fn a_tree_takes_no_unknown_field_however_deep() {
    let validator = validator(&Schema::arguments_of::<Tree>());
    let leaf = json!({"size": 1, "empty": {}});
    let small = json!({"leaf": leaf, "children": []});
    let value = json!({
        "leaf": leaf,
        "children": [small, {"leaf": leaf, "children": [small], "next": small}],
    });
    fits(&validator, &value);
    let wrong = with_unknown_fields(&value, "");
    assert_eq!(wrong.len(), 15);
    for (path, changed) in wrong {
        assert!(!validator.is_valid(&changed), "{path}");
    }
}

/// Checks a hand-written schema: what fits it when closed, and what does not.
#[track_caller]
fn closes(schema: Value, good: &[Value], bad: &[Value]) {
    let validator = validator(&Schema::input(schema).unwrap());
    for value in good {
        fits(&validator, value);
    }
    for value in bad {
        assert!(!validator.is_valid(value), "{value} passes");
    }
}

/// What a person writes is completed, and nothing of it is lost.
#[test]
fn that_arguments_are_an_object_goes_without_saying() {
    let property = json!({"type": "string", "pattern": "^a", "minLength": 2, "x-own": [1]});
    let written = Schema::input(json!({"required": ["a"], "properties": {"a": property}})).unwrap();
    let expected = json!({
        "type": "object",
        "properties": {"a": property},
        "required": ["a"],
        "additionalProperties": false,
    });
    assert_eq!(written.as_value().to_string(), expected.to_string());
    assert_eq!(Schema::input(json!({})).unwrap(), Schema::no_arguments());
}

#[test]
fn a_definition_may_be_a_part_of_one_object_and_the_whole_of_another() {
    closes(
        json!({
            "properties": {"own": {"type": "integer"}, "alone": {"$ref": "#/$defs/base"}},
            "allOf": [{"$ref": "#/$defs/base"}],
            "$defs": {
                "base": {"properties": {"a": {"type": "integer"}}, "$ref": "#/$defs/deeper"},
                "deeper": {"properties": {"b": {"properties": {"c": {}}}}},
            },
        }),
        &[json!({"own": 1, "a": 1, "b": {"c": 1}, "alone": {"a": 1, "b": {}}})],
        &[
            json!({"x": 1}),
            json!({"b": {"x": 1}}),
            json!({"alone": {"x": 1}}),
            json!({"alone": {"own": 1}}),
            json!({"alone": {"b": {"x": 1}}}),
        ],
    );
}

#[test]
fn the_elements_of_all_of_are_one_object() {
    let parts = json!([
        {"type": "object", "properties": {"a": {"type": "integer"}}},
        {"oneOf": [{"properties": {"b": {"type": "integer"}}, "required": ["b"]}, {"required": ["a"]}]},
    ]);
    closes(
        json!({"properties": {"joined": {"allOf": parts}, "map": {"allOf": [{"type": "object"}, {"minProperties": 1}]}}}),
        &[
            json!({"joined": {"b": 1}}),
            json!({"joined": {"a": 1}}),
            json!({"map": {"any": 1}}),
        ],
        &[json!({"joined": {"a": 1, "x": 1}}), json!({"map": {}})],
    );
}

#[test]
fn what_is_open_on_purpose_stays_open() {
    closes(
        json!({
            "properties": {
                "open": {"properties": {"a": {}}, "additionalProperties": true},
                "map": {"additionalProperties": {"properties": {"a": {}}}},
                "not": {"type": "object", "not": {"properties": {"a": {"const": 1}}, "required": ["a"]}},
            },
        }),
        &[
            json!({"open": {"x": 1}}),
            json!({"map": {"x": {"a": 1}}}),
            json!({"not": {"x": 1}}),
        ],
        &[
            json!({"map": {"x": {"y": 1}}}),
            json!({"not": {"a": 1, "x": 1}}),
        ],
    );
}
