//! Documents with random values at random places.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolsmith_rest::openapi::{self, Options, ReadLimits};

use crate::openapi_check::{assert_reads_back, registered};

/// A document with something of everything.
fn sound() -> Value {
    let pet = json!({ "$ref": "#/components/schemas/Pet" });
    json!({
        "openapi": "3.0.3",
        "info": { "title": "Pets", "version": "1", "description": "All about pets." },
        "servers": [{ "url": "https://{where}.example/v1", "variables": { "where": { "default": "pets" } } }],
        "security": [{ "key": [] }],
        "paths": {
            "/pets": {
                "parameters": [{ "name": "lang", "in": "header", "schema": { "type": "string" } }],
                "get": {
                    "operationId": "listPets", "summary": "Lists pets.", "tags": ["pets"],
                    "parameters": [
                        { "$ref": "#/components/parameters/Limit" },
                        { "name": "tags", "in": "query", "explode": false, "schema": { "type": "array", "items": { "type": "string" } } },
                    ],
                    "responses": { "200": { "content": { "application/json": { "schema": { "type": "array", "items": pet } } } } },
                },
                "post": {
                    "operationId": "addPet", "security": [],
                    "requestBody": { "required": true, "content": { "application/json": { "schema": pet } } },
                    "responses": { "201": { "$ref": "#/components/responses/Done" } },
                },
            },
            "/pets/{id}.json": {
                "delete": { "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "integer", "minimum": 0, "exclusiveMinimum": true } }] },
                "put": { "requestBody": { "content": { "multipart/form-data": { "schema": { "properties": { "a": { "nullable": true, "type": "string" } } } } } } },
            },
        },
        "components": {
            "parameters": { "Limit": { "name": "limit", "in": "query", "schema": { "type": "integer", "default": 10 } } },
            "responses": { "Done": { "description": "Done." } },
            "schemas": {
                "Pet": { "allOf": [{ "$ref": "#/components/schemas/Named" }, { "type": "object", "properties": { "friend": pet, "born": { "type": "string", "readOnly": true } } }] },
                "Named": { "type": "object", "required": ["name"], "properties": { "name": { "type": "string", "pattern": "^[a-z]+$" } } },
            },
            "securitySchemes": {
                "key": { "type": "apiKey", "in": "header", "name": "X-Key" },
                "oauth": { "type": "oauth2", "flows": { "clientCredentials": { "tokenUrl": "https://pets.example/t", "scopes": {} } } },
            },
        },
    })
}

/// Where every value of a document stands.
fn pointers(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut waiting = vec![(String::new(), value)];
    while let Some((pointer, value)) = waiting.pop() {
        match value {
            Value::Array(items) => {
                let parts = items.iter().enumerate();
                waiting.extend(parts.map(|(index, item)| (format!("{pointer}/{index}"), item)));
            }
            Value::Object(fields) => waiting.extend(fields.iter().map(|(name, field)| {
                let name = name.replace('~', "~0").replace('/', "~1");
                (format!("{pointer}/{name}"), field)
            })),
            _ => {}
        }
        found.push(pointer);
    }
    found.sort();
    found
}

fn odd_value() -> impl Strategy<Value = Value> {
    let keyword = prop::sample::select(vec![
        "$ref",
        "type",
        "properties",
        "items",
        "allOf",
        "oneOf",
        "required",
        "schema",
        "content",
        "in",
        "name",
        "parameters",
        "get",
        "post",
        "nullable",
        "enum",
        "application/json",
        "/x/{y}",
        "default",
    ]);
    let reference = prop::sample::select(pointers(&sound()))
        .prop_map(|pointer| json!({ "$ref": format!("#{pointer}") }));
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        "\\PC{0,12}".prop_map(Value::from),
        prop::sample::select(vec![
            "string", "object", "array", "path", "query", "no", "1.0", "{x}"
        ])
        .prop_map(Value::from),
        reference,
    ];
    leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((keyword.clone(), inner), 0..4).prop_map(|fields| fields
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect::<Value>()),
        ]
    })
}

/// Operations as the importer must see them, references of paths followed.
fn operations(document: &Value) -> Option<usize> {
    let paths = document.get("paths")?.as_object()?;
    if paths.values().any(|item| item.get("$ref").is_some()) {
        return None;
    }
    Some(crate::openapi_check::count_operations(document))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_and_nothing_panics(
        changes in prop::collection::vec((any::<prop::sample::Index>(), odd_value()), 1..6)
    ) {
        let mut document = sound();
        for (index, value) in changes {
            let places = pointers(&document);
            let place = index.get(&places);
            if let Some(target) = document.pointer_mut(place) {
                *target = value;
            }
        }
        let Ok(read) = openapi::read(document.to_string().as_bytes(), &ReadLimits::default()) else {
            return Ok(());
        };
        let imported = openapi::import(&read, &Options::default()).unwrap();
        if let Some(count) = operations(&document) {
            prop_assert_eq!(imported.entry.tools.len() + imported.left_out.len(), count);
        }
        prop_assert_eq!(registered(&imported), imported.entry.tools.len());
        assert_reads_back(&imported);
    }
}
