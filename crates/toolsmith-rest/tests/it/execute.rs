//! Servers that tell their tools themselves.

use serde_json::{Value, json};
use toolsmith_core::{ErrorKind, Kind, Source, ToolSource as _};
use toolsmith_rest::RemoteTools;

use crate::http_server::{Server, answer, call, fails, make_from, ok, value};

fn source_of(server: &Server, more: &str) -> RemoteTools {
    let made = make_from(&format!(
        "{{ name: weather, adapter: execute, api_url: {}/api{more} }}",
        server.url
    ));
    assert_eq!(made.problems, []);
    assert_eq!(made.tools.len(), 0);
    made.sources[0].clone()
}

async fn telling(tools: Value, result: Value) -> Server {
    Server::answering(move |seen, _| match (&*seen.method, &*seen.path) {
        ("GET", "/api/schema") => ok(&tools),
        ("POST", "/api/execute") => ok(&result),
        _ => answer(404, &[], "no such place"),
    })
    .await
}

#[tokio::test]
async fn the_schema_the_execution_and_the_key_in_its_header() {
    let parameters =
        json!({ "properties": { "city": { "type": "string" } }, "required": ["city"] });
    let tools = json!({ "tools": [
        { "name": "getForecast", "description": "Tells the weather.", "parameters": parameters },
    ] });
    let server = telling(tools, json!({ "output": { "sun": true } })).await;
    let source = source_of(
        &server,
        ", auth_method: api_key, auth: { key: '${env:SECRET}', name: X-Weather-Key }",
    );
    assert_eq!(source.name(), "weather");
    let tools = source.tools().await.unwrap();
    let definition = tools[0].definition();
    assert_eq!(definition.name, "weather_get_forecast");
    assert_eq!(
        (&definition.source, definition.kind),
        (&Source::Rest, Kind::External)
    );
    assert_eq!(definition.description.short, "Tells the weather.");
    assert_eq!(
        definition.input.as_value()["properties"],
        parameters["properties"]
    );
    assert_eq!(definition.input.as_value()["type"], "object");
    // As it was received: nothing is closed that was open.
    assert_eq!(
        definition.input.as_value().get("additionalProperties"),
        None
    );
    assert_eq!(
        value(&tools[0], json!({ "city": "Bonn" })).await,
        json!({ "sun": true })
    );
    let seen = server.seen();
    assert_eq!(seen.len(), 2);
    for seen in &seen {
        assert_eq!(
            seen.header("x-weather-key"),
            Some(crate::http_server::SECRET)
        );
    }
    assert_eq!(
        seen[1].json(),
        json!({ "name": "getForecast", "parameters": { "city": "Bonn" } })
    );
    assert_eq!(seen[1].header("content-type"), Some("application/json"));
    let plan = tools[0]
        .plan(&crate::http_server::arguments(json!({})))
        .unwrap();
    assert_eq!(
        plan.summary,
        format!("POST {}/api/execute: getForecast", server.url)
    );
}

/// What a person approves is for one address: at another a tool is another one.
#[tokio::test]
async fn the_mark_of_a_tool_tells_its_server() {
    let mut marks = Vec::new();
    for more in ["", ", headers: { x-a: b }"] {
        let server = telling(json!([{ "name": "t" }]), json!({})).await;
        for _ in 0..2 {
            let tools = source_of(&server, more).tools().await.unwrap();
            marks.push(tools[0].mark().to_owned());
        }
    }
    assert_eq!((&marks[0], &marks[2]), (&marks[1], &marks[3]));
    assert_ne!(marks[0], marks[2]);
    assert_eq!(marks[0].len(), 64);
}

