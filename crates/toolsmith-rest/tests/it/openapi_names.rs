//! What tools and arguments are called.

use serde_json::{Value, json};
use toolsmith_rest::openapi::Options;

use crate::openapi_check::{document, import_value, import_with, is_noted, names, tool};

/// The names of operations at `(method, path, id)`.
fn named(operations: &[(&str, &str, Option<&str>)]) -> Vec<String> {
    names(&import_value(&of(operations)))
}

fn of(operations: &[(&str, &str, Option<&str>)]) -> Value {
    let mut paths = json!({});
    for (method, path, id) in operations {
        paths[path][method] = json!({ "operationId": id, "responses": {} });
    }
    document(&paths, &json!({}))
}

#[test]
fn ids_become_lower_case_with_underscores() {
    let cases = [
        ("listPets", "list_pets"),
        ("HTTPServerStatus", "http_server_status"),
        ("repos/get-content", "repos_get_content"),
        ("Pets_List__all", "pets_list_all"),
        ("getV2Users", "get_v2_users"),
        ("  spaced out  ", "spaced_out"),
        ("caféÜber", "caf_ber"),
        ("2fa", "get_2fa"),
        ("a\u{202e}b\u{0}c", "a_b_c"),
    ];
    for (id, name) in cases {
        assert_eq!(named(&[("get", "/x", Some(id))]), [name], "{id:?}");
    }
}

#[test]
fn without_an_id_method_and_path_are_the_name() {
    assert_eq!(
        named(&[("get", "/users/{id}/posts", None)]),
        ["get_users_id_posts"]
    );
    assert_eq!(named(&[("post", "/", None)]), ["post_root"]);
    assert_eq!(named(&[("get", "/日本", Some("日本"))]), ["get_root"]);
}

#[test]
fn long_names_are_cut_and_end_in_a_digest() {
    let long = |end: &str| format!("{}{end}", "very_long_name_".repeat(10));
    let names = named(&[
        ("get", "/a", Some(&long("one"))),
        ("get", "/b", Some(&long("two"))),
    ]);
    assert!(
        names.iter().all(|name| (60..=64).contains(&name.len())),
        "{names:?}"
    );
    assert_ne!(names[0], names[1]);
}

#[test]
fn names_that_collide_are_told_apart_whatever_their_order() {
    let one = [("get", "/a", Some("do-it")), ("post", "/a", Some("doIt"))];
    assert_eq!(named(&one), ["do_it_get", "do_it_post"]);
    let two = [("get", "/a", Some("same")), ("get", "/b", Some("same"))];
    let turned = [two[1], two[0]];
    let (mut names, mut again) = (named(&two), named(&turned));
    assert!(
        names.iter().all(|name| name.starts_with("same_")),
        "{names:?}"
    );
    names.sort();
    again.sort();
    assert_eq!(names, again);
    assert!(is_noted(
        &import_value(&of(&two)),
        "`same` is the name of 2 operations"
    ));
}

#[test]
fn a_suffix_takes_no_name_that_is_there() {
    let all = [
        ("get", "/a", Some("x")),
        ("post", "/a", Some("X")),
        ("get", "/b", Some("x_get")),
    ];
    let names = named(&all);
    assert_eq!(names[2], "x_get");
    assert_eq!(
        names
            .iter()
            .collect::<std::collections::BTreeSet<_>>()
            .len(),
        3
    );
}

#[test]
fn a_prefix_begins_every_name_and_must_be_one() {
    let mut options = Options::default();
    options.prefix = "pets_".to_owned();
    let text = of(&[
        ("get", "/a", Some("2fa")),
        ("get", "/b", Some(&"x".repeat(100))),
    ])
    .to_string();
    let names = names(&import_with(&text, &options));
    assert_eq!(names[0], "pets_2fa");
    assert!(names[1].starts_with("pets_xxx") && names[1].len() == 64);
    for prefix in ["Pets", "1x", "_", "a-b", &"p".repeat(40)] {
        options.prefix = prefix.to_owned();
        let document = toolsmith_rest::openapi::read(text.as_bytes(), &Default::default()).unwrap();
        let error = toolsmith_rest::openapi::import(&document, &options).unwrap_err();
        assert!(error.to_string().contains("lower-case letters"), "{error}");
    }
}

#[test]
fn arguments_of_one_name_are_told_apart_by_their_place() {
    let text = |name: &str, place: &str| json!({ "name": name, "in": place, "required": place == "path", "schema": { "type": "string" } });
    let paths = json!({ "/a/{id}": { "put": {
        "operationId": "put_a",
        "parameters": [text("id", "query"), text("id", "path"), text("id", "header"),
            text("filter[x]", "query"), text("filter.x", "query"), text("1st", "query")],
        "requestBody": { "required": true, "content": { "application/json": { "schema": {
            "type": "object", "properties": { "id": { "type": "integer" }, "body_id": {} }
        } } } },
        "responses": {},
    } } });
    let imported = import_value(&document(&paths, &json!({})));
    let tool = tool(&imported, "put_a");
    assert_eq!(tool["path"], "/a/{id}");
    let expected = json!({
        "query_id": { "in": "query", "name": "id" },
        "header_id": { "in": "header", "name": "id" },
        "filter_x": { "in": "query", "name": "filter[x]" },
        "query_filter_x": { "in": "query", "name": "filter.x" },
        "argument_1st": { "in": "query", "name": "1st" },
        "body_id": { "in": "body", "name": "id" },
        "body_body_id": { "in": "body", "name": "body_id" },
    });
    assert_eq!(tool["places"], expected);
    let mut arguments: Vec<&String> = tool["parameters"]["properties"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    arguments.sort();
    assert_eq!(arguments.len(), 8);
    assert!(is_noted(
        &imported,
        "`id` of the body is the argument `body_id`"
    ));
}
