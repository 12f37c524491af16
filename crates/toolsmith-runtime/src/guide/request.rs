//! What a guide is asked for, and what it answers: open data, the same for the tool, the
//! command line and servers.

use serde::Serialize;

/// The cap of a guide that asks for nothing else, in bytes.
pub const USUAL_BYTES: usize = 50_000;

/// What is asked for. Nothing is everything: all tools, within [`USUAL_BYTES`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Request {
    /// The tools by their undecorated names; none given is all of them.
    pub tool_names: Option<Vec<String>>,
    /// The category; none given is all of them.
    pub category: Option<String>,
    /// How large the guide may be.
    pub budget: Budget,
    /// How examples are written.
    pub examples: ExampleForm,
}

impl Request {
    /// Everything.
    pub fn everything() -> Self {
        Self::default()
    }

    /// Only these tools.
    #[must_use]
    pub fn with_tool_names(mut self, names: Option<Vec<String>>) -> Self {
        self.tool_names = names;
        self
    }

    /// Only the tools of a category.
    #[must_use]
    pub fn with_category(mut self, category: Option<String>) -> Self {
        self.category = category;
        self
    }

    /// Sets how large the guide may be.
    #[must_use]
    pub fn with_budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Sets how examples are written.
    #[must_use]
    pub fn with_examples(mut self, form: ExampleForm) -> Self {
        self.examples = form;
        self
    }
}

/// How large a guide may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Budget {
    /// So many bytes of UTF-8.
    Bytes(usize),
    /// So many tokens, estimated: no tokenizer is asked, since every model has its own.
    /// Three ASCII characters count as one token, every other character as one, and those
    /// beyond the basic plane, such as emoji, as two. That is more than today's tokenizers
    /// need for prose and about what they need for JSON.
    Tokens(usize),
}

impl Default for Budget {
    fn default() -> Self {
        Self::Bytes(USUAL_BYTES)
    }
}

/// How examples are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExampleForm {
    /// As a call: `read(file_path="README.md")`.
    #[default]
    Python,
    /// As the arguments' JSON object.
    Json,
    /// As a command: `toolsmith call read file_path=README.md`.
    CommandLine,
}

/// A guide, with what is to be said about it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Response {
    /// The guide, as Markdown.
    pub content: String,
    /// What was asked for in vain, and what is wrong with the files beneath.
    pub warnings: Vec<String>,
    /// Numbers and names.
    pub metadata: ResponseMetadata,
}

/// Numbers and names of a guide.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ResponseMetadata {
    /// How many tools there are.
    pub total_tools: usize,
    /// How many of them the guide shows.
    pub tool_count: usize,
    /// How many of them were asked for, shown or left out.
    pub filtered_count: usize,
    /// The names that were asked for and are no tool's, each once, in the order asked.
    pub invalid_names: Vec<String>,
    /// How long it took.
    pub generation_time_ms: f64,
    /// How many bytes the content has.
    pub size_bytes: usize,
    /// The tools that were asked for and left out because there was no room.
    pub omitted: Vec<String>,
}
