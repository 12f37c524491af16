//! Where arguments go, and in which form.

use serde_json::{Value, json};
use toolsmith_core::{Effect, ErrorKind, Kind, Source};

use crate::http_server::{Server, arguments, call, fails, failure, value};

async fn query_of(places: &str, given: Value) -> String {
    let server = Server::saying(json!(1)).await;
    let tool = server.tool(&format!(
        "{{ name: t, api_url: SERVER/v1, path: /things, places: {places}, \
          parameters: {{ properties: {{ a: {{}}, b: {{}} }} }} }}"
    ));
    value(&tool, given).await;
    server.only().query
}

#[tokio::test]
async fn a_plain_request() {
    let server = Server::saying(json!({ "id": 7 })).await;
    let tool = server.tool(
        "{ name: get_user, api_url: SERVER/v1/, path: '/users/{id}', description: Gets it., \
          parameters: { properties: { id: { type: integer }, full: {}, not: {} } } }",
    );
    let definition = tool.definition();
    assert_eq!(
        (&definition.source, definition.kind),
        (&Source::Rest, Kind::Network)
    );
    assert_eq!(definition.effect, Effect::Network);
    assert_eq!(definition.hints.idempotent, Some(true));
    assert_eq!(definition.hints.open_world, Some(true));
    let given = json!({ "id": 7, "full": true, "not": null });
    let plan = tool.plan(&arguments(given.clone())).unwrap();
    assert_eq!(plan.summary, format!("GET {}/v1/users/7", server.url));
    assert_eq!(value(&tool, given).await, json!({ "id": 7 }));
    let seen = server.only();
    assert_eq!(
        (&*seen.method, &*seen.path, &*seen.query),
        ("GET", "/v1/users/7", "full=true")
    );
    assert_eq!(seen.body, b"");
    assert_eq!(seen.header("content-type"), None);
    assert!(
        seen.header("accept")
            .unwrap()
            .starts_with("application/json")
    );
}

#[tokio::test]
async fn hints_follow_the_method() {
    let server = Server::saying(json!(1)).await;
    for (method, idempotent, destructive) in [
        ("HEAD", Some(true), Some(false)),
        ("post", None, None),
        ("PUT", Some(true), None),
        ("PATCH", None, None),
        ("DELETE", Some(true), Some(true)),
    ] {
        let tool = server.tool(&format!("{{ name: t, api_url: SERVER, method: {method} }}"));
        let hints = tool.definition().hints;
        assert_eq!(
            (hints.idempotent, hints.destructive),
            (idempotent, destructive),
            "{method}"
        );
    }
}

#[tokio::test]
async fn lists_and_objects_in_a_query() {
    let list = json!({ "a": [1, "x,y", "p|q", "s t"] });
    let deep = json!({ "a": { "x": 1, "y": { "z": [true, null] }, "n": null } });
    for (places, given, expected) in [
        ("{}", list.clone(), "a=1&a=x%2Cy&a=p%7Cq&a=s+t"),
        (
            "{ a: { in: query, list: comma } }",
            list.clone(),
            "a=1,x%2Cy,p%7Cq,s+t",
        ),
        (
            "{ a: { in: query, list: space } }",
            list.clone(),
            "a=1%20x%2Cy%20p%7Cq%20s+t",
        ),
        (
            "{ a: { in: query, list: pipe } }",
            list.clone(),
            "a=1|x%2Cy|p%7Cq|s+t",
        ),
        (
            "{ a: { in: query, list: brackets, name: 'n[x]' } }",
            json!({ "a": [1, 2] }),
            "n%5Bx%5D%5B%5D=1&n%5Bx%5D%5B%5D=2",
        ),
        ("{}", json!({ "a": { "x": 1, "y": [2, 3] } }), "x=1&y=2&y=3"),
        (
            "{ a: { in: query, object: deep } }",
            deep.clone(),
            "a%5Bx%5D=1&a%5By%5D%5Bz%5D=true&a%5By%5D%5Bz%5D=null",
        ),
        (
            "{ a: { in: query, object: json } }",
            json!({ "a": { "x": "&b=2" } }),
            "a=%7B%22x%22%3A%22%26b%3D2%22%7D",
        ),
        (
            "{ a: { in: query, name: other } }",
            json!({ "a": 1.5 }),
            "other=1.5",
        ),
        ("{}", json!({ "a": null, "b": "" }), "b="),
    ] {
        assert_eq!(query_of(places, given).await, expected, "{places}");
    }
}

#[tokio::test]
async fn an_object_brings_no_name_of_something_else() {
    let server = Server::saying(json!(1)).await;
    let tool = server.tool(
        "{ name: t, api_url: 'SERVER/?fixed=1', api_key: hidden-key, \
          auth: { in: query, name: key }, auth_method: api_key, \
          parameters: { properties: { a: { additionalProperties: true }, b: {}, c: {} } }, \
          places: { c: { in: query, object: deep } } }",
    );
    for given in [
        json!({ "a": { "key": "mine" } }),
        json!({ "a": { "fixed": "2" } }),
        json!({ "a": { "b": "2" } }),
        json!({ "c": { "x]y": "2" } }),
    ] {
        fails(&tool, given, ErrorKind::InvalidParameters, "").await;
    }
    assert_eq!(server.seen().len(), 0);
    value(&tool, json!({ "a": { "x": "2" }, "b": 3 })).await;
    assert_eq!(server.only().query, "fixed=1&x=2&b=3&key=hidden-key");
}

