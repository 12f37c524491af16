//! Each property of `fuzz/` is run: by libFuzzer, by a test, and over seeds.
//!
//! A property is a file of `fuzz/src` with `pub fn check`. One that nobody runs holds
//! nothing, and nobody would notice.

use super::Finding;
use super::tree::{File, Tree};

const HOME: &str = "fuzz/src/";
const TESTS: &str = "crates/toolsmith-testing/tests/it/fuzz/mod.rs";
const MANIFEST: &str = "fuzz/Cargo.toml";

/// Finds properties that lack one of their drivers, and drivers of none.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings: Vec<Finding> = (tree.files())
        .filter_map(|file| Some((file, property(file)?)))
        .flat_map(|(file, name)| missing(tree, file, name))
        .collect();
    let is_left = |file: &&File| {
        let name = file.path.strip_prefix("fuzz/fuzz_targets/");
        name.is_some_and(|name| tree.get(&format!("{HOME}{name}")).is_none())
    };
    findings.extend(tree.files().filter(is_left).map(|file| {
        let problem = "the target of a property that is not there";
        Finding::new(&file.path, 1, problem, "remove it, or write the property")
    }));
    findings
}

/// The name of the property a file holds.
fn property(file: &File) -> Option<&str> {
    let name = file.path.strip_prefix(HOME)?.strip_suffix(".rs")?;
    file.layers.code.contains("pub fn check(").then_some(name)
}

fn missing(tree: &Tree, file: &File, name: &str) -> Vec<Finding> {
    let report = |problem: String, remedy: String| Finding::new(&file.path, 1, problem, remedy);
    let mut findings = Vec::new();
    let target = format!("fuzz/fuzz_targets/{name}.rs");
    let runs_it = |file: &File| file.layers.code.contains(&format!("{name}::check"));
    if !tree.get(&target).is_some_and(runs_it) {
        findings.push(report(
            format!("libFuzzer does not run '{name}'"),
            format!("write {target}, like the others"),
        ));
    }
    let is_listed = |file: &File| file.text.contains(&format!("name = \"{name}\""));
    if !tree.get(MANIFEST).is_some_and(is_listed) {
        findings.push(report(
            format!("{MANIFEST} does not list '{name}'"),
            "add a table [[bin]] for it, like the others".to_owned(),
        ));
    }
    let is_tested = |file: &File| file.layers.code.contains(&format!("\n    {name}: "));
    if !tree.get(TESTS).is_some_and(is_tested) {
        findings.push(report(
            format!("no test runs '{name}'"),
            format!("add it to the list in {TESTS}"),
        ));
    }
    if !tree.holds(&format!("fuzz/seeds/{name}")) {
        findings.push(report(
            format!("'{name}' has no seeds"),
            format!("put a few nasty inputs into fuzz/seeds/{name}/"),
        ));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::found;

    const WHOLE: &[(&str, &str)] = &[
        ("fuzz/src/lib.rs", "pub mod a;"),
        ("fuzz/src/a.rs", "pub fn check(bytes: &[u8]) {}"),
        ("fuzz/src/help.rs", "pub(crate) fn help() {}"),
        ("fuzz/fuzz_targets/a.rs", "toolsmith_fuzz::a::check(bytes)"),
        (MANIFEST, "[[bin]]\nname = \"a\"\n"),
        (TESTS, "properties! {\n    a: 100,\n}"),
        ("fuzz/seeds/a/one", "x"),
    ];

    #[test]
    fn a_property_with_all_its_drivers_is_in_order() {
        assert!(found(check, WHOLE).is_empty());
    }

    #[test]
    fn each_missing_driver_is_found() {
        for (path, problem) in [
            ("fuzz/fuzz_targets/a.rs", "libFuzzer does not run 'a'"),
            (MANIFEST, "fuzz/Cargo.toml does not list 'a'"),
            (TESTS, "no test runs 'a'"),
            ("fuzz/seeds/a/one", "'a' has no seeds"),
        ] {
            let rest: Vec<(&str, &str)> = (WHOLE.iter().copied())
                .filter(|(other, _)| *other != path)
                .collect();
            assert_eq!(found(check, &rest), [format!("fuzz/src/a.rs:1: {problem}")]);
        }
    }

    #[test]
    fn a_target_of_nothing_is_found() {
        let problem = "the target of a property that is not there";
        assert_eq!(
            found(check, &[("fuzz/fuzz_targets/b.rs", "")]),
            [format!("fuzz/fuzz_targets/b.rs:1: {problem}")]
        );
    }
}
