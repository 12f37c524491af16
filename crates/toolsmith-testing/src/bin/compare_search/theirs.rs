//! `rg` and `fd`: how they are started so that they mean the same, and what they answer.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::query::{Fact, Facts, Program, Query, Reading};
use super::tree::Tree;

const RG: &[&str] = &[
    "--no-config",
    "--hidden",
    "--no-ignore-global",
    "--no-messages",
    "--color=never",
];
const FD: &[&str] = &[
    "--hidden",
    "--no-global-ignore-file",
    "--color=never",
    "--exclude=.git",
];

/// What our tools are compared with.
#[derive(Debug)]
pub(crate) struct Programs {
    rg: OsString,
    fd: OsString,
    root: PathBuf,
    /// A home without configuration.
    empty: PathBuf,
}

impl Programs {
    /// Takes the programs from the environment.
    pub(crate) fn find(home: &Path, tree: &Tree) -> Result<Self, String> {
        let variable =
            |name: &str| std::env::var_os(name).ok_or_else(|| format!("{name} is not set"));
        let empty = home.join("empty");
        std::fs::create_dir_all(&empty).map_err(|error| error.to_string())?;
        Ok(Self {
            rg: variable("COMPARE_RG")?,
            fd: variable("COMPARE_FD")?,
            root: tree.root.clone(),
            empty,
        })
    }

    /// The folders with files that ignore rules do not hide.
    pub(crate) fn shown(&self) -> Result<Vec<String>, String> {
        let mut command = self.start(&self.rg, "");
        command.args(RG).args(["--files", "--glob=!.git", "./"]);
        let text = output(&mut command)?;
        let mut folders = BTreeSet::new();
        for path in text.lines() {
            let path = path.strip_prefix("./").unwrap_or(path);
            folders.extend(path.match_indices('/').map(|(at, _)| path[..at].to_owned()));
        }
        Ok(folders.into_iter().collect())
    }

    /// Returns the line a person types to see the answer.
    pub(crate) fn line(&self, query: &Query) -> String {
        let command = self.command(query);
        let words = command.get_args().map(|word| format!("{word:?}"));
        let words: Vec<String> = words.collect();
        let beside = match &query.glob {
            Some(glob) => format!(" (only files that fit {glob:?})"),
            None => String::new(),
        };
        format!(
            "cd {:?} && {} {}{beside}",
            self.root.join(&query.folder),
            command.get_program().display(),
            words.join(" ")
        )
    }

    /// Asks, and returns what was found.
    pub(crate) fn answer(&self, query: &Query) -> Result<Facts, String> {
        let text = output(&mut self.command(query))?;
        let mut facts = match query.program {
            Program::Rg => read_json(query, &text)?,
            Program::RgFiles | Program::Fd => {
                let lines = text.lines().map(|line| (query.path(line), 0));
                lines.map(|key| (key, Fact::Found)).collect()
            }
        };
        if let Some(glob) = &query.glob {
            let mut files = self.start(&self.rg, &query.folder);
            files.args(RG).args(["--files", "--glob", glob]);
            files.args(query.words.iter().filter(|word| *word == "--no-ignore"));
            files.args(["--glob=!.git", "./"]);
            let text = output(&mut files)?;
            let fit: BTreeSet<String> = text.lines().map(|line| query.path(line)).collect();
            facts.retain(|(path, _), _| fit.contains(path));
        }
        Ok(facts)
    }

    fn command(&self, query: &Query) -> Command {
        let mut command = match query.program {
            Program::Rg | Program::RgFiles => self.start(&self.rg, &query.folder),
            Program::Fd => self.start(&self.fd, &query.folder),
        };
        match query.program {
            // What is not text is searched by ours, and only said to match.
            Program::Rg => command.args(RG).args(["--json", "--binary"]),
            Program::RgFiles => command.args(RG).arg("--files"),
            Program::Fd => command.args(FD),
        };
        command.args(&query.words);
        if query.program != Program::Fd {
            // The last pattern decides.
            command.args(["--glob=!.git", "./"]);
        }
        command
    }

    fn start(&self, program: &OsString, folder: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.root.join(folder))
            .env("HOME", &self.empty)
            .env("XDG_CONFIG_HOME", &self.empty)
            .env("TZ", "UTC")
            .stdin(Stdio::null());
        command
    }
}

fn output(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    // 1 is that nothing was found.
    if output.status.code().is_none_or(|code| code > 1) {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?} ended with {}: {said}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Adds a line. Where it stands near one match and is another, it is a match.
pub(crate) fn add_line(facts: &mut Facts, key: (String, u64), line: Fact) {
    let is_match = matches!(&line, Fact::Line { is_match: true, .. });
    if is_match || !facts.contains_key(&key) {
        facts.insert(key, line);
    }
}

/// Reads what `rg` tells as JSON, file by file.
fn read_json(query: &Query, text: &str) -> Result<Facts, String> {
    let mut facts = Facts::new();
    let mut lines = Facts::new();
    let mut count = 0;
    for line in text.lines() {
        let message: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let data = &message["data"];
        let path = || query.path(data["path"]["text"].as_str().unwrap_or_default());
        match message["type"].as_str() {
            Some("begin") => {
                lines = Facts::new();
                count = 0;
            }
            Some(kind @ ("match" | "context")) => {
                count += u64::from(kind == "match");
                read_lines(&path(), data, kind == "match", &mut lines);
            }
            Some("end") => {
                let is_binary = !data["binary_offset"].is_null();
                match query.reading {
                    Reading::Lines if is_binary => {
                        facts.insert((path(), 0), Fact::Binary);
                    }
                    Reading::Lines => facts.append(&mut lines),
                    Reading::Counts if is_binary => {
                        facts.insert((path(), 0), Fact::Binary);
                    }
                    Reading::Counts => {
                        facts.insert((path(), 0), Fact::Count(count));
                    }
                    _ => {
                        facts.insert((path(), 0), Fact::Found);
                    }
                }
            }
            _ => {}
        }
    }
    Ok(facts)
}

fn read_lines(path: &str, data: &Value, is_match: bool, lines: &mut Facts) {
    let first = data["line_number"].as_u64().unwrap_or_default();
    let Some(text) = data["lines"]["text"].as_str() else {
        let line = Fact::Line {
            text: None,
            is_match,
        };
        return add_line(lines, (path.to_owned(), first), line);
    };
    let whole = text.strip_suffix('\n').unwrap_or(text);
    for (number, text) in (first..).zip(whole.split('\n')) {
        let text = text.strip_suffix('\r').unwrap_or(text);
        let line = Fact::Line {
            text: Some(text.to_owned()).filter(|text| !text.contains('\u{FFFD}')),
            is_match,
        };
        add_line(lines, (path.to_owned(), number), line);
    }
}
