//! The page of the reference about the command line, made of the command line as a type and
//! compared with the file. `UPDATE_DOCS=1` writes it anew.

use std::fmt::Write as _;
use std::fs;

use clap::{Arg, Command, CommandFactory as _};

use super::Cli;

const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/reference/command-line.md"
);

const OPENING: &str = "\
# The command line

All commands and options, as `toolsmith help` and `toolsmith man` tell them too.
Data goes to stdout and everything else to stderr; nothing needs colour to be read.

";

#[test]
fn the_page_of_the_command_line() {
    let mut program = Cli::command();
    program.build();
    let page = page(&program);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(FILE, &page).unwrap();
    }
    let kept = fs::read_to_string(FILE).unwrap_or_default();
    let difference = similar::TextDiff::from_lines(&kept, &page)
        .unified_diff()
        .header("the file", "what the program says")
        .to_string();
    assert!(
        difference.is_empty(),
        "docs/reference/command-line.md is not what the program says; run this test with \
         UPDATE_DOCS=1\n{difference}"
    );
}

fn page(program: &Command) -> String {
    let mut page = OPENING.to_owned();
    page += "| command | what it does |\n|---|---|\n";
    for command in subcommands(program) {
        let name = title(command);
        let about = sentence(&command.get_about().unwrap_or_default().to_string());
        let link = name.replace(' ', "-");
        let _ = writeln!(page, "| [`{name}`](#{link}) | {about} |");
    }
    let after = program.get_after_help().unwrap_or_default().to_string();
    let (examples, status) = after.split_once("Exit status: ").unwrap_or_default();
    page.push('\n');
    notes(&mut page, examples);
    let _ = writeln!(page, "\n## Exit status\n\n{status}");
    page += "\n## Options of every command\n\n";
    arguments(&mut page, program, Arg::is_global_set);
    for command in subcommands(program) {
        section(&mut page, command, "##");
    }
    while page.contains("\n\n\n") {
        page = page.replace("\n\n\n", "\n\n");
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

/// A command with all that belongs to it.
fn section(page: &mut String, command: &Command, level: &str) {
    let name = title(command);
    let about = sentence(&command.get_about().unwrap_or_default().to_string());
    let _ = write!(page, "\n{level} `{name}`\n\n{about}\n\n");
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").trim();
    let _ = write!(page, "```text\n{usage}\n```\n\n");
    arguments(page, command, |argument| !argument.is_global_set());
    if let Some(after) = command.get_after_help() {
        notes(page, &after.to_string());
    }
    for command in subcommands(command) {
        section(page, command, "###");
    }
}

fn subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    let commands = command.get_subcommands();
    commands.filter(|command| command.get_name() != "help" && !command.is_hide_set())
}

/// How a command is called, with those above it.
fn title(command: &Command) -> String {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    name.to_owned()
}

/// A table of arguments and options, and below it what does not fit into one.
fn arguments(page: &mut String, command: &Command, is_shown: impl Fn(&Arg) -> bool) {
    let shown: Vec<&Arg> = command
        .get_arguments()
        .filter(|argument| !matches!(argument.get_id().as_str(), "help" | "version"))
        .filter(|argument| !argument.is_hide_set() && is_shown(argument))
        .collect();
    if shown.is_empty() {
        return;
    }
    *page += "| argument | meaning |\n|---|---|\n";
    for argument in &shown {
        let cells = [call(argument), meaning(argument)];
        let [call, meaning] = cells.map(|cell| cell.replace('|', "\\|"));
        let _ = writeln!(page, "| `{call}` | {meaning} |");
    }
    page.push('\n');
    for argument in shown {
        let Some(long) = argument.get_long_help().map(ToString::to_string) else {
            continue;
        };
        // A list in a terminal's letters stays one, and stands once where several share it.
        let (_, list) = opening(&long);
        if !list.is_empty() && !page.contains(list) {
            let _ = write!(page, "`{}`:\n\n```text\n{list}\n```\n\n", call(argument));
        }
    }
}

/// What of a long help can stand in a table, and the rest, where that has a list.
fn opening(long: &str) -> (&str, &str) {
    match long.contains("\n  ") {
        true => long
            .split_once("\n\n")
            .or(long.split_once('\n'))
            .unwrap_or((long, "")),
        false => (long, ""),
    }
}

/// How an argument is written.
fn call(argument: &Arg) -> String {
    match argument.get_short() {
        Some(short) => format!("-{short}, {argument}"),
        None => argument.to_string(),
    }
}

fn meaning(argument: &Arg) -> String {
    let help = argument.get_long_help().or(argument.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    let (help, _) = opening(&help);
    let mut text = sentence(help);
    let takes_value = argument.get_action().takes_values();
    let values: Vec<_> = match takes_value {
        true => argument.get_possible_values(),
        false => Vec::new(),
    };
    // What is said already, and whether something is the case, needs no list.
    let names: Vec<&str> = values
        .iter()
        .map(clap::builder::PossibleValue::get_name)
        .collect();
    let is_said = names.iter().all(|name| text.contains(name)) || names == ["true", "false"];
    if !is_said {
        let value = |value: &clap::builder::PossibleValue| match value.get_help() {
            Some(help) => format!("`{}` ({help})", value.get_name()),
            None => format!("`{}`", value.get_name()),
        };
        let values: Vec<String> = values.iter().map(value).collect();
        let _ = write!(text, " One of {}.", values.join(", "));
    }
    let defaults = argument.get_default_values();
    if takes_value && !defaults.is_empty() {
        let defaults: Vec<_> = defaults.iter().map(|word| word.to_string_lossy()).collect();
        let _ = write!(text, " Unless given: `{}`.", defaults.join(" "));
    }
    text
}

/// What follows the options: examples, which become a block, and text.
fn notes(page: &mut String, text: &str) {
    for paragraph in text.split("\n\n") {
        let (indented, plain): (Vec<&str>, Vec<&str>) =
            paragraph.lines().partition(|line| line.starts_with("  "));
        if indented.is_empty() {
            let _ = write!(page, "{}\n\n", plain.join("\n"));
            continue;
        }
        // What stands before and after an indented part is its introduction and its end.
        let first = paragraph.lines().position(|line| line.starts_with("  "));
        let (before, after) = plain.split_at(first.unwrap_or_default().min(plain.len()));
        let is_commands = indented.iter().any(|line| line.contains("toolsmith "));
        if !before.is_empty() {
            let _ = write!(page, "{}\n\n", before.join("\n"));
        }
        let language = if is_commands { "sh" } else { "text" };
        let _ = writeln!(page, "```{language}");
        for line in indented {
            let _ = match is_commands {
                true => writeln!(page, "{}", example(line.trim_end())),
                false => writeln!(page, "{}", line.trim()),
            };
        }
        page.push_str("```\n\n");
        if !after.is_empty() {
            let _ = write!(page, "{}\n\n", after.join("\n"));
        }
    }
}

/// A command of an example, with what is said of it as a comment.
fn example(line: &str) -> String {
    let line = line.strip_prefix("  ").unwrap_or(line);
    let (command, note) = match line.split_once("   ") {
        Some((command, note)) => (command, note.trim()),
        None => (line, ""),
    };
    // Two blanks would be enough, were it not for lines that go on with another.
    let (command, note) = match note.is_empty() && !command.starts_with(' ') {
        true => command.split_once("  ").unwrap_or((command, note)),
        false => (command, note),
    };
    match (command.trim_end(), note.trim()) {
        ("", note) => format!("# {note}"),
        (_, "") => command.trim_end().to_owned(),
        (command, note) => format!("{command}  # {note}"),
    }
}

/// A text in one line, with a full stop; what stands in brackets becomes a part of it.
fn sentence(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = match text.split_once(" [default: ") {
        Some((before, after)) => format!("{before} (unless given, {}", after.replacen(']', ")", 1)),
        None => text,
    };
    match text.ends_with(['.', '?']) {
        true => text,
        false => format!("{text}."),
    }
}