#[tokio::test]
async fn what_an_execution_answers() {
    for (answered, expected) in [
        (json!({ "output": "o", "error": null }), Ok(json!("o"))),
        (json!({ "result": [1] }), Ok(json!([1]))),
        (json!({ "content": "c", "error": "" }), Ok(json!("c"))),
        (json!({ "other": 1 }), Ok(json!({ "other": 1 }))),
        (json!([1, 2]), Ok(json!([1, 2]))),
        (json!({ "error": "no such city" }), Err("no such city")),
        (
            json!({ "error": { "message": "bad", "code": 7 }, "output": 1 }),
            Err("bad"),
        ),
        (json!({ "error": { "code": 7 } }), Err("{\"code\":7}")),
    ] {
        let server = telling(json!([{ "name": "t" }]), answered.clone()).await;
        let tools = source_of(&server, "").tools().await.unwrap();
        let outcome = call(&tools[0], json!({})).await;
        match expected {
            Ok(value) => assert_eq!(outcome.value, Some(value), "{answered}"),
            Err(told) => {
                let error = outcome.error.unwrap();
                assert_eq!((error.kind, &*error.message), (ErrorKind::Failed, told));
            }
        }
    }
}

#[tokio::test]
async fn other_paths_and_other_failures() {
    let server = Server::answering(|seen, _| match seen.path.as_str() {
        "/api/tools.json" => ok(&json!({ "name": "one", "description": "The only one." })),
        "/api/run" => answer(403, &[], "not you"),
        _ => answer(404, &[], ""),
    })
    .await;
    let source = source_of(&server, ", schema_path: /tools.json, execute_path: run");
    let tools = source.tools().await.unwrap();
    fails(
        &tools[0],
        json!({}),
        ErrorKind::PermissionDenied,
        "/api/run answered 403",
    )
    .await;
    let error = source_of(&server, "")
        .tools()
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("source `weather`") && error.contains("404"),
        "{error}"
    );
}

#[tokio::test]
async fn servers_that_tell_nonsense() {
    for (given, told) in [
        (ok(&json!("tools")), "its answer is no list"),
        (ok(&json!({ "tools": 5 })), "no list"),
        (
            answer(200, &["content-type: application/json"], "{\"tools\": ["),
            "ends in the middle",
        ),
        (
            answer(200, &["content-type: text/html"], "<html>"),
            "its answer is no list",
        ),
        (answer(204, &[], ""), "its answer is no list"),
        (
            answer(307, &["location: http://10.0.0.1/"], ""),
            "leads to another server",
        ),
        (answer(500, &[], ""), "answered 500"),
    ] {
        let server = Server::answering(move |_, _| given.clone()).await;
        let error = source_of(&server, "")
            .tools()
            .await
            .unwrap_err()
            .to_string();
        assert!(error.contains(told), "{error}");
    }
    let odd = json!([
        { "name": "good" }, { "name": "bad", "parameters": "none" }, 5, { "name": "" },
    ]);
    let server = telling(odd, json!(1)).await;
    let source = source_of(&server, "");
    assert_eq!(source.tools().await.unwrap().len(), 1);
    assert_eq!(source.left_out().len(), 3, "{:?}", source.left_out());
}

#[tokio::test]
async fn a_secret_that_is_missing() {
    let made = make_from(
        "{ name: s, adapter: execute, api_url: 'http://127.0.0.1:9', api_key: '${env:NOWHERE}' }",
    );
    assert_eq!(made.missing.len(), 1);
    let error = made.sources[0].tools().await.unwrap_err().to_string();
    assert!(error.contains("`NOWHERE` is not set"), "{error}");
}

#[tokio::test]
async fn an_argument_stays_in_its_place() {
    let server = telling(json!([{ "name": "t\"}" }]), json!(1)).await;
    let tools = source_of(&server, "").tools().await.unwrap();
    let hostile = "\"}, \"name\": \"other\r\n";
    let outcome = call(&tools[0], json!({ "name": hostile, "parameters": {} })).await;
    assert!(outcome.is_success());
    assert_eq!(
        server.last().json(),
        json!({ "name": "t\"}", "parameters": { "name": hostile, "parameters": {} } })
    );
}
