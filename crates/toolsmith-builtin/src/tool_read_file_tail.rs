//! `read_file_tail`: the last lines of a file.

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
pub(crate) struct ReadFileTail(pub(crate) Workspace);

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The file: relative to the workspace, or absolute within it.
    file_path: String,
    /// How many lines; 0 gives none.
    #[serde(default = "ten")]
    num_lines: u64,
    /// How many bytes the answer may have.
    #[serde(default = "budget::usual")]
    #[schemars(range(min = 1000, max = 1_048_576))]
    max_bytes: usize,
}

fn ten() -> u64 {
    10
}

impl BuiltIn for ReadFileTail {
    type Arguments = Arguments;
    type Value = PlainText;

    fn define() -> ToolDef {
        let definition = described(
            "read_file_tail",
            "Read file tail",
            "read",
            &["file", "text", "log"],
        )
        .with_kind(Kind::Read)
        .with_description(
            "Reads the last lines of a text file.\n\n\
                 Large files are read from their end: the last lines of a long log cost no more \
                 than those of a short one.",
        )
        .with_returns("content, encoding, line_count, file_path, is_partial, total_lines.")
        .with_example(example(
            "The last fifty lines",
            json!({ "file_path": "server.log", "num_lines": 50 }),
        ));
        noted(
            definition,
            &["For a log that grows, call it again: only its end is read."],
        )
    }

    fn workspace(&self) -> &Workspace {
        &self.0
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, Refusal> {
        reading(&self.0, "file_path", &arguments.file_path, |shown| {
            format!("Read the end of {shown}")
        })
    }

    fn call(
        &self,
        arguments: Arguments,
        context: &ToolContext,
    ) -> Result<Answer<PlainText>, Refusal> {
        let wanted = Lines::Last {
            back: arguments.num_lines,
            count: arguments.num_lines,
        };
        let text = plain::read(
            &self.0,
            &arguments.file_path,
            wanted,
            arguments.max_bytes,
            context,
        )?;
        let display = format!("Read {} (last {} lines)", text.file_path, text.line_count);
        Ok(Answer::new(text, display).within(arguments.max_bytes))
    }
}
