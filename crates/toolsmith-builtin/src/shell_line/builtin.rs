//! Commands of bash that set variables, or change what others mean: which, and how far that
//! is clear.

use super::numbers::{COUNTED, Numbers, is_name};
use super::starter::is_assignment;
use super::word::Word;

/// Variables whose value bash expands, runs, or finds commands by: set by what is known only
/// when it runs, they make a line unclear.
const EXPANDED: &[&str] = &["ENV", "PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS4"];

/// Variables that say what the names of commands mean, or what runs before them.
const MEANINGS: &[&str] = &["BASH_ALIASES", "BASH_CMDS", "BASH_ENV"];

/// Commands that give variables what they read or make.
const SETTERS: &[&str] = &["coproc", "getopts", "mapfile", "read", "readarray"];

/// Commands that declare variables.
const DECLARING: &[&str] = &["declare", "export", "local", "readonly", "typeset"];

/// What a command sets.
pub(super) enum Sets {
    /// Variables of these names, to anything.
    Names(Vec<String>),
    /// One whose name is known only when it runs.
    Unknown,
    /// Any: it runs lines, or makes another name for one.
    Lines,
}

/// Tells whether a variable is one that programs look at, or bash itself: those have capital
/// letters, but for a few.
pub(super) fn decides(name: &str) -> bool {
    let has_capitals = name.len() > 1 && name.chars().any(char::is_uppercase);
    has_capitals || name.ends_with("_proxy") || name.starts_with("npm_config_")
}

/// Tells whether bash runs what a variable is given, be it now or later.
pub(super) fn is_expanded(name: &str) -> bool {
    EXPANDED.contains(&name) || COUNTED.contains(&name) || MEANINGS.contains(&name)
}

/// Tells whether bash may run what a variable is assigned.
pub(super) fn runs_value(name: &str, is_open: bool, numbers: &Numbers) -> bool {
    (EXPANDED.contains(&name) && is_open)
        || (COUNTED.contains(&name) && !numbers.has(name))
        || MEANINGS.contains(&name)
}

/// The name of a command and its further words, without what only leads to it.
pub(super) fn named(words: &[Word]) -> Option<(&str, &[Word])> {
    let mut words = words;
    let mut has_lead = false;
    loop {
        let (first, further) = words.split_first()?;
        let name = first.known()?;
        let leads = matches!(name, "builtin" | "command" | "time");
        let is_option = has_lead && name.starts_with('-');
        if !(leads || is_option || is_assignment(first)) {
            return Some((name, further));
        }
        has_lead |= leads;
        words = further;
    }
}

/// Which variables a command sets, besides assignments that are seen by themselves.
pub(super) fn sets(program: &str, words: &[Word]) -> Sets {
    let base_of = |word: Option<Word>| match word {
        Some(Word::Known(name)) => Sets::Names(vec![base(&name).to_owned()]),
        Some(Word::Open) => Sets::Unknown,
        None => Sets::Names(Vec::new()),
    };
    match program {
        "." | "eval" | "fc" | "source" | "trap" => Sets::Lines,
        // By another name.
        "declare" | "local" | "typeset" if has_option(words, "n") => Sets::Lines,
        _ if DECLARING.contains(&program) => match words.contains(&Word::Open) {
            true => Sets::Unknown,
            false => Sets::Names(Vec::new()),
        },
        "printf" => base_of(printed(words)),
        "wait" => base_of(behind(words, 'p')),
        _ if SETTERS.contains(&program) && has_open_name(words) => Sets::Unknown,
        _ if SETTERS.contains(&program) => {
            let names = words.iter().filter_map(Word::known).map(base);
            Sets::Names(
                names
                    .filter(|name| is_name(name))
                    .map(str::to_owned)
                    .collect(),
            )
        }
        _ => Sets::Names(Vec::new()),
    }
}

/// The variables a command sets that decide about other commands.
pub(super) fn deciding(program: &str, words: &[Word]) -> Vec<String> {
    match sets(program, words) {
        Sets::Names(names) => names.into_iter().filter(|name| decides(name)).collect(),
        Sets::Unknown | Sets::Lines => Vec::new(),
    }
}

/// Tells whether a command makes arrays of variables.
pub(super) fn makes_arrays(program: &str, words: &[Word]) -> bool {
    let is_list = matches!(program, "mapfile" | "readarray" | "coproc");
    is_list || (DECLARING.contains(&program) || program == "read") && has_option(words, "aA")
}

