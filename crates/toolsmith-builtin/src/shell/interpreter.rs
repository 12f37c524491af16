//! What runs a script: what the caller names, what its first line names, or what its name
//! ends with, in that order.
//!
//! An interpreter is a name of the table or the full path of a program, in either case one
//! word: no options can come with it. Arguments come after the script and are the
//! script's.

use std::ffi::OsString;
use std::path::Path;

use super::environment::{find_program, is_program};
use crate::refusal::{Reason, Refusal};

/// How much of a first line the system reads.
pub(crate) const FIRST_LINE: usize = 256;

/// A kind of script.
struct Language {
    /// What it may be called.
    names: &'static [&'static str],
    /// What its files end with; the first is what a source gets.
    endings: &'static [&'static str],
    /// What can run it, the best first: a program and what it needs before the script.
    programs: &'static [(&'static str, &'static [&'static str])],
}

/// All kinds. A catalogue.
#[rustfmt::skip]
const LANGUAGES: &[Language] = &[
    Language { names: &["bash"], endings: &["bash", "sh"], programs: &[("bash", &["--noprofile", "--norc"])] },
    Language { names: &["sh", "dash"], endings: &[], programs: &[("sh", &[])] },
    Language { names: &["zsh"], endings: &["zsh"], programs: &[("zsh", &["-f"])] },
    Language { names: &["fish"], endings: &["fish"], programs: &[("fish", &["--no-config"])] },
    Language { names: &["python3", "python", "py"], endings: &["py"], programs: &[("python3", &[]), ("python", &[])] },
    Language { names: &["node", "nodejs", "javascript", "js"], endings: &["js", "mjs", "cjs"], programs: &[("node", &[]), ("bun", &[]), ("deno", &["run"])] },
    Language { names: &["typescript", "ts", "tsx", "ts-node"], endings: &["ts", "mts"], programs: &[("tsx", &[]), ("bun", &[]), ("deno", &["run"]), ("ts-node", &[]), ("node", &[])] },
    Language { names: &["bun"], endings: &[], programs: &[("bun", &[])] },
    Language { names: &["deno"], endings: &[], programs: &[("deno", &["run"])] },
    Language { names: &["ruby", "rb"], endings: &["rb"], programs: &[("ruby", &[])] },
    Language { names: &["perl", "pl"], endings: &["pl"], programs: &[("perl", &[])] },
    Language { names: &["php"], endings: &["php"], programs: &[("php", &[])] },
    Language { names: &["lua"], endings: &["lua"], programs: &[("lua", &[]), ("luajit", &[])] },
    Language { names: &["r", "rscript"], endings: &["r", "R"], programs: &[("Rscript", &["--vanilla"])] },
    Language { names: &["julia"], endings: &["jl"], programs: &[("julia", &[])] },
    Language { names: &["tclsh", "tcl"], endings: &["tcl"], programs: &[("tclsh", &[])] },
    Language { names: &["pwsh", "powershell"], endings: &["ps1"], programs: &[("pwsh", &["-NoProfile", "-File"])] },
];

/// What starts a script: a program, and what stands before the script.
pub(crate) type Command = Vec<OsString>;

/// What a caller's word for an interpreter means, and what its files end with.
pub(crate) fn named(
    environment: &[(OsString, OsString)],
    word: &str,
) -> Result<(Command, &'static str), Refusal> {
    if word.starts_with('/') {
        if word.contains('\0') || !is_program(Path::new(word)) {
            let message = format!("interpreter {word:?} is no program");
            return Err(Refusal::new(Reason::NotFound, message)
                .next("Name one by its name, such as python3, or by the full path of a program"));
        }
        return Ok((vec![word.into()], "txt"));
    }
    let lower = word.to_ascii_lowercase();
    let language = LANGUAGES
        .iter()
        .find(|language| language.names.contains(&lower.as_str()));
    let Some(language) = language else {
        let message = format!("there is no interpreter {word:?}");
        return Err(Refusal::new(Reason::BadArgument, message).next(format!(
            "Name one of {}, or the full path of a program; options cannot be given",
            known().join(", ")
        )));
    };
    let ending = language.endings.first().copied().unwrap_or("txt");
    Ok((installed(environment, language, word)?, ending))
}

