//! Searches by content, name and time: CPU beside `rg` and `fd`, and memory.

use std::io;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use toolsmith_testing::bench::{Goal, Verdict, judged, median, title};

use super::measure::{self, Cost};
use super::tree;

const ROUNDS: usize = 7;

/// How much CPU ours may take for each of `rg`'s, and of `fd`'s.
const CONTENT_GOAL: f64 = 1.1;
const NAME_GOAL: f64 = 1.5;

/// How many megabytes ours may hold.
const MEMORY_GOAL: f64 = 64.0;

/// One search, as it is asked of both.
struct Search {
    what: &'static str,
    tool: &'static str,
    arguments: Value,
    /// The variable that says where the other program lies.
    program: &'static str,
    name: &'static str,
    words: &'static [&'static str],
    goal: f64,
}

const RG: &[&str] = &[
    "--no-config",
    "--hidden",
    "--no-ignore-global",
    "--no-ignore-parent",
    "--color=never",
    "--glob=!.git",
];
const FD: &[&str] = &[
    "--hidden",
    "--no-global-ignore-file",
    "--no-ignore-parent",
    "--color=never",
    "--exclude=.git",
];

fn searches() -> Vec<Search> {
    let by_content = |what, arguments, words| Search {
        what,
        tool: "grep",
        arguments,
        program: "BENCH_RG",
        name: "rg",
        words,
        goal: CONTENT_GOAL,
    };
    let by_name = |what, tool, arguments, words| Search {
        what,
        tool,
        arguments,
        program: "BENCH_FD",
        name: "fd",
        words,
        goal: NAME_GOAL,
    };
    vec![
        by_content(
            "a literal, its lines",
            json!({"pattern": "needle_in_hay", "fixed_strings": true, "output_mode": "content"}),
            &["-n", "-F", "-e", "needle_in_hay", "./"],
        ),
        by_content(
            "a regular expression, its lines",
            json!({"pattern": r"fn \w+_hay_[0-9]+\(error_\w+: u(32|64)\)", "output_mode": "content"}),
            &[
                "-n",
                "-e",
                r"fn \w+_hay_[0-9]+\(error_\w+: u(32|64)\)",
                "./",
            ],
        ),
        by_content(
            "files that match",
            json!({"pattern": r"panic!\(.E00[0-9]+"}),
            &["-l", "-e", r"panic!\(.E00[0-9]+", "./"],
        ),
        by_name(
            "all files and folders",
            "find",
            json!({"max_depth": 20}),
            &["."],
        ),
        by_name(
            "files by name",
            "find",
            json!({"name": "parser_*.rs", "type": "file", "max_depth": 20}),
            &["--type=file", "--ignore-case", "--glob", "parser_*.rs"],
        ),
        by_name(
            "files changed lately",
            "find_recently_modified_files",
            json!({"hours_ago": 2}),
            &["--type=file", "--changed-within=2h", "."],
        ),
    ]
}

/// Makes all searches by turns and judges them.
pub(crate) fn run(home: &Path) -> io::Result<Verdict> {
    let root = tree::ready(home)?;
    title("searches on 105,000 files: ours beside rg and fd, CPU of the whole process");
    let searches = searches();
    let mut costs: Vec<(Vec<Cost>, Vec<Cost>)> = vec![Default::default(); searches.len()];
    // The first round only brings the files into memory.
    for round in 0..=ROUNDS {
        for (search, costs) in searches.iter().zip(&mut costs) {
            let ours = measure::call(&root, search.tool, &search.arguments)?;
            let (ours, told) = measure::run(ours, home)?;
            let (theirs, written) = measure::run(search.theirs(&root)?, home)?;
            search.same(&told, &written)?;
            if round > 0 {
                costs.0.push(ours);
                costs.1.push(theirs);
            }
        }
    }
    let mut verdict = Verdict::Met;
    for (search, (ours, theirs)) in searches.iter().zip(&costs) {
        verdict = verdict.and(search.judge(ours, theirs));
    }
    Ok(verdict)
}

impl Search {
    fn theirs(&self, root: &Path) -> io::Result<Command> {
        let program = std::env::var_os(self.program)
            .ok_or_else(|| io::Error::other(format!("{} is not set", self.program)))?;
        let mut command = Command::new(program);
        let common = if self.name == "rg" { RG } else { FD };
        command.args(common).args(self.words).current_dir(root);
        Ok(command)
    }

    /// Fails unless both found as much: who finds less is quicker.
    fn same(&self, ours: &str, theirs: &str) -> io::Result<()> {
        let ours: usize = ours
            .lines()
            .next()
            .and_then(|line| line.parse().ok())
            .unwrap_or_default();
        let theirs = theirs.lines().count();
        if ours == theirs && ours > 0 {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "{}: ours found {ours}, {} {theirs}",
            self.what, self.name
        )))
    }

    fn judge(&self, ours: &[Cost], theirs: &[Cost]) -> Verdict {
        let pairs = ours.iter().zip(theirs);
        let ratio = median(pairs.map(|(ours, theirs)| ours.cpu / theirs.cpu).collect());
        let cpu = |costs: &[Cost]| median(costs.iter().map(|cost| cost.cpu).collect());
        let memory = |costs: &[Cost]| median(costs.iter().map(|cost| cost.memory).collect());
        let most = ours.iter().map(|cost| cost.memory).fold(0.0, f64::max);
        let cpu = judged(
            &format!(
                "{}: {:.0} ms, {} {:.0} ms",
                self.what,
                cpu(ours),
                self.name,
                cpu(theirs)
            ),
            ratio,
            "×",
            Goal::AtMost(self.goal),
        );
        let memory = judged(
            &format!(
                "{}: memory, the most of all rounds ({} {:.0} MB)",
                self.what,
                self.name,
                memory(theirs)
            ),
            most,
            "MB",
            Goal::AtMost(MEMORY_GOAL),
        );
        cpu.and(memory)
    }
}
