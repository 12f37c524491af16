//! What a tool of another program says of itself: it may know a secret it was started
//! with, and repeat it where everybody reads it. And what a model calls a tool with, and
//! what that would do, where a person or a recorder reads it.

use std::borrow::Cow;
use std::iter::once;
use std::path::PathBuf;

use serde_json::{Map, Value};
use toolsmith_core::{AnyTool, Arguments, Commands, Plan, Schema, ToolDef, Touch};

use super::Redactor;

/// The tool with no secret in what it says of itself. One that holds none stays
/// exactly as it was received.
pub(crate) fn without_secrets(tool: AnyTool, redactor: &Redactor) -> AnyTool {
    if is_free_of_secrets(&tool.definition(), redactor) {
        return tool;
    }
    tool.redefined(|definition| *definition = hushed(definition, redactor))
}

/// A definition with no secret in it.
pub(crate) fn hushed_definition(definition: &ToolDef, redactor: &Redactor) -> ToolDef {
    match is_free_of_secrets(definition, redactor) {
        true => definition.clone(),
        false => hushed(definition, redactor),
    }
}

/// Tells whether nothing need be taken out. A definition that cannot be written down is
/// gone through text by text.
fn is_free_of_secrets(definition: &ToolDef, redactor: &Redactor) -> bool {
    serde_json::to_string(definition).is_ok_and(|text| !redactor.is_needed_for(&text))
}

fn hushed(definition: &ToolDef, redactor: &Redactor) -> ToolDef {
    let text = |text: &mut String| *text = redactor.secrets(text).into_owned();
    let mut definition = definition.clone();
    let description = &mut definition.description;
    text(&mut description.short);
    text(&mut description.long);
    description.usage_notes.iter_mut().for_each(text);
    description.important.iter_mut().for_each(text);
    definition.title.iter_mut().for_each(text);
    definition.returns.iter_mut().for_each(text);
    definition.input = schema(&definition.input, redactor);
    definition.output = definition.output.as_ref().map(|it| schema(it, redactor));
    for example in &mut definition.examples {
        example.comment.iter_mut().for_each(text);
        fields(&mut example.arguments, redactor);
    }
    let meta = &mut definition.meta;
    meta.version.iter_mut().for_each(text);
    meta.category.iter_mut().for_each(text);
    meta.tags.iter_mut().for_each(text);
    meta.documentation_url.iter_mut().for_each(text);
    fields(&mut meta.extra, redactor);
    definition
}

/// Arguments as a person may see them: without secrets, and otherwise as they are, since
/// who decides on them must know what hides in them.
pub(crate) fn shown_arguments(arguments: &Arguments, redactor: &Redactor) -> Arguments {
    if !redactor.is_needed_for(&arguments.as_value().to_string()) {
        return arguments.clone();
    }
    let mut shown = Map::clone(arguments);
    fields(&mut shown, redactor);
    Arguments::new(shown)
}

/// A plan as people and recorders may see it: its commands and paths are made of the
/// arguments, and may hold what those hold. Its summary was shaped when it was made.
pub(crate) fn shown_plan<'p>(plan: &'p Plan, redactor: &Redactor) -> Cow<'p, Plan> {
    let holds = |text: &str| redactor.is_needed_for(text);
    let forms = |it: &'p Touch| once(&it.path).chain(&it.relative).chain(&it.named);
    let mut paths = plan.touches.iter().flat_map(forms);
    let lines: Vec<&String> = match plan.commands.as_ref().map(|line| &line.commands) {
        Some(Commands::Known(known)) => (known.iter())
            .flat_map(|command| once(&command.text).chain(&command.also))
            .collect(),
        Some(Commands::Unclear { reason }) => vec![reason],
        _ => Vec::new(),
    };
    if !lines.into_iter().any(|line| holds(line)) && !paths.any(|it| holds(&it.to_string_lossy())) {
        return Cow::Borrowed(plan);
    }
    let mut shown = plan.clone();
    let text = |text: &mut String| *text = redactor.secrets(text).into_owned();
    for touch in &mut shown.touches {
        for path in once(&mut touch.path)
            .chain(&mut touch.relative)
            .chain(&mut touch.named)
        {
            *path = PathBuf::from(&*redactor.secrets(&path.to_string_lossy()));
        }
    }
    match shown.commands.as_mut().map(|line| &mut line.commands) {
        Some(Commands::Known(known)) => (known.iter_mut())
            .flat_map(|command| once(&mut command.text).chain(&mut command.also))
            .for_each(text),
        Some(Commands::Unclear { reason }) => text(reason),
        _ => {}
    }
    Cow::Owned(shown)
}

fn schema(schema: &Schema, redactor: &Redactor) -> Schema {
    let mut value = schema.as_value().clone();
    replace(&mut value, redactor);
    Schema::as_received(value).unwrap_or_else(|_| schema.clone())
}

fn fields(fields: &mut Map<String, Value>, redactor: &Redactor) {
    let held = std::mem::take(fields);
    for (name, mut value) in held {
        replace(&mut value, redactor);
        fields.insert(redactor.secrets(&name).into_owned(), value);
    }
}

fn replace(value: &mut Value, redactor: &Redactor) {
    match value {
        Value::String(text) => *text = redactor.secrets(text).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, redactor)),
        Value::Object(object) => fields(object, redactor),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
