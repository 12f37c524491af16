//! Local commands as tools: a program that is fixed, and arguments that stay arguments.
//!
//! A call passes these files in order:
//!
//! | file | gives |
//! |---|---|
//! | `text` | text in which names stand for arguments |
//! | `argv` | the arguments of the program, none of which is an option a model wrote |
//! | `environment` | the folder and the variables |
//! | `confine` | what it is kept within |
//! | `program` | the tool: plan, refusal, start |
//! | `run`, `output` | the program runs, and nothing of it stays |
//! | `report` | exit status and output as an outcome |
//!
//! A program that is named by a relative path is looked for in the folder it runs in, one
//! without any slash in the `PATH` it is given.
//!
//! [`script`] makes tools of files that are programs themselves.

mod argv;
mod confine;
mod environment;
mod output;
mod parameters;
mod program;
mod report;
mod run;
pub mod script;
mod text;

use toolsmith_core::AnyTool;

use self::argv::Argv;
use self::confine::Confinement;
use self::environment::Environment;
use self::parameters::Parameters;
use self::program::{Input, Program};
use self::text::Text;
use crate::form::Entry;
use crate::make::{Made, Problem, Surroundings};

/// Adds the tool of an entry that has a `command`.
///
/// # Errors
/// Tells what is wrong with the entry, and where.
pub(crate) fn tool(
    entry: &Entry,
    surroundings: &Surroundings,
    made: &mut Made,
) -> Result<(), Problem> {
    let Some(command) = &entry.command else {
        return Err(Problem::new("the tool has no `command`"));
    };
    let confinement = Confinement::of(entry, surroundings)?;
    let definition = program::definition(entry, &confinement)?;
    let parameters = Parameters::of(&definition);
    let argv = Argv::read(&command.value, parameters)
        .map_err(|message| Problem::at(command.place, message))?;
    let stdin = match &entry.stdin {
        Some(stdin) => {
            let text = Text::read(&stdin.value, &parameters.names());
            Some(text.map_err(|message| Problem::at(stdin.place, message))?)
        }
        None => None,
    };
    let environment = Environment::of(entry, surroundings, made)?;
    let input = Input::Words { argv, stdin };
    let program = Program::new(definition, entry, input, environment, confinement);
    made.tools.push(AnyTool::new(program));
    Ok(())
}
