//! What a tool of another program says of itself: it may know a secret it was started
//! with, and repeat it where everybody reads it. And what a model calls a tool with, where
//! a person reads it.

use serde_json::{Map, Value};
use toolsmith_core::{AnyTool, Arguments, Schema, ToolDef};

use super::Redactor;

/// The tool with no secret in what it says of itself. One that holds none stays
/// exactly as it was received.
pub(crate) fn without_secrets(tool: AnyTool, redactor: &Redactor) -> AnyTool {
    let holds = serde_json::to_string(&*tool.definition());
    if !holds.is_ok_and(|text| redactor.is_needed_for(&text)) {
        return tool;
    }
    tool.redefined(|definition| *definition = hushed(definition, redactor))
}

/// A definition with no secret in it.
pub(crate) fn hushed_definition(definition: &ToolDef, redactor: &Redactor) -> ToolDef {
    let holds = serde_json::to_string(definition);
    match holds.is_ok_and(|text| redactor.is_needed_for(&text)) {
        true => hushed(definition, redactor),
        false => definition.clone(),
    }
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
        let meta = &mut definition.meta;
        meta.version.iter_mut().for_each(text);
        meta.category.iter_mut().for_each(text);
        meta.tags.iter_mut().for_each(text);
        meta.documentation_url.iter_mut().for_each(text);
        fields(&mut meta.extra, redactor);
    }
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
