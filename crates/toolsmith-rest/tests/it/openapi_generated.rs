//! Documents made at random: every argument goes where the document says.
//!
//! Nothing is sent here. What an operation is and what is expected of it stands in
//! `openapi_request`.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::openapi_check::{document, import_value, validated};
use crate::openapi_request::{Body, Operation, Parameter, Style, sent};

/// A text that would break out of a careless place, but holds no separator of lists.
fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,8}",
        "[a-z/?#%&=+.;:@ \"'\\\\<>{}$é日]{1,12}".prop_filter("no segment of dots alone", |text| {
            !text.trim_matches('.').is_empty()
        }),
        Just("a/../../b".to_owned()),
        Just("%2e%2e%2f".to_owned()),
        Just("${env:HOME}".to_owned()),
    ]
}

fn plain_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        hostile().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from)
    ]
}

/// Names are few, so that they collide between places.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "id",
            "name",
            "body",
            "query_id",
            "Id",
            "x-id",
            "ids[]",
            "filter.by",
            "1st"
        ])
        .prop_map(ToOwned::to_owned),
        "[a-zA-Z_][a-zA-Z0-9_.-]{0,6}",
    ]
}

/// Those that belong to the request itself, and are never arguments.
fn is_reserved(header: &str) -> bool {
    let reserved = [
        "accept", "cookie", "expect", "host", "te", "upgrade", "trailer",
    ];
    reserved.iter().any(|it| it.eq_ignore_ascii_case(header))
}

fn list() -> impl Strategy<Value = Value> {
    prop::collection::vec("[a-z0-9][a-z/?#%&=+ .]{0,4}[a-z0-9]", 1..4).prop_map(Value::from)
}

fn object() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-z&= ]{1,4}", "[a-z0-9 &=%+]{1,6}", 1..3)
        .prop_map(|map| json!(map))
}

fn parameter() -> impl Strategy<Value = Parameter> {
    let place = prop::sample::select(vec!["query", "query", "header", "cookie"]);
    let style = prop::sample::select(vec![
        Style::Plain,
        Style::Repeat,
        Style::Comma,
        Style::Space,
        Style::Pipe,
        Style::Form,
        Style::Deep,
        Style::Json,
    ]);
    // What a server reads of a header has no space at its ends.
    let written = "[a-z0-9,;=\"'%&:/\\\\<>(){}é日]( ?[a-z;,=%é]){0,6}";
    let written = prop_oneof![
        written.prop_map(Value::from),
        Just("%41;%2e=\"".into()),
        any::<i32>().prop_map(Value::from)
    ];
    (
        name(),
        place,
        any::<bool>(),
        any::<bool>(),
        style,
        (plain_value(), written),
        list(),
        object(),
    )
        .prop_map(
            |(name, place, is_required, is_given, style, (plain, written), list, object)| {
                let style = match (place, style) {
                    ("query", style) => style,
                    (_, Style::Plain) => Style::Plain,
                    _ => Style::Comma,
                };
                let value = match style {
                    Style::Plain if place != "query" => written,
                    Style::Plain => plain,
                    Style::Repeat | Style::Comma | Style::Space | Style::Pipe => list,
                    Style::Form | Style::Deep | Style::Json => object,
                };
                let name = match place {
                    "query" => name,
                    _ if is_reserved(&name) => format!("x-{name}"),
                    _ => name.replace(['[', ']'], "_"),
                };
                let value = (is_required || is_given).then_some(value);
                Parameter {
                    name,
                    place,
                    is_required,
                    style,
                    value,
                }
            },
        )
}

fn segment() -> impl Strategy<Value = (String, Option<Parameter>, String)> {
    let around = prop::sample::select(vec!["", "", "v", ".json", "a:", "a b", "é"]);
    let value = prop_oneof![3 => plain_value(), 1 => list()];
    (around.clone(), prop::option::of((name(), value)), around).prop_map(
        |(before, parameter, after)| {
            let parameter = parameter.map(|(name, value)| Parameter {
                name,
                place: "path",
                is_required: true,
                style: match &value {
                    Value::Array(_) => Style::Comma,
                    _ => Style::Plain,
                },
                value: Some(value),
            });
            let before = if parameter.is_none() {
                format!("s{before}")
            } else {
                before.to_owned()
            };
            (before, parameter, after.to_owned())
        },
    )
}

fn body() -> impl Strategy<Value = Body> {
    let value = prop_oneof![
        plain_value(),
        Just(json!({ "deep": [1, null, { "x": "y" }] }))
    ];
    let part = prop_oneof![3 => plain_value(), 1 => list(), 1 => object()];
    prop_oneof![
        2 => Just(Body::None),
        2 => fields(value.clone()).prop_map(Body::Fields),
        1 => prop::collection::vec(value, 0..3).prop_map(|list| Body::Whole(list.into())),
        1 => fields(part.clone()).prop_map(Body::Form),
        1 => fields(part).prop_map(Body::Multipart),
        1 => "[a-z&=%\n\"é日 -]{1,20}".prop_map(Body::Text),
    ]
}

