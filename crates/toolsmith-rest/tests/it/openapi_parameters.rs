//! Parameters: merged, in their places, and written as the document says.

use serde_json::{Value, json};

use crate::openapi_check::{document, import_value, is_noted, left_out, tool};

/// Imports one operation with these parameters.
fn with(path: &str, parameters: Value) -> toolsmith_rest::openapi::Imported {
    let operation = json!({ "operationId": "it", "parameters": parameters });
    import_value(&document(
        &json!({ path: { "get": operation } }),
        &json!({}),
    ))
}

/// The place of the only argument.
fn place(parameter: Value) -> Value {
    let imported = with("/a", json!([parameter]));
    let places = tool(&imported, "it")["places"].clone();
    places.as_object().unwrap().values().next().unwrap().clone()
}

#[test]
fn the_operation_wins_over_the_path_by_name_and_place() {
    let value = document(
        &json!({ "/a/{id}": {
            "parameters": [
                { "$ref": "#/components/parameters/Id" },
                { "name": "lang", "in": "query", "schema": { "type": "string" } },
                { "name": "lang", "in": "header", "schema": { "type": "boolean" } },
            ],
            "get": { "operationId": "it", "parameters": [
                { "name": "lang", "in": "query", "required": true, "schema": { "type": "integer" } },
            ] },
        } }),
        &json!({ "parameters": {
            "Id": { "$ref": "#/components/parameters/RealId" },
            "RealId": { "name": "id", "in": "path", "description": "Which.", "schema": { "$ref": "#/components/schemas/Id" } },
        }, "schemas": { "Id": { "type": "string", "format": "uuid", "description": "An id." } } }),
    );
    let imported = import_value(&value);
    let tool = tool(&imported, "it");
    assert_eq!(
        tool["parameters"],
        json!({
            "properties": {
                "id": { "$ref": "#/$defs/Id", "description": "Which." },
                "lang": { "type": "integer" },
                "header_lang": { "type": "boolean" },
            },
            "required": ["id", "lang"],
            "$defs": { "Id": { "type": "string", "format": "uuid", "description": "An id." } },
        })
    );
    assert_eq!(
        tool["places"],
        json!({ "lang": "query", "header_lang": { "in": "header", "name": "lang" } })
    );
}

#[test]
fn lists_are_written_in_the_style_of_their_parameter() {
    let list = json!({ "type": "array", "items": { "type": "string" } });
    let styled = |place: &str, style: Value, explode: Value| {
        let mut parameter = json!({ "name": "a", "in": place, "schema": list });
        if !style.is_null() {
            parameter["style"] = style;
        }
        if !explode.is_null() {
            parameter["explode"] = explode;
        }
        parameter
    };
    let none = Value::Null;
    let cases = [
        ("query", none.clone(), none.clone(), json!("query")),
        (
            "query",
            json!("form"),
            json!(false),
            json!({ "in": "query", "list": "comma" }),
        ),
        (
            "query",
            json!("spaceDelimited"),
            json!(false),
            json!({ "in": "query", "list": "space" }),
        ),
        (
            "query",
            json!("spaceDelimited"),
            json!(true),
            json!("query"),
        ),
        (
            "query",
            json!("pipeDelimited"),
            none.clone(),
            json!({ "in": "query", "list": "pipe" }),
        ),
        (
            "query",
            json!("deepObject"),
            none.clone(),
            json!({ "in": "query", "list": "brackets" }),
        ),
        (
            "header",
            none.clone(),
            none.clone(),
            json!({ "in": "header", "list": "comma" }),
        ),
        (
            "cookie",
            none.clone(),
            none.clone(),
            json!({ "in": "cookie", "list": "comma" }),
        ),
    ];
    for (at, style, explode, expected) in cases {
        assert_eq!(
            place(styled(at, style.clone(), explode.clone())),
            expected,
            "{at} {style} {explode}"
        );
    }
    let brackets = json!({ "name": "ids[]", "in": "query", "schema": list });
    assert_eq!(place(brackets), json!({ "in": "query", "name": "ids[]" }));
    let imported = with(
        "/a/{ids}",
        json!([{ "name": "ids", "in": "path", "schema": list }]),
    );
    assert_eq!(
        tool(&imported, "it")["places"],
        json!({ "ids": { "in": "path", "list": "comma" } })
    );
}