/// What runs a file, by its first line or by its name.
pub(crate) fn of_file(
    environment: &[(OsString, OsString)],
    shown: &str,
    beginning: &[u8],
) -> Result<Command, Refusal> {
    if let Some(line) = beginning.strip_prefix(b"#!") {
        return of_first_line(environment, shown, line);
    }
    let ending = Path::new(shown)
        .extension()
        .and_then(|ending| ending.to_str())
        .unwrap_or_default();
    let language = LANGUAGES
        .iter()
        .find(|language| language.endings.contains(&ending));
    match language {
        Some(language) => installed(environment, language, ending),
        None => {
            let message = format!(
                "nothing says what runs {shown}: it has no first line with `#!`, and no ending that is known"
            );
            Err(Refusal::new(Reason::BadArgument, message)
                .next(format!("Name an interpreter: {}", known().join(", "))))
        }
    }
}

/// As the system reads it: a path, and all that follows as at most one word.
fn of_first_line(
    environment: &[(OsString, OsString)],
    shown: &str,
    line: &[u8],
) -> Result<Command, Refusal> {
    let end = line
        .iter()
        .position(|byte| *byte == b'\n')
        .unwrap_or(line.len());
    let line = String::from_utf8_lossy(&line[..end]).into_owned();
    let wrong = |why: &str| {
        let message = format!("the first line of {shown} {why}");
        Refusal::new(Reason::BadArgument, message).next("Correct it, or name an interpreter")
    };
    if end >= FIRST_LINE - 2 {
        return Err(wrong("is longer than the system reads"));
    }
    // A carriage return at its end is the mark of an editor, and means nobody's program.
    let line = line.trim();
    let (program, word) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    let word = word.trim();
    if !program.starts_with('/') {
        return Err(wrong("names no program by its full path"));
    }
    if !is_program(Path::new(program)) {
        return Err(wrong(&format!("names {program}, which is not there")));
    }
    let is_env = program.ends_with("/env") && !word.is_empty() && !word.starts_with('-');
    if is_env && !word.contains(['=', ' ', '\t']) && find_program(environment, word).is_none() {
        return Err(wrong(&format!("names {word}, which is not installed")));
    }
    let words = [program, word].into_iter().filter(|word| !word.is_empty());
    Ok(words.map(OsString::from).collect())
}

fn installed(
    environment: &[(OsString, OsString)],
    language: &Language,
    asked: &str,
) -> Result<Command, Refusal> {
    for (program, before) in language.programs {
        if let Some(path) = find_program(environment, program) {
            let mut command: Command = vec![path.into()];
            command.extend(before.iter().map(OsString::from));
            return Ok(command);
        }
    }
    let programs: Vec<&str> = language
        .programs
        .iter()
        .map(|(program, _)| *program)
        .collect();
    let message = format!(
        "nothing that runs {asked} is installed: {} is not found",
        programs.join(" or ")
    );
    Err(Refusal::new(Reason::NotFound, message).next(format!(
        "Install {}, or name another interpreter",
        programs[0]
    )))
}

fn known() -> Vec<&'static str> {
    LANGUAGES
        .iter()
        .filter_map(|language| language.names.first().copied())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> Vec<(OsString, OsString)> {
        vec![("PATH".into(), "/usr/bin:/bin".into())]
    }

    #[test]
    fn a_first_line_comes_before_the_ending() {
        let command = of_file(&environment(), "a.py", b"#!/bin/sh -e\n").unwrap();
        assert_eq!(command, ["/bin/sh", "-e"]);
        let command = of_file(&environment(), "a.sh", b"echo").unwrap();
        assert!(command[0].to_string_lossy().ends_with("/bash"));
        for (beginning, message) in [
            (&b"#!sh\n"[..], "no program by its full path"),
            (b"#!/nowhere/python\n", "is not there"),
            (b"#!/usr/bin/env no-such-program\n", "is not installed"),
            (b"text", "nothing says what runs"),
        ] {
            let refusal = of_file(&environment(), "a.unknown", beginning).unwrap_err();
            assert!(refusal.to_string().contains(message), "{refusal}");
        }
    }

    #[test]
    fn no_options_come_with_an_interpreter() {
        for word in [
            "python3 -c",
            "bash -c",
            "-c",
            "",
            "/bin/sh -c",
            "../sh",
            "sh\0",
        ] {
            assert!(named(&environment(), word).is_err(), "{word:?}");
        }
        assert!(named(&environment(), "/bin/sh").is_ok());
        let missing = named(&[("PATH".into(), "/nowhere".into())], "python3").unwrap_err();
        assert!(missing.to_string().contains("Install python3"), "{missing}");
    }
}
