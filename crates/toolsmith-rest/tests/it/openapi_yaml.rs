//! Imports as files: what a person reads, and what is read back.

use serde_json::json;
use toolsmith_rest::openapi;

use crate::openapi_check::{assert_reads_back, document, import, import_value};

#[test]
fn a_library() {
    let imported = import(include_str!("openapi/library.yaml"));
    insta::assert_snapshot!(openapi::to_yaml(&imported, "From library.yaml.\nTwo lines.").unwrap());
}

#[test]
fn a_shop() {
    let imported = import(include_str!("openapi/shop.json"));
    insta::assert_snapshot!(openapi::to_yaml(&imported, "").unwrap());
}

#[test]
fn texts_that_look_like_something_else_are_read_back_as_texts() {
    let odd = [
        "no",
        "yes",
        "on",
        "off",
        "y",
        "null",
        "~",
        "",
        " ",
        "1.0",
        "1",
        "0x10",
        "1e3",
        ".inf",
        "-",
        "- a",
        "a: b",
        "{x}",
        "[x]",
        "# no",
        "a #b",
        "'",
        "\"",
        "\\",
        "\t",
        "a\nb",
        "a\n",
        "\n",
        " a ",
        "%a",
        "@a",
        "`a`",
        "!a",
        "&a",
        "*a",
        "|",
        ">",
        "?",
        ":",
        "2001-01-01",
        "12:30:45",
        "<<",
        "=",
        "---",
        "...",
        "é",
        "日本",
        "\u{1f600}",
        "\u{85}",
        "\u{feff}",
        "\u{7f}",
    ];
    let numbers = json!([
        0,
        -1,
        1.0,
        1.5,
        1e21,
        1e-7,
        1e300,
        u64::MAX,
        i64::MIN,
        0.1,
        true,
        false,
        null
    ]);
    let mut properties = json!({});
    for text in odd {
        properties[text] = json!({ "enum": [text], "default": text, "description": text });
    }
    properties["numbers"] = json!({ "enum": numbers });
    let body = json!({ "required": true, "content": { "application/json": { "schema": { "type": "array", "items": { "properties": properties } } } } });
    let paths =
        json!({ "/a": { "post": { "summary": "no", "tags": odd.to_vec(), "requestBody": body } } });
    let imported = import_value(&document(&paths, &json!({})));
    let kept =
        json!(imported.entry.tools[0])["parameters"]["properties"]["body"]["items"]["properties"]
            .clone();
    assert_eq!(kept.as_object().unwrap().len(), odd.len() + 1);
    assert_eq!(kept["numbers"]["enum"], numbers);
    assert_reads_back(&imported);
}

#[test]
fn comments_stay_comments() {
    let paths = json!({ "/a\nname: evil": { "get": {} }, "/b": { "get": { "parameters": "x\nname: evil" } } });
    let imported = import_value(&document(&paths, &json!({})));
    let yaml = openapi::to_yaml(
        &imported,
        "one\nname: evil\u{2028}name: evil\r\nname: evil\rname: evil",
    )
    .unwrap();
    let is_ours = |line: &str| !line.starts_with("name: evil");
    assert!(
        yaml.split(['\n', '\r', '\u{2028}', '\u{85}']).all(is_ours),
        "{yaml}"
    );
    assert!(yaml.contains("# Left out: 2 of 2 operations."));
}