/// Fields with their values, one of them given at least, so that there is a body.
fn fields(
    value: impl Strategy<Value = Value>,
) -> impl Strategy<Value = BTreeMap<String, (Value, bool)>> {
    prop::collection::btree_map(name(), (value, any::<bool>()), 1..5).prop_map(|mut fields| {
        if let Some((_, is_given)) = fields.values_mut().next() {
            *is_given = true;
        }
        fields
    })
}

fn operation(index: usize) -> impl Strategy<Value = Operation> {
    let method = prop::sample::select(vec!["get", "delete", "post", "put", "patch"]);
    let path = prop::collection::vec(segment(), 1..4);
    let parameters = prop::collection::vec(parameter(), 0..6);
    (method, path, parameters, body()).prop_map(move |(method, mut path, mut parameters, body)| {
        path.insert(0, (format!("op{index}"), None, String::new()));
        let mut seen = Vec::new();
        for (_, parameter, _) in &mut path {
            let is_new = parameter.as_ref().is_some_and(|p| !seen.contains(&p.name));
            match parameter {
                Some(parameter) if is_new => seen.push(parameter.name.clone()),
                _ => *parameter = None,
            }
        }
        path.retain(|(before, parameter, after)| {
            parameter.is_some() || !format!("{before}{after}").is_empty()
        });
        // Headers are the same whatever their case.
        let mut known: Vec<(&str, String)> = Vec::new();
        parameters.retain(|parameter| {
            let key = (parameter.place, parameter.name.to_lowercase());
            let is_new = !known.contains(&key);
            known.push(key);
            is_new
        });
        disentangle(&mut parameters);
        let body = if method == "get" { Body::None } else { body };
        Operation {
            id: format!("operation{index}"),
            method,
            path,
            parameters,
            body,
        }
    })
}

/// Drops parameters whose fields are written under a name of another: such a call is
/// refused, as it should be.
fn disentangle(parameters: &mut Vec<Parameter>) {
    let names: Vec<String> = parameters
        .iter()
        .filter(|parameter| parameter.place == "query")
        .map(|parameter| parameter.name.clone())
        .collect();
    let mut taken = names.clone();
    parameters.retain(|parameter| {
        let Some(Value::Object(fields)) = &parameter.value else {
            return true;
        };
        let written: Vec<String> = match parameter.style {
            Style::Form => fields.keys().cloned().collect(),
            Style::Deep => {
                let name = &parameter.name;
                fields.keys().map(|key| format!("{name}[{key}]")).collect()
            }
            _ => return true,
        };
        let is_free = written.iter().all(|name| !taken.contains(name));
        taken.extend(written);
        is_free
    });
}

/// Some operations, each at a path of its own.
pub(crate) fn operations() -> impl Strategy<Value = Vec<Operation>> {
    (operation(0), operation(1), operation(2)).prop_map(|(a, b, c)| vec![a, b, c])
}

/// The document that describes them.
pub(crate) fn described(operations: &[Operation]) -> Value {
    let mut paths = Map::new();
    for operation in operations {
        paths.insert(
            operation.template(),
            json!({ operation.method: operation.described() }),
        );
    }
    document(&Value::Object(paths), &json!({}))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_argument_goes_where_the_document_says(operations in operations()) {
        let imported = import_value(&described(&operations));
        prop_assert_eq!(&imported.left_out, &[]);
        for (index, operation) in operations.iter().enumerate() {
            let entry = &imported.entry.tools[index].value;
            let name = &entry.name.as_ref().unwrap().value;
            prop_assert_eq!(name, &format!("operation{index}"));
            let arguments = operation.arguments(entry);
            let schema = entry.parameters.as_ref().map(|placed| Value::Object(placed.value.clone()));
            let schema = schema.unwrap_or_else(|| json!({ "properties": {} }));
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let given = Value::Object(arguments.clone());
            let taken = runtime.block_on(validated(&imported, name, given.clone()));
            prop_assert_eq!(taken, Ok(given));
            for name in schema["required"].as_array().into_iter().flatten() {
                prop_assert!(arguments.contains_key(name.as_str().unwrap()), "{} is missing", name);
            }
            for name in arguments.keys() {
                prop_assert!(schema["properties"].get(name).is_some(), "{} is unknown", name);
            }
            prop_assert_eq!(sent(entry, &arguments), operation.expected());
        }
    }
}
