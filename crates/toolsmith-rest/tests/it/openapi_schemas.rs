//! Schemas: translated, gathered and kept within bounds.

use serde_json::{Value, json};
use toolsmith_rest::openapi::{Imported, Options};

use crate::openapi_check::{document, import_value, import_with, is_noted, tool, validated};

/// Imports a request whose only argument has this schema.
fn request(version: &str, schema: Value, schemas: Value) -> Imported {
    import_value(&of(version, schema, schemas))
}

fn of(version: &str, schema: Value, schemas: Value) -> Value {
    let parameters = json!([{ "name": "a", "in": "query", "schema": schema }]);
    let paths = json!({ "/a": { "get": { "operationId": "it", "parameters": parameters } } });
    let mut value = document(&paths, &json!({ "schemas": schemas }));
    value["openapi"] = version.into();
    value
}

fn translated(version: &str, schema: Value) -> Value {
    let imported = request(version, schema, json!({ "X": { "type": "string" } }));
    tool(&imported, "it")["parameters"]["properties"]["a"].clone()
}

#[test]
fn the_older_dialect_becomes_the_newer_one() {
    let cases = [
        (
            json!({ "type": "string", "nullable": true }),
            json!({ "type": ["string", "null"] }),
        ),
        (
            json!({ "type": "string", "nullable": true, "enum": ["a"] }),
            json!({ "type": ["string", "null"], "enum": ["a", null] }),
        ),
        (
            json!({ "$ref": "#/components/schemas/X", "nullable": true, "description": "D.", "type": "integer" }),
            json!({ "description": "D.", "anyOf": [{ "$ref": "#/$defs/X" }, { "type": "null" }] }),
        ),
        (
            json!({ "type": "integer", "minimum": 1, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false }),
            json!({ "type": "integer", "exclusiveMinimum": 1, "maximum": 9 }),
        ),
        (
            json!({ "type": "string", "example": "x" }),
            json!({ "type": "string", "examples": ["x"] }),
        ),
        (
            json!({ "type": "string", "xml": {}, "externalDocs": {}, "discriminator": {}, "x-y": 1, "format": "date" }),
            json!({ "type": "string", "format": "date" }),
        ),
        (
            json!({ "type": "integer", "default": "ten" }),
            json!({ "type": "integer" }),
        ),
        (
            json!({ "type": "integer", "default": 10 }),
            json!({ "type": "integer", "default": 10 }),
        ),
    ];
    for (old, new) in cases {
        assert_eq!(translated("3.0.3", old.clone()), new, "{old}");
    }
}

#[test]
fn the_newer_dialect_is_kept() {
    let cases = [
        json!({ "type": ["string", "null"], "pattern": "^a+$" }),
        json!({ "type": "integer", "exclusiveMinimum": 1 }),
        json!({ "const": { "a": 1 } }),
        json!({ "type": "array", "prefixItems": [{ "type": "string" }], "items": false }),
        json!({ "$ref": "#/$defs/X", "maxLength": 3 }),
        json!({ "if": { "type": "string" }, "then": { "minLength": 2 } }),
        json!({ "type": "object", "dependentRequired": { "a": ["b"] }, "patternProperties": { "^x": true } }),
    ];
    for schema in cases {
        let mut written = schema.clone();
        if written.get("$ref").is_some() {
            written["$ref"] = "#/components/schemas/X".into();
        }
        assert_eq!(translated("3.1.0", written), schema);
    }
}

#[test]
fn keywords_with_values_they_cannot_have_are_dropped() {
    let nonsense = json!({
        "type": "file", "enum": [], "required": "a", "properties": [], "items": 3, "allOf": {},
        "anyOf": [], "minLength": -1, "multipleOf": 0, "pattern": 7, "format": [], "minimum": "1",
        "uniqueItems": "yes", "description": 5, "$id": "x", "$anchor": "y", "$schema": "z",
        "additionalProperties": "no", "dependentRequired": { "a": [1] },
    });
    assert_eq!(
        translated("3.1.0", nonsense),
        json!({ "dependentRequired": {} })
    );
    for other in [json!(null), json!(3), json!("text"), json!([])] {
        let imported = request("3.1.0", other, json!({}));
        assert_eq!(tool(&imported, "it")["name"], "it");
    }
    let pattern = json!({ "type": "string", "pattern": "^(?!x).*$" });
    let imported = request("3.1.0", pattern, json!({}));
    assert_eq!(
        tool(&imported, "it")["parameters"]["properties"]["a"],
        json!({ "type": "string" })
    );
    assert!(is_noted(&imported, "cannot be checked here"));
}

