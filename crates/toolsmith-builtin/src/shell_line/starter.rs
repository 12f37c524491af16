//! Programs that start another: what they start counts for rules that forbid.

use toolsmith_core::PlannedCommand;

use super::word::Word;
use super::{Unclear, commands};

/// Programs whose further words are a program and its words, after options of their own.
const STARTERS: &[&str] = &[
    "builtin",
    "busybox",
    "chroot",
    "chrt",
    "command",
    "coproc",
    "cpulimit",
    "doas",
    "env",
    "exec",
    "find",
    "fd",
    "flock",
    "gdb",
    "ionice",
    "ltrace",
    "nice",
    "nohup",
    "nsenter",
    "parallel",
    "pkexec",
    "proot",
    "prlimit",
    "rg",
    "runuser",
    "script",
    "setarch",
    "setpriv",
    "setsid",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "toybox",
    "unshare",
    "watch",
    "xargs",
];

/// Those that add words of their own to it.
const GIVES_WORDS: &[&str] = &["find", "fd", "parallel", "rg", "xargs"];

/// Commands of bash that run what they read, or what is made of their words.
const READERS: &[&str] = &[
    ".",
    "bind",
    "compgen",
    "complete",
    "fc",
    "mapfile",
    "readarray",
    "source",
];

/// How many ways to see one command are kept.
const MOST_FORMS: usize = 256;

/// How many words a program may have that starts another: each may begin what it starts, and
/// all that follow belong to it.
const MOST_WORDS: usize = 256;

/// A word that is known only when it runs.
const OPEN_WORD: &str = "\u{fffc}";

/// Shells, which take a line after `-c`.
const SHELLS: &[&str] = &["ash", "bash", "dash", "ksh", "mksh", "rbash", "sh", "zsh"];

/// Commands of bash that look into arrays by an expression, and run what stands in it.
const EVALUATING: &[&str] = &[
    "[",
    "[[",
    "declare",
    "export",
    "let",
    "local",
    "mapfile",
    "printf",
    "read",
    "readarray",
    "readonly",
    "test",
    "typeset",
    "unset",
    "wait",
];

/// A command with all the ways to see it.
pub(super) fn planned(words: &[Word], depth: usize) -> Result<PlannedCommand, Unclear> {
    let mut command = PlannedCommand::new(joined(words));
    let named = words.iter().position(|word| !is_assignment(word));
    let Some((name, further)) = named.and_then(|at| words[at..].split_first()) else {
        return Ok(command);
    };
    // Patterns become names of files.
    let is_name = |name: &&str| *name == "[" || !name.contains(['*', '?', '[', '~']);
    let Some(path) = name.known().filter(is_name) else {
        return Err("the name of a command in it is known only when it runs".to_owned());
    };
    let program = path.rsplit('/').next().unwrap_or(path);
    if words.len() > further.len() + 1 || program != path {
        command = command.or(seen_as(program, further));
    }
    if EVALUATING.contains(&program) && further.iter().filter_map(Word::known).any(hides_a_command)
    {
        return Err(format!("`{program}` may run what stands in its words"));
    }
    if reads_commands(program, further) {
        command = command.or(PlannedCommand::OPEN);
    }
    let mut run = lines(program, further)?;
    if STARTERS.contains(&program) {
        if further.len() > MOST_WORDS {
            return Err(format!("`{program}` has more than {MOST_WORDS} words"));
        }
        // Which words are options of its own differs from one to the next: any may begin it.
        for (at, word) in further.iter().enumerate() {
            let rest = &further[at + 1..];
            let started = word.known().unwrap_or(OPEN_WORD);
            if started.starts_with('-') {
                continue;
            }
            let started = started.rsplit('/').next().unwrap_or(started);
            command = command.or(seen_as(started, rest));
            if GIVES_WORDS.contains(&program) {
                command = command.or(format!("{} {OPEN_WORD}", seen_as(started, rest)));
            }
            run.extend(lines(started, rest)?);
        }
        // Some take a line as one word, with an option or without.
        let spaced = further.iter().filter_map(Word::known);
        let spaced = spaced.filter(|word| word.contains(char::is_whitespace));
        run.extend(spaced.map(|word| without_option(word).to_owned()));
        let stuck = further.iter().filter_map(Word::known);
        let stuck = stuck.filter_map(|word| word.strip_prefix("-S"));
        run.extend(stuck.map(str::to_owned));
    }
    let too_many = || "it starts programs through programs".to_owned();
    if run.len() > MOST_FORMS {
        return Err(too_many());
    }
    for line in run {
        for inner in commands(&line, depth + 1)? {
            command.also.push(inner.text);
            command.also.extend(inner.also);
        }
        if command.also.len() > MOST_FORMS {
            return Err(too_many());
        }
    }
    Ok(command)
}

/// Tells whether a program runs lines that do not stand in its words: what it reads.
fn reads_commands(program: &str, words: &[Word]) -> bool {
    let is_option = |word: &Word| {
        word.known()
            .is_some_and(|word| word.starts_with(['-', '+']))
    };
    READERS.contains(&program) || (SHELLS.contains(&program) && words.iter().all(is_option))
}

/// A word without the option that sticks to it: `-Srm x`, `--command=rm x`.
fn without_option(word: &str) -> &str {
    match word
        .strip_prefix("--")
        .and_then(|word| word.split_once('='))
    {
        Some((_, line)) => line,
        None if word.starts_with('-') => word.get(2..).unwrap_or_default(),
        None => word,
    }
}

/// The lines that a program takes as words and runs.
fn lines(program: &str, words: &[Word]) -> Result<Vec<String>, Unclear> {
    let open = || format!("`{program}` runs a line that is known only when it runs");
    match program {
        "eval" => {
            let known: Option<Vec<&str>> = words.iter().map(Word::known).collect();
            let known = known.ok_or_else(open)?;
            Ok(vec![known.join(" ")])
        }
        "trap" => {
            let first = words.iter().find(|word| word.known() != Some("--"));
            match first.map(Word::known) {
                None => Ok(Vec::new()),
                Some(Some(text)) => Ok(vec![text.to_owned()]),
                Some(None) => Err(open()),
            }
        }
        _ if SHELLS.contains(&program) => {
            let is_line = |word: &Word| {
                let options = word.known().and_then(|word| word.strip_prefix('-'));
                options.is_some_and(|word| !word.starts_with('-') && word.contains('c'))
            };
            if words.contains(&Word::Open) {
                // It may be the option, or the line.
                return Err(open());
            }
            let Some(at) = words.iter().position(is_line) else {
                return Ok(Vec::new());
            };
            // Options may stand in between, some with a word of their own: any may be the line.
            let known = words[at + 1..].iter().filter_map(Word::known);
            let lines = known.filter(|word| !word.starts_with(['-', '+']));
            Ok(lines.map(str::to_owned).collect())
        }
        _ => Ok(Vec::new()),
    }
}

/// Tells whether bash would run something that stands in a text, quoted as it is.
pub(super) fn hides_a_command(text: &str) -> bool {
    ["$(", "`", "${"].iter().any(|sign| text.contains(sign))
}

pub(super) fn is_assignment(word: &Word) -> bool {
    let Some((name, _)) = word.known().and_then(|word| word.split_once('=')) else {
        return false;
    };
    let name = name.trim_end_matches('+');
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(is_letter)
}

fn seen_as(program: &str, words: &[Word]) -> String {
    match words.is_empty() {
        true => program.to_owned(),
        false => format!("{program} {}", joined(words)),
    }
}

fn joined(words: &[Word]) -> String {
    let words: Vec<String> = words.iter().map(Word::text).collect();
    words.join(" ")
}
