//! Definitions in words: arguments as Markdown, and the texts models are sent.
//!
//! Reads definitions only. The usage guide, which joins many tools and the files
//! people keep about them, is rendered elsewhere from the same pieces.

use std::fmt::Write;

use serde_json::Value;

use crate::definition::{Consent, Detail, ToolDef};
use crate::schema::Schema;

impl ToolDef {
    /// The description a model is sent: brief or full, the consent warning in both.
    pub fn description_for_models(&self, detail: Detail) -> String {
        match detail {
            Detail::Brief => self.brief_description(),
            Detail::Full => self.full_description(),
        }
    }

    /// The short form, what is important, and the consent warning.
    pub fn brief_description(&self) -> String {
        let mut text = self.description.short.clone();
        for note in &self.description.important {
            paragraph(&mut text, &format!("Important: {note}"));
        }
        if let Some(consent) = &self.consent {
            paragraph(&mut text, &consent.warning());
        }
        text
    }

    /// Everything there is to say: description, notes, consent, arguments as
    /// Markdown, and what is returned.
    pub fn full_description(&self) -> String {
        let mut text = self.description.short.clone();
        paragraph(&mut text, &self.description.long);
        for note in &self.description.important {
            paragraph(&mut text, &format!("Important: {note}"));
        }
        if let Some(consent) = &self.consent {
            paragraph(&mut text, &consent.warning());
        }
        let notes: Vec<String> = self
            .description
            .usage_notes
            .iter()
            .map(|note| format!("- {note}"))
            .collect();
        paragraph(&mut text, &notes.join("\n"));
        paragraph(&mut text, &self.input.to_markdown());
        if let Some(returns) = &self.returns {
            paragraph(&mut text, &format!("Returns: {returns}"));
        }
        text
    }
}

impl Consent {
    /// The warning every description of the tool carries.
    pub fn warning(&self) -> String {
        let why = self
            .reason
            .as_deref()
            .unwrap_or("What it does may be hard or impossible to undo.");
        format!(
            "REQUIRES EXPLICIT USER INSTRUCTION: {why} Pass {argument}=\"{literal}\" only when the user \
             has asked for exactly this; never guess it, and never use it to save a question.",
            argument = self.argument,
            literal = self.literal,
        )
    }
}

impl Schema {
    /// The arguments as a Markdown list: name, type, required or optional,
    /// description, with literals, choices, defaults and nested fields shown.
    pub fn to_markdown(&self) -> String {
        let mut text = String::new();
        fields(&mut text, self.as_value(), 0);
        if text.is_empty() {
            return "Takes no arguments.".to_owned();
        }
        format!("Arguments:\n{}", text.trim_end())
    }
}

/// Nested fields beyond this depth are left to the schema itself; a recursive
/// schema has no end.
const DEEPEST: usize = 4;

fn fields(text: &mut String, schema: &Value, depth: usize) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return;
    };
    let required = |name: &str| {
        schema
            .get("required")
            .and_then(Value::as_array)
            .is_some_and(|list| list.iter().any(|entry| entry == name))
    };
    for (name, property) in properties {
        let need = if required(name) {
            "required"
        } else {
            "optional"
        };
        let indent = "  ".repeat(depth);
        let _ = write!(text, "{indent}- `{name}` ({}, {need}", type_of(property));
        if let Some(default) = property.get("default") {
            let _ = write!(text, ", default `{default}`");
        }
        text.push(')');
        if let Some(description) = property.get("description").and_then(Value::as_str) {
            let description = description.split('\n').collect::<Vec<_>>();
            let _ = write!(text, ": {}", description.join(&format!("\n{indent}  ")));
        }
        text.push('\n');
        if depth < DEEPEST {
            fields(text, property, depth + 1);
            if let Some(items) = property.get("items") {
                fields(text, items, depth + 1);
            }
        }
    }
}

/// Names the type of a property in a few words.
fn type_of(schema: &Value) -> String {
    if let Some(literal) = schema.get("const") {
        return format!("exactly `{literal}`");
    }
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        let choices: Vec<String> = choices.iter().map(|choice| format!("`{choice}`")).collect();
        return format!("one of {}", choices.join(", "));
    }
    match schema.get("type") {
        Some(Value::String(name)) if name == "array" => match schema.get("items") {
            Some(items) => format!("array of {}", type_of(items)),
            None => "array".to_owned(),
        },
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => {
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            names.join(" or ")
        }
        _ => {
            for keyword in ["anyOf", "oneOf"] {
                if let Some(branches) = schema.get(keyword).and_then(Value::as_array) {
                    let branches: Vec<String> = branches.iter().map(type_of).collect();
                    return branches.join(" or ");
                }
            }
            "any".to_owned()
        }
    }
}

fn paragraph(text: &mut String, more: &str) {
    if more.trim().is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}
