//! What a model is told that knows no tools: the tools, how to call them, and what came
//! of its calls.

use std::fmt::Write as _;

use serde_json::{Value, json};
use toolsmith_core::clean::is_plain;
use toolsmith_core::{Outcome, ToolDeclaration};

use super::parameters::without_brackets;
use super::{TextFormat, write};

/// Writes the instructions for a model that is to call tools in its text.
///
/// Each tool is one line of JSON, so that no description can pass for an instruction of
/// its own, and marks that a server would read as its own are escaped in it.
pub fn prompt(format: TextFormat, tools: &[ToolDeclaration]) -> String {
    let mut text = String::from(
        "You can call tools. Each line below is one tool: its name, what it does, and the \
         JSON Schema of its parameters.\n\n",
    );
    for tool in tools {
        let line = json!({
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters.as_value(),
        });
        text.push_str(&harmless(&line.to_string()));
        text.push('\n');
    }
    let arguments = json!({ "parameter_name": "value" });
    let example = write(format, &[("tool_name", &arguments, None)]);
    let (how, several) = words(format);
    let _ = write!(
        text,
        "\nTo call a tool, write {how}, with the name and the parameters as the tool's line \
         gives them:\n\n{example}\n\n{several} Write the calls at the end of your answer and \
         nothing behind them. What they bring comes in the next message, in \
         <tool_result name=\"…\"> … </tool_result>. Call only the tools above. When no tool \
         is needed, answer in plain text, without anything in this form.\n"
    );
    text
}

/// How a format is described.
const fn words(format: TextFormat) -> (&'static str, &'static str) {
    match format {
        TextFormat::Json => (
            "one JSON object and no code fence around it",
            "For several calls, write one such object after the other, each in a line of its own.",
        ),
        TextFormat::Jsonl => (
            "one JSON object in a line of its own",
            "For several calls, write one such line for each.",
        ),
        TextFormat::Xml | TextFormat::QwenCoder | TextFormat::Glm => (
            "a block like this; text stands as it is, everything else as JSON",
            "For several calls, write one such block after the other.",
        ),
        TextFormat::Pythonic => (
            "a list of calls in a line of its own, every argument by its name",
            "For several calls, put them into one list, with commas between them.",
        ),
        TextFormat::Mistral => (
            "a list of calls in JSON, in a line of its own",
            "For several calls, put them into one list.",
        ),
        TextFormat::Llama3 => (
            "a JSON object in a line of its own",
            "For several calls, write a semicolon between the objects.",
        ),
        TextFormat::Hermes
        | TextFormat::DeepSeekV3
        | TextFormat::DeepSeekV31
        | TextFormat::Kimi => (
            "a block like this around JSON",
            "For several calls, write one such block after the other.",
        ),
    }
}

/// What came of a call, for a model that called in its text.
///
/// What a tool returned cannot end the block it stands in.
pub fn result(name: &str, id: Option<&str>, outcome: &Outcome) -> String {
    let quoted = |text: &str| without_brackets(&Value::from(text));
    let mut head = format!("<tool_result name={}", quoted(name));
    if let Some(id) = id {
        let _ = write!(head, " id={}", quoted(id));
    }
    if !outcome.is_success() {
        head.push_str(" error=\"true\"");
    }
    let said = outcome.model_text();
    let said = said
        .replace("</tool_result", "<\\/tool_result")
        .replace("<tool_result", "<\\tool_result");
    format!("{head}>\n{said}\n</tool_result>")
}

/// JSON in which nothing hides, and no mark stands that a server or a model would read as
/// one of its own.
fn harmless(json: &str) -> String {
    const MARKS: [&str; 6] = ["INST", "/", "TOOL", "AVAILABLE", "ARGS]", "SYSTEM"];
    let mut text = String::with_capacity(json.len());
    for (at, c) in json.char_indices() {
        let rest = &json[at + c.len_utf8()..];
        let mark = match c {
            '<' => {
                rest.starts_with(|c: char| matches!(c, '|' | '｜' | '/') || c.is_ascii_alphabetic())
            }
            '[' => MARKS.iter().any(|mark| rest.starts_with(mark)),
            // What hides, and ends of lines that JSON lets stand.
            c => !is_plain(c),
        };
        if mark {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(text, "\\u{unit:04x}");
            }
        } else {
            text.push(c);
        }
    }
    text
}
