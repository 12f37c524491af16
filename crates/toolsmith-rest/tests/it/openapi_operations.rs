//! Which operations become tools, and what is said about them.

use serde_json::json;
use toolsmith_rest::form::HttpMethod;
use toolsmith_rest::openapi::{self, Options};

use crate::openapi_check::{
    document, import, import_value, import_with, is_noted, left_out, names, tool,
};

#[test]
fn summary_and_description_become_short_and_long() {
    let cases = [
        (
            json!({ "summary": "List all the pets there are" }),
            json!({ "short": "List all the pets there are." }),
        ),
        (
            json!({ "summary": "List pets", "description": "Lists\nall of them." }),
            json!({ "short": "List pets. Sends GET /pets to Pets.", "long": "Lists\nall of them." }),
        ),
        (
            json!({ "description": "Lists all of the pets.\n\nIn order." }),
            json!({ "short": "Lists all of the pets.", "long": "In order." }),
        ),
        (json!({}), json!({ "short": "Sends GET /pets to Pets." })),
        (
            json!({ "summary": "Lists all of the pets.", "deprecated": true }),
            json!({
                "short": "Lists all of the pets.",
                "important": ["It is deprecated; use another tool where there is one."],
            }),
        ),
        (
            json!({ "summary": "\u{1b}[31mred\u{202e}\u{200b} is the colour of pets" }),
            json!({ "short": "red is the colour of pets." }),
        ),
    ];
    for (operation, description) in cases {
        let paths = json!({ "/pets": { "get": operation } });
        let imported = import_value(&document(&paths, &json!({})));
        assert_eq!(tool(&imported, "get_pets")["description"], description);
    }
}

#[test]
fn descriptions_are_bounded() {
    let long = "All of the pets that there are. ".repeat(1000);
    let paths = json!({ "/pets": { "get": { "description": long } } });
    let imported = import_value(&document(&paths, &json!({})));
    let description = &tool(&imported, "get_pets")["description"];
    let length = |field: &str| description[field].as_str().unwrap().chars().count();
    assert!(length("short") <= 501 && length("short") > 400);
    assert!(length("long") <= 4000 && length("long") > 3900);
}

#[test]
fn tags_documentation_and_servers_go_with_the_tool() {
    let paths = json!({ "/pets": { "servers": [{ "url": "https://other.example/x/" }], "get": {
        "tags": ["Pets", "Pets", 3, "Store"],
        "externalDocs": { "url": "https://docs.example/pets" },
    } } });
    let imported = import_value(&document(&paths, &json!({})));
    let tool = tool(&imported, "get_pets");
    assert_eq!(tool["tags"], json!(["Pets", "Store"]));
    assert_eq!(tool["category"], "Pets");
    assert_eq!(tool["documentation_url"], "https://docs.example/pets");
    assert_eq!(tool["api_url"], "https://other.example/x");
    assert_eq!(tool["effect"], json!(null));
}

#[test]
fn filters_name_what_is_imported_and_the_rest_is_listed() {
    let text = r#"
openapi: 3.0.0
info: { title: Filters, version: "1" }
servers: [{ url: "https://x.example" }]
paths:
  /users: { get: { tags: [Users] }, post: { tags: [users, admin] } }
  /users/{id}: { get: { tags: [users] } }
  /users/{id}/keys: { get: {} }
"#;
    let mut options = Options::default();
    let mut check = |change: &dyn Fn(&mut Options), expected: &[&str]| {
        options = Options::default();
        change(&mut options);
        let imported = import_with(text, &options);
        assert_eq!(names(&imported), expected);
        assert_eq!(imported.left_out.len(), 4 - expected.len());
    };
    let texts = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    check(
        &|o| o.include.tags = texts(&["USERS"]),
        &["get_users", "post_users", "get_users_id"],
    );
    check(
        &|o| o.exclude.tags = texts(&["admin"]),
        &["get_users", "get_users_id", "get_users_id_keys"],
    );
    check(
        &|o| o.include.paths = texts(&["/users/*"]),
        &["get_users_id"],
    );
    check(
        &|o| o.include.paths = texts(&["/users/**"]),
        &["get_users_id", "get_users_id_keys"],
    );
    check(
        &|o| o.include.paths = texts(&["/users/{id}"]),
        &["get_users_id"],
    );
    check(
        &|o| o.exclude.paths = texts(&["/users/**"]),
        &["get_users", "post_users"],
    );
    check(
        &|o| o.include.methods = vec![HttpMethod::Post],
        &["post_users"],
    );
    check(
        &|o| o.exclude.methods = vec![HttpMethod::Get],
        &["post_users"],
    );
    check(&|o| o.max_tools = 2, &["get_users", "post_users"]);
    options.include.paths = texts(&["/a[b"]);
    let document = openapi::read(text.as_bytes(), &Default::default()).unwrap();
    let error = openapi::import(&document, &options)
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("a path cannot be used"), "{error}");
}

