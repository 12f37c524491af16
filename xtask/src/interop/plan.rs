//! Plans: what a driver in another language does with a server, as data.
//!
//! `client.py` and `client.mjs` of `xtask/interop/` take the same plan, so that one list of
//! steps says what every SDK must be able to do. A driver prints one line of JSON for
//! each step; this file writes the plan, runs the driver and judges the lines.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use serde_json::{Value, json};

use super::process::finish;

/// Each step has a limit of its own; this one is for a driver that hangs between them.
const DRIVER_LIMIT: Duration = Duration::from_secs(180);

/// The version a client of the handshake agrees on.
pub(super) const HANDSHAKE: &str = "2025-11-25";

/// The version without a handshake.
pub(super) const STATELESS: &str = "2026-07-28";

/// Where the server is.
#[derive(Debug, Clone)]
pub(super) enum Target {
    /// A program the driver starts and speaks to over its standard streams.
    Stdio {
        command: String,
        arguments: Vec<String>,
        environment: BTreeMap<String, String>,
    },
    /// A server that runs already, perhaps behind a token.
    Http { url: String, token: Option<String> },
}

/// How a client that knows both eras opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    /// With `initialize`.
    Legacy,
    /// With 2026-07-28, and nothing else.
    Modern,
    /// With `server/discover`, and `initialize` if that is not understood.
    Auto,
}

impl Era {
    /// Returns the word drivers know it by.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
            Self::Auto => "auto",
        }
    }

    /// Returns the version that a server of both eras agrees on.
    pub(super) fn version(self) -> &'static str {
        match self {
            Self::Legacy => HANDSHAKE,
            Self::Modern | Self::Auto => STATELESS,
        }
    }
}

/// One thing to do and what must come of it.
///
/// Arguments are a JSON object. `text` must occur in the text of the result; a call
/// that is `refused` must come back as a result with `isError`.
#[derive(Debug, Clone)]
pub(super) struct Step(Value);

impl Step {
    /// Lists the tools; those named must be among them.
    pub(super) fn list(names: &[&str]) -> Self {
        Self(json!({ "do": "list", "contains": names }))
    }

    /// Calls a tool.
    pub(super) fn call(tool: &str, arguments: &Value, text: &str) -> Self {
        Self(json!({ "do": "call", "tool": tool, "arguments": arguments, "text": text }))
    }

    /// Calls a tool with arguments it must refuse.
    pub(super) fn refused(tool: &str, arguments: &Value) -> Self {
        Self(json!({ "do": "call", "tool": tool, "arguments": arguments, "error": true }))
    }

    /// Calls a tool whose result must have content of this kind.
    pub(super) fn content(tool: &str, arguments: &Value, kind: &str) -> Self {
        Self(json!({ "do": "call", "tool": tool, "arguments": arguments, "content": [kind] }))
    }

    /// Calls a tool that must report its progress at least so often, never going back.
    pub(super) fn progress(tool: &str, arguments: &Value, at_least: u32, text: &str) -> Self {
        Self(json!({
            "do": "progress", "tool": tool, "arguments": arguments, "at_least": at_least, "text": text,
        }))
    }

    /// Calls a tool and cancels the call; with a marker, that file must appear within five seconds.
    pub(super) fn cancel(tool: &str, arguments: &Value, marker: Option<&Path>) -> Self {
        Self(json!({
            "do": "cancel", "tool": tool, "arguments": arguments, "after_ms": 500, "marker": marker,
        }))
    }

    /// Calls a tool that must ask, and answers it.
    pub(super) fn elicit(tool: &str, answer: &Value, text: &str) -> Self {
        Self(
            json!({ "do": "elicit", "tool": tool, "arguments": {}, "answer": answer, "text": text }),
        )
    }

    /// Lists the resources; "method not found" is an answer too.
    pub(super) fn resources() -> Self {
        Self(json!({ "do": "resources" }))
    }

    /// Lists the prompts; "method not found" is an answer too.
    pub(super) fn prompts() -> Self {
        Self(json!({ "do": "prompts" }))
    }
}

/// A target, how to open, and the steps.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) target: Target,
    pub(super) era: Era,
    pub(super) steps: Vec<Step>,
}

