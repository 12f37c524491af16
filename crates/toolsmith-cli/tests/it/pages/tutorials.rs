//! The tutorials, as a new user does them: from the README alone, in an empty folder.

use std::fs;

use super::{CHECKOUT, free_port, page};

#[test]
fn import_an_api() {
    page("docs/tutorials/import-an-api.md")
        .port(8080, free_port())
        .check();
}

/// What its reader has cargo build is built with the tests, of a source that must be the page's.
#[test]
fn first_tool() {
    let source = format!("{CHECKOUT}/examples/my-tools/src/main.rs");
    let source = fs::read_to_string(source).unwrap();
    let (_, code) = source.split_once("\n\n").unwrap();
    let page = page("docs/tutorials/first-tool.md");
    assert!(
        page.text().contains(&format!("```rust\n{code}```")),
        "the page must show exactly:\n{code}"
    );
    page.having_program("my-tools/target/debug/my-tools", "my-tools")
        .check();
}