#[test]
fn only_what_is_reached_is_brought_along() {
    let schemas = json!({
        "Used": { "properties": { "next": { "$ref": "#/components/schemas/Next%20One" } } },
        "Next One": { "type": "string" },
        "Unused": { "type": "string" },
    });
    let imported = request(
        "3.1.0",
        json!({ "$ref": "#/components/schemas/Used" }),
        schemas,
    );
    assert_eq!(
        tool(&imported, "it")["parameters"]["$defs"],
        json!({
            "Used": { "properties": { "next": { "$ref": "#/$defs/Next_One" } } },
            "Next_One": { "type": "string" },
        })
    );
}

#[test]
fn circles_are_kept_where_they_lead_deeper_and_broken_where_they_do_not() {
    let node = json!({ "type": "object", "properties": { "next": { "$ref": "#/components/schemas/Node" } } });
    let imported = request(
        "3.1.0",
        json!({ "$ref": "#/components/schemas/Node" }),
        json!({ "Node": node }),
    );
    assert_eq!(
        tool(&imported, "it")["parameters"]["$defs"]["Node"],
        json!({ "type": "object", "properties": { "next": { "$ref": "#/$defs/Node" } } })
    );
    let itself = json!({ "Self": { "$ref": "#/components/schemas/Self" } });
    let imported = request(
        "3.1.0",
        json!({ "$ref": "#/components/schemas/Self" }),
        itself,
    );
    assert_eq!(
        tool(&imported, "it")["parameters"]["$defs"],
        json!({ "Self": { "additionalProperties": true } })
    );
    // A base that lists its variants, each of which extends the base.
    let pets = json!({
        "Pet": { "type": "object", "properties": { "name": { "type": "string" } },
            "oneOf": [{ "$ref": "#/components/schemas/Cat" }, { "$ref": "#/components/schemas/Dog" }] },
        "Cat": { "allOf": [{ "$ref": "#/components/schemas/Pet" }, { "properties": { "claws": { "type": "integer" } } }] },
        "Dog": { "allOf": [{ "$ref": "#/components/schemas/Pet" }, { "properties": { "bark": { "type": "string" } } }] },
    });
    let imported = request("3.1.0", json!({ "$ref": "#/components/schemas/Pet" }), pets);
    let definitions = &tool(&imported, "it")["parameters"]["$defs"];
    assert_eq!(
        definitions["Pet"]["anyOf"],
        json!([{ "$ref": "#/$defs/Cat" }, { "$ref": "#/$defs/Dog" }])
    );
    assert_eq!(
        definitions["Cat"]["allOf"][0],
        json!({ "additionalProperties": true })
    );
}

#[test]
fn references_that_lead_out_or_nowhere_accept_anything() {
    for reference in [
        "other.json#/X",
        "https://x.example/s.json",
        "#/components/schemas/None",
        "#anchor",
        "",
    ] {
        let schema = json!({ "type": "array", "items": { "$ref": reference } });
        let imported = request("3.0.0", schema, json!({}));
        let parameters = &tool(&imported, "it")["parameters"];
        assert_eq!(
            parameters["properties"]["a"],
            json!({ "type": "array", "items": {} })
        );
        assert!(is_noted(&imported, "accepts anything"), "{reference}");
    }
}

#[test]
fn what_is_too_large_loses_descriptions_first_and_depths_next() {
    let described = |text: &str| json!({ "type": "string", "description": text });
    let mut far = json!({ "type": "object", "properties": {} });
    for number in 0..50 {
        far["properties"][format!("field_{number}")] = described(&"long ".repeat(20));
    }
    let schemas = json!({
        "Near": { "type": "object", "description": "Near.", "properties": {
            "far": { "$ref": "#/components/schemas/Far" }, "x": { "type": "string" } } },
        "Far": far,
    });
    let schema = json!({ "description": "An argument.", "$ref": "#/components/schemas/Near" });
    let text = of("3.1.0", schema, schemas).to_string();
    let with = |bytes: usize| {
        let mut options = Options::default();
        options.max_schema_bytes = bytes;
        let imported = import_with(&text, &options);
        let is_left = !imported.left_out.is_empty();
        (
            if is_left {
                Value::Null
            } else {
                tool(&imported, "it")["parameters"].clone()
            },
            imported,
        )
    };
    let (whole, imported) = with(100_000);
    assert_eq!(
        whole["$defs"]["Far"]["properties"]["field_0"]["description"],
        "long ".repeat(20).trim()
    );
    assert!(!is_noted(&imported, "small"));
    let (bare, imported) = with(4_000);
    assert_eq!(
        bare["$defs"]["Far"]["properties"]["field_0"],
        json!({ "type": "string" })
    );
    assert_eq!(bare["properties"]["a"]["description"], "An argument.");
    assert!(is_noted(
        &imported,
        "descriptions within its arguments are left out"
    ));
    let (cut, imported) = with(500);
    assert_eq!(
        cut["$defs"]["Near"]["properties"],
        json!({ "far": {}, "x": { "type": "string" } })
    );
    assert!(cut["$defs"].get("Far").is_none());
    assert!(is_noted(&imported, "their depths accept anything"));
    let (none, imported) = with(10);
    assert_eq!(none, Value::Null);
    assert_eq!(
        imported.left_out[0].reason,
        "its arguments take more than 10 bytes"
    );
}