impl Plan {
    /// Runs a driver over the plan and fails with every step that did not go well.
    pub(super) fn run(&self, driver: &Driver, folder: &Path) -> anyhow::Result<()> {
        let file = folder.join("plan.json");
        let file = file.as_path();
        std::fs::write(file, self.to_json().to_string())
            .with_context(|| format!("failed to write {file:?}"))?;
        let mut command = Command::new(&driver.program);
        command.arg(&driver.script).arg(file).args(driver.line);
        let finished = finish(&mut command, DRIVER_LIMIT)?;
        let lines = read_lines(&finished.stdout);
        judge(&lines, self.steps.len()).map_err(|problem| {
            if lines.len() == self.steps.len() + 2 {
                return problem;
            }
            // The reason is in what the driver said before it stopped.
            anyhow!("{problem}: {}", finished.last_words())
        })
    }

    fn to_json(&self) -> Value {
        let target = match &self.target {
            Target::Stdio {
                command,
                arguments,
                environment,
            } => json!({ "stdio": { "command": command, "args": arguments, "env": environment } }),
            Target::Http { url, token } => json!({ "http": { "url": url, "token": token } }),
        };
        let steps: Vec<&Value> = self.steps.iter().map(|step| &step.0).collect();
        json!({
            "target": target, "era": self.era.word(), "version": self.era.version(), "steps": steps,
        })
    }
}

/// A program in another language that takes a plan.
#[derive(Debug, Clone)]
pub(super) struct Driver {
    /// How the checks call it.
    pub(super) name: &'static str,
    pub(super) program: PathBuf,
    pub(super) script: PathBuf,
    /// The line of the SDK, where a script can drive several.
    pub(super) line: Option<&'static str>,
    /// The ways it can open.
    pub(super) eras: &'static [Era],
}

/// What a driver said of one step.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    step: String,
    ok: bool,
    detail: String,
}

fn read_lines(text: &str) -> Vec<Line> {
    let read = |line: &str| {
        let value: Value = serde_json::from_str(line).ok()?;
        Some(Line {
            step: value.get("step")?.as_str()?.to_owned(),
            ok: value.get("ok")?.as_bool()?,
            detail: value.get("detail")?.as_str()?.to_owned(),
        })
    };
    text.lines().filter_map(read).collect()
}

/// Fails unless every step was reported and went well; connecting and closing are steps too.
fn judge(lines: &[Line], steps: usize) -> anyhow::Result<()> {
    let failed: Vec<String> = lines
        .iter()
        .filter(|line| !line.ok)
        .map(|line| format!("{}: {}", line.step, line.detail))
        .collect();
    if !failed.is_empty() {
        bail!("{}", failed.join("; "));
    }
    if lines.len() != steps + 2 {
        bail!(
            "the driver stopped after {} of {} steps",
            lines.len(),
            steps + 2
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(step: &str, ok: bool) -> Line {
        Line {
            step: step.to_owned(),
            ok,
            detail: "why".to_owned(),
        }
    }

    #[test]
    fn a_plan_is_read_by_drivers_as_it_is_meant() {
        let plan = Plan {
            target: Target::Http {
                url: "http://127.0.0.1:1/mcp".to_owned(),
                token: None,
            },
            era: Era::Auto,
            steps: vec![Step::list(&["a"]), Step::refused("a", &json!({}))],
        };
        let expected = json!({
            "target": { "http": { "url": "http://127.0.0.1:1/mcp", "token": null } },
            "era": "auto",
            "version": "2026-07-28",
            "steps": [
                { "do": "list", "contains": ["a"] },
                { "do": "call", "tool": "a", "arguments": {}, "error": true },
            ],
        });
        assert_eq!(plan.to_json(), expected);
    }

    #[test]
    fn a_step_that_failed_or_never_came_fails_the_plan() {
        let well = [
            line("connect", true),
            line("list", true),
            line("close", true),
        ];
        assert!(judge(&well, 1).is_ok());
        assert!(
            judge(&well[..2], 1)
                .unwrap_err()
                .to_string()
                .contains("2 of 3")
        );
        let ill = [
            line("connect", true),
            line("list", false),
            line("close", true),
        ];
        assert_eq!(judge(&ill, 1).unwrap_err().to_string(), "list: why");
    }

    #[test]
    fn noise_between_the_lines_is_not_heard() {
        let text = "warning\n{\"step\":\"connect\",\"ok\":true,\"detail\":\"why\"}\n{}\n";
        assert_eq!(read_lines(text), [line("connect", true)]);
    }
}
