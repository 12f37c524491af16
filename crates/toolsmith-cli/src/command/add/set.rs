//! A tool set: `configs/tool_sets/NAME.yaml` is made, or gets what it lacks.

use serde_json::Value;
use tokio::runtime::Handle;
use toolsmith_manager::edit::{self, EditError, scalar};
use toolsmith_manager::sets::SETS_FOLDER;
use toolsmith_manager::yaml;

use crate::cli::{AddSet, Cli};
use crate::command::project::{self, Written, place, schema_line, shown, tell};
use crate::command::trial::Trial;
use crate::command::user_file::{Privacy, UserFile};
use crate::failure::Failure;
use crate::print;

/// The sort of file, as schemas are called.
const SORT: &str = "tool_set";

pub(super) fn run(cli: &Cli, options: &AddSet, tools: &Handle) -> Result<u8, Failure> {
    let trial = Trial::begin(cli, tools)?;
    let root = trial.root();
    let path = place(root, SETS_FOLDER, options.name.as_str());
    let file = UserFile::read(&path)?;
    let text = match file.is_there() {
        true => extended(options, &file)?,
        false => {
            let line = schema_line(root, &path, SORT)?;
            Some(format!("{line}\n\n{}", body(options)))
        }
    };
    let name = &options.name;
    let next = format!("Next: `toolsmith --set {name} tools` lists what it comes to.");
    let Some(text) = text else {
        print::note(&format!("{} has all of them already.", shown(&path)));
        tell(cli, &path, &Written::default(), &next)?;
        return Ok(0);
    };
    let warnings = trial.with(&path, &text)?;
    // A file that is there keeps its first line, so it needs no schema.
    let mut written = match file.is_there() {
        true => Written {
            changed: true,
            backup: file.replace(&text, Privacy::AsUsual)?,
            ..Written::default()
        },
        false => project::write(root, SORT, file, &text, Privacy::AsUsual)?,
    };
    written.warnings = warnings;
    tell(cli, &path, &written, &next)?;
    Ok(0)
}

/// What a new file says.
fn body(options: &AddSet) -> String {
    let mut body = String::new();
    if let Some(description) = &options.description {
        body.push_str(&format!("description: {}\n", scalar(description)));
    }
    body.push_str("tools:\n");
    let mut known: Vec<&String> = Vec::new();
    for tool in &options.tools {
        if !known.contains(&tool) {
            body.push_str(&format!("  - {}\n", scalar(tool)));
            known.push(tool);
        }
    }
    body
}

/// The text of a set with what it lacks; none where it lacks nothing.
fn extended(options: &AddSet, file: &UserFile) -> Result<Option<String>, Failure> {
    let refused = |error: EditError| {
        let file = file.shown();
        Failure::usage(format!("{file}: {error}; the file was left as it is"))
    };
    let mut text = file.text().to_owned();
    let says: Value = match text.trim().is_empty() {
        true => Value::Null,
        false => yaml::read(&file.shown(), text.as_bytes())
            .map_err(|error| Failure::usage(error.to_string()))?,
    };
    let members = says["tools"].as_array().into_iter().flatten();
    let mut members: Vec<&str> = members.filter_map(Value::as_str).collect();
    let mut is_changed = false;
    for tool in &options.tools {
        if !members.contains(&tool.as_str()) {
            text = edit::append_to_list(&text, &["tools"], tool).map_err(refused)?;
            members.push(tool);
            is_changed = true;
        }
    }
    match (&options.description, says["description"].as_str()) {
        (Some(wanted), Some(found)) if wanted != found => print::warning(&format!(
            "{} has another description, which stays; change it by hand",
            file.shown()
        )),
        (Some(wanted), None) => {
            text = edit::insert_mapping_entry(&text, &[], "description", &scalar(wanted))
                .map_err(refused)?;
            is_changed = true;
        }
        _ => {}
    }
    Ok(is_changed.then_some(text))
}
