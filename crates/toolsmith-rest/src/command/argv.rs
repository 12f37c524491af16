//! From the words of a command and a call's arguments to what a program is given.
//!
//! One word makes one argument of the program, whatever stands in it: there is no shell,
//! and nothing is split. The one exception is a word that is nothing but a list, which
//! makes one argument for each item. What a model wrote is never the beginning of an
//! option: a value that begins with `-` is refused unless the file put `--` before it.

use serde_json::Value;
use toolsmith_core::{Arguments, ToolError};

use super::parameters::Parameters;
use super::text::{Text, plain, present};
use crate::form::CommandWord;

/// How many words a file may write.
const WORDS: usize = 1024;
/// How many arguments a program is given.
const ARGUMENTS: usize = 4096;
/// How long one may be: Linux takes 128 KiB with the NUL at its end.
const ARGUMENT_BYTES: usize = (128 << 10) - 1;
/// How long all may be together; the environment needs room beside them.
const ALL_BYTES: usize = 512 << 10;

/// A program and what makes its arguments.
#[derive(Clone, Debug)]
pub(super) struct Argv {
    program: String,
    groups: Vec<Group>,
}

/// Words that stand or fall together.
#[derive(Clone, Debug)]
struct Group {
    words: Vec<Word>,
    /// Whether the file wrote them as a list of their own.
    is_list: bool,
}

/// What makes one argument, or one for each item of a list.
#[derive(Clone, Debug)]
struct Word {
    text: Text,
    /// The argument whose items are arguments each.
    spreads: Option<String>,
    /// Whether nothing but numbers can stand in it.
    is_numeric: bool,
}

impl Argv {
    /// Reads a command.
    ///
    /// # Errors
    /// Says in words what is wrong with it, and what to write.
    pub(super) fn read(
        command: &[CommandWord],
        parameters: Parameters<'_>,
    ) -> Result<Self, String> {
        let words = |word: &CommandWord| match word {
            CommandWord::One(_) => 1,
            CommandWord::Together(words) => words.len(),
        };
        if command.iter().map(words).sum::<usize>() > WORDS {
            return Err(format!("the command has more than {WORDS} words"));
        }
        let (program, rest) = match command.split_first() {
            Some((CommandWord::One(program), rest)) => (program, rest),
            Some((CommandWord::Together(_), _)) => {
                return Err("the command begins with a list; begin it with its program".to_owned());
            }
            None => return Err("the command is empty; begin it with its program".to_owned()),
        };
        let names = parameters.names();
        let read = |written: &String| {
            if written.contains('\0') {
                return Err("the command holds a NUL character, which no program is given".into());
            }
            Text::read(written, &names)
        };
        let program = read(program)?;
        let Some(program) = program.fixed().filter(|text| !text.trim().is_empty()) else {
            return Err(
                "the program is no fixed text; begin the command with the name or the path of a \
                 program, so that no argument can choose what runs"
                    .to_owned(),
            );
        };
        let word = |written: &String| -> Result<Word, String> {
            let text = read(written)?;
            let spreads = text.only().filter(|name| parameters.is_list(name));
            let spreads = spreads.map(str::to_owned);
            let is_numeric = text.names().all(|name| parameters.is_numeric(name));
            Ok(Word {
                text,
                spreads,
                is_numeric,
            })
        };
        let group = |written: &CommandWord| -> Result<Group, String> {
            Ok(match written {
                CommandWord::One(written) => Group {
                    words: vec![word(written)?],
                    is_list: false,
                },
                CommandWord::Together(written) => Group {
                    words: written.iter().map(word).collect::<Result<_, _>>()?,
                    is_list: true,
                },
            })
        };
        Ok(Self {
            program: program.to_owned(),
            groups: rest.iter().map(group).collect::<Result<_, _>>()?,
        })
    }

    /// The program.
    pub(super) fn program(&self) -> &str {
        &self.program
    }

    /// The arguments of the program for a call.
    ///
    /// # Errors
    /// When a value would be taken for an option, cannot be an argument at all, or makes
    /// more of them than a program can be given.
    pub(super) fn fill(&self, arguments: &Arguments) -> Result<Vec<String>, ToolError> {
        let mut filled = Filled::default();
        for group in &self.groups {
            if !group.is_wanted(arguments) {
                continue;
            }
            for word in &group.words {
                filled.add(word, arguments)?;
            }
        }
        Ok(filled.entries)
    }
}

impl Group {
    /// Tells whether everything is there that its words name. A list without items
    /// would leave the words around it alone, so it counts as missing among them.
    fn is_wanted(&self, arguments: &Arguments) -> bool {
        let is_empty = |name: &String| {
            let items = present(arguments, name).and_then(Value::as_array);
            items.is_some_and(Vec::is_empty)
        };
        self.words.iter().all(|word| {
            let leaves_gap = self.is_list && word.spreads.as_ref().is_some_and(is_empty);
            word.text.is_complete(arguments) && !leaves_gap
        })
    }
}

/// The arguments of a program, as they come together.
#[derive(Default)]
struct Filled {
    entries: Vec<String>,
    bytes: usize,
    /// Whether a `--` of the file's own stands among them.
    is_past_options: bool,
}

impl Filled {
    fn add(&mut self, word: &Word, arguments: &Arguments) -> Result<(), ToolError> {
        let spread = word.spreads.as_ref();
        let items = spread.and_then(|name| present(arguments, name)?.as_array());
        match items {
            Some(items) => items
                .iter()
                .try_for_each(|item| self.push(word, plain(item))),
            None => self.push(word, word.text.fill(arguments)),
        }
    }

    fn push(&mut self, word: &Word, entry: String) -> Result<(), ToolError> {
        let name = word.text.names().next().unwrap_or_default();
        if entry.contains('\0') {
            return Err(ToolError::invalid(format!(
                "the argument `{name}` holds a NUL character, which no program can be given"
            )));
        }
        let is_chosen = word.text.begins_with_argument() && !word.is_numeric;
        if is_chosen && entry.starts_with('-') && !self.is_past_options {
            return Err(ToolError::invalid(format!(
                "the argument `{name}` may not begin with `-`: the program would take it for an \
                 option; a path can begin with `./` instead, and whoever wrote the tool can allow \
                 it with the word `--` before it in `command`"
            )));
        }
        self.bytes += entry.len() + 1;
        let is_too_much = entry.len() > ARGUMENT_BYTES
            || self.bytes > ALL_BYTES
            || self.entries.len() >= ARGUMENTS;
        if is_too_much {
            return Err(ToolError::invalid(format!(
                "the argument `{name}` is more than a program can be given: {} KiB at a time, {} \
                 KiB and {ARGUMENTS} pieces in all",
                (ARGUMENT_BYTES + 1) >> 10,
                ALL_BYTES >> 10
            )));
        }
        self.is_past_options |= word.text.fixed() == Some("--");
        self.entries.push(entry);
        Ok(())
    }
}
