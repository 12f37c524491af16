//! A line for bash, split into its commands, so that rules can speak of each.
//!
//! The grammar is the one editors use. It is not bash itself, so whatever it does not
//! read in full, and whatever is known only when it runs, makes the line unclear, and a
//! person is asked. What confines a command is the sandbox, never this.

mod builtin;
mod numbers;
mod starter;
mod walk;
mod word;

use std::ops::ControlFlow;

use toolsmith_core::{Commands, PlannedCommand};
use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

use walk::Walk;

/// The longest line that is split.
const LONGEST: usize = 64 << 10;
/// How many commands a line may have.
const MOST: usize = 256;
/// How deep lines within lines are followed: `bash -c "bash -c …"`.
const DEEPEST: usize = 4;
/// How often the parser reports before it is stopped; an ordinary line takes a few reports.
const MOST_REPORTS: usize = 20_000;

/// Why a line cannot be split.
type Unclear = String;

/// Splits a line into the commands it would run.
pub fn split(line: &str) -> Commands {
    match commands(line, 0) {
        Ok(commands) => Commands::Known(commands),
        Err(reason) => Commands::Unclear { reason },
    }
}

/// The same commands with variables in front of each, as a line would set them: they may
/// decide what a program does.
pub fn with_variables<'v>(
    commands: Commands,
    variables: impl IntoIterator<Item = (&'v String, &'v String)>,
) -> Commands {
    let variables: Vec<_> = variables.into_iter().collect();
    let is_run = |(_, value): &(_, &String)| starter::hides_a_command(value);
    if let Some((name, _)) = variables.iter().find(|variable| is_run(variable)) {
        let reason = format!("the variable {name} holds what may be run");
        return Commands::Unclear { reason };
    }
    let variables: Vec<String> = variables
        .into_iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    match commands {
        Commands::Known(mut known) if !variables.is_empty() => {
            for command in &mut known {
                let text = format!("{} {}", variables.join(" "), command.text);
                command
                    .also
                    .push(std::mem::replace(&mut command.text, text));
            }
            Commands::Known(known)
        }
        other => other,
    }
}

fn commands(line: &str, depth: usize) -> Result<Vec<PlannedCommand>, Unclear> {
    if depth > DEEPEST {
        return Err("it runs lines within lines".to_owned());
    }
    if line.len() > LONGEST {
        return Err(format!("it is longer than {LONGEST} bytes"));
    }
    let is_odd = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == PlannedCommand::OPEN;
    if let Some(odd) = line.chars().find(|c| is_odd(*c)) {
        return Err(format!("it holds the character {odd:?}"));
    }
    let tree = parse(line).ok_or("it does not read as bash in full")?;
    Walk::new(line, depth).through(&tree)
}

/// The tree of a line; nothing for what is not read in full, however little is missing.
fn parse(line: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .ok()?;
    let mut reports = 0;
    let mut report = |state: &ParseState| {
        reports += 1;
        // To go on after an error is a guess, and a costly one.
        match state.has_error() || reports > MOST_REPORTS {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let options = ParseOptions::new().progress_callback(&mut report);
    let mut read = |from: usize, _| line.as_bytes().get(from..).unwrap_or_default();
    let tree = parser.parse_with_options(&mut read, None, Some(options))?;
    (!tree.root_node().has_error()).then_some(tree)
}
