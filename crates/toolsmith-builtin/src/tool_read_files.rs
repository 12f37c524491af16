//! `read_files`: several files at once; one that cannot be read harms no other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolsmith_core::{Kind, Plan, ToolContext, ToolDef, Touch};

use crate::budget;
use crate::built_in::{Answer, BuiltIn, described, example, noted};
use crate::plain::{self, PlainText};
use crate::reading::Lines;
use crate::refusal::Refusal;
use crate::workspace::Workspace;

/// The tool.
#[derive(Debug)]
pub(crate) struct ReadFiles(pub(crate) Workspace);

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The files: relative to the workspace, or absolute within it.
    #[schemars(length(max = 1000))]
    file_paths: Vec<String>,
    /// How many bytes the answer may have, all files together.
    #[serde(default = "budget::usual")]
    #[schemars(range(min = 1000, max = 1_048_576))]
    max_bytes: usize,
}

/// The files.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Files {
    /// Each file, in the order asked for.
    files: Vec<OneFile>,
    /// How many were read.
    success_count: usize,
    /// How many were not.
    error_count: usize,
}

/// One of them.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum OneFile {
    Read(PlainText),
    Unread {
        /// The file, as it was asked for.
        file_path: String,
        /// Why it was not read.
        error: Why,
    },
}

/// Why a file was not read.
#[derive(Debug, Serialize, JsonSchema)]
struct Why {
    /// The stable word.
    code: String,
    /// What is wrong, and what to do.
    message: String,
}

impl BuiltIn for ReadFiles {
    type Arguments = Arguments;
    type Value = Files;

    fn define() -> ToolDef {
        let definition = described(
            "read_files",
            "Read files",
            "read",
            &["file", "text", "several"],
        )
        .with_kind(Kind::Read)
        .with_description(
            "Reads several text files at once.\n\n\
                 A file that cannot be read has an error in its place; the others are read. They \
                 share the room there is in the answer.",
        )
        .with_returns("files in the order asked for, success_count and error_count.")
        .with_example(example(
            "Two files",
            json!({ "file_paths": ["README.md", "Cargo.toml"] }),
        ));
        noted(
            definition,
            &["Ask for the files you need together: it saves a call each."],
        )
    }

    fn workspace(&self) -> &Workspace {
        &self.0
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, Refusal> {
        let mut plan = Plan::new(format!("Read {} files", arguments.file_paths.len()));
        for path in &arguments.file_paths {
            // One that cannot be placed has its error in the answer.
            if let Ok(place) = self.0.place(path) {
                plan = plan.touching(Touch::read(self.0.whole(&place)).from_argument("file_paths"));
            }
        }
        Ok(plan)
    }

    fn call(&self, arguments: Arguments, context: &ToolContext) -> Result<Answer<Files>, Refusal> {
        let wanted = Lines::From {
            first: 1,
            count: u64::MAX - 1,
        };
        let mut left = arguments.max_bytes;
        let mut files = Vec::new();
        for path in arguments.file_paths {
            match plain::read(&self.0, &path, wanted, left, context) {
                Ok(text) => {
                    left = left.saturating_sub(text.content.len());
                    files.push(OneFile::Read(text));
                }
                Err(refusal) => files.push(OneFile::Unread {
                    error: Why {
                        code: refusal.reason.word().to_owned(),
                        message: refusal.to_string(),
                    },
                    file_path: path,
                }),
            }
        }
        let is_read = |file: &&OneFile| matches!(file, OneFile::Read(_));
        let success_count = files.iter().filter(is_read).count();
        let error_count = files.len() - success_count;
        let display = format!("Read {success_count} of {} files", files.len());
        let files = Files {
            files,
            success_count,
            error_count,
        };
        Ok(Answer::new(files, display).within(arguments.max_bytes))
    }
}
