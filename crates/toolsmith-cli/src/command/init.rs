//! `toolsmith init`: a folder becomes a project.
//!
//! It writes the configuration, schemas for editors, and, if wanted, a sample of a tool
//! and of a set. What is there already stays as it is. The configuration comes last: where
//! it is, everything is, and a run that was broken off is done again.

use std::path::{Path, PathBuf};

use serde_json::json;
use toolsmith_manager::{CONFIG_FILE, NATIVE_FOLDER, schemas, sets::SETS_FOLDER};
use toolsmith_runtime::Mode;

use super::project::{SchemaFile, place, schema_line, shown, write_schema};
use super::user_file::{Privacy, UserFile};
use crate::cli::Cli;
use crate::failure::Failure;
use crate::print;
use crate::prompt::Dialogue;

/// The tool that is written as a sample, and the set it is in.
const SAMPLE_TOOL: &str = "latest_release";
const SAMPLE_SET: &str = "reading";

/// What the person wants.
struct Wishes {
    mode: Mode,
    tool: bool,
    set: bool,
}

/// What was done.
#[derive(Default)]
struct Done {
    written: Vec<PathBuf>,
    kept: Vec<PathBuf>,
}

pub(crate) fn run(cli: &Cli) -> Result<u8, Failure> {
    let root = cli.root();
    if !root.is_dir() {
        let root = root.display();
        return Err(Failure::usage(format!(
            "--root {root}: there is no such folder"
        )));
    }
    if cli.config.is_some() {
        return Err(Failure::usage(
            "init writes toolsmith.yaml into the root; leave --config out",
        ));
    }
    let config = UserFile::read(&root.join(CONFIG_FILE))?;
    // Nothing is left to ask where the project has begun.
    let wishes = match config.is_there() {
        true => None,
        false => Some(wishes(cli)?),
    };
    let mut done = Done::default();
    for sort in schemas::all() {
        match write_schema(root, sort)? {
            SchemaFile::Written(path) => done.written.push(path),
            SchemaFile::Same => {}
            SchemaFile::Other(path) => {
                let told = shown(&path);
                print::warning(&format!(
                    "{told} is not this version's; remove it to have it written anew"
                ));
                done.kept.push(path);
            }
        }
    }
    match &wishes {
        None => done.kept.push(root.join(CONFIG_FILE)),
        Some(wishes) => write(root, wishes, &mut done)?,
    }
    tell(cli, wishes.as_ref(), &done)?;
    Ok(0)
}

/// Asks, or takes what is usual from who said yes to everything.
fn wishes(cli: &Cli) -> Result<Wishes, Failure> {
    let usual = cli.mode.unwrap_or_default();
    if cli.yes {
        return Ok(Wishes {
            mode: usual,
            tool: true,
            set: true,
        });
    }
    let mut dialogue = Dialogue::begin().ok_or_else(|| {
        Failure::usage("there is no terminal to ask on; --yes takes what is usual")
    })?;
    let unanswered = |_| Failure::usage("there was no answer; nothing was written");
    let mode = match cli.mode {
        Some(mode) => mode,
        None => {
            let choices = Mode::ALL.map(|mode| (mode.word(), meaning(mode)));
            let question = "What may run without being asked?";
            let word = dialogue.choose(question, &choices, usual.word());
            let word = word.map_err(unanswered)?;
            word.parse().map_err(Failure::usage)?
        }
    };
    let tool = dialogue.agrees(&format!("Write a sample tool, {SAMPLE_TOOL}?"));
    let tool = tool.map_err(unanswered)?;
    let set = dialogue.agrees(&format!("Write a sample tool set, {SAMPLE_SET}?"));
    let set = set.map_err(unanswered)?;
    Ok(Wishes { mode, tool, set })
}

fn meaning(mode: Mode) -> &'static str {
    match mode {
        Mode::Plan => "reading; nothing else runs at all",
        Mode::Ask => "reading; you are asked about the rest",
        Mode::AutoEdit => "reading and writing; you are asked about the rest",
        Mode::Auto => "everything, also what a tool wants confirmed",
    }
}

