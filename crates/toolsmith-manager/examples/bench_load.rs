//! What loading costs: 1,000 files of tools and 100 of sets, and one of them changed,
//! as CPU time beside a plain YAML parse of the same files.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};
use std::{fs, io};

use serde_json::Value;
use toolsmith_manager::{Manager, Setup};
use toolsmith_testing::bench::{Goal, Run, Verdict, cpu, judged, median, title, told};

const TOOLS: usize = 1000;
const SETS: usize = 100;
const ROUNDS: usize = 15;
const GOAL: f64 = 3.0;

fn main() -> io::Result<ExitCode> {
    let run = Run::begin();
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    for number in 0..TOOLS {
        write(root, &tool_file(number), &tool(number, 0))?;
    }
    for number in 0..SETS {
        write(
            root,
            &format!("configs/tool_sets/set_{number:03}.yaml"),
            &set(number),
        )?;
    }
    write(root, "toolsmith.yaml", "policy: { mode: ask }\n")?;

    let mut costs: [Vec<f64>; 4] = Default::default();
    let manager = load(root);
    for round in 1..=ROUNDS {
        costs[0].push(cost(|| parse_all(root).map(|count| count == TOOLS + SETS))?);
        costs[1].push(cost(|| Ok(load(root).load_tools().len() == TOOLS))?);
        let changed = TOOLS / 2;
        write(root, &tool_file(changed), &tool(changed, round))?;
        costs[2].push(cost(|| {
            Ok(manager.refresh().changed && says(&manager, changed, round))
        })?);
        costs[3].push(cost(|| Ok(!manager.refresh().changed))?);
    }
    let [parse, load, reload, look] = costs.map(median);
    title(&format!(
        "{TOOLS} files of tools and {SETS} of sets: CPU beside a plain YAML parse"
    ));
    told("a plain parse", parse, "ms");
    let mut verdict = Verdict::Met;
    for (what, cost) in [
        ("load all", load),
        ("reload one", reload),
        ("look, unchanged", look),
    ] {
        let what = format!("{what}: {cost:.2} ms");
        verdict = verdict.and(judged(&what, cost / parse, "×", Goal::AtMost(GOAL)));
    }
    Ok(run.end(verdict))
}

fn load(root: &Path) -> Manager {
    // Everything was written a while ago, as on most days.
    let now = || SystemTime::now() + Duration::from_secs(3600);
    let setup = Setup::open(root).expect("the configuration is good");
    setup.with_clock(now).load().expect("all files are good")
}

/// What reading the same files costs whoever wants no more than their values.
fn parse_all(root: &Path) -> io::Result<usize> {
    let mut count = 0;
    for folder in ["tools/native", "configs/tool_sets"] {
        for entry in fs::read_dir(root.join(folder))? {
            let text = fs::read_to_string(entry?.path())?;
            let value: Value = serde_saphyr::from_str(&text).map_err(io::Error::other)?;
            count += usize::from(value.is_object());
        }
    }
    Ok(count)
}

fn says(manager: &Manager, number: usize, round: usize) -> bool {
    let tool = manager.get_tool(&format!("tool_{number:04}"));
    tool.is_some_and(|tool| tool.description.short.contains(&format!("round {round}.")))
}

/// The CPU time of this process for something that must come out true, in milliseconds.
fn cost(work: impl FnOnce() -> io::Result<bool>) -> io::Result<f64> {
    let began = cpu();
    let is_right = work()?;
    let took = (cpu() - began).as_secs_f64() * 1e3;
    match is_right {
        true => Ok(took),
        false => Err(io::Error::other("what was loaded is not what was written")),
    }
}

fn write(root: &Path, path: &str, text: &str) -> io::Result<()> {
    let path = root.join(path);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}

fn tool_file(number: usize) -> String {
    format!("tools/native/tool_{number:04}.yaml")
}

/// A tool as there are many.
fn tool(number: usize, round: usize) -> String {
    format!(
        "# yaml-language-server: $schema=../../.toolsmith/schemas/native.json
name: tool_{number:04}
description: Looks up what number {number} is about, round {round}.
category: lookups
tags: [example, generated]
api_url: https://api.example.com/v{number}
auth_method: bearer
auth: {{ token: \"written-out-{number}\" }}
method: GET
path: /things/{{id}}/parts
timeout: 10s
places:
  limit: query
  language: {{ in: header, name: Accept-Language }}
parameters:
  properties:
    id: {{ type: string, description: Which thing. }}
    limit: {{ type: integer, description: How many parts at most., minimum: 1, default: 20 }}
    language:
      type: string
      description: The language of the answer.
      enum: [en, de, fr, zh]
  required: [id]
response:
  select: /parts
returns: A list of parts.
"
    )
}

fn set(number: usize) -> String {
    let tools: String = (0..20)
        .map(|tool| format!("  - tool_{:04}\n", (number * 7 + tool) % TOOLS))
        .collect();
    format!("name: set_{number:03}\ndescription: The set of number {number}.\ntools:\n{tools}")
}
