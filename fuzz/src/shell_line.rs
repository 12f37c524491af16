//! No command of a line is lost when it is split.

use toolsmith_builtin::shell_line::split;
use toolsmith_core::{Commands, PlannedCommand};

/// Words after which a line is more than words and separators.
const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "in", "select", "function", "time", "coproc", "declare", "typeset", "export", "readonly",
    "local", "unset", "unsetenv", "let",
];

/// A command that stands in no input.
const FIRST: &str = "zzfirst 1";

/// Checks one line.
pub fn check(bytes: &[u8]) {
    let line = String::from_utf8_lossy(bytes);
    let commands = split(&line);
    assert_eq!(commands, split(&line), "it is split the same each time");
    if let Commands::Known(known) = &commands {
        assert!(known.len() <= 256, "more commands than are accepted");
        before(&line, known);
    }
    if let Some(expected) = simple(&line)
        && let Commands::Known(known) = &commands
    {
        let found: Vec<&str> = known.iter().map(|command| first(&command.text)).collect();
        for word in expected {
            assert!(
                found.contains(&word),
                "{word:?} of {line:?} is lost: {known:?}"
            );
        }
    }
}

/// A command in front of a line is found, and hides none of the others.
fn before(line: &str, known: &[PlannedCommand]) {
    let Commands::Known(all) = split(&format!("{FIRST}\n{line}")) else {
        return;
    };
    let [one, rest @ ..] = &all[..] else {
        panic!("the command in front of {line:?} is lost");
    };
    assert_eq!(one.text, FIRST, "in front of {line:?}");
    assert_eq!(rest, known, "behind another command: {line:?}");
}

/// The command words of a line of nothing but plain words and separators.
fn simple(line: &str) -> Option<Vec<&str>> {
    let plain = |c: char| c.is_ascii_alphanumeric() || " _./-;|&\n".contains(c);
    if !line.chars().all(plain) {
        return None;
    }
    let mut pieces = vec![line];
    for separator in ["&&", "||", ";", "|", "\n", "&"] {
        pieces = pieces
            .iter()
            .flat_map(|piece| piece.split(separator))
            .collect();
    }
    let words: Vec<&str> = pieces
        .iter()
        .filter_map(|piece| piece.split_whitespace().next())
        .collect();
    let is_reserved = |word: &&str| RESERVED.contains(word);
    (!words.iter().any(is_reserved)).then_some(words)
}

fn first(text: &str) -> &str {
    text.split(' ').next().unwrap_or_default()
}
