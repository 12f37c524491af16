//! What a guide costs: the time to make one of 50 and of 1,000 tools, with both overlay
//! files read again each time, and beside it with files that did not change.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Instant, SystemTime};
use std::{fs, io};

use serde_json::json;
use toolsmith_core::{Kind, Schema, ToolDef};
use toolsmith_manager::overlays::{DESCRIPTIONS_FILE, EXAMPLES_FILE, OverlayFiles};
use toolsmith_runtime::guide::{Guide, Request};
use toolsmith_testing::bench::{Goal, Run, Verdict, judged, median, title, told};

const ROUNDS: usize = 21;

fn main() -> io::Result<ExitCode> {
    let run = Run::begin();
    title("a usage guide of all tools");
    let mut verdict = Verdict::Met;
    for (tools, goal) in [(50, 5.0), (1000, 20.0)] {
        let folder = tempfile::tempdir()?;
        let files = Arc::new(OverlayFiles::in_folder(folder.path(), SystemTime::now));
        let guide = Guide::new(files, SystemTime::now);
        let catalogue: Vec<Arc<ToolDef>> = (0..tools).map(|n| Arc::new(tool(n))).collect();
        write(folder.path(), tools, 0)?;
        let (mut anew, mut again) = (Vec::new(), Vec::new());
        for round in 1..=ROUNDS {
            write(folder.path(), tools, round)?;
            let began = Instant::now();
            let response = guide.answer(&catalogue, &Request::everything());
            anew.push(began.elapsed().as_secs_f64() * 1e3);
            let is_fresh = response.content.contains(&format!("Round {round} of"));
            let is_whole = response.metadata.tool_count + response.metadata.omitted.len() == tools;
            if !is_fresh || !is_whole || response.content.len() > 50_000 {
                let what = format!("round {round} gave another guide than it should");
                return Err(io::Error::other(what));
            }
            let began = Instant::now();
            guide.answer(&catalogue, &Request::everything());
            again.push(began.elapsed().as_secs_f64() * 1e3);
        }
        let what = format!("{tools} tools, both files read again");
        verdict = verdict.and(judged(&what, median(anew), "ms", Goal::AtMost(goal)));
        let what = format!("{tools} tools, files as they were");
        told(&what, median(again), "ms");
    }
    Ok(run.end(verdict))
}

/// A tool as there are many: some arguments, some text.
fn tool(number: usize) -> ToolDef {
    let argument = |kind: &str| json!({ "type": kind, "description": "What it is good for." });
    let schema = Schema::input(json!({
        "type": "object",
        "properties": {
            "path": argument("string"),
            "limit": argument("integer"),
            "recursive": argument("boolean"),
            "tags": { "type": "array", "items": { "type": "string" }, "description": "Some words." },
        },
        "required": ["path"],
        "additionalProperties": false,
    }));
    ToolDef::new(format!("tool_{number:04}"))
        .expect("it is a name")
        .with_kind(Kind::Read)
        .with_description("Does what its name says, and says so in a sentence of usual length.")
        .with_input(schema.expect("it is a schema"))
        .with_returns("What came of it, as a text.")
}

fn write(folder: &Path, tools: usize, round: usize) -> io::Result<()> {
    let (mut descriptions, mut examples) = (String::new(), String::new());
    for number in 0..tools {
        let _ = writeln!(
            descriptions,
            "tool_{number:04}: |\n  Round {round} of what is written about it by hand, in two\n  \
             lines of text as people write them."
        );
        let _ = writeln!(
            examples,
            "tool_{number:04}:\n  - |\n    # The first ten\n    tool_{number:04}(path=\"src\", \
             limit=10, tags=[\"a\", \"b\"])"
        );
    }
    fs::write(folder.join(DESCRIPTIONS_FILE), descriptions)?;
    fs::write(folder.join(EXAMPLES_FILE), examples)
}
