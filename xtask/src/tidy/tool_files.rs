//! A built-in tool lies in a file named after it: `tool_read.rs` holds `read`.
//!
//! The list of files is then the list of tools. The manager keeps the same rule
//! for the example tool it writes for users.

use super::Finding;
use super::tree::{File, Tree};

const HOMES: &[&str] = &[
    "crates/toolsmith-builtin/src/",
    "crates/toolsmith-manager/src/",
];
const ATTRIBUTES: &[&str] = &[
    "#[tool]",
    "#[tool(",
    "#[toolsmith::tool",
    "#[toolsmith_core::tool",
];

/// Finds tools in files that are not named after a tool.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let lies_at_home = |file: &&File| HOMES.iter().any(|home| file.path.starts_with(home));
    tree.production()
        .filter(lies_at_home)
        .flat_map(misplaced)
        .collect()
}

fn misplaced(file: &File) -> Vec<Finding> {
    if file.name().starts_with("tool_") {
        return Vec::new();
    }
    let lines = file.layers.code.lines().enumerate();
    let tools = lines.filter(|(_, line)| {
        ATTRIBUTES
            .iter()
            .any(|attribute| line.starts_with(attribute))
    });
    let report = |(index, _)| {
        let remedy = "move the tool into a file of its own named tool_<name>.rs";
        Finding::new(
            &file.path,
            index + 1,
            "a tool lies in a file that is not named after it",
            remedy,
        )
    };
    tools.map(report).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::found;

    #[test]
    fn a_tool_in_a_file_of_another_name_is_found() {
        let text = "//! Reads.\n#[tool(kind = \"read\")]\nasync fn read() {}\n";
        assert_eq!(
            found(
                check,
                &[
                    ("crates/toolsmith-builtin/src/tool_read.rs", text),
                    ("crates/toolsmith-builtin/src/read.rs", text),
                    ("crates/toolsmith-builtin/src/search/grep.rs", "#[tool]\n"),
                    (
                        "crates/toolsmith-builtin/src/lib.rs",
                        "    #[tool]\n#[tool_set]\n// #[tool]\n"
                    ),
                    ("crates/toolsmith-manager/src/tool_example.rs", text),
                    ("crates/toolsmith-manager/src/example.rs", text),
                    ("crates/toolsmith-core/src/lib.rs", text),
                ],
            ),
            [
                "crates/toolsmith-builtin/src/read.rs:2: a tool lies in a file that is not named after it",
                "crates/toolsmith-builtin/src/search/grep.rs:1: a tool lies in a file that is not named after it",
                "crates/toolsmith-manager/src/example.rs:2: a tool lies in a file that is not named after it",
            ]
        );
    }
}
