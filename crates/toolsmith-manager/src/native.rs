//! Files that describe tools: APIs and commands in `tools/native`, scripts in
//! `tools/builtin`, and documents the configuration names.

use std::path::Path;
use std::sync::Arc;

use toolsmith_core::reference::Place;
use toolsmith_rest::form::{Entry, Placed};
use toolsmith_rest::openapi::{self, Options};
use toolsmith_rest::{Made, Problem, Surroundings, make, script};

use crate::yaml::{self, YamlError};

/// The folder with one tool, or one API, a file.
pub const NATIVE_FOLDER: &str = "tools/native";

/// What a file says, and what was made of it.
#[derive(Debug, Default)]
pub(crate) struct Native {
    pub(crate) entry: Arc<Entry>,
    pub(crate) made: Made,
    /// What is worth a word about it.
    pub(crate) notes: Vec<String>,
}

/// Reads a file and makes its tools. A file is used whole or not at all.
pub(crate) fn read(
    path: &Path,
    name: &Arc<str>,
    bytes: &[u8],
    surroundings: &Surroundings,
) -> Result<Native, YamlError> {
    if yaml::is_blank(bytes) {
        return Err(YamlError::whole(&**name, "it is empty"));
    }
    let mut entry: Entry = yaml::read_large(name, bytes)?;
    name_by_file(&mut entry, path);
    let made = make(&entry, surroundings);
    sound(name, bytes, entry, made)
}

/// Reads a script and makes its tool; none where it has no header, and so is no tool.
pub(crate) fn read_script(
    path: &Path,
    name: &Arc<str>,
    bytes: &[u8],
    surroundings: &Surroundings,
) -> Result<Option<Native>, YamlError> {
    let header = script::header(bytes).map_err(|error| {
        let text = String::from_utf8_lossy(bytes);
        YamlError::at(name, &text, error.line, 1, &error.message)
    })?;
    let Some(header) = header else {
        return Ok(None);
    };
    let yaml = header.yaml.as_bytes();
    let mut entry: Entry = yaml::read(name, yaml)?;
    name_by_file(&mut entry, path);
    // It runs in the root, from where a relative path would be another one.
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let made = script::make(&path, &entry, surroundings);
    sound(name, bytes, entry, made).map(Some)
}

/// Reads a document and makes its operations tools.
pub(crate) fn read_document(
    name: &Arc<str>,
    bytes: &[u8],
    options: &Options,
    over: &Entry,
    surroundings: &Surroundings,
) -> Result<Native, YamlError> {
    let imported = openapi::import_over(bytes, options, over)
        .map_err(|error| YamlError::whole(&**name, error.to_string()))?;
    let made = make(&imported.entry, surroundings);
    let mut native = sound(name, bytes, imported.entry, made)?;
    let left_out = imported.left_out.iter();
    native.notes = left_out
        .map(|left_out| format!("{name}: {left_out}"))
        .collect();
    Ok(native)
}

/// Gives an entry without a name that of its file.
fn name_by_file(entry: &mut Entry, path: &Path) {
    if entry.name.is_none() {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        entry.name = Some(Placed::nowhere(stem.into_owned()));
    }
}

/// What was made, if nothing about it is wrong.
fn sound(name: &str, bytes: &[u8], entry: Entry, made: Made) -> Result<Native, YamlError> {
    let Some(first) = made.problems.first() else {
        return Ok(Native {
            entry: Arc::new(entry),
            made,
            notes: Vec::new(),
        });
    };
    let mut message = first.message.clone();
    if let more @ 1.. = made.problems.len() - 1 {
        message.push_str(&format!(" (and {more} more)"));
    }
    Err(placed(name, bytes, first, &message))
}

/// An error at the place of a problem.
fn placed(name: &str, bytes: &[u8], problem: &Problem, message: &str) -> YamlError {
    let text = String::from_utf8_lossy(bytes);
    let Place { line, column } = problem.place;
    match line {
        0 => YamlError::whole(name, message),
        line => YamlError::at(name, &text, line, column, message),
    }
}
