//! One integration binary per crate, `tests/it/main.rs`, and no test file forgotten.
//!
//! Every further binary costs a link; a file that no `mod` names is never compiled.

use super::Finding;
use super::source::find_word;
use super::tree::{File, Tree};

const MAIN: &str = "tests/it/main.rs";

/// Finds further test binaries and test files that are not compiled.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        let Some((home, inner)) = test_path(file) else {
            continue;
        };
        if inner == "it/main.rs" {
            continue;
        }
        match inner.strip_prefix("it/") {
            Some(module) => findings.extend(forgotten(tree, file, home, module)),
            // A folder without `main.rs` is no binary and holds what tests include.
            None if !inner.contains('/') || inner.ends_with("/main.rs") => {
                findings.push(Finding::new(
                    &file.path,
                    1,
                    "a further integration test binary",
                    format!("make it a module of {home}/{MAIN}"),
                ))
            }
            None => {}
        }
    }
    findings.extend(
        tree.files()
            .filter(|file| file.name() == "Cargo.toml")
            .flat_map(switched_off),
    );
    findings
}

/// Splits `crates/a/tests/it/b.rs` into `crates/a` and `it/b.rs`.
fn test_path(file: &File) -> Option<(&str, &str)> {
    let name = file.crate_name()?;
    let length = if name == "xtask" {
        name.len()
    } else {
        "crates/".len() + name.len()
    };
    let (home, rest) = file.path.split_at(length);
    Some((home, rest.strip_prefix("/tests/")?))
}

/// Reports a module file that its parent does not name.
fn forgotten(tree: &Tree, file: &File, home: &str, module: &str) -> Option<Finding> {
    let module = module.trim_end_matches(".rs").trim_end_matches("/mod");
    let (parents, name) = match module.rsplit_once('/') {
        Some((folder, name)) => (
            vec![
                format!("{home}/tests/it/{folder}.rs"),
                format!("{home}/tests/it/{folder}/mod.rs"),
            ],
            name,
        ),
        None => (vec![format!("{home}/{MAIN}")], module),
    };
    let declaration = format!("mod {name}");
    let is_declared = parents
        .iter()
        .filter_map(|parent| tree.get(parent))
        .any(|parent| {
            let code = &parent.layers.code;
            find_word(code, &declaration)
                .any(|at| code[at + declaration.len()..].trim_start().starts_with(';'))
        });
    (!is_declared).then(|| {
        let remedy = format!("add 'mod {name};' to {}", parents.join(" or "));
        Finding::new(
            &file.path,
            1,
            "the test file is not compiled: no 'mod' names it",
            remedy,
        )
    })
}

/// Reports a manifest that keeps cargo from finding the tests by itself.
fn switched_off(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        let compact: String = line
            .chars()
            .filter(|character| !character.is_whitespace())
            .collect();
        if compact == "autotests=false" || compact == "[[test]]" {
            let problem = format!(
                "'{}' keeps cargo from finding {MAIN} by itself",
                line.trim()
            );
            findings.push(Finding::new(&file.path, index + 1, problem, "remove it"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::found;

    #[test]
    fn a_second_test_binary_is_found() {
        assert_eq!(
            found(
                check,
                &[
                    ("crates/a/tests/it/main.rs", ""),
                    ("crates/a/tests/more.rs", ""),
                    ("crates/a/tests/other/main.rs", ""),
                    ("crates/a/tests/ui/fail.rs", ""),
                    ("crates/a/tests/fixtures/main.rs", ""),
                ],
            ),
            [
                "crates/a/tests/more.rs:1: a further integration test binary",
                "crates/a/tests/other/main.rs:1: a further integration test binary",
            ]
        );
    }

    #[test]
    fn a_forgotten_test_file_is_found() {
        let problem = "the test file is not compiled: no 'mod' names it";
        assert_eq!(
            found(
                check,
                &[
                    (
                        "crates/a/tests/it/main.rs",
                        "mod b;\nmod c;\n// mod d;\nmod e { }"
                    ),
                    ("crates/a/tests/it/b.rs", ""),
                    ("crates/a/tests/it/c/mod.rs", "mod f;"),
                    ("crates/a/tests/it/c/f.rs", ""),
                    ("crates/a/tests/it/c/g.rs", ""),
                    ("crates/a/tests/it/d.rs", ""),
                    ("crates/a/tests/it/e.rs", ""),
                    ("crates/a/tests/it/ui/h.rs", ""),
                    ("crates/a/tests/it/fixtures/i.rs", ""),
                ],
            ),
            [
                format!("crates/a/tests/it/c/g.rs:1: {problem}"),
                format!("crates/a/tests/it/d.rs:1: {problem}"),
                format!("crates/a/tests/it/e.rs:1: {problem}"),
            ]
        );
    }

    #[test]
    fn tests_without_a_main_file_are_found() {
        assert_eq!(found(check, &[("xtask/tests/it/b.rs", "")]).len(), 1);
    }

    #[test]
    fn a_manifest_that_hides_tests_is_found() {
        let text = "[package]\nautotests = false\n";
        assert_eq!(
            found(check, &[("crates/a/Cargo.toml", text)]),
            [
                "crates/a/Cargo.toml:2: 'autotests = false' keeps cargo from finding tests/it/main.rs by itself"
            ]
        );
    }
}
