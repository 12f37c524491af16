//! Reading documents: what is accepted, and what is said about the rest.

use toolsmith_rest::openapi::{self, OpenApiError, ReadLimits};

fn error(text: &str) -> String {
    let read = openapi::read(text.as_bytes(), &ReadLimits::default());
    read.unwrap_err().to_string()
}

fn accepts(text: &str) {
    openapi::read(text.as_bytes(), &ReadLimits::default()).unwrap();
}

#[test]
fn json_and_yaml_of_every_known_version_are_read() {
    accepts(r#"{"openapi": "3.0.3", "info": {}, "paths": {}}"#);
    accepts("\u{feff}{\"openapi\": \"3.1.0\"}");
    accepts("openapi: 3.1.1\npaths: {}\n");
    accepts("openapi: 3.2.0\n");
    accepts("openapi: 3.1\n");
    accepts("{openapi: 3.0.0, paths: {}}");
}

#[test]
fn what_is_something_else_is_refused_with_a_next_step() {
    let swagger = error("swagger: \"2.0\"\npaths: {}\n");
    assert_eq!(
        swagger,
        "the document is Swagger 2.0; convert it to OpenAPI 3 first, for instance with swagger2openapi"
    );
    assert!(error("asyncapi: 3.0.0").contains("AsyncAPI"));
    assert!(error("openapi: 4.0.0").contains("OpenAPI 3.0, 3.1 and 3.2 are understood"));
    assert!(error("openapi: 3.10.0").contains("\"3.10.0\""));
    assert!(error("openapi: [3]").contains("no `openapi`"));
    assert!(error("paths: {}").contains("write `openapi: 3.1.0`"));
    assert_eq!(error("[1, 2]"), "`/` is a list, not an object");
    assert_eq!(error(""), "`/` is nothing, not an object");
    assert_eq!(error("just a text"), "`/` is a text, not an object");
}

#[test]
fn errors_of_syntax_have_a_place() {
    let wrong = r#"{"openapi": "3.1.0", "paths": {"a": 1, "a": 2}}"#;
    assert_eq!(
        error(wrong),
        "the document cannot be read at line 1, column 42: duplicate key \"a\""
    );
    let OpenApiError::Malformed { line, .. } = openapi::read(
        b"openapi: 3.1.0\npaths: {\n  a: 1\n",
        &ReadLimits::default(),
    )
    .unwrap_err() else {
        panic!("another error");
    };
    assert!(line >= 2, "{line}");
    assert!(error("openapi: 3.1.0\na: 1\na: 2\n").contains("line 3"));
    assert!(error("openapi: 3.1.0\na: !!str 1\n").contains("line 2, column 4: tags such as"));
    assert!(error("openapi: 3.1.0\n<<: {a: 1}\n").contains("cannot be read"));
    assert!(openapi::read(b"openapi: \xff", &ReadLimits::default()).is_err());
}

#[test]
fn keys_that_are_numbers_are_read_as_texts() {
    let text = "
openapi: 3.0.0
paths:
  /a:
    get:
      operationId: get_a
      responses:
        200: { description: ok, content: { application/json: { schema: { type: boolean } } } }
";
    let imported = crate::openapi_check::import(text);
    let tool = crate::openapi_check::tool(&imported, "get_a");
    assert_eq!(tool["response"]["schema"]["type"], "boolean");
}

#[test]
fn size_depth_and_aliases_are_bounded() {
    let mut limits = ReadLimits::default();
    limits.json_bytes = 10;
    limits.yaml_bytes = 10;
    for text in ["{\"openapi\": \"3.1.0\"}", "openapi: 3.1.0"] {
        let error = openapi::read(text.as_bytes(), &limits).unwrap_err();
        assert!(
            matches!(error, OpenApiError::TooLarge { limit: 10, .. }),
            "{error}"
        );
    }
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(5000), close.repeat(5000));
    assert!(error(&format!("{{\"openapi\": {}}}", deep("[", "]"))).contains("nested deeper"));
    assert!(error(&format!("openapi: {}", deep("{a: ", "}"))).contains("cannot be read"));
    let mut bomb = "openapi: 3.1.0\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let before = format!("*a{}", level - 1);
        let list = vec![before; 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{list}]\n"));
    }
    assert!(error(&bomb).contains("cannot be read"));
}
