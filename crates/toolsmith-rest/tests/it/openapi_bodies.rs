//! Bodies of requests, and schemas of answers.

use serde_json::{Value, json};

use crate::openapi_check::{document, import_value, is_noted, left_out, tool};

fn with(body: Value) -> toolsmith_rest::openapi::Imported {
    let operation = json!({ "operationId": "it", "requestBody": body });
    let schemas = json!({
        "Named": { "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] },
        "Pet": { "allOf": [
            { "$ref": "#/components/schemas/Named" },
            { "type": "object", "properties": { "age": { "type": "integer" } } },
        ] },
    });
    import_value(&document(
        &json!({ "/a": { "post": operation } }),
        &json!({ "schemas": schemas }),
    ))
}

fn required(kind: &str, schema: Value) -> Value {
    json!({ "required": true, "content": { kind: { "schema": schema } } })
}

#[test]
fn fields_of_a_plain_object_are_arguments() {
    let imported = with(required(
        "application/json",
        json!({
            "type": "object",
            "required": ["a", "made"],
            "properties": {
                "a": { "type": "string" },
                "b": { "type": "integer" },
                "made": { "type": "string", "readOnly": true },
            },
            "additionalProperties": false,
            "x-more": 1,
        }),
    ));
    let tool = tool(&imported, "it");
    let properties = json!({ "a": { "type": "string" }, "b": { "type": "integer" } });
    assert_eq!(
        tool["parameters"],
        json!({ "properties": properties, "required": ["a"] })
    );
    assert_eq!(tool["places"], json!({ "a": "body", "b": "body" }));
    assert_eq!(tool["body"], Value::Null);
}

#[test]
fn parts_of_an_object_are_put_together() {
    let imported = with(required(
        "application/json; charset=utf-8",
        json!({ "$ref": "#/components/schemas/Pet" }),
    ));
    let tool = tool(&imported, "it");
    let properties = json!({ "name": { "type": "string" }, "age": { "type": "integer" } });
    assert_eq!(
        tool["parameters"],
        json!({ "properties": properties, "required": ["name"] })
    );
}

#[test]
fn whatever_else_is_one_argument() {
    let pet = json!({ "$ref": "#/components/schemas/Pet" });
    let cases = [
        json!({ "type": "array", "items": pet }),
        json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        json!({ "type": "object", "properties": { "a": {} }, "additionalProperties": true }),
        json!({ "type": "object", "properties": { "a": {} }, "minProperties": 1 }),
        json!({ "properties": { "a": {} }, "anyOf": [{ "required": ["a"] }] }),
        json!({ "type": "object", "properties": { "a": {} }, "required": ["b"] }),
        json!({ "allOf": [{ "properties": { "a": { "type": "string" } } }, { "properties": { "a": { "type": "null" } } }] }),
        json!({ "oneOf": [pet, { "type": "null" }] }),
        json!({}),
    ];
    for schema in cases {
        let imported = with(required("application/json", schema.clone()));
        let tool = tool(&imported, "it");
        assert_eq!(tool["places"], json!({ "body": "whole_body" }), "{schema}");
        assert_eq!(tool["parameters"]["required"], json!(["body"]));
    }
}

#[test]
fn a_body_that_may_be_missing_is_one_argument_where_parts_of_it_may_not() {
    let optional = |schema: Value| json!({ "description": "A pet.", "content": { "application/json": { "schema": schema } } });
    let imported = with(optional(json!({ "$ref": "#/components/schemas/Named" })));
    let tool_ = tool(&imported, "it");
    assert_eq!(
        tool_["parameters"]["properties"],
        json!({ "body": { "$ref": "#/$defs/Named", "description": "A pet." } })
    );
    assert_eq!(tool_["parameters"]["required"], Value::Null);
    let imported = with(optional(json!({ "properties": { "a": {} } })));
    assert_eq!(tool(&imported, "it")["places"], json!({ "a": "body" }));
}

#[test]
fn json_is_preferred_and_other_forms_are_told() {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
    let media = json!({ "schema": schema });
    let cases = [
        (
            vec!["text/plain", "application/json"],
            Value::Null,
            json!({ "a": "body" }),
        ),
        (
            vec!["multipart/form-data", "application/x-www-form-urlencoded"],
            json!("form"),
            json!({ "a": "body" }),
        ),
        (
            vec!["multipart/form-data"],
            json!("multipart"),
            json!({ "a": "body" }),
        ),
        (
            vec!["text/plain"],
            json!("text"),
            json!({ "body": "whole_body" }),
        ),
        (vec!["*/*"], Value::Null, json!({ "a": "body" })),
    ];
    for (kinds, body, places) in cases {
        let content: serde_json::Map<String, Value> = kinds
            .iter()
            .map(|kind| ((*kind).to_owned(), media.clone()))
            .collect();
        let imported = with(json!({ "required": true, "content": content }));
        let tool = tool(&imported, "it");
        assert_eq!(tool["body"], body, "{kinds:?}");
        assert_eq!(tool["places"], places, "{kinds:?}");
    }
    let imported = with(required("application/merge-patch+json", schema));
    let patch = tool(&imported, "it");
    assert_eq!(
        patch["headers"],
        json!({ "Content-Type": "application/merge-patch+json" })
    );
    for kind in ["application/octet-stream", "application/xml", "image/png"] {
        let imported = with(required(kind, json!({})));
        let reason = format!("POST /a: its body is {kind}, which is not supported");
        assert_eq!(left_out(&imported), [reason]);
    }
    let imported = with(json!({ "content": {} }));
    assert_eq!(left_out(&imported), ["POST /a: its body has no `content`"]);
}

#[test]
fn fields_of_forms_are_written_as_their_encoding_says() {
    let list = json!({ "type": "array", "items": { "type": "string" } });
    let object = json!({ "type": "object", "properties": { "x": {} } });
    let mut body = required(
        "application/x-www-form-urlencoded",
        json!({ "properties": {
        "plain": { "type": "string" }, "deep": object, "json": object,
        "list": list, "commas": list, "deep_list": list,
    } }),
    );
    body["content"]["application/x-www-form-urlencoded"]["encoding"] = json!({
        "deep": { "style": "deepObject", "explode": true },
        "deep_list": { "style": "deepObject", "explode": true },
        "commas": { "explode": false },
    });
    assert_eq!(
        tool(&with(body), "it")["places"],
        json!({
            "plain": "body",
            "deep": { "in": "body", "object": "deep" },
            "json": { "in": "body", "object": "json" },
            "list": "body",
            "commas": { "in": "body", "list": "comma" },
            "deep_list": { "in": "body", "list": "brackets" },
        })
    );
}

#[test]
fn files_cost_the_operation_only_where_they_must_be() {
    let schema = |required: Value| {
        json!({
            "properties": {
                "title": { "type": "string" },
                "file": { "type": "string", "format": "binary" },
                "files": { "type": "array", "items": { "type": "string", "contentMediaType": "image/png" } },
            },
            "required": required,
        })
    };
    let imported = with(required("multipart/form-data", schema(json!(["title"]))));
    assert_eq!(tool(&imported, "it")["places"], json!({ "title": "body" }));
    assert!(is_noted(&imported, "`file` takes a file"));
    let imported = with(required("multipart/form-data", schema(json!(["file"]))));
    assert_eq!(
        left_out(&imported),
        ["POST /a: it needs a file in `file`, and files are not supported"]
    );
    let imported = with(required("multipart/form-data", json!({ "type": "string" })));
    assert_eq!(left_out(&imported).len(), 1);
}

#[test]
fn requests_that_have_no_body_get_none() {
    let operation = |needed: bool| {
        json!({
            "operationId": "it",
            "requestBody": { "required": needed, "content": { "application/json": { "schema": {} } } },
        })
    };
    let imported = import_value(&document(
        &json!({ "/a": { "get": operation(false) } }),
        &json!({}),
    ));
    assert_eq!(tool(&imported, "it")["places"], Value::Null);
    let imported = import_value(&document(
        &json!({ "/a": { "get": operation(true) } }),
        &json!({}),
    ));
    assert_eq!(
        left_out(&imported),
        ["GET /a: a GET request that needs a body is not supported"]
    );
    let imported = import_value(&document(
        &json!({ "/a": { "delete": operation(true) } }),
        &json!({}),
    ));
    assert_eq!(
        tool(&imported, "it")["places"],
        json!({ "body": "whole_body" })
    );
}

#[test]
fn the_schema_of_the_answer_is_kept_where_there_is_one_answer_and_it_is_small() {
    let respond = |responses: Value| {
        let operation = json!({ "operationId": "it", "responses": responses });
        let imported = import_value(&document(
            &json!({ "/a": { "get": operation } }),
            &json!({}),
        ));
        tool(&imported, "it")["response"].clone()
    };
    let json = |schema: Value| json!({ "content": { "application/json": { "schema": schema } } });
    let text = json!({ "type": "string" });
    let object = json!({ "type": "object", "properties": { "a": text, "b": { "type": "string", "writeOnly": true } }, "required": ["a", "b"] });
    let kept =
        json!({ "schema": { "type": "object", "properties": { "a": text }, "required": ["a"] } });
    assert_eq!(
        respond(json!({ "200": json(object.clone()), "404": json(text.clone()) })),
        kept
    );
    assert_eq!(
        respond(json!({ "201": json(object.clone()), "204": { "description": "none" } })),
        kept
    );
    assert_eq!(
        respond(json!({ "200": json(object.clone()), "202": json(text.clone()) })),
        Value::Null
    );
    assert_eq!(
        respond(json!({ "204": { "description": "none" } })),
        Value::Null
    );
    assert_eq!(respond(json!({ "200": json(json!({})) })), Value::Null);
    assert_eq!(
        respond(json!({ "200": { "content": { "text/html": {} } } })),
        Value::Null
    );
    assert_eq!(respond(json!([])), Value::Null);
    let large: Vec<String> = (0..2000).map(|number| format!("field_{number}")).collect();
    let large: serde_json::Map<String, Value> =
        large.into_iter().map(|name| (name, text.clone())).collect();
    assert_eq!(
        respond(json!({ "200": json(json!({ "properties": large })) })),
        Value::Null
    );
}
