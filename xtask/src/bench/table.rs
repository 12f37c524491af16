//! The figures of all benchmarks in one table, for the terminal and for `docs/benchmarks.md`.
//!
//! Benchmarks append what they tell to a file, a line of JSON each; this file reads those
//! lines and writes the table. It judges nothing: whether a goal is met is said in the line.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context;
use serde_json::Value;

/// Where the table is kept.
pub(crate) const PAGE: &str = "docs/benchmarks.md";

/// What one benchmark told.
#[derive(Debug)]
pub(crate) struct Told {
    name: &'static str,
    rows: Vec<Value>,
    /// How it ended, where that was not well.
    failure: Option<String>,
}

impl Told {
    /// Reads what a benchmark told.
    pub(crate) fn read(
        name: &'static str,
        file: &Path,
        failure: Option<String>,
    ) -> anyhow::Result<Self> {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(_) if failure.is_some() => String::new(),
            Err(error) => return Err(error).context(format!("{name} told nothing")),
        };
        let rows = text.lines().map(serde_json::from_str);
        let rows = rows.collect::<Result<_, _>>().context("a row is no JSON")?;
        Ok(Self {
            name,
            rows,
            failure,
        })
    }
}

/// Writes the page: how it was measured, what every benchmark took, and every figure.
pub(crate) fn page(all: &[Told], machine: &str) -> String {
    let mut page = String::from(HEAD);
    let _ = writeln!(page, "Measured on {machine}.\n");
    page.push_str("## The runs\n\n");
    page.push_str(
        "| benchmark | wall | CPU | its own memory | load average before, after | goals |\n",
    );
    page.push_str("|---|---|---|---|---|---|\n");
    for told in all {
        let _ = writeln!(page, "| {} | {} | {} |", told.name, run(told), goals(told));
    }
    page.push_str(
        "\n## The figures\n\n| benchmark | what | figure | goal | met |\n|---|---|---|---|---|\n",
    );
    for told in all {
        let mut part = "";
        for row in told.rows.iter().filter(|row| row.get("run").is_none()) {
            let now = row["part"].as_str().unwrap_or_default();
            if now != part {
                part = now;
                let _ = writeln!(page, "| {} | *{}* | | | |", told.name, cell(part));
            }
            let _ = writeln!(page, "{}", figure(told.name, row));
        }
        // Where there are figures, they say which goals are not met. How to run it again is a
        // matter of one machine.
        if let (Some(failure), true) = (&told.failure, told.rows.is_empty()) {
            let failure = cell(failure.lines().next().unwrap_or_default());
            let _ = writeln!(page, "| {} | {failure} | | | NOT met |", told.name);
        }
    }
    page
}

fn figure(name: &str, row: &Value) -> String {
    let text = |key: &str| cell(row[key].as_str().unwrap_or_default());
    if let Some(why) = row["skipped"].as_str() {
        return format!(
            "| {name} | {} | not measured: {} | | |",
            text("what"),
            cell(why)
        );
    }
    let met = match row["met"].as_bool() {
        Some(true) => "met",
        Some(false) => "NOT met",
        None => "",
    };
    let figure = row["figure"].as_f64().unwrap_or(f64::NAN);
    let figure = format!("{figure:.2} {}", text("unit"));
    let (what, goal) = (text("what"), text("goal"));
    format!(
        "| {name} | {what} | {} | {goal} | {met} |",
        figure.trim_end()
    )
}

/// What a run took: wall, CPU with all it started, memory, load.
fn run(told: &Told) -> String {
    let run = told.rows.iter().find_map(|row| row.get("run"));
    let Some(run) = run else {
        return "did not end | | | ".to_owned();
    };
    let number = |key: &str| run[key].as_f64().unwrap_or(f64::NAN);
    let load = |index: usize| run["load"][index].as_str().unwrap_or("unknown").to_owned();
    format!(
        "{:.1} s | {:.1} s | {:.0} MB | {}, {}",
        number("wall"),
        number("cpu"),
        number("memory"),
        load(0),
        load(1)
    )
}

fn goals(told: &Told) -> String {
    let judged: Vec<bool> = (told.rows.iter())
        .filter_map(|row| row["met"].as_bool())
        .collect();
    let met = judged.iter().filter(|met| **met).count();
    format!("{met} of {} met", judged.len())
}

/// A text that ends no cell, with its blanks as they are read.
fn cell(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace('|', "\\|")
}

/// The processor, its cores, and the memory of this machine.
pub(crate) fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let after = |text: &str, word: &str| {
        let line = text.lines().find(|line| line.starts_with(word));
        let value = line.and_then(|line| line.split_once(':'));
        value
            .map_or("unknown", |(_, value)| value.trim())
            .to_owned()
    };
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let model = after(&read("/proc/cpuinfo"), "model name");
    let memory = after(&read("/proc/meminfo"), "MemTotal");
    let memory = memory
        .trim_end_matches(" kB")
        .parse::<f64>()
        .unwrap_or(f64::NAN)
        / 1048576.0;
    format!("{cores} cores of {model}, {memory:.0} GiB of memory, Linux")
}

const HEAD: &str = "\
# Benchmarks

Made by `cargo xtask bench`, which builds the product as it is shipped, installs what it is measured beside
(in exact versions, into `target/`), lets ours and theirs take turns within one run, and writes this page. On
a shared machine only ratios and CPU time mean something; the load average tells how busy it was. A row that
says `not measured` names why. Goals are this project's own; [What a call costs](explanation/costs.md)
explains those that are not met.

";

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn figures_goals_and_what_was_left_out_are_rows() {
        let rows = vec![
            json!({"part": "calls", "what": "one | two", "figure": 1.234, "unit": "µs", "goal": "≤ 10 µs", "met": true}),
            json!({"part": "calls", "what": "three", "figure": 30.0, "unit": "×", "goal": "≤ 2 ×", "met": false}),
            json!({"part": "calls", "what": "theirs", "skipped": "not installed"}),
            json!({"part": "calls", "run": {"wall": 1.0, "cpu": 2.0, "memory": 3.0, "load": ["0.1", "0.2"]}}),
        ];
        let told = Told {
            name: "call",
            rows,
            failure: None,
        };
        let failed = Told {
            name: "mcp",
            rows: Vec::new(),
            failure: Some("it did not start\nto see it again, run: it".to_owned()),
        };
        let page = page(&[told, failed], "two cores");
        for line in [
            "| call | 1.0 s | 2.0 s | 3 MB | 0.1, 0.2 | 1 of 2 met |",
            "| mcp | did not end | | |  | 0 of 0 met |",
            "| call | *calls* | | | |",
            "| call | one \\| two | 1.23 µs | ≤ 10 µs | met |",
            "| call | three | 30.00 × | ≤ 2 × | NOT met |",
            "| call | theirs | not measured: not installed | | |",
            "| mcp | it did not start | | | NOT met |",
        ] {
            assert!(page.contains(line), "{line}\n{page}");
        }
    }
}
