//! Programs that start another: what they start counts for rules that forbid.

use toolsmith_core::PlannedCommand;

use super::word::Word;
use super::{Unclear, commands};

/// Programs whose further words are a program and its words, after options of their own.
#[rustfmt::skip]
const STARTERS: &[&str] = &[
    "aa-exec", "builtin", "busybox", "bwrap", "capsh", "catchsegv", "cgexec", "choom", "chpst",
    "chronic", "chroot", "chrt", "command", "coproc", "cpulimit", "daemonize", "dbus-launch",
    "dbus-run-session", "doas", "dumb-init", "eatmydata", "entr", "env", "exec", "fakechroot",
    "fakeroot", "faketime", "fd", "fdfind", "find", "firejail", "flock", "gdb", "gosu",
    "gtimeout", "hyperfine", "i386", "ifne", "ionice", "jobs", "linux32", "linux64", "ltrace",
    "nice", "nohup", "nsenter", "numactl", "parallel", "perf", "pkexec", "prlimit", "proot",
    "proxychains", "proxychains4", "rg", "rlwrap", "runcon", "runuser", "schedtool", "script",
    "sem", "setarch", "setpriv", "setsid", "setuidgid", "sg", "softlimit", "ssh-agent",
    "start-stop-daemon", "stdbuf", "strace", "su", "su-exec", "sudo", "systemd-cat",
    "systemd-inhibit", "systemd-run", "taskset", "time", "timeout", "tini", "torify", "torsocks",
    "toybox", "uclampset", "uname26", "unbuffer", "unshare", "valgrind", "watch", "watchexec",
    "x86_64", "xargs", "xvfb-run",
];

/// Those that add words of their own to it.
const GIVES_WORDS: &[&str] = &[
    "entr", "fd", "fdfind", "find", "parallel", "rg", "sem", "xargs",
];

/// Of those the ones that start something only behind an option.
const SEARCHING: &[&str] = &["fd", "fdfind", "find", "rg"];

/// Options behind which a program stands, or a line.
#[rustfmt::skip]
const STARTING: &[&str] = &[
    "--command", "--exec", "--exec-batch", "--pre", "--session-command", "--split-string",
    "--startas", "-X", "-exec", "-execdir", "-ok", "-okdir", "-x",
];

/// Letters behind which a line or a program may stick.
const STICKING: &[(&str, &[char])] = &[
    ("env", &['S']),
    ("fd", &['x', 'X']),
    ("fdfind", &['x', 'X']),
    ("flock", &['c']),
    ("runuser", &['c']),
    ("script", &['c']),
    ("sg", &['c']),
    ("su", &['c']),
];

/// Programs that start a shell, which reads its lines, where nothing else is named; for some
/// the first word is something else.
#[rustfmt::skip]
const OPENING: &[(&str, usize)] = &[
    ("chroot", 1), ("dbus-run-session", 0), ("i386", 0), ("linux32", 0), ("linux64", 0),
    ("newgrp", 1), ("nsenter", 0), ("proot", 0), ("runuser", 1), ("script", 1), ("setarch", 1),
    ("sg", 1), ("su", 1), ("uname26", 0), ("unshare", 0), ("x86_64", 0),
];

