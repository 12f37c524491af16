//! Every crate's manifest says what the crate is, under which licence, and takes the workspace's lints.

use super::Finding;
use super::tree::{File, Tree};

/// Finds manifests that lack what every crate must have.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let is_manifest = |file: &&File| file.name() == "Cargo.toml" && file.crate_name().is_some();
    let manifests = tree
        .files()
        .filter(is_manifest)
        .filter(|file| !file.lies_in(&["fixtures", "ui"]));
    manifests.flat_map(faults).collect()
}

fn faults(file: &File) -> Vec<Finding> {
    let report = |line, problem, remedy| Finding::new(&file.path, line, problem, remedy);
    let mut findings = Vec::new();
    match value(file, "lints", "workspace") {
        Some((_, "true")) => {}
        _ => findings.push(report(
            1,
            "the crate does not take the workspace's lints",
            "add the table [lints] with 'workspace = true'",
        )),
    }
    let licence = value(file, "package", "license").or(value(file, "package", "license.workspace"));
    if licence.is_none() {
        findings.push(report(
            1,
            "the crate has no licence",
            "add 'license.workspace = true'",
        ));
    }
    match value(file, "package", "description") {
        None | Some((_, "")) => {
            findings.push(report(
                1,
                "the crate has no description",
                "say in one line what it is for",
            ));
        }
        Some((line, "TBD")) => {
            findings.push(report(
                line,
                "the description is a placeholder",
                "say in one line what the crate is for",
            ));
        }
        Some(_) => {}
    }
    findings
}

/// Returns the line and the bare value of a key in a table; manifests here keep one key per line.
fn value<'a>(file: &'a File, table: &str, key: &str) -> Option<(usize, &'a str)> {
    let header = format!("[{table}]");
    let mut lines = file
        .text
        .lines()
        .enumerate()
        .skip_while(|(_, line)| line.trim() != header)
        .skip(1);
    lines
        .by_ref()
        .take_while(|(_, line)| !line.trim_start().starts_with('['))
        .filter_map(|(index, line)| Some((index, line.split_once('=')?)))
        .find(|(_, (name, _))| name.trim() == key)
        .map(|(index, (_, value))| (index + 1, value.trim().trim_matches('"').trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::found;

    const WHOLE: &str = "[package]\nname = \"a\"\ndescription = \"What a is\"\nlicense.workspace = true\n\n[lints]\nworkspace = true\n";

    #[test]
    fn a_whole_manifest_has_no_fault() {
        assert!(
            found(
                check,
                &[
                    ("crates/a/Cargo.toml", WHOLE),
                    ("Cargo.toml", "[workspace]")
                ]
            )
            .is_empty()
        );
    }

    #[test]
    fn each_missing_part_is_found() {
        for (from, to, problem) in [
            ("What a is", "TBD", "3: the description is a placeholder"),
            ("What a is", "", "1: the crate has no description"),
            ("description", "homepage", "1: the crate has no description"),
            (
                "license.workspace",
                "publish.workspace",
                "1: the crate has no licence",
            ),
            (
                "[lints]",
                "[lints.rust]",
                "1: the crate does not take the workspace's lints",
            ),
            (
                "\nworkspace = true",
                "\nworkspace = false",
                "1: the crate does not take the workspace's lints",
            ),
        ] {
            let text = WHOLE.replace(from, to);
            assert_eq!(
                found(check, &[("crates/a/Cargo.toml", &text)]),
                [format!("crates/a/Cargo.toml:{problem}")]
            );
        }
    }
}