#[test]
fn what_is_only_nested_is_kept_whole() {
    let mut schemas = json!({ "S40": { "type": "string" } });
    for number in 0..40 {
        let next = json!({ "$ref": format!("#/components/schemas/S{}", number + 1) });
        schemas[format!("S{number}")] = json!({ "type": "object", "properties": { "next": next } });
    }
    let schema = json!({ "type": "array", "items": { "$ref": "#/components/schemas/S0" } });
    let imported = request("3.1.0", schema, schemas);
    assert_eq!(
        tool(&imported, "it")["parameters"]["$defs"]
            .as_object()
            .unwrap()
            .len(),
        41
    );
    assert!(!is_noted(&imported, "accept anything"));
}

#[test]
fn where_parts_accept_anything_nothing_hangs_on_their_refusing() {
    let schema = json!({
        "oneOf": [{ "$ref": "lost.json" }, { "type": "string" }],
        "anyOf": [{ "type": "string" }],
        "not": { "$ref": "lost.json" },
        "if": { "$ref": "lost.json" }, "then": { "minLength": 3 },
    });
    let imported = request("3.1.0", schema, json!({}));
    assert_eq!(
        tool(&imported, "it")["parameters"]["properties"]["a"],
        json!({
            "anyOf": [{ "type": "string" }],
            "allOf": [{ "anyOf": [{ "additionalProperties": true }, { "type": "string" }] }],
        })
    );
}

/// Imports a body with these schemas, of which `Body` is the body's.
fn body(schemas: Value) -> Imported {
    let body = json!({ "required": true, "content": { "application/json": {
        "schema": { "type": "array", "items": { "$ref": "#/components/schemas/Body" } } } } });
    let paths = json!({ "/a": { "post": { "operationId": "it", "requestBody": body } } });
    import_value(&document(&paths, &json!({ "schemas": schemas })))
}

#[tokio::test]
async fn what_the_document_allows_is_accepted_after_all_changes() {
    let to = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let text = json!({ "type": "string" });
    // A circle of variants, parts that cannot be found, and parts that are only read.
    let schemas = json!({
        "Body": { "oneOf": [to("Cat"), to("Dog"), to("Tree")] },
        "Pet": { "type": "object", "required": ["kind", "number"], "discriminator": { "propertyName": "kind" },
            "properties": { "kind": text, "number": { "type": "integer", "readOnly": true } },
            "oneOf": [to("Cat"), to("Dog")] },
        "Cat": { "allOf": [to("Pet"), { "type": "object", "required": ["claws"], "properties": { "claws": { "type": "integer" } } }] },
        "Dog": { "allOf": [to("Pet"), { "$ref": "lost.json" }, { "type": "object", "required": ["bark"], "properties": { "bark": text } }] },
        "Tree": { "type": "object", "required": ["leaves"], "properties": {
            "leaves": { "type": "array", "items": to("Tree") }, "odd": { "not": { "$ref": "lost.json" } } } },
    });
    let imported = body(schemas);
    let good = [
        json!([{ "kind": "cat", "claws": 3 }]),
        json!([{ "kind": "dog", "bark": "loud", "lost": true }]),
        json!([{ "leaves": [{ "leaves": [] }, { "leaves": [{ "leaves": [], "odd": 1 }] }] }]),
        json!([]),
    ];
    for value in good {
        let arguments = json!({ "body": value });
        let taken = validated(&imported, "it", arguments.clone()).await;
        assert_eq!(taken, Ok(arguments));
    }
    for value in [json!([3]), json!([{ "leaves": [3] }]), json!({})] {
        assert!(
            validated(&imported, "it", json!({ "body": value }))
                .await
                .is_err()
        );
    }
}

#[tokio::test]
async fn what_a_plain_schema_forbids_is_refused() {
    let imported = body(json!({ "Body": {
        "type": "object", "required": ["a"], "additionalProperties": false,
        "properties": { "a": { "type": "integer", "exclusiveMinimum": 3 }, "b": { "enum": ["x", null] } },
    } }));
    let fits = |value: Value| validated(&imported, "it", json!({ "body": [value] }));
    assert!(fits(json!({ "a": 4, "b": null })).await.is_ok());
    for value in [
        json!({ "a": 3 }),
        json!({ "b": "x" }),
        json!({ "a": 4, "b": "y" }),
        json!({ "a": 4, "c": 1 }),
    ] {
        assert!(fits(value.clone()).await.is_err(), "{value}");
    }
}
