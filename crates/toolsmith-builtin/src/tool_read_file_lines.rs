//! `read_file_lines`: some lines of a file, from one to another.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolsmith_core::{Kind, Plan, ToolContext, ToolDef};

use crate::budget;
use crate::built_in::{Answer, BuiltIn, described, example, noted, reading};
use crate::plain::{self, PlainText};
use crate::reading::Lines;
use crate::refusal::{Reason, Refusal};
use crate::workspace::Workspace;

/// The tool.
#[derive(Debug)]
pub(crate) struct ReadFileLines(pub(crate) Workspace);

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The file: relative to the workspace, or absolute within it.
    file_path: String,
    /// The first line, counted from 1.
    #[schemars(range(min = 1))]
    start_line: u64,
    /// The last line, which is read too.
    #[schemars(range(min = 1))]
    end_line: u64,
    /// How many bytes the answer may have.
    #[serde(default = "budget::usual")]
    #[schemars(range(min = 1000, max = 1_048_576))]
    max_bytes: usize,
}

impl BuiltIn for ReadFileLines {
    type Arguments = Arguments;
    type Value = PlainText;

    fn define() -> ToolDef {
        let definition = described(
            "read_file_lines",
            "Read file lines",
            "read",
            &["file", "text", "lines"],
        )
        .with_kind(Kind::Read)
        .with_description(
            "Reads some lines of a text file, from the first to the last that are named.\n\n\
                 What it costs is the part up to the last line, however large the file is.",
        )
        .with_returns("content, encoding, line_count, file_path, is_partial, total_lines.")
        .with_example(example(
            "Lines 10 to 30",
            json!({ "file_path": "src/lib.rs", "start_line": 10, "end_line": 30 }),
        ));
        noted(
            definition,
            &["Use read for lines with their numbers, and before an edit."],
        )
    }

    fn workspace(&self) -> &Workspace {
        &self.0
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, Refusal> {
        let (first, last) = (arguments.start_line, arguments.end_line);
        reading(&self.0, "file_path", &arguments.file_path, |shown| {
            format!("Read {shown}, lines {first} to {last}")
        })
    }

    fn call(
        &self,
        arguments: Arguments,
        context: &ToolContext,
    ) -> Result<Answer<PlainText>, Refusal> {
        let (first, last) = (arguments.start_line, arguments.end_line);
        if last < first {
            let message = format!("end_line {last} comes before start_line {first}");
            return Err(Refusal::new(Reason::BadArgument, message).next("Exchange them"));
        }
        let wanted = Lines::From {
            first,
            count: last - first + 1,
        };
        let text = plain::read(
            &self.0,
            &arguments.file_path,
            wanted,
            arguments.max_bytes,
            context,
        )?;
        if text.line_count == 0 && first > 1 {
            let total = text.total_lines.unwrap_or_default();
            let message = format!(
                "{} has {total} lines, and none numbered {first}",
                text.file_path
            );
            return Err(Refusal::new(Reason::BadArgument, message)
                .next(format!("Choose a start_line up to {total}"))
                .detail("total_lines", total));
        }
        let display = format!(
            "Read {} ({} lines from {first})",
            text.file_path, text.line_count
        );
        Ok(Answer::new(text, display).within(arguments.max_bytes))
    }
}
