//! Files that describe tools: APIs and commands in `tools/native`, scripts in
//! `tools/builtin`, and documents the configuration names.

use std::path::Path;
use std::sync::Arc;

use toolsmith_core::reference::Place;
use toolsmith_rest::form::{Entry, Placed};
use toolsmith_rest::openapi::{self, OpenApiError, Options};
use toolsmith_rest::{Made, Problem, Surroundings, make, script};

use crate::yaml::{self, YamlError};

/// The folder with one tool, or one API, a file.
pub const NATIVE_FOLDER: &str = "tools/native";

/// How many references of one file to what is not there are told: for each the file is gone
/// through for the line it stands in.
const MOST_MISSING: usize = 100;

/// What a file says, and what was made of it.
#[derive(Debug, Default)]
pub(crate) struct Native {
    pub(crate) entry: Arc<Entry>,
    pub(crate) made: Made,
    /// References to what is not there.
    pub(crate) missing: Vec<YamlError>,
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
    sound(entry, made, &|problem| placed(name, bytes, problem))
}

/// What a file came to that may be a script.
pub(crate) enum Script {
    /// The tool it says it is.
    Tool(Box<Native>),
    /// It can be run, and says of no tool.
    Silent,
    /// It is none.
    Other,
}

/// Reads a script and makes its tool, where it has a header.
pub(crate) fn read_script(
    path: &Path,
    name: &Arc<str>,
    bytes: &[u8],
    surroundings: &Surroundings,
) -> Result<Script, YamlError> {
    let header = script::header(bytes).map_err(|error| {
        let text = String::from_utf8_lossy(bytes);
        YamlError::at(name, &text, error.line, 1, &error.message)
    })?;
    let Some(header) = header else {
        return Ok(match bytes.starts_with(b"#!") {
            true => Script::Silent,
            false => Script::Other,
        });
    };
    let yaml = header.yaml.as_bytes();
    let mut entry: Entry = yaml::read(name, yaml).map_err(|error| match error.line {
        0 => error,
        // Shown as it stands in the script.
        line => {
            let text = String::from_utf8_lossy(bytes);
            YamlError::at(name, &text, line, error.column, &error.message)
        }
    })?;
    name_by_file(&mut entry, path);
    // It runs in the root, from where a relative path would be another one.
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let made = script::make(&path, bytes, &entry, surroundings);
    let native = sound(entry, made, &|problem| placed(name, bytes, problem))?;
    Ok(Script::Tool(Box::new(native)))
}

/// Reads a document and makes its operations tools. What the configuration says beside it
/// stands in that file, and so does what is wrong with it.
pub(crate) fn read_document(
    name: &Arc<str>,
    bytes: &[u8],
    options: &Options,
    (config, over): (&str, &Entry),
    surroundings: &Surroundings,
) -> Result<Native, YamlError> {
    let imported = openapi::import_over(bytes, options, over).map_err(|error| match &error {
        OpenApiError::Malformed {
            line: line @ 1..,
            column,
            message,
        } => {
            let text = String::from_utf8_lossy(bytes);
            YamlError::at(name, &text, *line, *column, message)
        }
        error => YamlError::whole(&**name, error.to_string()),
    })?;
    let api = options.name.as_deref().unwrap_or_default();
    let mut tools = imported.entry.tools.iter();
    if imported.entry.api_url.is_none() && tools.any(|tool| tool.value.api_url.is_none()) {
        let message = format!("it does not say where the API is; set `openapi.{api}.api_url`");
        return Err(YamlError::whole(&**name, message));
    }
    let made = imported.make(surroundings);
    let said_beside = |problem: &Problem| {
        let mut error = YamlError::whole(config, format!("openapi.{api}: {}", problem.message));
        (error.line, error.column) = (problem.place.line, problem.place.column);
        error
    };
    let place = |problem: &Problem| match problem.place.line {
        0 => YamlError::whole(&**name, problem.message.as_str()),
        _ => said_beside(problem),
    };
    let mut native = sound(imported.entry, made, &place)?;
    let left_out = imported.left_out.iter();
    native.notes = left_out
        .map(|left_out| format!("{name}: {left_out}"))
        .collect();
    if native.entry.tools.is_empty() {
        let notes = imported.notes.iter();
        native
            .notes
            .push(format!("{name}: no operation of it is a tool"));
        native
            .notes
            .extend(notes.map(|note| format!("{name}: {note}")));
    }
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
fn sound(
    entry: Entry,
    mut made: Made,
    place: &dyn Fn(&Problem) -> YamlError,
) -> Result<Native, YamlError> {
    let Some(first) = made.problems.first() else {
        let mut missing = std::mem::take(&mut made.missing);
        if let Some(more) = missing
            .len()
            .checked_sub(MOST_MISSING)
            .filter(|more| *more > 0)
        {
            missing.truncate(MOST_MISSING);
            missing.push(Problem::new(format!(
                "{more} more references to what is not there"
            )));
        }
        return Ok(Native {
            entry: Arc::new(entry),
            missing: missing.iter().map(place).collect(),
            made,
            notes: Vec::new(),
        });
    };
    let mut first = first.clone();
    if let more @ 1.. = made.problems.len() - 1 {
        first.message.push_str(&format!(" (and {more} more)"));
    }
    Err(place(&first))
}

/// An error at the place of a problem.
fn placed(name: &str, bytes: &[u8], problem: &Problem) -> YamlError {
    let Place { line, column } = problem.place;
    match line {
        0 => YamlError::whole(name, problem.message.as_str()),
        line => {
            let text = String::from_utf8_lossy(bytes);
            YamlError::at(name, &text, line, column, &problem.message)
        }
    }
}
