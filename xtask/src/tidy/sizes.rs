//! A file fits in a head: at most 600 production lines.
//!
//! Production lines are all lines but those under `#[cfg(test)]`. Exceptions are
//! listed in `tidy.toml` with their size, and the size listed may only go down.

use std::collections::BTreeMap;

use super::Finding;
use super::tree::{File, Tree};

const LIMIT: usize = 600;
const LIST: &str = "tidy.toml";
const SECTION: &str = "[file-sizes]";

/// Finds files over the limit and stale entries in the list of exceptions.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let (listed, mut findings) = exceptions(tree);
    let sizes: BTreeMap<&str, usize> = tree
        .production()
        .map(|file| (file.path.as_str(), production_lines(file)))
        .collect();
    for (path, size) in &sizes {
        if *size > LIMIT && !listed.contains_key(*path) {
            findings.push(Finding::new(
                path,
                LIMIT + 1,
                format!("{size} production lines, over the limit of {LIMIT}"),
                "split the file where its story changes",
            ));
        }
    }
    for (path, exception) in &listed {
        let Exception { allowed, line } = *exception;
        let (problem, remedy) = match sizes.get(path.as_str()) {
            None => (
                format!("'{path}' is not a source file"),
                "remove the entry".to_owned(),
            ),
            Some(size) if *size <= LIMIT => (
                format!("'{path}' has {size} production lines and needs no exception"),
                "remove the entry".to_owned(),
            ),
            Some(size) if *size < allowed => (
                format!("'{path}' has shrunk from {allowed} to {size} production lines"),
                format!("lower the number to {size}"),
            ),
            Some(size) if *size > allowed => (
                format!("'{path}' has grown from {allowed} to {size} production lines"),
                "split the file; the number listed only goes down".to_owned(),
            ),
            Some(_) => continue,
        };
        findings.push(Finding::new(LIST, line, problem, remedy));
    }
    findings
}

#[derive(Debug, Clone, Copy)]
struct Exception {
    allowed: usize,
    line: usize,
}

/// Reads `"path" = number` lines; the list needs no more of TOML than that.
fn exceptions(tree: &Tree) -> (BTreeMap<String, Exception>, Vec<Finding>) {
    let mut listed = BTreeMap::new();
    let mut findings = Vec::new();
    let text = tree.get(LIST).map_or("", |file| file.text.as_str());
    for (index, line) in text.lines().enumerate() {
        let content = line.split('#').next().unwrap_or_default().trim();
        if content.is_empty() || content == SECTION {
            continue;
        }
        let entry = content.split_once('=').and_then(|(path, number)| {
            let path = path.trim().strip_prefix('"')?.strip_suffix('"')?;
            Some((path.to_owned(), number.trim().parse().ok()?))
        });
        let line = index + 1;
        match entry {
            Some((path, allowed)) => {
                listed.insert(path, Exception { allowed, line });
            }
            None => findings.push(Finding::new(
                LIST,
                line,
                format!("'{content}' is not an exception"),
                format!("write \"path/from/the/root.rs\" = 700 under {SECTION}"),
            )),
        }
    }
    (listed, findings)
}

fn production_lines(file: &File) -> usize {
    let mut start = 0;
    let mut count = 0;
    for line in file.text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        if !file.is_test_code(start + indent) {
            count += 1;
        }
        start += line.len();
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::found;

    const PATH: &str = "crates/a/src/b.rs";

    fn lines(count: usize) -> String {
        "fn a() {}\n".repeat(count)
    }

    #[test]
    fn a_file_over_the_limit_is_found_and_tests_do_not_count() {
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", lines(900));
        assert!(found(check, &[(PATH, &format!("{}{tests}", lines(600)))]).is_empty());
        assert_eq!(
            found(check, &[(PATH, &format!("{}{tests}", lines(601)))]),
            ["crates/a/src/b.rs:601: 601 production lines, over the limit of 600"]
        );
        // Declaring the tests first hides nothing.
        let first = format!("#[cfg(test)]\nmod tests;\n{}", lines(601));
        assert_eq!(found(check, &[(PATH, &first)]).len(), 1);
        assert!(found(check, &[("crates/a/tests/it/b.rs", &lines(900))]).is_empty());
    }

    #[test]
    fn a_listed_number_only_goes_down() {
        for (size, problem) in [
            (700, None),
            (
                701,
                Some("'crates/a/src/b.rs' has grown from 700 to 701 production lines"),
            ),
            (
                699,
                Some("'crates/a/src/b.rs' has shrunk from 700 to 699 production lines"),
            ),
            (
                600,
                Some("'crates/a/src/b.rs' has 600 production lines and needs no exception"),
            ),
        ] {
            let list = "[file-sizes]\n\"crates/a/src/b.rs\" = 700 # a table\n";
            let expected: Vec<String> = problem
                .map(|text| format!("tidy.toml:2: {text}"))
                .into_iter()
                .collect();
            assert_eq!(
                found(check, &[(PATH, &lines(size)), (LIST, list)]),
                expected
            );
        }
    }

    #[test]
    fn an_entry_for_no_file_and_an_unreadable_entry_are_found() {
        let list = "[file-sizes]\n\"crates/a/src/gone.rs\" = 700\nb = many\n";
        assert_eq!(
            found(check, &[(LIST, list)]),
            [
                "tidy.toml:3: 'b = many' is not an exception",
                "tidy.toml:2: 'crates/a/src/gone.rs' is not a source file",
            ]
        );
    }
}
