//! Files in `tools/native`: APIs over HTTP and local commands.

use std::path::Path;
use std::sync::Arc;

use toolsmith_rest::form::{Entry, Placed};
use toolsmith_rest::{Made, Problem, Surroundings, make};

use crate::yaml::{self, YamlError};

/// The folder with one tool, or one API, a file.
pub const NATIVE_FOLDER: &str = "tools/native";

/// Reads a file and makes its tools. A file is used whole or not at all.
pub(crate) fn read(
    path: &Path,
    name: &Arc<str>,
    bytes: &[u8],
    surroundings: &Surroundings,
) -> Result<Made, YamlError> {
    if yaml::is_blank(bytes) {
        return Err(YamlError::whole(&**name, "it is empty"));
    }
    let mut entry: Entry = yaml::read(name, bytes)?;
    if entry.name.is_none() {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        entry.name = Some(Placed::nowhere(stem.into_owned()));
    }
    let made = make(&entry, surroundings);
    sound(name, bytes, made)
}

/// What was made, if nothing about it is wrong.
pub(crate) fn sound(name: &str, bytes: &[u8], made: Made) -> Result<Made, YamlError> {
    let Some(first) = made.problems.first() else {
        return Ok(made);
    };
    let mut message = first.message.clone();
    if let more @ 1.. = made.problems.len() - 1 {
        message.push_str(&format!(" (and {more} more)"));
    }
    Err(placed(name, bytes, first, &message))
}

/// An error at the place of a problem.
pub(crate) fn placed(name: &str, bytes: &[u8], problem: &Problem, message: &str) -> YamlError {
    let text = String::from_utf8_lossy(bytes);
    match problem.place.line {
        0 => YamlError::whole(name, message),
        line => YamlError::at(name, &text, line, problem.place.column, message),
    }
}