#[test]
fn one_broken_operation_leaves_the_others_alone() {
    let text = r##"
openapi: 3.1.0
info: { title: Half, version: "1" }
servers: [{ url: "https://x.example" }]
paths:
  /good: { get: { operationId: good } }
  /null: { get: null }
  /text: { get: nothing }
  /list: []
  /far: { $ref: "other.yaml#/x" }
  /near: { $ref: "#/components/pathItems/near" }
  /lost: { $ref: "#/components/pathItems/lost" }
  /circle: { $ref: "#/paths/~1circle" }
  no-slash: { get: {} }
  "/br{ace": { get: {} }
  "/query?a={b}": { get: {} }
  /parameters: { get: { parameters: many } }
  /parameter: { get: { parameters: [many] } }
  /nameless: { get: { parameters: [{ in: query }] } }
  /nowhere: { get: { parameters: [{ name: a, in: body }] } }
  /outside: { get: { parameters: [{ $ref: "common.yaml#/a" }] } }
  /body: { post: { requestBody: [] } }
  /trace: { trace: {} }
  /mail: { query: {}, additionalOperations: { COPY: {} } }
  x-other: { get: {} }
components:
  pathItems:
    near: { get: { operationId: near } }
"##;
    let imported = import(text);
    assert_eq!(names(&imported), ["good", "near"]);
    insta::assert_snapshot!(left_out(&imported).join("\n"), @r##"
    GET /null: it is nothing, not an object
    GET /text: it is a text, not an object
    GET no-slash: its path does not begin with a slash
    GET /br{ace: the braces of its path do not match
    GET /query?a={b}: its path has parameters in a query, which is not supported
    GET /parameters: its `parameters` are a text, not a list
    GET /parameter: a parameter is a text without a name
    GET /nameless: a parameter is an object without a name
    GET /nowhere: the parameter "a" has no place that is known
    GET /outside: a parameter cannot be found: `$ref` to "common.yaml#/a" leads out of the document
    POST /body: its body has no `content`
    TRACE /trace: the method TRACE is not supported
    QUERY /mail: the method QUERY is not supported
    COPY /mail: the method COPY is not supported
    * /list: the path is a list, not an object
    * /far: `$ref` to "other.yaml#/x" leads out of the document
    * /lost: `$ref` to "#/components/pathItems/lost" leads nowhere
    * /circle: references lead to references without end
    "##);
}

#[test]
fn webhooks_and_callbacks_are_noted() {
    let mut value = document(
        &json!({ "/a": { "post": { "callbacks": { "done": { "{$url}": { "post": {} } } } } } }),
        &json!({}),
    );
    value["webhooks"] = json!({ "newPet": { "post": {} } });
    let imported = import_value(&value);
    assert_eq!(names(&imported), ["post_a"]);
    assert!(is_noted(
        &imported,
        "1 webhooks are requests the API makes, and no tools: newPet"
    ));
    assert!(is_noted(
        &imported,
        "1 callbacks are requests the API makes"
    ));
}

#[test]
fn the_first_server_is_used_with_its_variables_filled() {
    let check = |servers: serde_json::Value, base: Option<&str>, expected: Option<&str>| {
        let value = json!({ "openapi": "3.0.0", "servers": servers, "paths": {} });
        let mut options = Options::default();
        options.base = base.map(ToOwned::to_owned);
        let imported = import_with(&value.to_string(), &options);
        let entry = json!(imported.entry);
        assert_eq!(entry["api_url"].as_str(), expected, "{value}");
        assert_eq!(is_noted(&imported, "set `api_url`"), expected.is_none());
    };
    let variables = json!({ "host": { "default": "eu" }, "port": { "default": 8443 } });
    let base = Some("https://docs.example/specs/v2/openapi.json");
    check(
        json!([{ "url": "https://{host}.x.example:{port}/v1/", "variables": variables }, { "url": "/" }]),
        None,
        Some("https://eu.x.example:8443/v1"),
    );
    check(json!([{ "url": "https://{host}.x.example" }]), None, None);
    check(json!([{ "url": "/api" }]), None, None);
    check(
        json!([{ "url": "/api" }]),
        base,
        Some("https://docs.example/api"),
    );
    check(
        json!([{ "url": "../v3" }]),
        base,
        Some("https://docs.example/specs/v3"),
    );
    check(
        json!([{ "url": "https://me:secret@x.example/a?key=1#f" }]),
        None,
        Some("https://x.example/a"),
    );
    check(json!([{ "url": "file:///etc/passwd" }]), base, None);
    check(
        json!([{ "url": "https://x.example/${env:HOME}" }]),
        None,
        None,
    );
    check(json!([]), base, None);
    check(json!("https://x.example"), base, None);
    let mut options = Options::default();
    options.api_url = Some("${env:PETS_URL}".to_owned());
    let imported = import_with(
        r#"{"openapi": "3.0.0", "servers": [{"url": "https://x.example"}]}"#,
        &options,
    );
    assert_eq!(json!(imported.entry)["api_url"], "${env:PETS_URL}");
}
