//! Examples: what people write, read into arguments, and written again in the form a
//! reader wants.
//!
//! A snippet is a call in Python's literal syntax (`python`, `literal`) or a JSON object of
//! arguments. What is neither is never dropped: it is shown as it stands, with the reason
//! why it could not be read.

mod literal;
mod python;
mod write;

use serde::Serialize;
use serde_json::{Map, Value};
use toolsmith_core::{Example, Schema, json};

use super::request::ExampleForm;
use crate::shape::clean;

/// How many lines an example should have; of code that could not be read, no more are
/// shown.
pub(super) const MOST_LINES: usize = 10;

/// How many bytes of an example are read.
const MOST_BYTES: usize = 16 << 10;

/// How deep the arguments of an example may nest.
const DEEPEST: usize = 64;

/// An example of a tool's use.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "form", rename_all = "snake_case")]
pub enum GuideExample {
    /// A call with literal arguments.
    Parsed {
        /// What it shows.
        #[serde(skip_serializing_if = "Option::is_none")]
        comment: Option<String>,
        /// The arguments of the call.
        arguments: Map<String, Value>,
    },
    /// Code that is no literal call of the tool, shown as it stands.
    Shown {
        /// What it shows.
        #[serde(skip_serializing_if = "Option::is_none")]
        comment: Option<String>,
        /// The code, without its comment; at most its first ten lines.
        code: String,
        /// Why it could not be read.
        why: String,
    },
}

impl GuideExample {
    /// Reads an example of the tool `name`: a call, or its arguments as JSON, beneath lines
    /// that begin with `#` and are its comment.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolsmith_runtime::guide::GuideExample;
    ///
    /// let example = GuideExample::read("head", "# The beginning\nhead(path='a.txt', lines=0x10)");
    /// assert_eq!(example.comment(), Some("The beginning"));
    /// assert_eq!(example.arguments().unwrap()["lines"], json!(16));
    /// ```
    pub fn read(name: &str, snippet: &str) -> Self {
        let cut = snippet.floor_char_boundary(snippet.len().min(MOST_BYTES));
        let text = clean(&snippet[..cut]);
        let (comment, code) = split(&text);
        let read = if cut < snippet.len() {
            Err(format!("it is longer than {MOST_BYTES} bytes"))
        } else if code.starts_with('{') {
            from_json(code)
        } else {
            python::call(name, code)
        };
        match read {
            Ok(arguments) => Self::Parsed { comment, arguments },
            Err(why) => Self::Shown {
                comment,
                code: first_lines(code),
                why,
            },
        }
    }

    /// What it shows.
    pub fn comment(&self) -> Option<&str> {
        match self {
            Self::Parsed { comment, .. } | Self::Shown { comment, .. } => comment.as_deref(),
        }
    }

    /// The arguments of the call, where it could be read as one.
    pub fn arguments(&self) -> Option<&Map<String, Value>> {
        match self {
            Self::Parsed { arguments, .. } => Some(arguments),
            Self::Shown { .. } => None,
        }
    }

    /// The example in the form a reader wants, without its comment. The schema tells how
    /// a command line is read. Code that could not be read stays what it is in every form.
    pub fn written(&self, form: ExampleForm, name: &str, schema: &Schema) -> String {
        let arguments = match self {
            Self::Parsed { arguments, .. } => arguments,
            Self::Shown { code, .. } => return code.clone(),
        };
        match form {
            ExampleForm::Python => write::python(name, arguments),
            ExampleForm::Json => write::json(arguments),
            ExampleForm::CommandLine => write::command_line(name, arguments, schema),
        }
    }

    /// An example from a definition. One that is out of all proportion is only said to
    /// be there.
    pub(super) fn defined(example: &Example) -> Self {
        let comment = example.comment.as_deref().map(one_line);
        let comment = comment.filter(|comment| !comment.is_empty());
        let too_large = |value: &Value| {
            json::depth_exceeds(value, DEEPEST) || json::size_exceeds(value, MOST_BYTES)
        };
        if example.arguments.values().any(too_large) {
            return Self::Shown {
                comment,
                code: "# …".to_owned(),
                why: format!("it is longer than {MOST_BYTES} bytes"),
            };
        }
        Self::Parsed {
            comment,
            arguments: example.arguments.clone(),
        }
    }
}

/// The comment above, and the code beneath it. A `#` further down may stand in a text.
fn split(text: &str) -> (Option<String>, &str) {
    let mut code = text.trim_start();
    let mut comment = String::new();
    while let Some(line) = code.strip_prefix('#') {
        let (line, rest) = line.split_once('\n').unwrap_or((line, ""));
        let line = line.trim_start_matches('#').trim();
        if !comment.is_empty() && !line.is_empty() {
            comment.push(' ');
        }
        comment.push_str(line);
        code = rest.trim_start();
    }
    (Some(comment).filter(|c| !c.is_empty()), code.trim_end())
}

fn from_json(code: &str) -> Result<Map<String, Value>, String> {
    match json::parse(code.as_bytes(), MOST_BYTES) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err("it is JSON, but no object".to_owned()),
        Err(error) => Err(format!("it begins like JSON, but {error}")),
    }
}

fn first_lines(code: &str) -> String {
    let more = code.lines().count().saturating_sub(MOST_LINES);
    let mut lines: Vec<&str> = code.lines().take(MOST_LINES).map(str::trim_end).collect();
    let note = format!("# … {more} more lines");
    if more > 0 {
        lines.push(&note);
    }
    lines.join("\n")
}

/// A text in one line, without characters that hide or steer.
pub(super) fn one_line(text: &str) -> String {
    let cut = text.floor_char_boundary(text.len().min(MOST_BYTES));
    let text = clean(&text[..cut]);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
