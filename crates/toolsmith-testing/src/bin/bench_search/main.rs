//! What searching and reading cost: our tools beside `rg` and `fd`, on a hundred thousand files.
//!
//! Every search is a process of its own, ours too, and all take turns within one run, so
//! that a busy machine slows all. Where `rg` and `fd` lie comes in environment variables,
//! and so does the folder for the files; `cargo xtask bench search` sets them. Words on
//! the command line choose among searches and reads; `call FOLDER TOOL ARGUMENTS` makes
//! one call, which is how the bench starts itself.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

mod measure;
mod reads;
mod searches;
mod tree;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use toolsmith_testing::bench::{Run, Verdict};
use toolsmith_testing::built_ins::BuiltIns;

/// A part of the bench, and the word that chooses it.
type Part = (&'static str, fn(&Path) -> io::Result<Verdict>);

const PARTS: &[Part] = &[("searches", searches::run), ("reads", reads::run)];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let ["call", folder, tool, arguments] = words[..] {
        return match call(Path::new(folder), tool, arguments) {
            Ok(text) => {
                println!("{text}");
                ExitCode::SUCCESS
            }
            Err(error) => {
                println!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    let home = PathBuf::from(std::env::var_os("BENCH_SEARCH_HOME").unwrap_or_default());
    let whole = Run::begin();
    let mut verdict = Verdict::Met;
    for (_, run) in PARTS
        .iter()
        .filter(|(name, _)| words.is_empty() || words.contains(name))
    {
        match run(&home) {
            Ok(part) => verdict = verdict.and(part),
            Err(error) => {
                println!("NOT met: {error}");
                verdict = Verdict::NotMet;
            }
        }
        println!();
    }
    whole.end(verdict)
}

/// Calls a tool; the first line is how much there is in all, the rest what a model reads.
fn call(folder: &Path, tool: &str, arguments: &str) -> Result<String, String> {
    let arguments = serde_json::from_str(arguments).map_err(|error| error.to_string())?;
    let answer = BuiltIns::open(folder)?.call(tool, arguments)?;
    let totals = ["total_matches", "total_found", "line_count"];
    let total = totals
        .iter()
        .find_map(|name| answer.value.get(name)?.as_u64());
    Ok(format!("{}\n{}", total.unwrap_or_default(), answer.text))
}
