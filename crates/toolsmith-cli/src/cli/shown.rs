//! Whatever the documents show of the command line, the command line understands: no page
//! names a command or an option that does not exist.
//!
//! Whether commands do what pages say is for the tests that run pages. Here each line is
//! read as it would be by the program, and nothing is run.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser as _;
use clap::error::ErrorKind;

use super::Cli;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// What stands in commands for what a reader puts there.
const ANYTHING: &str = "…";

#[test]
fn every_command_of_the_documents_is_understood() {
    let mut seen = 0;
    let mut wrong = Vec::new();
    for file in papers() {
        let text = fs::read_to_string(&file).unwrap();
        let name = file.strip_prefix(ROOT).unwrap().display().to_string();
        let mut variables: Vec<(String, String)> = Vec::new();
        for (line, command) in commands(&text) {
            let written = variables
                .iter()
                .fold(command.clone(), |text, (name, value)| {
                    text.replace(&format!("${name}"), value)
                });
            variables.extend(exported(&written));
            match check(&written) {
                Ok(count) => seen += count,
                Err(problem) => wrong.push(format!("{name}:{line}: {command}\n{problem}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 100, "only {seen} commands were found");
}

#[test]
fn what_does_not_exist_is_found() {
    let page = "`toolsmith fly` and\n\n```sh\ntoolsmith call a \\\n  --soon x=1\n```\n\
                ```console\n$ echo a | toolsmith batch --never\nerror: never\n```\n\
                ```text\ntoolsmith nothing\n```\n`toolsmith call …`\n";
    let found: Vec<(usize, String)> = commands(page);
    let words = |line: usize, text: &str| (line, text.to_owned());
    assert_eq!(
        found,
        [
            words(1, "toolsmith fly …"),
            words(4, "toolsmith call a --soon x=1"),
            words(8, "echo a | toolsmith batch --never"),
            words(14, "toolsmith call … …"),
        ]
    );
    let is_understood: Vec<bool> = found.iter().map(|(_, line)| check(line).is_ok()).collect();
    assert_eq!(is_understood, [false, false, false, true]);
    for right in [
        "toolsmith call bash command='git status && git log' > log.txt",
        "A=1 toolsmith --yes tools | wc -l # toolsmith is not run here",
        "cargo run --release -- tools",
    ] {
        assert_eq!(check(right), Ok(1), "{right}");
    }
    assert_eq!(check("cargo xtask test --no-nextest"), Ok(0));
    for wrong in [
        "toolsmith call 'a",
        "fly",
        "cargo run -- fly",
        "cargo xtask fly",
    ] {
        assert!(check(wrong).is_err(), "{wrong}");
    }
}

/// The pages people read.
fn papers() -> Vec<PathBuf> {
    let root = Path::new(ROOT);
    let mut papers = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                papers.push(path);
            }
        }
    }
    papers.sort();
    papers
}

/// The commands of a page with their lines: what stands in blocks for a shell, and what
/// stands in the text between backticks and is one of ours.
fn commands(page: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut block: Option<&str> = None;
    let mut goes_on = false;
    for (number, line) in page.lines().enumerate() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            block = match block {
                Some(_) => None,
                None => Some(language.trim()),
            };
            goes_on = false;
            continue;
        }
        let command = match block {
            // A script is a file, not something to type.
            Some("sh") if line.starts_with("#!") => {
                block = Some("a file");
                None
            }
            Some("sh") => Some(line),
            Some("console") if goes_on => Some(line.trim_start_matches("> ")),
            Some("console") => line.strip_prefix("$ "),
            Some(_) => None,
            None => {
                let spans = line.split('`').skip(1).step_by(2);
                let is_own = |span: &str| {
                    ["toolsmith ", "cargo xtask "]
                        .iter()
                        .any(|own| span.starts_with(own))
                };
                let own = spans.filter(|span| is_own(span));
                // Text often names a command without what it takes.
                found.extend(own.map(|span| (number + 1, format!("{span} {ANYTHING}"))));
                None
            }
        };
        let Some(command) = command.map(str::trim).filter(|line| !line.is_empty()) else {
            continue;
        };
        let whole = command.trim_end_matches('\\').trim_end();
        match found.last_mut().filter(|_| goes_on) {
            Some((_, begun)) => *begun = format!("{begun} {whole}"),
            None => found.push((number + 1, whole.to_owned())),
        }
        goes_on = command.ends_with('\\');
    }
    found.retain(|(_, command)| !command.starts_with('#'));
    found
}

