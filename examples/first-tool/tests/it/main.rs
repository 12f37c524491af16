//! The README's first tool is this example, and it does what the README says.

use std::process::Command;

const README: &str = include_str!("../../../../README.md");
const SOURCE: &str = include_str!("../../src/main.rs");

#[test]
fn prints_what_the_readme_shows() {
    let output = Command::new(env!("CARGO_BIN_EXE_first-tool"))
        .output()
        .expect("the example starts");
    assert!(output.status.success());
    let printed = String::from_utf8(output.stdout).expect("text");
    assert!(
        README.contains(&format!("```text\n{printed}```")),
        "the README must show exactly:\n{printed}"
    );
}

#[test]
fn is_the_code_the_readme_shows() {
    let code = SOURCE
        .split_once("\n\n")
        .map(|(_, code)| code)
        .expect("the code follows the header");
    assert!(
        README.contains(&format!("```rust\n{code}```")),
        "the README must show exactly:\n{code}"
    );
}
