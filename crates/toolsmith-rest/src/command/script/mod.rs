//! Scripts that say themselves what tool they are, in a comment at their top.
//!
//! ```sh
//! #!/bin/sh
//! # ---
//! # name: count_words
//! # description: Counts the words of a file.
//! # parameters:
//! #   properties: { file: { type: string } }
//! #   required: [file]
//! # ---
//! wc -w -- "$ARG_FILE"
//! ```
//!
//! The comment is in the style of `#`, `//` or `--`, begins and ends with `---`, and holds
//! what an [`Entry`] holds. The caller finds it with [`header()`], reads it as it reads any
//! other file, and hands both to [`make()`].
//!
//! # What a script is given
//! All arguments stand on its standard input, as one JSON object. Each that is a text, a
//! number or a boolean also stands in a variable: `ARG_` and its name in capitals, with `_`
//! for whatever is no letter or digit. What is absent or `null` has none. No value is ever
//! part of a line that a shell reads. A text too long for a variable (128 KiB), or with a
//! NUL character, is refused.
//!
//! # What runs it
//! The file itself where it is executable, else the interpreter that its first line names.

mod header;
mod interpreter;
pub(super) mod variables;

use std::path::Path;
use std::sync::Arc;

use toolsmith_core::AnyTool;

pub use self::header::{Header, HeaderError, header};
use self::variables::Variables;
use super::confine::Confinement;
use super::environment::Environment;
use super::parameters::Parameters;
use super::program::{self, Input, Program};
use crate::form::Entry;
use crate::make::{Made, Problem, Surroundings, mark};

/// Makes the tool of a script from what its header says.
///
/// A relative path is seen from the root; `text` is what stands in the file.
pub fn make(path: &Path, text: &[u8], entry: &Entry, surroundings: &Surroundings) -> Made {
    let mut made = Made::default();
    if !entry.disabled
        && let Err(problem) = add(path, entry, surroundings, &mut made)
    {
        made.problems.push(problem);
    }
    // The script is what runs, so another text is another tool.
    let mark = mark(entry, text);
    for tool in &mut made.tools {
        *tool = tool.marked(Arc::clone(&mark));
    }
    made
}

fn add(
    path: &Path,
    entry: &Entry,
    surroundings: &Surroundings,
    made: &mut Made,
) -> Result<(), Problem> {
    if let Some(key) = misplaced(entry) {
        return Err(Problem::new(format!(
            "`{key}` has no place in the header of a script, which is the command itself; take \
             it out, or write a file in tools/native"
        )));
    }
    let confinement = Confinement::of(entry, surroundings)?;
    let definition = program::definition(entry, &confinement)?;
    let place = entry.parameters.as_ref().map(|parameters| parameters.place);
    let variables = Variables::of(Parameters::of(&definition))
        .map_err(|message| Problem::at(place.unwrap_or_default(), message))?;
    let path = surroundings.root.join(path);
    let command = interpreter::command(&path).map_err(Problem::new)?;
    let environment = Environment::of(entry, surroundings, made)?;
    let input = Input::Script {
        path,
        command,
        variables,
    };
    let program = Program::new(definition, entry, input, environment, confinement);
    made.tools.push(AnyTool::new(program));
    Ok(())
}

/// The first key that says something no script can mean.
fn misplaced(entry: &Entry) -> Option<&'static str> {
    let keys = [
        ("command", entry.command.is_some()),
        ("stdin", entry.stdin.is_some()),
        ("tools", !entry.tools.is_empty()),
        ("api_url", entry.api_url.is_some()),
        ("auth_method", entry.auth_method.is_some()),
        ("auth", entry.auth.is_some()),
        ("api_key", entry.api_key.is_some()),
        ("headers", !entry.headers.is_empty()),
        ("rate_limit", entry.rate_limit.is_some()),
        ("retries", entry.retries.is_some()),
        ("idempotency_header", entry.idempotency_header.is_some()),
        ("method", entry.method.is_some()),
        ("path", entry.path.is_some()),
        ("places", !entry.places.is_empty()),
        ("body", entry.body.is_some()),
        ("request", entry.request.is_some()),
        ("pagination", entry.pagination.is_some()),
        ("adapter", entry.adapter.is_some()),
        ("schema_path", entry.schema_path.is_some()),
        ("execute_path", entry.execute_path.is_some()),
    ];
    keys.into_iter()
        .find(|(_, is_set)| *is_set)
        .map(|(key, _)| key)
}
