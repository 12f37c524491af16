//! The rule that is proposed to whoever wants to approve more than one call: the tool, and
//! the folder it works in or the command it runs. A person sees it, and can write another.

use std::path::Path;

use serde_json::Value;
use toolsmith_core::{Arguments, Effect};

use super::guard::{Subject, Verdict};
use super::{Rule, matcher};

/// How long a proposal may get; nobody reads on.
const LONGEST: usize = 300;

/// A rule about this call and its like.
pub(super) fn proposal(subject: &Subject<'_>) -> Option<String> {
    let name = globset::escape(subject.tool.name.as_str());
    let narrow = match subject.tool.effect {
        Effect::Execute => command(subject.arguments),
        Effect::Read | Effect::Write => folder(subject),
        Effect::Network => None,
    };
    let narrow = narrow.map(|condition| format!("{name}({condition})"));
    // What the condition holds may mean something else in a rule, so it is tried.
    let fits = |text: &String| {
        text.len() <= LONGEST
            && Rule::parse(Verdict::Allow, text).is_ok_and(|rule| rule.matches(subject))
    };
    narrow.filter(fits).or_else(|| Some(name).filter(fits))
}

/// The folder of the one path the call names.
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
    let folder = Path::new(path).parent().and_then(Path::to_str);
    Some(match folder {
        Some("" | "." | "/") | None => format!("{argument} = {path}"),
        Some(folder) => format!("{argument} beneath {folder}"),
    })
}

/// The first words of the command the call runs: the program, and what of it where that is
/// a word of its own.
fn command(arguments: &Arguments) -> Option<String> {
    let (argument, line) = arguments.iter().find_map(|(name, value)| {
        let is_command = ["command", "cmd", "script", "code"].contains(&name.as_str());
        Some((name, value.as_str().filter(|_| is_command)?))
    })?;
    let mut words = line.split_whitespace();
    let first = words.next()?;
    let is_plain = |word: &&str| word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let second = words.next().filter(|word| !word.starts_with('-'));
    let begin = match second.filter(is_plain) {
        Some(second) => format!("{first} {second}"),
        None => first.to_owned(),
    };
    let begin = globset::escape(&begin);
    matcher::Matcher::glob(&format!("{begin}*")).ok()?;
    Some(format!("{argument}: {begin}*"))
}
