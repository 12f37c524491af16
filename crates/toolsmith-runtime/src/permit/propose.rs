//! The rule that is proposed to whoever wants to approve more than one call: the tool, and
//! the folder it works in or the command it runs. A person sees it, and can write another.
//!
//! What it is made of was written by a model, so a proposal says no more than it seems to:
//! no way up out of a folder, no second command behind the first, nothing nobody sees.

use std::path::{Component, Path};

use serde_json::Value;
use toolsmith_core::clean::clean;
use toolsmith_core::{Arguments, Effect};

use super::Rule;
use super::guard::{Subject, Verdict};

/// How long a proposal may get; nobody reads on.
const LONGEST: usize = 300;

/// Arguments that hold a line for a shell.
const COMMANDS: [&str; 2] = ["command", "cmd"];

/// What may follow the first words of a command: nothing that begins another.
const FURTHER_WORDS: &str = r"( [\w./=:@%+ -]*)?$";

/// A rule about this call and its like; none where only the call itself is safe to name.
pub(super) fn proposal(subject: &Subject<'_>) -> Option<String> {
    let name = globset::escape(subject.tool.name.as_str());
    // What a condition holds may mean something else in a rule, so each is tried.
    let fits = |text: &String| {
        text.len() <= LONGEST
            && clean(text) == *text
            && !text.contains('\n')
            && Rule::parse(Verdict::Allow, text).is_ok_and(|rule| rule.matches(subject))
    };
    let narrow = |condition: String| Some(format!("{name}({condition})")).filter(fits);
    if let Some((argument, line)) = command(subject.arguments) {
        return narrow(of_command(argument, line));
    }
    let folder = match subject.tool.effect {
        Effect::Read | Effect::Write => folder(subject),
        Effect::Execute | Effect::Network => None,
    };
    // A path that can be put in no rule must not make the rule one about all paths.
    match folder {
        Some(condition) => narrow(condition),
        None => Some(name.clone()).filter(fits),
    }
}

/// The folder of the one path the call names, or the path where it has none.
fn folder(subject: &Subject<'_>) -> Option<String> {
    let [touch] = subject.plan.touches.as_slice() else {
        return None;
    };
    let is_it = |value: &Value| {
        let path = value.as_str().map(Path::new);
        path.is_some_and(|path| touch.path.ends_with(path) || path.ends_with(&touch.path))
    };
    let (argument, path) = subject.arguments.iter().find(|(_, value)| is_it(value))?;
    let path = path.as_str()?;
    let folder = Path::new(path).parent();
    let is_plain = |folder: &&Path| {
        let mut parts = folder.components();
        let is_name = |part: Component<'_>| matches!(part, Component::Normal(_));
        let mut names = folder.components().filter(|part| is_name(*part));
        // The root of everything, or of the project, is no folder to propose.
        names.next().is_some() && !parts.any(|part| part == Component::ParentDir)
    };
    Some(match folder.filter(is_plain).and_then(Path::to_str) {
        Some(folder) => format!("{argument} beneath {folder}"),
        None => format!("{argument} = {path}"),
    })
}

fn command(arguments: &Arguments) -> Option<(&str, &str)> {
    arguments.iter().find_map(|(name, value)| {
        let is_command = COMMANDS.contains(&name.as_str());
        Some((name.as_str(), value.as_str().filter(|_| is_command)?))
    })
}

/// The first words of a command: the program, and what of it where that is a word of its
/// own; and whatever follows, as long as it is no other command.
fn of_command(argument: &str, line: &str) -> String {
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or_default();
    let is_plain = |word: &&str| {
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        !word.starts_with('-') && word.chars().all(is_letter)
    };
    let begin = match words.next().filter(is_plain) {
        Some(second) => format!("{first} {second}"),
        None => first.to_owned(),
    };
    format!("{argument} ~= ^{}{FURTHER_WORDS}", regex::escape(&begin))
}
