//! The official conformance suite: running it and judging what it found.
//!
//! A requirement set names the scenarios a revision of the specification asks for, and
//! others that run without being scored. All that is required must pass. Of the rest,
//! what does not pass must be explained, and an explanation must still be needed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::Value;

use super::process::finish;
use super::{Context, node};

/// A whole set takes a minute or two; a server that answers nothing costs 30 s for each scenario.
const SUITE_LIMIT: Duration = Duration::from_secs(900);

/// A revision and how many scenarios it requires.
#[derive(Debug, Clone, Copy)]
pub(super) struct Requirements {
    pub(super) revision: &'static str,
    pub(super) required: usize,
    /// What is not scored and does not pass, with the reason.
    pub(super) explained: &'static [(&'static str, &'static str)],
}

/// Runs one set over a subject (`--url URL` or `--command COMMAND`) and judges the outcome.
pub(super) fn run(
    context: &Context,
    leg: &str,
    subject: [&str; 2],
    requirements: Requirements,
) -> anyhow::Result<()> {
    let suite = "@modelcontextprotocol/conformance/dist/index.js";
    let results = context
        .home
        .fresh_folder(&format!("results/{leg}-{}", requirements.revision))?;
    let mut command = Command::new(node::node(&context.home)?);
    command
        .arg(node::file(&context.home, &node::CONFORMANCE, suite)?)
        .arg(leg)
        .args(subject)
        .args(["--requirements", requirements.revision, "--output-dir"])
        .arg(&results);
    // The suite's exit status says less than its summary, which is judged below.
    let finished = finish(&mut command, SUITE_LIMIT)?;
    let summary = Summary::read(&finished.stdout)
        .with_context(|| format!("the suite said: {} {}", finished.stdout, finished.stderr))?;
    println!("{}", summary.table(requirements, &findings(&results)));
    summary.judge(requirements)
}

/// How one scenario went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Outcome {
    passed: usize,
    failed: usize,
    is_scored: bool,
}

impl Outcome {
    /// Whether it passed; a required scenario in which nothing was looked at did not.
    fn is_pass(self) -> bool {
        self.failed == 0 && (self.passed > 0 || !self.is_scored)
    }
}

/// What the suite said at its end.
#[derive(Debug, PartialEq, Eq)]
struct Summary {
    scenarios: BTreeMap<String, Outcome>,
}

impl Summary {
    /// Reads lines like `✓ ping: 2 passed, 0 failed`, then those of the scenarios that are not scored.
    fn read(text: &str) -> anyhow::Result<Self> {
        let mut scenarios = BTreeMap::new();
        let mut is_scored = true;
        for line in text.lines() {
            is_scored &= !line.starts_with("Not scored for ");
            let Some(rest) = line.trim_start().strip_prefix(['✓', '✗']) else {
                continue;
            };
            let rest = rest.trim_start();
            if is_scored {
                let (name, counts) = rest.split_once(": ").context("a line without counts")?;
                let numbers: Vec<usize> = counts
                    .split([' ', ','])
                    .filter_map(|word| word.parse().ok())
                    .collect();
                let [passed, failed, ..] = numbers[..] else {
                    bail!("no counts in '{line}'");
                };
                let outcome = Outcome {
                    passed,
                    failed,
                    is_scored,
                };
                scenarios.insert(name.to_owned(), outcome);
            } else if let Some((name, _)) = rest.split_once(" (")
                && let Some(outcome) = scenarios.get_mut(name)
            {
                outcome.is_scored = false;
            }
        }
        if scenarios.is_empty() {
            bail!("there is no summary");
        }
        Ok(Self { scenarios })
    }

    fn scored(&self) -> impl Iterator<Item = (&String, &Outcome)> {
        self.scenarios
            .iter()
            .filter(|(_, outcome)| outcome.is_scored)
    }

    /// Returns what a person wants to see: the count, the rest one by one, and why a scenario failed.
    fn table(
        &self,
        requirements: Requirements,
        findings: &BTreeMap<String, Vec<String>>,
    ) -> String {
        let passed = self
            .scored()
            .filter(|(_, outcome)| outcome.is_pass())
            .count();
        let mut table = format!(
            "  {}: required {passed}/{}",
            requirements.revision,
            self.scored().count()
        );
        for (name, outcome) in &self.scenarios {
            let explained = explanation(requirements, name);
            let found = findings.get(name).map(Vec::as_slice).unwrap_or_default();
            let word = match (outcome.is_pass(), explained) {
                // What passes and is beyond reproach is counted above.
                (true, _) if outcome.is_scored && found.is_empty() => continue,
                (true, _) => "pass".to_owned(),
                (false, Some(reason)) => format!("explained: {reason}"),
                (false, None) => "FAIL".to_owned(),
            };
            let kind = if outcome.is_scored {
                "required"
            } else {
                "unscored"
            };
            let _ = write!(table, "\n    {kind} {name:<44} {word}");
            for finding in found {
                let _ = write!(table, "\n             {finding}");
            }
        }
        table
    }

