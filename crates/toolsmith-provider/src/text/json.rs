//! JSON alone: `{"name": …, "parameters": {…}}`, one or several, with or without a fence,
//! one per line, or Llama's, with `;` between them.

use serde_json::{Value, json};

use super::TextFormat;
use super::calls::{self, Block, Certainty, TextCall};
use super::write::Written;

/// Reads JSON that stands alone. Llama's is not told from any other.
pub(super) fn read(block: &Block<'_>) -> Option<Vec<TextCall>> {
    calls::from_json(block, TextFormat::Json, Certainty::Bare)
}

/// One object per line.
pub(super) fn write(calls: &[Written<'_>]) -> String {
    let lines: Vec<String> = calls
        .iter()
        .map(|call| object(call, "parameters").to_string())
        .collect();
    lines.join("\n")
}

/// Llama's way.
pub(super) fn write_llama(calls: &[Written<'_>]) -> String {
    let objects: Vec<String> = calls
        .iter()
        .map(|call| object(call, "parameters").to_string())
        .collect();
    format!("<|python_tag|>{}", objects.join("; "))
}

/// A call as an object.
pub(super) fn object(call: &Written<'_>, arguments: &str) -> Value {
    let (name, given, id) = call;
    let mut object = json!({ "name": name, arguments: given });
    if let Some(id) = id {
        object["id"] = (*id).into();
    }
    object
}
