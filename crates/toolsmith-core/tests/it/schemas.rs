//! The schemas of Rust types, whole: as arguments (`input`) and as values
//! (`output`).

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolsmith::Schema;

/// The schema of a type where it is an argument that must be given.
fn input<T: JsonSchema>() -> Value {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Holder<T> {
        field: T,
    }
    let schema = Schema::arguments_of::<Holder<T>>();
    schema.as_value()["properties"]["field"].clone()
}

fn output<T: JsonSchema>() -> Value {
    Schema::value_of::<T>().as_value().clone()
}

/// Compares schemas as text, so that the order of keys counts.
#[track_caller]
fn same(found: &Value, expected: &Value) {
    let pretty = |value| serde_json::to_string_pretty(value).unwrap();
    assert_eq!(pretty(found), pretty(expected));
}

#[track_caller]
fn both<T: JsonSchema>(expected: &Value) {
    same(&input::<T>(), expected);
    same(&output::<T>(), expected);
}

#[test]
fn primitives() {
    both::<bool>(&json!({"type": "boolean"}));
    both::<String>(&json!({"type": "string"}));
    both::<char>(&json!({"type": "string", "minLength": 1, "maxLength": 1}));
    both::<()>(&json!({"type": "null"}));
    both::<f32>(&json!({"type": "number"}));
    both::<f64>(&json!({"type": "number"}));
    both::<PathBuf>(&json!({"type": "string"}));
}

#[test]
fn integers_say_what_fits() {
    let bounds = |low: i64, high: i64| json!({"type": "integer", "minimum": low, "maximum": high});
    both::<i8>(&bounds(-128, 127));
    both::<i16>(&bounds(-32768, 32767));
    both::<i32>(&bounds(i32::MIN.into(), i32::MAX.into()));
    both::<u8>(&bounds(0, 255));
    both::<u16>(&bounds(0, 65535));
    both::<u32>(&bounds(0, u32::MAX.into()));
    both::<std::num::NonZeroU32>(&bounds(1, u32::MAX.into()));
    for schema in [input::<i64>(), input::<isize>(), input::<i128>()] {
        same(&schema, &json!({"type": "integer"}));
    }
    for schema in [input::<u64>(), input::<usize>(), input::<u128>()] {
        same(&schema, &json!({"type": "integer", "minimum": 0}));
    }
}

#[test]
fn collections() {
    both::<Vec<String>>(&json!({"type": "array", "items": {"type": "string"}}));
    both::<BTreeSet<bool>>(
        &json!({"type": "array", "uniqueItems": true, "items": {"type": "boolean"}}),
    );
    both::<HashMap<String, f64>>(
        &json!({"type": "object", "additionalProperties": {"type": "number"}}),
    );
    both::<(bool, String)>(&json!({
        "type": "array",
        "prefixItems": [{"type": "boolean"}, {"type": "string"}],
        "minItems": 2,
        "maxItems": 2,
    }));
    both::<[bool; 3]>(
        &json!({"type": "array", "items": {"type": "boolean"}, "minItems": 3, "maxItems": 3}),
    );
    same(&input::<Value>(), &json!(true));
    same(&output::<Value>(), &json!({}));
    assert!(Schema::value_of::<Value>().is_anything());
    both::<serde_json::Map<String, Value>>(
        &json!({"type": "object", "additionalProperties": true}),
    );
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Optional {
    /// A text.
    text: Option<String>,
    /// A choice.
    documented: Option<Documented>,
    plain: Option<Plain>,
    list: Option<Vec<Option<u8>>>,
    nested: Option<Nested>,
    #[serde(default)]
    defaulted: Option<bool>,
    anything: Option<Value>,
    map: HashMap<String, Option<String>>,
}

/// Nested.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Nested {
    /// Inside.
    inside: bool,
}

#[derive(Deserialize, Serialize, JsonSchema)]
enum Plain {
    One,
    Two,
}

/// How it is done.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Documented {
    /// Without delay.
    AtOnce,
    /// Some other
    /// time.
    ///
    /// Really.
    Later,
    Never,
}

#[test]
fn an_optional_argument_is_left_out_not_null() {
    let choices = "\n- `at_once`: Without delay.\n- `later`: Some other time. Really.";
    same(
        Schema::arguments_of::<Optional>().as_value(),
        &json!({
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "A text."},
                "documented": {
                    "type": "string",
                    "description": format!("A choice.{choices}"),
                    "enum": ["never", "at_once", "later"],
                },
                "plain": {"type": "string", "enum": ["One", "Two"]},
                // In a list and in a map, `null` is a value like any other.
                "list": {
                    "type": "array",
                    "items": {"type": ["integer", "null"], "minimum": 0, "maximum": 255},
                },
                "nested": {
                    "type": "object",
                    "description": "Nested.",
                    "properties": {"inside": {"type": "boolean", "description": "Inside."}},
                    "required": ["inside"],
                    "additionalProperties": false,
                },
                "defaulted": {"type": "boolean"},
                "anything": true,
                "map": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
            },
            "required": ["map"],
            "additionalProperties": false,
        }),
    );
}

