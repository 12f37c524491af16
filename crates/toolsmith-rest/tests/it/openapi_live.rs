//! Documents that are fetched: what one from elsewhere may say, and what it may not.

use serde_json::{Value, json};
use toolsmith_core::{ErrorKind, ToolSource as _};
use toolsmith_rest::form::{Entry, Placed};
use toolsmith_rest::openapi::{self, LiveDocument, Options};

use crate::http_server::{SECRET, Server, fails, make_with, ok, surroundings, value};
use crate::openapi_check::{document, import_value};

fn over(yaml: &str) -> Entry {
    serde_saphyr::from_str(yaml).unwrap()
}

/// A document of one operation at a server.
fn at(server: &str) -> Value {
    let mut document = document(
        &json!({ "/a": { "get": { "operationId": "a", "responses": {} } } }),
        &json!({}),
    );
    document["servers"] = json!([{ "url": server }]);
    document
}

async fn live(document: Value, over: Entry) -> (Server, LiveDocument) {
    let server = Server::answering(move |seen, _| match seen.path.as_str() {
        "/openapi.json" => ok(&document),
        _ => ok(&json!("here")),
    })
    .await;
    let url = format!("{}/openapi.json", server.url);
    let mut options = Options::default();
    options.base = Some(url.clone());
    let live = LiveDocument::new("live", url, options, over, surroundings());
    (server, live)
}

#[tokio::test]
async fn a_document_leads_to_its_own_server() {
    let (_server, live) = live(at("/"), Entry::default()).await;
    let tools = live.tools().await.unwrap();
    assert_eq!(value(&tools[0], json!({})).await, json!("here"));
}

/// Whoever writes a document does not get to name what only this machine can reach.
#[tokio::test]
async fn a_document_leads_to_no_private_server() {
    let private = Server::saying(json!("private")).await;
    let named = private.url.replace("127.0.0.1", "localhost");
    for address in [&private.url, &named] {
        let (_server, live) = live(at(address), Entry::default()).await;
        let tools = live.tools().await.unwrap();
        fails(&tools[0], json!({}), ErrorKind::PermissionDenied, "").await;
    }
    assert_eq!(private.seen().len(), 0);
    // What the user names may be anywhere.
    let named = over(&format!("{{ api_url: '{}' }}", private.url));
    let (_server, live) = live(at("/"), named).await;
    let tools = live.tools().await.unwrap();
    assert_eq!(value(&tools[0], json!({})).await, json!("private"));
}

#[tokio::test]
async fn a_document_does_not_send_secrets_to_a_private_token_server() {
    let private = Server::saying(json!({ "access_token": "abcdefgh" })).await;
    let mut document = at("/");
    document["security"] = json!([{ "o": [] }]);
    document["components"]["securitySchemes"]["o"] = json!({
        "type": "oauth2",
        "flows": { "clientCredentials": { "tokenUrl": private.url, "scopes": {} } },
    });
    let around = toolsmith_rest::Surroundings::new(std::sync::Arc::new(Every), "/", [].into());
    let (server, _) = live(document, Entry::default()).await;
    let url = format!("{}/openapi.json", server.url);
    let mut options = Options::default();
    options.base = Some(url.clone());
    let live = LiveDocument::new("live", url, options, Entry::default(), around);
    let tools = live.tools().await.unwrap();
    fails(&tools[0], json!({}), ErrorKind::PermissionDenied, "").await;
    assert_eq!(private.seen().len(), 0);
}

struct Every;

impl toolsmith_core::reference::Lookup for Every {
    fn variable(&self, _: &str) -> Option<String> {
        Some(SECRET.to_owned())
    }

    fn file(&self, _: &str) -> Result<String, String> {
        Err("there is none".to_owned())
    }
}

/// An operation's own server would get the secret the user gave for another.
#[tokio::test]
async fn where_the_user_says_the_api_is_beats_what_any_operation_says() {
    let (ours, theirs) = (
        Server::saying(json!(1)).await,
        Server::saying(json!(2)).await,
    );
    let mut document = at("/");
    document["paths"]["/a"]["get"]["servers"] = json!([{ "url": theirs.url }]);
    let over = over(&format!(
        "{{ api_url: '{}', auth_method: bearer, auth: {{ token: '${{SECRET}}' }} }}",
        ours.url
    ));
    let options = Options::default();
    let imported = openapi::import_over(document.to_string().as_bytes(), &options, &over).unwrap();
    let made = toolsmith_rest::make(&imported.entry, &surroundings());
    assert_eq!(value(&made.tools[0], json!({})).await, json!(1));
    assert_eq!(theirs.seen().len(), 0);
}

/// Then the variable of the API is the only one: nothing is sent to another server.
#[test]
fn where_the_user_says_the_api_is_names_the_variables() {
    let bearer = json!({ "type": "http", "scheme": "bearer" });
    let operation = json!({
        "security": [{ "main": [] }],
        "servers": [{ "url": "https://theirs.example" }],
    });
    let paths = json!({ "/a": { "get": operation } });
    let value = document(&paths, &json!({ "securitySchemes": { "main": bearer } }));
    let mut options = Options::default();
    options.name = Some("pets".to_owned());
    for (yaml, name) in [
        ("{}", "PETS_TOKEN_FOR_THEIRS_EXAMPLE"),
        ("{ api_url: 'https://ours.example' }", "PETS_TOKEN"),
        ("{ api_url: '${env:OURS}' }", "PETS_TOKEN"),
    ] {
        let bytes = value.to_string();
        let imported = openapi::import_over(bytes.as_bytes(), &options, &over(yaml)).unwrap();
        let auth = json!(imported.entry.auth);
        assert_eq!(auth["token"], format!("${{env:{name}}}"), "{yaml}");
    }
}

/// Whatever is imported can be made.
#[test]
fn nothing_is_imported_that_cannot_be_made() {
    let key = |name: &str| json!({ "type": "apiKey", "in": "header", "name": name });
    let header = |name: &str| json!({ "name": name, "in": "header", "schema": {} });
    let schemes = json!({
        "host": key("Host"), "odd": key("X(Key)"), "kind": key("Content-Type"),
        "one": key("X-Key"), "two": key("x-key"), "authorization": key("Authorization"),
        "bearer": { "type": "http", "scheme": "bearer" },
    });
    for security in [
        json!([{ "host": [] }]),
        json!([{ "odd": [] }]),
        json!([{ "kind": [] }]),
        json!([{ "one": [], "two": [] }]),
        json!([{ "bearer": [], "authorization": [] }]),
        json!([{ "authorization": [], "bearer": [] }]),
    ] {
        let parameters = json!([
            header("Proxy-Connection"),
            header("X-Id"),
            header("x-id"),
            header("Keep-Alive"),
        ]);
        let operation = json!({ "parameters": parameters, "security": security, "responses": {} });
        let paths = json!({ "/a": { "get": operation } });
        let mut imported = import_value(&document(&paths, &json!({ "securitySchemes": schemes })));
        imported.entry.api_url = Some(Placed::nowhere("https://a.example".parse().unwrap()));
        let yaml = openapi::to_yaml(&imported, "A test.").unwrap();
        let made = make_with(&yaml, &surroundings());
        assert_eq!(made.problems, [], "{security}");
        assert_eq!(made.tools.len(), 1, "{security}");
    }
}