/// Why it cannot be told what a command of bash does.
pub(super) fn unclear(program: &str, words: &[Word], numbers: &Numbers) -> Option<String> {
    let evaluates = || Some(format!("`{program}` may run what stands in its words"));
    let changes = || Some(format!("`{program}` changes what commands mean"));
    let is_open = words.contains(&Word::Open);
    let known = || words.iter().filter_map(Word::known);
    let is_element = |word: &str| word.contains('[') && !is_clear(word, numbers);
    if deciding(program, words)
        .iter()
        .any(|name| is_expanded(name))
    {
        return Some(format!("`{program}` sets a variable that bash expands"));
    }
    match program {
        "alias" if !words.is_empty() => changes(),
        "hash" if is_open || has_option(words, "p") => changes(),
        "enable" if is_open || has_option(words, "f") => changes(),
        // Lines are changed by those before them.
        "set" if has_option(words, "H") || known().any(|word| word.starts_with("hist")) => {
            changes()
        }
        "set"
            if numbers.sets_unknown
                && (has_option(words, "x") || known().any(|word| word == "xtrace")) =>
        {
            Some("what is written before each command may run something".to_owned())
        }
        "let" if is_open || !known().all(|word| numbers.are_all_in(word)) => evaluates(),
        "printf" | "test" | "wait" => {
            let name = match program {
                "printf" => printed(words),
                "test" => behind(words, 'v'),
                _ => behind(words, 'p'),
            };
            let is_clear = |name: Word| name.known().is_some_and(|name| is_clear(name, numbers));
            name.is_some_and(|name| !is_clear(name))
                .then(evaluates)
                .flatten()
        }
        "unset" if is_open || known().any(is_element) => evaluates(),
        "read" if has_open_name(words) || known().any(is_element) => evaluates(),
        "declare" | "typeset" | "local"
            if is_open || known().any(|word| is_element(before_value(word))) =>
        {
            evaluates()
        }
        "readonly" | "export" if known().any(|word| is_element(before_value(word))) => evaluates(),
        _ => None,
    }
    .or_else(|| {
        let is_declaring = DECLARING.contains(&program);
        let names = || known().filter(|word| !word.starts_with(['-', '+']));
        let is_reference = |word: &str| word.split_once('=').is_none_or(|(_, of)| is_name(of));
        match is_declaring {
            true if has_option(words, "i") && !names().all(|word| numbers.has(base(word))) => {
                evaluates()
            }
            true if has_option(words, "n") && !names().all(is_reference) => evaluates(),
            _ => None,
        }
    })
}

/// Tells whether a word names a variable, or an element by what is a number.
fn is_clear(word: &str, numbers: &Numbers) -> bool {
    match word.split_once('[') {
        Some((_, index)) => numbers.are_all_in(index),
        None => true,
    }
}

fn base(word: &str) -> &str {
    word.split(['[', '=', '+']).next().unwrap_or_default()
}

fn before_value(word: &str) -> &str {
    word.split('=').next().unwrap_or_default()
}

/// The variable that `printf` prints to; its first word may turn out to be the option.
fn printed(words: &[Word]) -> Option<Word> {
    match words {
        [Word::Open, Word::Known(name), ..] if is_name(base(name)) => {
            Some(Word::Known(name.clone()))
        }
        [Word::Known(first), ..] if first.starts_with('-') => behind(words, 'v'),
        _ => None,
    }
}

/// Tells whether a word that is known only when it runs may be the name of a variable, and not
/// what belongs to an option.
fn has_open_name(words: &[Word]) -> bool {
    let takes_a_word = |word: &Word| {
        let word = word.known().unwrap_or_default();
        word.starts_with('-') && word.ends_with(|c| "CNOcdinpstu".contains(c))
    };
    let mut before = None;
    words.iter().any(|word| {
        let is_name = *word == Word::Open && !before.is_some_and(takes_a_word);
        before = Some(word);
        is_name
    })
}

/// The word of an option, which may stick to it.
fn behind(all: &[Word], option: char) -> Option<Word> {
    let words = all.iter().enumerate();
    let mut found = words.filter_map(|(at, word)| {
        let letters = word.known()?.strip_prefix('-')?;
        let (before, stuck) = letters.split_once(option)?;
        let is_option = before.chars().all(|c| c.is_ascii_alphabetic());
        is_option.then_some((at, stuck))
    });
    let (at, stuck) = found.next()?;
    match stuck.is_empty() {
        true => all.get(at + 1).cloned(),
        false => Some(Word::Known(stuck.to_owned())),
    }
}

fn has_option(words: &[Word], letters: &str) -> bool {
    let is_option = |word: &str| {
        let options = word.strip_prefix(['-', '+']).unwrap_or_default();
        !options.starts_with('-') && options.contains(|c| letters.contains(c))
    };
    words.iter().filter_map(Word::known).any(is_option)
}
