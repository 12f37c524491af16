//! Security schemes as settings, with nothing secret in them.

use serde_json::{Value, json};

use crate::openapi_check::{document, import_value, is_noted, tool};

fn imported(schemes: Value, security: Value) -> toolsmith_rest::openapi::Imported {
    let paths = json!({ "/a": { "get": { "operationId": "it", "security": security } } });
    import_value(&document(&paths, &json!({ "securitySchemes": schemes })))
}

/// What the file says of one scheme.
fn settings(scheme: Value) -> (Value, Value) {
    let imported = imported(
        json!({ "main": scheme }),
        json!([{ "main": ["read", "write"] }]),
    );
    let entry = json!(imported.entry);
    (entry["auth_method"].clone(), entry["auth"].clone())
}

#[test]
fn schemes_become_settings_that_refer_to_variables() {
    let key = |place: &str| json!({ "type": "apiKey", "in": place, "name": "X-Key" });
    let cases = [
        (
            key("header"),
            json!("api_key"),
            json!({ "key": "${env:PETS_API_KEY}", "in": "header", "name": "X-Key" }),
        ),
        (
            key("query"),
            json!("api_key"),
            json!({ "key": "${env:PETS_API_KEY}", "in": "query", "name": "X-Key" }),
        ),
        (
            json!({ "type": "http", "scheme": "Bearer" }),
            json!("bearer"),
            json!({ "token": "${env:PETS_TOKEN}" }),
        ),
        (
            json!({ "type": "http", "scheme": "basic" }),
            json!("basic"),
            json!({ "username": "${env:PETS_USERNAME}", "password": "${env:PETS_PASSWORD}" }),
        ),
        (
            json!({ "type": "oauth2", "flows": { "clientCredentials": { "tokenUrl": "/oauth/token", "scopes": {} } } }),
            json!("oauth"),
            json!({
                "token_url": "https://pets.example/oauth/token",
                "client_id": "${env:PETS_CLIENT_ID}",
                "client_secret": "${env:PETS_CLIENT_SECRET}",
                "scopes": ["read", "write"],
            }),
        ),
        (
            json!({ "type": "oauth2", "flows": { "authorizationCode": { "tokenUrl": "https://x.example" } } }),
            json!("bearer"),
            json!({ "token": "${env:PETS_TOKEN}" }),
        ),
        (
            json!({ "type": "openIdConnect" }),
            json!("bearer"),
            json!({ "token": "${env:PETS_TOKEN}" }),
        ),
        (key("cookie"), Value::Null, Value::Null),
        (json!({ "type": "mutualTLS" }), Value::Null, Value::Null),
        (
            json!({ "type": "http", "scheme": "digest" }),
            Value::Null,
            Value::Null,
        ),
        (json!("nonsense"), Value::Null, Value::Null),
    ];
    for (scheme, method, auth) in cases {
        assert_eq!(settings(scheme.clone()), (method, auth), "{scheme}");
    }
}

#[test]
fn the_first_alternative_that_can_be_had_is_used() {
    let schemes = json!({
        "tls": { "type": "mutualTLS" },
        "app": { "type": "apiKey", "in": "header", "name": "X-App" },
        "user": { "type": "http", "scheme": "bearer" },
        "other": { "type": "http", "scheme": "bearer" },
        "query": { "type": "apiKey", "in": "query", "name": "k" },
    });
    let method = |security: Value| {
        let imported = imported(schemes.clone(), security);
        let entry = json!(imported.entry);
        let headers = tool(&imported, "it")["headers"].clone();
        (entry["auth_method"].clone(), headers)
    };
    assert_eq!(
        method(json!([{ "tls": [] }, { "user": [] }])),
        (json!("bearer"), Value::Null)
    );
    assert_eq!(
        method(json!([{}, { "user": [] }])),
        (json!("bearer"), Value::Null)
    );
    assert_eq!(
        method(json!([{ "nobody": [] }])),
        (Value::Null, Value::Null)
    );
    assert_eq!(
        method(json!([{ "user": [], "query": [] }, { "app": [] }])),
        (json!("api_key"), Value::Null)
    );
    let both = method(json!([{ "user": [], "app": [] }]));
    assert_eq!(
        both,
        (json!("bearer"), json!({ "X-App": "${env:PETS_API_KEY}" }))
    );
    assert!(is_noted(
        &imported(schemes.clone(), json!([{ "tls": [] }, { "user": [] }])),
        "is of the type `mutualTLS`"
    ));
    assert!(is_noted(
        &imported(schemes, json!([{ "nobody": [] }])),
        "`nobody` is not in the document"
    ));
}

#[test]
fn the_file_says_what_most_tools_need_and_the_others_what_is_theirs() {
    let schemes = json!({
        "one": { "type": "http", "scheme": "bearer" },
        "two": { "type": "http", "scheme": "bearer" },
    });
    let mut value = document(
        &json!({
            "/a": { "get": {}, "put": { "security": [] }, "post": { "security": [{ "two": [] }] } },
            "/b": { "get": {} },
        }),
        &json!({ "securitySchemes": schemes }),
    );
    value["security"] = json!([{ "one": [] }]);
    let imported = import_value(&value);
    let entry = json!(imported.entry);
    assert_eq!(entry["auth"], json!({ "token": "${env:PETS_TOKEN}" }));
    assert_eq!(tool(&imported, "get_a")["auth_method"], Value::Null);
    assert_eq!(tool(&imported, "put_a")["auth_method"], "none");
    let post = tool(&imported, "post_a");
    assert_eq!(post["auth_method"], "bearer");
    assert_eq!(post["auth"], json!({ "token": "${env:PETS_TWO_TOKEN}" }));
}

#[test]
fn what_the_settings_fill_is_no_argument() {
    let schemes = json!({
        "key": { "type": "apiKey", "in": "query", "name": "key" },
        "app": { "type": "apiKey", "in": "header", "name": "X-App" },
    });
    let text = |name: &str, place: &str| json!({ "name": name, "in": place, "required": true });
    let parameters = json!([
        text("key", "query"),
        text("key", "header"),
        text("x-app", "header"),
        text("x-app", "query")
    ]);
    let operation = json!({ "operationId": "it", "security": [{ "key": [], "app": [] }], "parameters": parameters });
    let paths = json!({ "/a?fixed=1": { "get": operation }, "/b?x={key}": { "get": {} } });
    let imported = import_value(&document(&paths, &json!({ "securitySchemes": schemes })));
    let tool = tool(&imported, "it");
    assert_eq!(tool["path"], "/a?fixed=1");
    assert_eq!(
        tool["places"],
        json!({ "key": "header", "x_app": { "in": "query", "name": "x-app" } })
    );
    assert_eq!(
        imported.left_out[0].reason,
        "its path has parameters in a query, which is not supported"
    );
}

#[test]
fn a_document_without_operations_is_no_tool_itself() {
    let imported = import_value(&document(&json!({}), &json!({})));
    assert!(imported.entry.disabled);
    assert!(is_noted(&imported, "no operation that became a tool"));
}