    fn judge(&self, requirements: Requirements) -> anyhow::Result<()> {
        let mut problems = Vec::new();
        let required = self.scored().count();
        if required != requirements.required {
            problems.push(format!(
                "the set requires {required} scenarios, not {}",
                requirements.required
            ));
        }
        for (name, outcome) in &self.scenarios {
            let explained = explanation(requirements, name).filter(|_| !outcome.is_scored);
            match (outcome.is_pass(), explained) {
                (true, None) | (false, Some(_)) => {}
                (false, None) => problems.push(format!("{name} does not pass")),
                (true, Some(_)) => {
                    problems.push(format!("{name} passes: remove its explanation"));
                }
            }
        }
        for (name, _) in requirements.explained {
            if !self.scenarios.contains_key(*name) {
                problems.push(format!("{name} is explained but was not run"));
            }
        }
        if !problems.is_empty() {
            bail!("{}", problems.join("; "));
        }
        Ok(())
    }
}

fn explanation(requirements: Requirements, name: &str) -> Option<&'static str> {
    let found = requirements.explained.iter().find(|row| row.0 == name);
    found.map(|row| row.1)
}

/// Returns what did not pass in the results the suite left in a folder, by scenario.
fn findings(folder: &Path) -> BTreeMap<String, Vec<String>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(inner) = folders.pop() {
        for entry in std::fs::read_dir(&inner).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.ends_with("checks.json") {
                let checks = std::fs::read_to_string(&path).unwrap_or_default();
                let name = inner.strip_prefix(folder).unwrap_or(&inner);
                let name = scenario_of(&name.to_string_lossy()).to_owned();
                all.insert(name, unpassed(&checks));
            }
        }
    }
    all
}

/// Returns the scenario of a folder like `server-ping-2026-11-15T20-46-00-000Z`.
fn scenario_of(folder: &str) -> &str {
    const STAMP: usize = "-2026-11-15T20-46-00-000Z".len();
    let name = &folder[..folder.len().saturating_sub(STAMP)];
    // The server leg puts its own name before the scenario's, which may begin with the same word.
    name.strip_prefix("server-").unwrap_or(name)
}

fn unpassed(checks: &str) -> Vec<String> {
    let checks: Vec<Value> = serde_json::from_str(checks).unwrap_or_default();
    let text = |check: &Value, key: &str| check[key].as_str().unwrap_or_default().to_owned();
    checks
        .iter()
        .filter(|check| matches!(check["status"].as_str(), Some("FAILURE" | "WARNING")))
        .map(|check| {
            let message = match text(check, "errorMessage") {
                message if message.is_empty() => text(check, "description"),
                message => message,
            };
            let message: String = message.replace('\n', " ").chars().take(400).collect();
            format!("{} {}: {message}", text(check, "status"), text(check, "id"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
=== Running scenario: ping ===

=== SUMMARY ===
✓ ping: 2 passed, 0 failed
✗ tools-list: 1 passed, 1 failed
✓ silent: 0 passed, 0 failed
✗ auth/dpop: 0 passed, 3 failed, 1 warnings

Total: 3 passed, 4 failed

Not scored for 2025-11-25: 1 scenario(s) run, 1 failing. These do not affect conformance.
  ✗ auth/dpop (extension)
";

    fn requirements(explained: &'static [(&'static str, &'static str)]) -> Requirements {
        Requirements {
            revision: "2025-11-25",
            required: 3,
            explained,
        }
    }

    #[test]
    fn the_summary_tells_what_is_scored_and_what_passed() {
        let summary = Summary::read(TEXT).unwrap();
        let passed: Vec<_> = summary.scenarios.values().map(|it| it.is_pass()).collect();
        // In the order of names: auth/dpop, ping, silent, tools-list.
        assert_eq!(passed, [false, true, false, false]);
        assert_eq!(summary.scored().count(), 3);
        assert!(Summary::read("nothing").is_err());
    }

    #[test]
    fn what_fails_must_be_explained_if_it_may_be_and_nothing_else() {
        let summary = Summary::read(TEXT).unwrap();
        let error = summary.judge(requirements(&[])).unwrap_err().to_string();
        assert_eq!(
            error,
            "auth/dpop does not pass; silent does not pass; tools-list does not pass"
        );
        let rows = &[
            ("auth/dpop", "not built"),
            ("ping", "wrong"),
            ("gone", "old"),
        ];
        let error = summary.judge(requirements(rows)).unwrap_err().to_string();
        assert_eq!(
            error,
            "silent does not pass; tools-list does not pass; gone is explained but was not run"
        );
    }

    #[test]
    fn an_explanation_that_is_no_longer_needed_fails() {
        let text = TEXT.replace(
            "✗ auth/dpop: 0 passed, 3 failed",
            "✓ auth/dpop: 3 passed, 0 failed",
        );
        let summary = Summary::read(&text).unwrap();
        let error = summary.judge(requirements(&[("auth/dpop", "old")]));
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("auth/dpop passes: remove its explanation"),
            "{error}"
        );
    }

    #[test]
    fn results_are_found_by_the_name_of_their_folder() {
        assert_eq!(scenario_of("server-ping-2026-11-15T20-46-00-000Z"), "ping");
        assert_eq!(
            scenario_of("server-server-initialize-2026-11-15T20-46-00-000Z"),
            "server-initialize"
        );
        assert_eq!(
            scenario_of("auth/dpop-2026-11-15T20-46-00-000Z"),
            "auth/dpop"
        );
    }
}
