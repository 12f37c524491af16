//! OpenAPI documents the main file names, and what is wrong with them.

use super::{beside_good_files, case};

const HEAD: &str =
    "openapi: 3.1.0\ninfo: { title: A, version: '1' }\nservers: [{ url: 'https://a.test' }]\n";

#[test]
fn documents() {
    let deep = format!(
        "{HEAD}paths: {}{}\n",
        "[".repeat(50_000),
        "]".repeat(50_000)
    );
    let bomb = ["b", "c", "d", "e", "f"]
        .iter()
        .zip(["a", "b", "c", "d", "e"]);
    let bomb: String = bomb
        .map(|(name, of)| {
            let list = vec![format!("*{of}"); 10].join(",");
            format!("{name}: &{name} [{list}]\n")
        })
        .collect();
    let bomb = format!("{HEAD}a: &a [x,x,x,x,x,x,x,x,x,x]\n{bomb}paths: {{ x: *f }}\n");
    let text = |text: &str| text.as_bytes().to_vec();
    let documents: Vec<(&str, Vec<u8>)> = vec![
        ("empty", text("")),
        ("no_document", text("hello: world\n")),
        (
            "swagger",
            text("swagger: '2.0'\ninfo: { title: A, version: '1' }\npaths: {}\n"),
        ),
        (
            "to_come",
            text("openapi: 4.0.0\ninfo: { title: A, version: '1' }\npaths: {}\n"),
        ),
        ("list", text("- openapi: 3.1.0\n")),
        (
            "not_utf8",
            b"openapi: 3.1.0\ninfo: { title: caf\xe9 }\n".to_vec(),
        ),
        ("utf16", b"\xff\xfeo\0p\0".to_vec()),
        ("nul", vec![0; 64]),
        ("deep", deep.into_bytes()),
        ("bomb", bomb.into_bytes()),
        (
            "twice",
            format!("{HEAD}paths: {{}}\npaths: {{}}\n").into_bytes(),
        ),
        (
            "tag",
            format!("{HEAD}paths: !!python/object:os.system {{}}\n").into_bytes(),
        ),
        (
            "cut_off",
            text("{\n  \"openapi\": \"3.1.0\",\n  \"paths\": {\"/a"),
        ),
        (
            "no_server",
            text(
                "openapi: 3.1.0\ninfo: { title: A, version: '1' }\npaths: { /a: { get: { operationId: geta, responses: {} } } }\n",
            ),
        ),
    ];
    let mut all = case("all at once").file("apis/folder/x", "");
    let mut main =
        "openapi:\n  missing: { file: apis/missing.yaml }\n  folder: { file: apis/folder }\n"
            .to_owned();
    for (name, text) in &documents {
        all = all.file(&format!("apis/{name}.yaml"), text);
        main += &format!("  {name}: {{ file: apis/{name}.yaml }}\n");
    }
    let one =
        format!("{HEAD}paths: {{ /a: {{ get: {{ operationId: get_a, responses: {{}} }} }} }}\n");
    all = all.file("apis/good.yaml", one);
    main += "  good:\n    file: apis/good.yaml\n    auth_method: bearer\n    auth: { token: '${env:NO_SUCH_TOKEN}' }\n";
    main += "  address: { url: 'https://${env:NO_SUCH_HOST}/openapi.json' }\n";
    let told = beside_good_files([all.main(main)]);
    for (name, _) in documents {
        assert!(
            told.contains(&format!("error: ./apis/{name}.yaml")),
            "{name} is not in {told}"
        );
    }
    insta::assert_snapshot!(told);
}

/// A document without operations is no tool, and least of all one of its own.
#[test]
fn documents_without_operations() {
    for paths in [
        "paths: {}\n",
        "paths: [a]\n",
        "",
        "paths: { /a: { trace: { responses: {} } } }\n",
    ] {
        let case = case("")
            .main("openapi:\n  api: { file: a.yaml }\n")
            .file("a.yaml", format!("{HEAD}{paths}"));
        case.user
            .runs(["check"])
            .ends_with(0)
            .says("warning: ./a.yaml: no operation of it is a tool");
        let list = case
            .user
            .runs(["tools", "--source", "rest", "--json"])
            .ends_with(0);
        assert_eq!(list.json(), serde_json::json!([]), "{paths}");
    }
}

/// Names that are the same once they are cleaned become different tools, or are told of.
#[test]
fn names_that_collide_after_cleaning() {
    let paths = "paths:\n  /a:\n    get: { operationId: Get-Thing, responses: {} }\n    put: { operationId: get_thing, responses: {} }\n    post: { operationId: get.thing, responses: {} }\n";
    let case = case("")
        .main("openapi:\n  api: { file: apis/a.yaml }\n")
        .file("apis/a.yaml", format!("{HEAD}{paths}"));
    case.user.runs(["check"]).ends_with(0);
    let list = case
        .user
        .runs(["tools", "--source", "rest", "--json"])
        .ends_with(0)
        .json();
    let names: Vec<&str> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect();
    let distinct: std::collections::BTreeSet<&&str> = names.iter().collect();
    assert_eq!((names.len(), distinct.len()), (3, 3), "{names:?}");
}
