//! Security schemes as settings, with nothing secret in them.

use serde_json::{Map, Value, json};

use toolsmith_rest::openapi::Options;

use crate::openapi_check::{document, import_value, import_with, is_noted, tool};

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
            json!({ "key": "${env:API_KEY_FOR_PETS_EXAMPLE}", "in": "header", "name": "X-Key" }),
        ),
        (
            key("query"),
            json!("api_key"),
            json!({ "key": "${env:API_KEY_FOR_PETS_EXAMPLE}", "in": "query", "name": "X-Key" }),
        ),
        (
            json!({ "type": "http", "scheme": "Bearer" }),
            json!("bearer"),
            json!({ "token": "${env:TOKEN_FOR_PETS_EXAMPLE}" }),
        ),
        (
            json!({ "type": "http", "scheme": "basic" }),
            json!("basic"),
            json!({ "username": "${env:USERNAME_FOR_PETS_EXAMPLE}", "password": "${env:PASSWORD_FOR_PETS_EXAMPLE}" }),
        ),
        (
            json!({ "type": "oauth2", "flows": { "clientCredentials": { "tokenUrl": "/oauth/token", "scopes": {} } } }),
            json!("oauth"),
            json!({
                "token_url": "https://pets.example/oauth/token",
                "client_id": "${env:CLIENT_ID_FOR_PETS_EXAMPLE}",
                "client_secret": "${env:CLIENT_SECRET_FOR_PETS_EXAMPLE}",
                "scopes": ["read", "write"],
            }),
        ),
        (
            json!({ "type": "oauth2", "flows": { "authorizationCode": { "tokenUrl": "https://x.example" } } }),
            json!("bearer"),
            json!({ "token": "${env:TOKEN_FOR_PETS_EXAMPLE}" }),
        ),
        (
            json!({ "type": "openIdConnect" }),
            json!("bearer"),
            json!({ "token": "${env:TOKEN_FOR_PETS_EXAMPLE}" }),
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
        (
            json!("bearer"),
            json!({ "X-App": "${env:API_KEY_FOR_PETS_EXAMPLE}" })
        )
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
    assert_eq!(
        entry["auth"],
        json!({ "token": "${env:TOKEN_FOR_PETS_EXAMPLE}" })
    );
    assert_eq!(tool(&imported, "get_a")["auth_method"], Value::Null);
    assert_eq!(tool(&imported, "put_a")["auth_method"], "none");
    let post = tool(&imported, "post_a");
    assert_eq!(post["auth_method"], "bearer");
    assert_eq!(
        post["auth"],
        json!({ "token": "${env:TWO_TOKEN_FOR_PETS_EXAMPLE}" })
    );
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

/// The variables an import refers to, with the notes that say where they go.
fn variables(document: &Value, name: Option<&str>) -> (Vec<String>, Vec<String>) {
    let mut options = Options::default();
    options.name = name.map(ToOwned::to_owned);
    let imported = import_with(&document.to_string(), &options);
    let written = json!(imported.entry).to_string();
    let names = written.split("${env:").skip(1);
    let mut names: Vec<String> = names
        .filter_map(|rest| Some(rest.split_once('}')?.0.to_owned()))
        .collect();
    names.sort();
    names.dedup();
    let sent = imported.notes.into_iter();
    (
        names,
        sent.filter(|note| note.contains(" is sent to ")).collect(),
    )
}

/// A document titled like an API, with a server of its own.
fn titled(title: &str, server: &str) -> Value {
    let mut value = document(
        &json!({ "/a": { "get": {} } }),
        &json!({ "securitySchemes": { "main": { "type": "http", "scheme": "bearer" } } }),
    );
    value["info"]["title"] = json!(title);
    value["servers"] = json!([{ "url": server }]);
    value["security"] = json!([{ "main": [] }]);
    value
}

/// What a document says chooses no variable: it would be sent to the document's server.
#[test]
fn a_variable_is_named_after_the_server_it_is_sent_to() {
    for (server, name) in [
        ("https://evil.example", "TOKEN_FOR_EVIL_EXAMPLE"),
        (
            "https://github.evil.example/",
            "TOKEN_FOR_GITHUB_EVIL_EXAMPLE",
        ),
        ("https://api.github.com", "TOKEN_FOR_API_GITHUB_COM"),
        ("https://API.GitHub.com:443/v3", "TOKEN_FOR_API_GITHUB_COM"),
        (
            "https://api.github.com@evil.example",
            "TOKEN_FOR_EVIL_EXAMPLE",
        ),
        // None of these is mistaken for another.
        ("https://api-github.com", "TOKEN_FOR_API__GITHUB_COM"),
        ("https://api_github.com", "TOKEN_FOR_APIx5fGITHUB_COM"),
        ("https://api.-github.com", "TOKEN_FOR_API_x2dGITHUB_COM"),
        ("https://api-.github.com", "TOKEN_FOR_API___GITHUB_COM"),
        (
            "https://api.github.com:8443",
            "TOKEN_FOR_API_GITHUB_COM_8443",
        ),
        ("https://github", "TOKEN_FOR_GITHUB"),
        ("https://slack.bot", "TOKEN_FOR_SLACK_BOT"),
        ("http://127.1:80", "TOKEN_FOR_127_0_0_1"),
        ("http://[::1]:8080", "TOKEN_FOR_x5bx3ax3a1x5d_8080"),
        (
            "https://bücher.example",
            "TOKEN_FOR_XN____BCHER__KVA_EXAMPLE",
        ),
    ] {
        let (names, sent) = variables(&titled("github", server), None);
        assert_eq!(names, [name], "{server}");
        assert_eq!(sent.len(), 1, "{sent:?}");
        assert!(
            sent[0].starts_with(&format!("{name} is sent to http")),
            "{sent:?}"
        );
    }
    // It is the user who says where the API is.
    let mut nowhere = titled("github", "");
    nowhere["servers"] = json!([]);
    let (names, sent) = variables(&nowhere, None);
    assert_eq!(names, ["TOKEN_FOR_GITHUB_URL"]);
    assert_eq!(sent, ["TOKEN_FOR_GITHUB_URL is sent to where the API is"]);
}

/// A name of the user's stands for where the API is, and for no other place a document names.
#[test]
fn a_chosen_name_counts_for_the_server_of_the_api_alone() {
    let mut value = titled("github", "https://pets.example/v1");
    let other = json!([{ "url": "https://evil.example" }]);
    value["paths"]["/b"] = json!({ "get": { "servers": other }, "put": {} });
    let flows = |address: &str| {
        let flow = json!({ "tokenUrl": address, "scopes": {} });
        json!({ "type": "oauth2", "flows": { "clientCredentials": flow } })
    };
    value["components"]["securitySchemes"]["near"] = flows("/token");
    value["components"]["securitySchemes"]["far"] = flows("https://evil.example/token");
    value["paths"]["/c"] = json!({
        "get": { "security": [{ "near": [] }] },
        "put": { "security": [{ "far": [] }] },
        "post": { "security": [{ "near": [] }], "servers": other },
    });
    let (names, sent) = variables(&value, Some("pets"));
    assert_eq!(
        names,
        [
            "PETS_CLIENT_ID",
            "PETS_CLIENT_ID_AT_EVIL_EXAMPLE",
            "PETS_CLIENT_ID_FOR_EVIL_EXAMPLE",
            "PETS_CLIENT_SECRET",
            "PETS_CLIENT_SECRET_AT_EVIL_EXAMPLE",
            "PETS_CLIENT_SECRET_FOR_EVIL_EXAMPLE",
            "PETS_TOKEN",
            "PETS_TOKEN_FOR_EVIL_EXAMPLE",
        ]
    );
    assert!(sent.contains(&"PETS_TOKEN is sent to https://pets.example".to_owned()));
    let (names, sent) = variables(&value, None);
    assert!(
        names.contains(&"CLIENT_SECRET_FOR_PETS_EXAMPLE_AT_EVIL_EXAMPLE".to_owned()),
        "{names:?}"
    );
    let told = "CLIENT_SECRET_FOR_PETS_EXAMPLE_AT_EVIL_EXAMPLE is sent to https://evil.example";
    assert!(sent.contains(&told.to_owned()), "{sent:?}");
}

/// However much else there is to tell.
#[test]
fn where_variables_go_is_told_first() {
    let mut value = titled("github", "https://evil.example");
    for number in 0..300 {
        value["paths"][format!("/{number}")] = json!({ "get": { "operationId": "it" } });
    }
    let (_, sent) = variables(&value, Some("github"));
    assert_eq!(sent, ["GITHUB_TOKEN is sent to https://evil.example"]);
}

/// They stand in a document once, and with each of its tools.
#[test]
fn the_scopes_of_a_token_are_bounded() {
    let flows = json!({ "clientCredentials": { "tokenUrl": "/token", "scopes": {} } });
    let schemes = json!({ "main": { "type": "oauth2", "flows": flows } });
    let asked = |count: usize, length: usize| {
        let scopes: Vec<String> = (0..count).map(|n| format!("{n:0length$}")).collect();
        let imported = imported(schemes.clone(), json!([{ "main": scopes }]));
        let auth = json!(imported.entry.auth);
        let kept = auth["scopes"].as_array().unwrap().len();
        (kept, is_noted(&imported, "more scopes than a token"))
    };
    assert_eq!(asked(100, 40), (100, false));
    let (kept, is_noted) = asked(200, 290);
    assert!(kept * 290 < 8 << 10 && is_noted, "{kept}");

    // Where each tool has its own, they count with all that is made of a document.
    let scopes: Vec<String> = (0..200).map(|n| format!("{n:0290}")).collect();
    let paths = (0..20).map(|number| {
        let server = json!([{ "url": format!("https://{number}.example") }]);
        let operation = json!({ "servers": server, "security": [{ "main": scopes }] });
        (format!("/{number}"), json!({ "get": operation }))
    });
    let paths = Value::Object(paths.collect());
    let value = document(&paths, &json!({ "securitySchemes": schemes }));
    let mut options = Options::default();
    options.max_total_bytes = 64 << 10;
    let imported = import_with(&value.to_string(), &options);
    assert_eq!(
        (imported.entry.tools.len(), imported.left_out.len()),
        (8, 12)
    );
}

/// The same of further keys, and a long name of a scheme is none of a variable's.
#[test]
fn the_keys_of_every_tool_are_bounded() {
    let name = |number: usize| format!("{number}{}", "n".repeat(900));
    let key =
        |number: usize| json!({ "type": "apiKey", "in": "header", "name": format!("X-{number}") });
    let schemes: Map<String, Value> = (0..32).map(|n| (name(n), key(n))).collect();
    let all: Map<String, Value> = (0..32).map(|n| (name(n), json!([]))).collect();
    let paths = (0..1000).map(|n| (format!("/{n}"), json!({ "get": {} })));
    let paths = Value::Object(paths.collect());
    let mut value = document(&paths, &json!({ "securitySchemes": schemes }));
    value["security"] = json!([all]);
    let imported = import_value(&value);
    let bytes = json!(imported.entry).to_string().len();
    assert!(bytes < 8 << 20, "{bytes}");
    let mut options = Options::default();
    options.max_total_bytes = 64 << 10;
    let imported = import_with(&value.to_string(), &options);
    let reason = &imported.left_out[0].reason;
    assert!(reason.contains("take up the 65536 bytes"), "{reason}");
}

#[test]
fn a_server_whose_name_nobody_can_have_is_none() {
    let value = titled("t", &format!("https://{}.example", "h".repeat(300)));
    let imported = import_value(&value);
    assert_eq!(imported.entry.api_url, None);
    assert!(is_noted(&imported, "no server has so long a name"));
}