fn write(root: &Path, wishes: &Wishes, done: &mut Done) -> Result<(), Failure> {
    if wishes.tool {
        let path = place(root, NATIVE_FOLDER, SAMPLE_TOOL);
        write_file(root, &path, "native", SAMPLE, done)?;
    }
    if wishes.set {
        let path = place(root, SETS_FOLDER, SAMPLE_SET);
        write_file(root, &path, "tool_set", &sample_set(wishes.tool), done)?;
    }
    let text = CONFIG.replace("MODE", wishes.mode.word());
    write_file(root, &root.join(CONFIG_FILE), "toolsmith", &text, done)
}

/// Writes a file, unless it is there.
fn write_file(
    root: &Path,
    path: &Path,
    sort: &str,
    body: &str,
    done: &mut Done,
) -> Result<(), Failure> {
    let file = UserFile::read(path)?;
    if file.is_there() {
        done.kept.push(path.to_owned());
        return Ok(());
    }
    let line = schema_line(root, path, sort)?;
    file.replace(&format!("{line}\n\n{body}"), Privacy::AsUsual)?;
    done.written.push(path.to_owned());
    Ok(())
}

fn tell(cli: &Cli, wishes: Option<&Wishes>, done: &Done) -> Result<(), Failure> {
    let told =
        |paths: &[PathBuf]| -> Vec<String> { paths.iter().map(|path| shown(path)).collect() };
    let (written, kept) = (told(&done.written), told(&done.kept));
    for path in &kept {
        print::note(&format!("{path} is there already and stays as it is."));
    }
    if cli.json {
        print::json(&json!({ "written": written, "kept": kept }))?;
    } else if !written.is_empty() {
        print::line(&written.join("\n"))?;
    }
    let first = match wishes {
        Some(Wishes { tool: true, .. }) => {
            format!("toolsmith call {SAMPLE_TOOL} owner=rust-lang repository=rust")
        }
        _ => "toolsmith tools".to_owned(),
    };
    print::note(&format!(
        "Next, try:\n  {first}\n  toolsmith add mcp git uvx mcp-server-git\n  \
         toolsmith connect claude-code"
    ));
    Ok(())
}

/// The set, of tools that are there.
fn sample_set(has_tool: bool) -> String {
    let mut set =
        "# `toolsmith --set reading serve` offers these tools and no others. Names, globs \
such as\n# \"mcp__git__*\" and other sets can stand here.\n\
description: Tools that look at things and change nothing.\ntools:\n  - get_tool_usage_guide\n"
            .to_owned();
    if cfg!(target_os = "linux") {
        set.push_str("  - read\n  - glob\n  - grep\n");
    }
    if has_tool {
        set.push_str(&format!("  - {SAMPLE_TOOL}\n"));
    }
    set
}

const SAMPLE: &str = "\
# A request to an API as a tool. Change it, copy it, or remove it.
name: latest_release
description: Tells the latest release of a public repository on GitHub.
api_url: https://api.github.com
method: GET
path: /repos/{owner}/{repository}/releases/latest
headers:
  Accept: application/vnd.github+json
# Keys are referred to, and never written down:
# auth_method: bearer
# auth: { token: \"${env:GITHUB_TOKEN}\" }
parameters:
  properties:
    owner: { type: string, description: Whose repository it is. }
    repository: { type: string, description: What the repository is called. }
  required: [owner, repository]
";

const CONFIG: &str = "\
# What toolsmith does in this folder. Everything here is optional.

policy:
  # What may run without being asked: plan (reading, and nothing else at all), ask
  # (reading), auto-edit (writing too), auto (everything).
  mode: MODE
  # Rules come before the mode, and denying beats allowing.
  # allow: [\"read(file_path: docs/**)\"]
  # deny: [\"effect:execute\"]

# What is offered where neither a set nor an agent is named; everything unless set.
# tool_sets: [reading]
# tools: [write]

# limits:
#   timeout: 30s

# MCP servers stand here, or each in a file of tools/mcp.
# servers:
#   git: { command: uvx mcp-server-git, allow: [\"git_*\"] }
";