/// Has the program read what of a line is for it; gives how many of its commands there were.
fn check(line: &str) -> Result<usize, String> {
    let mut count = 0;
    for words in split(line)? {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let own = match &words[..] {
            ["toolsmith", ..] => &words[..],
            ["cargo", "xtask", chore, ..] => match is_chore(chore) {
                true => continue,
                false => return Err(format!("there is no chore '{chore}'")),
            },
            ["cargo", "run", .., "--"] => return Err("a command is missing".to_owned()),
            ["cargo", "run", ..] => match words.iter().position(|word| *word == "--") {
                Some(at) => &words[at..],
                None => continue,
            },
            [program, ..] if OTHERS.contains(program) || is_example(program) => continue,
            [program, ..] => return Err(format!("nobody knows the program '{program}'")),
            [] => continue,
        };
        count += 1;
        understood(own)?;
    }
    Ok(count)
}

/// The variable that a command sets for those that follow.
fn exported(command: &str) -> Option<(String, String)> {
    let commands = split(command).ok()?;
    let (name, value) = match &commands.first()?[..] {
        [word, setting] if word == "export" => setting.split_once('=')?,
        _ => return None,
    };
    Some((name.to_owned(), value.to_owned()))
}

/// Whether the help of `cargo xtask` names a chore.
fn is_chore(name: &str) -> bool {
    let source = fs::read_to_string(Path::new(ROOT).join("xtask/src/main.rs")).unwrap();
    source.contains(&format!("\n  {name} "))
}

/// Whether a program is one of the workspace's examples.
fn is_example(program: &str) -> bool {
    Path::new(ROOT).join("examples").join(program).is_dir()
}

/// Programs of others that pages use.
const OTHERS: &[&str] = &[
    "cargo", "cat", "cd", "chmod", "cmp", "cp", "curl", "echo", "export", "git", "grep", "head",
    "jq", "kill", "ls", "man", "mkdir", "ollama", "printf", "python3", "rm", "sed", "sleep",
    "sort", "tail", "true", "wc",
];

fn understood(words: &[&str]) -> Result<(), String> {
    // What is left to the reader ends what can be looked at.
    let known = words.iter().position(|word| *word == ANYTHING);
    let words = &words[..known.unwrap_or(words.len())];
    match Cli::try_parse_from(words) {
        Ok(_) => Ok(()),
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(()),
            // What is missing may be what is left out.
            ErrorKind::MissingRequiredArgument
            | ErrorKind::MissingSubcommand
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
                if known.is_some() =>
            {
                Ok(())
            }
            _ => Err(error.to_string()),
        },
    }
}

/// Splits a line into the words of its commands, as far as pages need it.
fn split(line: &str) -> Result<Vec<Vec<String>>, String> {
    let mut commands: Vec<Vec<String>> = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut is_place = false;
    let mut rest = line.chars().peekable();
    // Where a word ends; the word after `>` or `<` is a file.
    fn end(commands: &mut [Vec<String>], word: &mut Option<String>, is_place: &mut bool) {
        if let Some(word) = word.take()
            && !std::mem::take(is_place)
            && let Some(command) = commands.last_mut()
        {
            let is_variable = command.is_empty() && word.contains('=') && !word.contains(' ');
            if !is_variable {
                command.push(word);
            }
        }
    }
    while let Some(c) = rest.next() {
        match c {
            '#' if word.is_none() => break,
            c if c.is_whitespace() => end(&mut commands, &mut word, &mut is_place),
            '\'' | '"' => {
                let text = word.get_or_insert_default();
                loop {
                    match rest.next() {
                        None => return Err(format!("{c} is not closed")),
                        Some(other) if other == c => break,
                        Some('\\') if c == '"' => text.extend(rest.next()),
                        Some(other) => text.push(other),
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(rest.next()),
            '|' | ';' | '&' => {
                end(&mut commands, &mut word, &mut is_place);
                rest.next_if_eq(&c);
                commands.push(Vec::new());
            }
            '>' | '<' => {
                // `2>` names a stream.
                if word.as_deref().is_some_and(|word| word == "2") {
                    word = None;
                }
                end(&mut commands, &mut word, &mut is_place);
                rest.next_if_eq(&c);
                is_place = rest.next_if_eq(&'&').and_then(|_| rest.next()).is_none();
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    end(&mut commands, &mut word, &mut is_place);
    Ok(commands)
}