/// Commands of bash that run what they read, or what is made of their words.
const READERS: &[&str] = &[
    ".",
    "at",
    "batch",
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
#[rustfmt::skip]
const SHELLS: &[&str] = &[
    "ash", "bash", "csh", "dash", "fish", "ksh", "ksh93", "lksh", "mksh", "oksh", "posh", "rbash",
    "sh", "tcsh", "yash", "zsh",
];

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
    if is_starter(program) {
        let started = started(program, further)?;
        run.extend(started.lines);
        command.also.extend(started.forms);
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

/// What a program starts: ways to see it, and lines.
#[derive(Default)]
struct Started {
    forms: Vec<String>,
    lines: Vec<String>,
}

fn started(program: &str, words: &[Word]) -> Result<Started, Unclear> {
    if words.len() > MOST_WORDS {
        return Err(format!("`{program}` has more than {MOST_WORDS} words"));
    }
    let mut found = Started::default();
    let open = || PlannedCommand::OPEN.to_string();
    // Which words are options of its own differs from one to the next: any may begin it.
    for (at, word) in words.iter().enumerate() {
        let rest = &words[at + 1..];
        let started = word.known().unwrap_or(OPEN_WORD);
        let is_set = is_assignment(word) && hides_a_command(started);
        let names_code = ["BASH_FUNC_", "BASH_ENV="]
            .iter()
            .any(|name| started.starts_with(name));
        if is_set || names_code {
            return Err(format!("`{program}` sets a variable to what may be run"));
        }
        if let Some(line) = stuck(program, started, rest) {
            let line = line
                .known()
                .ok_or("a line in it is known only when it runs")?;
            found.forms.push(seen_as(line, rest));
            found.lines.push(match program {
                // It has rules of its own for backslashes, and options may stand in the line.
                "env" if line.contains('\\') => {
                    return Err("`env` takes a line apart by rules of its own".to_owned());
                }
                "env" => format!("env {line}"),
                _ => line.to_owned(),
            });
        }
        if started.starts_with('-') {
            // Any text may stand for what is read.
            if program == "xargs"
                && (started.starts_with("-I")
                    || started.starts_with("-i")
                    || started.starts_with("--r"))
            {
                found.forms.push(open());
            }
            continue;
        }
        let started = started.rsplit('/').next().unwrap_or(started);
        found.forms.push(seen_as(started, rest));
        let behind = at.checked_sub(1).and_then(|before| words[before].known());
        let is_searched = SEARCHING.contains(&program)
            && !behind.is_some_and(|option| STARTING.contains(&option));
        let is_shell = SHELLS.contains(&started);
        if GIVES_WORDS.contains(&program) {
            found
                .forms
                .push(format!("{} {OPEN_WORD}", seen_as(started, rest)));
            // Those words may be the line, or the program.
            let may_be_it = match SEARCHING.contains(&program) {
                true => !is_searched,
                false => follow_options(&words[..at]),
            };
            let takes_it = match is_shell {
                true => lines(started, rest)?.is_empty(),
                false => is_starter(started) || started == "eval",
            };
            if may_be_it && takes_it {
                found.forms.push(open());
            }
        }
        let is_reader =
            matches!(program, "builtin" | "command" | "time") && READERS.contains(&started);
        let is_found = started.contains("{}") && SEARCHING.contains(&program) && !is_searched;
        if is_reader || is_found || is_shell && !is_searched && reads_input(rest) {
            found.forms.push(open());
        }
        found.lines.extend(lines(started, rest)?);
    }
    // Some take a line as one word, with an option or without.
    let spaced = words.iter().filter_map(Word::known);
    let spaced = spaced.filter(|word| word.contains(char::is_whitespace));
    found
        .lines
        .extend(spaced.map(|word| without_option(word).to_owned()));
    Ok(found)
}

/// Tells whether further words of a program are a program and its words.
fn is_starter(program: &str) -> bool {
    // The loader of programs, whose name differs from one machine to the next.
    let is_loader = program.starts_with("ld-") && program.contains(".so") || program == "ld.so";
    is_loader || STARTERS.contains(&program)
}

/// Tells whether a program runs lines that do not stand in its words: what it reads.
fn reads_commands(program: &str, words: &[Word]) -> bool {
    let named = words.iter().filter(|word| !is_option(word)).count();
    let opens = OPENING.iter().find(|(opening, _)| *opening == program);
    let takes_a_line = || {
        words
            .iter()
            .any(|word| stuck(program, &word.text(), &[Word::Open]).is_some())
    };
    match program {
        _ if READERS.contains(&program) => true,
        _ if SHELLS.contains(&program) => reads_input(words),
        "doas" | "sudo" => words.iter().enumerate().any(|(at, word)| {
            let letters = word.known().and_then(|word| word.strip_prefix('-'));
            letters.is_some_and(|letters| letters.contains(['i', 's']))
                && follow_options(&words[..at])
        }),
        "parallel" | "sem" => named == 0,
        _ => opens.is_some_and(|(_, first)| {
            let may_be_all = named <= *first || *first == 0 && follow_options(words);
            may_be_all && !takes_a_line()
        }),
    }
}

/// Tells whether a shell with these words reads its lines, and is not given one or a file.
fn reads_input(words: &[Word]) -> bool {
    let mut is_value = false;
    for word in words.iter().filter_map(Word::known) {
        let letters = word.strip_prefix(['-', '+']);
        let short = letters.filter(|letters| !letters.starts_with('-'));
        match (letters, short) {
            _ if is_value => is_value = false,
            (_, Some(short)) if short.contains('c') => return false,
            (_, Some(short)) if short.contains('s') => return true,
            (_, Some(short)) => is_value = short.ends_with(['o', 'O']),
            (Some(_), None) => is_value = matches!(word, "--rcfile" | "--init-file"),
            (None, _) => return is_stream(word),
        }
    }
    true
}

/// Tells whether a file is what a program reads anyway, by whichever name.
fn is_stream(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_number = name.chars().all(|c| c.is_ascii_digit());
    is_number || matches!(name, "stdin" | "tty") || path.contains("dev/") || path.contains("/fd/")
}

fn is_option(word: &Word) -> bool {
    word.known()
        .is_some_and(|word| word.starts_with(['-', '+']))
}

/// Tells whether words are options, with at most one word behind each.
fn follow_options(words: &[Word]) -> bool {
    let mut is_behind = false;
    words.iter().all(|word| {
        let is_fine = is_behind || is_option(word);
        is_behind = is_option(word);
        is_fine
    })
}

/// The line that an option gives to a program, stuck to it or as the next word.
fn stuck(program: &str, word: &str, rest: &[Word]) -> Option<Word> {
    let next = || rest.first().cloned();
    let known = |line: &str| Some(Word::Known(line.to_owned()));
    if word.starts_with("--") {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        // Names may be cut short.
        let is_such = name.len() > 3 && STARTING.iter().any(|option| option.starts_with(name));
        return match value.is_empty() {
            _ if !is_such => None,
            true => next(),
            false => known(value),
        };
    }
    let (_, signs) = STICKING.iter().find(|(sticking, _)| *sticking == program)?;
    let (before, line) = word.strip_prefix('-')?.split_once(*signs)?;
    match line.is_empty() {
        _ if !before.chars().all(|c| c.is_ascii_alphanumeric()) => None,
        true => next(),
        false => known(line),
    }
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