#[tokio::test]
async fn a_schema_that_is_open_lets_more_through_but_nothing_in_anothers_place() {
    let server = Server::saying(json!(1)).await;
    let open = "parameters: { properties: { a: {} }, additionalProperties: true }";
    let tool = server.tool(&format!(
        "{{ name: t, api_url: SERVER, auth_method: api_key, api_key: abcdef, \
          auth: {{ in: query, name: key }}, {open}, places: {{ a: {{ in: query, name: wire }} }} }}"
    ));
    value(&tool, json!({ "a": 1, "more": 2 })).await;
    assert_eq!(server.only().query, "wire=1&more=2&key=abcdef");
    for name in ["key", "wire"] {
        let given = json!({ name: "x" });
        fails(
            &tool,
            given,
            ErrorKind::InvalidParameters,
            "belongs to another part",
        )
        .await;
    }
    let tool = server.tool(&format!(
        "{{ name: t, api_url: SERVER, method: POST, {open}, \
          places: {{ a: {{ in: body, name: wire }} }} }}"
    ));
    value(&tool, json!({ "a": 1, "more": 2 })).await;
    assert_eq!(server.last().json(), json!({ "wire": 1, "more": 2 }));
    let given = json!({ "a": 1, "wire": 2 });
    let told = "belongs to another part";
    fails(&tool, given, ErrorKind::InvalidParameters, told).await;
}

#[tokio::test]
async fn paths_headers_and_cookies() {
    let server = Server::saying(json!(1)).await;
    let tool = server.tool(
        "{ name: t, api_url: 'SERVER/a%20b/{tenant}', path: '/x y/{ids}.json?v=2&w', \
          headers: { X-Fixed: one, Cookie: 'fixed=1', Accept: text/plain }, \
          parameters: { properties: { tenant: {}, ids: {}, h: {}, c: {}, d: {} } }, \
          places: { h: { in: header, name: X-List, list: space }, c: cookie, \
                    d: { in: cookie, name: other }, ids: { in: path, list: comma } } }",
    );
    let given = json!({
        "tenant": "Zoë", "ids": [1, "2/3"], "h": ["ä", 2], "c": "a;b=\"c\"", "d": false,
    });
    value(&tool, given).await;
    let seen = server.only();
    assert_eq!(seen.path, "/a%20b/Zo%C3%AB/x%20y/1,2%2F3.json");
    assert_eq!(seen.query, "v=2&w=");
    assert_eq!(seen.header("x-fixed"), Some("one"));
    assert_eq!(seen.header("x-list"), Some("ä 2"));
    assert_eq!(
        seen.header("cookie"),
        Some("fixed=1; c=a%3Bb=%22c%22; other=false")
    );
    assert_eq!(seen.header("accept"), Some("text/plain"));
}

#[tokio::test]
async fn what_no_path_can_hold() {
    let server = Server::saying(json!(1)).await;
    let tool = server.tool(
        "{ name: t, api_url: SERVER, path: '/a/{x}/{y}{z}', \
          parameters: { properties: { x: {}, y: {}, z: {} } } }",
    );
    let given = |x: Value, y: &str, z: &str| json!({ "x": x, "y": y, "z": z });
    for given in [
        given(json!(""), "a", "b"),
        given(json!("."), "a", "b"),
        given(json!(".."), "a", "b"),
        given(json!(null), "a", "b"),
        given(json!([]), "a", "b"),
        given(json!("x"), ".", "."),
        given(json!("x"), "", "."),
        json!({ "y": "a", "z": "b" }),
    ] {
        fails(&tool, given, ErrorKind::InvalidParameters, "").await;
    }
    assert_eq!(server.seen().len(), 0);
    value(&tool, given(json!("..."), ".", "a")).await;
    assert_eq!(server.only().path, "/a/.../.a");
    let tool = server.tool(
        "{ name: t, api_url: SERVER, path: '/{x}', parameters: { properties: { x: {} } }, \
          places: { x: { in: path, list: pipe } } }",
    );
    value(&tool, json!({ "x": ["a", "b/c"] })).await;
    assert_eq!(server.last().path, "/a%7Cb%2Fc");
}