#[test]
fn an_optional_value_may_be_null() {
    same(
        &output::<Option<Nested>>(),
        &json!({
            "type": ["object", "null"],
            "description": "Nested.",
            "properties": {"inside": {"type": "boolean", "description": "Inside."}},
            "required": ["inside"],
        }),
    );
    same(
        &output::<Option<Plain>>(),
        &json!({"type": ["string", "null"], "enum": ["One", "Two", null]}),
    );
    let documented = output::<Documented>();
    same(
        &output::<Option<Documented>>(),
        &json!({"anyOf": [documented, {"type": "null"}]}),
    );
}

#[test]
fn enums_of_words_are_one_list() {
    both::<Plain>(&json!({"type": "string", "enum": ["One", "Two"]}));
    both::<Documented>(&json!({
        "type": "string",
        "description": "How it is done.\n- `at_once`: Without delay.\n- `later`: Some other time. Really.",
        "enum": ["never", "at_once", "later"],
    }));
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Internal {
    /// Round.
    Circle {
        radius: f64,
    },
    Nested(Nested),
    Nothing,
}

#[test]
fn tagged_enums_are_closed_in_every_branch() {
    same(
        &input::<Internal>(),
        &json!({"oneOf": [
            {
                "type": "object",
                "description": "Round.",
                "properties": {
                    "type": {"type": "string", "const": "circle"},
                    "radius": {"type": "number"},
                },
                "required": ["type", "radius"],
                "additionalProperties": false,
            },
            {
                "type": "object",
                "description": "Nested.",
                "properties": {
                    "type": {"type": "string", "const": "nested"},
                    "inside": {"type": "boolean", "description": "Inside."},
                },
                "required": ["type", "inside"],
                "additionalProperties": false,
            },
            {
                "type": "object",
                "properties": {"type": {"type": "string", "const": "nothing"}},
                "required": ["type"],
                "additionalProperties": false,
            },
        ]}),
    );
}

#[derive(Deserialize, Serialize, JsonSchema)]
enum External {
    Circle { radius: f64 },
    Text(String),
    Empty {},
    Nothing,
}

#[test]
fn untagged_and_external_enums() {
    same(
        &input::<External>(),
        &json!({"oneOf": [
            {"type": "string", "enum": ["Nothing"]},
            {
                "type": "object",
                "properties": {"Circle": {
                    "type": "object",
                    "properties": {"radius": {"type": "number"}},
                    "required": ["radius"],
                    "additionalProperties": false,
                }},
                "required": ["Circle"],
                "additionalProperties": false,
            },
            {
                "type": "object",
                "properties": {"Text": {"type": "string"}},
                "required": ["Text"],
                "additionalProperties": false,
            },
            {
                "type": "object",
                "properties": {"Empty": {
                    "type": "object",
                    "properties": {},
                    "additionalProperties": false,
                }},
                "required": ["Empty"],
                "additionalProperties": false,
            },
        ]}),
    );
    #[derive(JsonSchema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Untagged {
        Text(String),
        Point { x: bool },
    }
    same(
        &input::<Untagged>(),
        &json!({"anyOf": [
            {"type": "string"},
            {
                "type": "object",
                "properties": {"x": {"type": "boolean"}},
                "required": ["x"],
                "additionalProperties": false,
            },
        ]}),
    );
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Single {
        Only { x: bool },
    }
    same(
        &input::<Single>(),
        &json!({
            "type": "object",
            "properties": {"Only": {
                "type": "object",
                "properties": {"x": {"type": "boolean"}},
                "required": ["x"],
                "additionalProperties": false,
            }},
            "required": ["Only"],
            "additionalProperties": false,
        }),
    );
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Flattened {
    own: bool,
    #[serde(flatten)]
    nested: Inner,
    #[serde(flatten)]
    shape: Internal,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Inner {
    more: Option<String>,
}

#[test]
fn flattened_fields_stand_beside_the_others() {
    let schema = Schema::arguments_of::<Flattened>();
    let branch = |name: &str, field: Option<(&str, Value)>| {
        let mut branch = json!({
            "type": "object",
            "properties": {"type": {"type": "string", "const": name}},
            "required": ["type"],
        });
        if let Some((field, schema)) = field {
            branch["properties"][field] = schema;
            branch["required"] = json!(["type", field]);
        }
        branch
    };
    let mut circle = branch("circle", Some(("radius", json!({"type": "number"}))));
    circle["description"] = json!("Round.");
    let inside = json!({"type": "boolean", "description": "Inside."});
    let mut nested = branch("nested", Some(("inside", inside)));
    nested["description"] = json!("Nested.");
    assert_eq!(
        *schema.as_value(),
        json!({
            "type": "object",
            "properties": {"own": {"type": "boolean"}, "more": {"type": "string"}},
            "required": ["own"],
            "oneOf": [circle, nested, branch("nothing", None)],
            "unevaluatedProperties": false,
        })
    );
}

/// A tree.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Tree {
    name: String,
    /// Beneath.
    children: Vec<Tree>,
    left: Option<Box<Tree>>,
}

#[test]
fn recursive_types_keep_their_definitions() {
    let fields = json!({
        "name": {"type": "string"},
        "children": {
            "type": "array",
            "description": "Beneath.",
            "items": {"$ref": "#/$defs/Tree"},
        },
        "left": {"$ref": "#/$defs/Tree"},
    });
    let tree = json!({
        "type": "object",
        "description": "A tree.",
        "properties": fields,
        "required": ["name", "children"],
        "additionalProperties": false,
    });
    let mut root = tree.clone();
    root["$defs"] = json!({"Tree": tree});
    assert_eq!(*Schema::arguments_of::<Tree>().as_value(), root);

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Holder {
        /// The one.
        tree: Tree,
        other: Nested,
    }
    let mut described = tree.clone();
    described["description"] = json!("The one.");
    let other = input::<Nested>();
    assert_eq!(
        *Schema::arguments_of::<Holder>().as_value(),
        json!({
            "type": "object",
            "properties": {"tree": described, "other": other},
            "required": ["tree", "other"],
            "additionalProperties": false,
            "$defs": {"Tree": tree},
        })
    );
}

#[test]
fn attributes_of_serde_and_schemars_count() {
    /// Names and ranges.
    #[derive(JsonSchema)]
    #[serde(rename_all = "camelCase")]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Named {
        two_words: bool,
        #[serde(rename = "title")]
        heading: String,
        #[serde(default = "three")]
        three: u8,
        #[serde(skip)]
        skipped: u8,
        #[schemars(range(min = 1, max = 10))]
        ranged: u32,
        #[schemars(extend("exclusiveMinimum" = 0))]
        above: u8,
        #[schemars(url)]
        address: String,
        #[schemars(extend("format" = "date-time"))]
        when: String,
        #[schemars(email)]
        mail: Option<String>,
        #[schemars(regex(pattern = "^a"))]
        pattern: String,
        /// Documented here.
        documented: Documented,
    }
    fn three() -> u8 {
        3
    }
    same(
        Schema::arguments_of::<Named>().as_value(),
        &json!({
            "type": "object",
            "description": "Names and ranges.",
            "properties": {
                "twoWords": {"type": "boolean"},
                "title": {"type": "string"},
                "three": {"type": "integer", "minimum": 0, "maximum": 255, "default": 3},
                "ranged": {"type": "integer", "minimum": 1, "maximum": 10},
                "above": {"type": "integer", "minimum": 0, "maximum": 255, "exclusiveMinimum": 0},
                "address": {"type": "string", "format": "uri"},
                "when": {"type": "string", "format": "date-time"},
                "mail": {"type": "string", "format": "email"},
                "pattern": {"type": "string", "pattern": "^a"},
                "documented": {
                    "type": "string",
                    "description": "Documented here.\n- `at_once`: Without delay.\n- `later`: Some other time. Really.",
                    "enum": ["never", "at_once", "later"],
                },
            },
            "required": ["twoWords", "title", "ranged", "above", "address", "when", "pattern", "documented"],
            "additionalProperties": false,
        }),
    );
}

#[test]
fn null_that_must_be_given_is_kept() {
    #[derive(JsonSchema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Wanted {
        Text(String),
        Nothing,
    }
    same(
        &input::<Wanted>(),
        &json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
    );
}

#[test]
fn definitions_nothing_refers_to_are_dropped() {
    fn short(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        generator.subschema_for::<Tree>();
        schemars::json_schema!({"type": "string"})
    }
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Holder {
        #[schemars(schema_with = "short")]
        short: Tree,
    }
    assert_eq!(
        output::<Holder>(),
        json!({
            "type": "object",
            "properties": {"short": {"type": "string"}},
            "required": ["short"],
        })
    );
}
