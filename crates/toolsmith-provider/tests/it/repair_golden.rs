//! Files in, files out: each case holds what is expected of it.
//!
//! `GOLDEN=write` in the environment writes what was found instead of comparing it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolsmith_provider::repair::repair;

/// Walks the cases of a folder, and compares what `find` finds with what they expect.
pub(crate) fn walk(folder: &str, find: impl Fn(&Path, &Value) -> Value) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(folder);
    let write = std::env::var("GOLDEN").is_ok_and(|value| value == "write");
    let mut different = Vec::new();
    let cases = files(&root);
    assert!(!cases.is_empty(), "no cases in {}", root.display());
    for path in cases {
        let text = fs::read_to_string(&path).unwrap();
        let mut case: Value = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let found = find(&path, &case);
        if write {
            case["expected"] = found;
            fs::write(&path, serde_json::to_string_pretty(&case).unwrap() + "\n").unwrap();
        } else if case["expected"] != found {
            let expected = &case["expected"];
            different.push(format!(
                "{}\n  expected {expected}\n  found    {found}",
                path.display()
            ));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// The files below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "json")
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn repairs_are_as_expected() {
    walk("repair", |_, case| {
        match repair(case["text"].as_str().unwrap()) {
            Ok(repaired) => json!({
                "value": repaired.value,
                "truncated": repaired.truncated,
                "steps": repaired.steps(),
            }),
            Err(error) => json!({ "error": error.to_string() }),
        }
    });
}