#[tokio::test]
async fn bodies_of_every_form() {
    let properties = "parameters: { properties: { a: {}, b: {}, q: {} } }, places: { q: query }";
    let given = json!({ "a": "x&y=1", "b": [1, "ü"], "q": 3 });
    let server = Server::saying(json!(1)).await;
    let post = |form: &str| {
        let yaml =
            format!("{{ name: t, api_url: SERVER, method: POST, body: {form}, {properties} }}");
        server.tool(&yaml)
    };
    value(&post("json"), given.clone()).await;
    let seen = server.last();
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!(seen.json(), json!({ "a": "x&y=1", "b": [1, "ü"] }));
    assert_eq!(seen.query, "q=3");

    value(&post("form"), given.clone()).await;
    let seen = server.last();
    assert_eq!(
        seen.header("content-type"),
        Some("application/x-www-form-urlencoded")
    );
    assert_eq!(seen.text(), "a=x%26y%3D1&b=1&b=%C3%BC");

    value(&post("multipart"), given).await;
    let seen = server.last();
    let kind = seen.header("content-type").unwrap();
    let boundary = kind.strip_prefix("multipart/form-data; boundary=").unwrap();
    let part = |name, text| {
        format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n")
    };
    let expected = part("a", "x&y=1") + &part("b", "1") + &part("b", "ü");
    assert_eq!(seen.text(), format!("{expected}--{boundary}--\r\n"));
}

#[tokio::test]
async fn a_body_that_is_one_argument() {
    let server = Server::saying(json!(1)).await;
    let with = |form: &str| {
        server.tool(&format!(
            "{{ name: t, api_url: SERVER, method: PUT, body: {form}, \
              headers: {{ Content-Type: application/x-own }}, \
              parameters: {{ properties: {{ doc: {{}} }} }}, places: {{ doc: whole_body }} }}"
        ))
    };
    value(&with("json"), json!({ "doc": [1, { "a": null }] })).await;
    assert_eq!(server.last().json(), json!([1, { "a": null }]));
    assert_eq!(
        server.last().header("content-type"),
        Some("application/x-own")
    );
    value(&with("text"), json!({ "doc": "a\r\nb: c" })).await;
    assert_eq!(server.last().text(), "a\r\nb: c");
    value(&with("form"), json!({ "doc": { "a": 1, "b": { "c": 2 } } })).await;
    assert_eq!(server.last().text(), "a=1&b=%7B%22c%22%3A2%7D");
    let error = failure(&with("form"), json!({ "doc": "text" })).await;
    assert_eq!(error.kind, ErrorKind::InvalidParameters);
    value(&with("json"), json!({})).await;
    assert_eq!(server.last().body, b"");
    assert_eq!(server.last().header("content-length"), Some("0"));
}

#[tokio::test]
async fn a_body_the_file_writes_out() {
    let server = Server::saying(json!(1)).await;
    let tool = server.tool(
        r#"
name: t
api_url: SERVER
method: POST
parameters: { properties: { id: {}, name: {}, list: {}, q: {} } }
places: { q: query }
request:
  query: "query { user(id: $id) { {{name}} } }"
  variables: { id: "{id}", fixed: 1 }
  text: "Hello {name}, {list}!"
  maybe: { list: "{list}", always: true }
  items: ["{id}", "{name}"]
"#,
    );
    let hostile = "\"}, \"x\": {\"{id}";
    value(
        &tool,
        json!({ "id": 7, "name": hostile, "list": [1], "q": "r" }),
    )
    .await;
    let seen = server.last();
    assert_eq!(seen.query, "q=r");
    assert_eq!(
        seen.json(),
        json!({
            "query": "query { user(id: $id) { {name} } }",
            "variables": { "id": 7, "fixed": 1 },
            "text": format!("Hello {hostile}, [1]!"),
            "maybe": { "list": [1], "always": true },
            "items": [7, hostile],
        })
    );
    value(&tool, json!({ "name": "n" })).await;
    assert_eq!(
        server.last().json(),
        json!({
            "query": "query { user(id: $id) { {name} } }",
            "variables": { "fixed": 1 },
            "maybe": { "always": true },
            "items": ["n"],
        })
    );
}

#[tokio::test]
async fn the_consent_is_not_for_the_server() {
    let server = Server::saying(json!(1)).await;
    let tool = server.tool(
        "{ name: t, api_url: SERVER, method: POST, consent: DO IT, \
          parameters: { properties: { a: {} } } }",
    );
    value(&tool, json!({ "a": 1, "consent": "DO IT" })).await;
    assert_eq!(server.only().json(), json!({ "a": 1 }));
}

#[tokio::test]
async fn an_address_has_an_end() {
    let server = Server::saying(json!(1)).await;
    let tool = server.tool("{ name: t, api_url: SERVER, parameters: { properties: { a: {} } } }");
    let given = json!({ "a": "x".repeat(100_000) });
    fails(
        &tool,
        given,
        ErrorKind::InvalidParameters,
        "bytes; ask for less",
    )
    .await;
}

#[tokio::test]
async fn the_headers_of_an_answer_without_a_body() {
    let server = Server::answering(|_, _| {
        b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 77\r\netag: \"x\"\r\n\
          set-cookie: session=hidden\r\n\r\n"
            .to_vec()
    })
    .await;
    let tool = server.tool("{ name: t, api_url: SERVER, method: HEAD }");
    let outcome = call(&tool, json!({})).await;
    let value = outcome.value.unwrap();
    assert_eq!(
        (&value["etag"], &value["content-length"]),
        (&json!("\"x\""), &json!("77"))
    );
    assert_eq!(value.get("set-cookie"), None);
}