#[test]
fn objects_are_written_in_the_style_of_their_parameter() {
    let object = json!({ "type": "object", "properties": { "x": { "type": "integer" } } });
    let deep = json!({ "name": "a", "in": "query", "style": "deepObject", "schema": object });
    assert_eq!(place(deep), json!({ "in": "query", "object": "deep" }));
    let form = json!({ "name": "a", "in": "query", "schema": object });
    assert_eq!(place(form), json!({ "in": "query", "object": "form" }));
    let content = json!({ "name": "a", "in": "query", "content": { "application/json": { "schema": object } } });
    assert_eq!(place(content), json!({ "in": "query", "object": "json" }));
    let list = json!({ "type": "array", "items": {} });
    let imported = with(
        "/a",
        json!([
            { "name": "a", "in": "query", "content": { "application/json": { "schema": list } } },
            { "name": "b", "in": "header", "content": { "application/json": { "schema": object } } },
        ]),
    );
    let text = json!({ "type": "string", "contentMediaType": "application/json", "description": "JSON, as text." });
    assert_eq!(
        tool(&imported, "it")["parameters"]["properties"],
        json!({ "a": text, "b": text })
    );
}

#[test]
fn what_cannot_be_written_costs_the_operation_only_where_it_must_be() {
    let object = json!({ "type": "object" });
    let odd = |name: &str, required: bool| {
        json!({
            "name": name, "in": "query", "required": required, "style": "form", "explode": false, "schema": object,
        })
    };
    let imported = with(
        "/a",
        json!([odd("a", false), { "name": "b", "in": "query" }]),
    );
    let parameters = &tool(&imported, "it")["parameters"];
    assert_eq!(
        *parameters,
        json!({ "properties": { "b": { "type": "string" } } })
    );
    assert!(is_noted(
        &imported,
        "the query parameter \"a\" is an object in a style"
    ));
    let imported = with("/a", json!([odd("a", true)]));
    assert_eq!(
        left_out(&imported),
        ["GET /a: the query parameter \"a\" is an object in a style that is not supported"]
    );
    let matrix =
        json!([{ "name": "a", "in": "path", "style": "matrix", "schema": { "type": "string" } }]);
    assert_eq!(left_out(&with("/{a}", matrix)).len(), 1);
    let header = json!([{ "name": "a b\r\nc", "in": "header", "required": true }]);
    assert_eq!(left_out(&with("/a", header)).len(), 1);
    let header = json!([{ "name": "a b", "in": "header", "required": true }]);
    assert_eq!(left_out(&with("/a", header)).len(), 1);
}

#[test]
fn headers_of_the_request_itself_are_no_arguments() {
    let names = [
        "Accept",
        "content-type",
        "AUTHORIZATION",
        "Host",
        "Content-Length",
        "Cookie",
        "X-Own",
    ];
    let parameters = names.map(|name| json!({ "name": name, "in": "header", "required": true }));
    let imported = with("/a", json!(parameters));
    let tool = tool(&imported, "it");
    assert_eq!(
        tool["places"],
        json!({ "X_Own": { "in": "header", "name": "X-Own" } })
    );
}

#[test]
fn a_path_keeps_its_form_with_the_names_of_arguments() {
    let text = |name: &str| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } });
    let parameters = json!([text("user-id"), text("x"), text("y"), text("unused")]);
    let imported = with("/u/{user-id}.json/{x}:{y}/{more}#fragment", parameters);
    let tool = tool(&imported, "it");
    assert_eq!(tool["path"], "/u/{user_id}.json/{x}:{y}/{more}");
    assert_eq!(
        tool["parameters"]["required"],
        json!(["user_id", "x", "y", "more"])
    );
    assert_eq!(tool["places"], Value::Null);
    assert!(is_noted(&imported, "`more` of the path is not described"));
    assert!(is_noted(&imported, "does not name its parameter `unused`"));
}
