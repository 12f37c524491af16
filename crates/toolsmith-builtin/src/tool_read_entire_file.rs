//! `read_entire_file`: the text of a file.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolsmith_core::{Kind, Plan, ToolContext, ToolDef};

use crate::budget;
use crate::built_in::{Answer, BuiltIn, described, example, noted, reading};
use crate::plain::{self, PlainText};
use crate::reading::Lines;
use crate::refusal::Refusal;
use crate::workspace::Workspace;

/// The tool.
#[derive(Debug)]
pub(crate) struct ReadEntireFile(pub(crate) Workspace);

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The file: relative to the workspace, or absolute within it.
    file_path: String,
    /// How many bytes the answer may have.
    #[serde(default = "budget::usual")]
    #[schemars(range(min = 1000, max = 1_048_576))]
    max_bytes: usize,
}

impl BuiltIn for ReadEntireFile {
    type Arguments = Arguments;
    type Value = PlainText;

    fn define() -> ToolDef {
        let definition = described(
            "read_entire_file",
            "Read entire file",
            "read",
            &["file", "text"],
        )
        .with_kind(Kind::Read)
        .with_description(
            "Reads a text file whole, in whatever encoding it has.\n\n\
                 What does not fit into the answer is left out, and said to be; read_file_lines \
                 reads on.",
        )
        .with_returns("content, encoding, line_count, file_path, total_lines, is_partial.")
        .with_example(example(
            "A short file",
            json!({ "file_path": "Cargo.toml" }),
        ));
        noted(
            definition,
            &["Use read for lines with numbers, and before an edit."],
        )
    }

    fn workspace(&self) -> &Workspace {
        &self.0
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, Refusal> {
        reading(&self.0, "file_path", &arguments.file_path, |shown| {
            format!("Read {shown}")
        })
    }

    fn call(
        &self,
        arguments: Arguments,
        context: &ToolContext,
    ) -> Result<Answer<PlainText>, Refusal> {
        let wanted = Lines::From {
            first: 1,
            count: u64::MAX - 1,
        };
        let text = plain::read(
            &self.0,
            &arguments.file_path,
            wanted,
            arguments.max_bytes,
            context,
        )?;
        let display = format!("Read {} ({} lines)", text.file_path, text.line_count);
        Ok(Answer::new(text, display).within(arguments.max_bytes))
    }
}
