//! Pieces of the guide as Markdown. How they are put together within a budget is decided
//! in `budget`.

mod escape;
pub(crate) mod json;
mod template;

use std::borrow::Cow;

use minijinja::{Value, context};

pub use template::TemplateError;
pub(crate) use template::{SHIPPED_SOURCE, Template};

use super::metadata::{PENDING, ToolMetadata};
use super::request::ExampleForm;
use crate::validate::bounded;

/// How many characters of a text are shown where there is no room for all of them.
const SHORT: usize = 500;

/// How much of a tool is shown, from everything down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Whole,
    WithoutExamples,
    /// Without long text: what is more than a few sentences.
    Short,
    /// With the schema on one line.
    Compact,
}

impl Level {
    pub(super) const ALL: [Self; 4] = [
        Self::Whole,
        Self::WithoutExamples,
        Self::Short,
        Self::Compact,
    ];
}

/// Renders pieces, each within a number of bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Renderer<'t> {
    pub(super) template: &'t Template,
    pub(super) form: ExampleForm,
    pub(super) most: usize,
}

/// A piece, or none where there is no room for it, or what is wrong with the template.
pub(super) type Piece = Result<Option<String>, TemplateError>;

impl Renderer<'_> {
    pub(super) fn head(
        &self,
        title: &str,
        date: &str,
        tools: usize,
        filter: Option<&str>,
    ) -> Piece {
        let category = filter.map_or(Cow::Borrowed("None"), escape::text);
        let title = escape::text(title);
        let context = context! { part => "head", title, date, tools, category };
        self.template.render(context, self.most)
    }

    pub(super) fn category(&self, category: &str, count: usize) -> Piece {
        let mut characters = category.chars();
        let first = characters.next().into_iter().flat_map(char::to_uppercase);
        let title: String = first.chain(characters).collect();
        let title = escape::text(&title);
        self.template
            .render(context! { part => "category", title, count }, self.most)
    }

    /// The names of tools that are left out, or of all there are; `more` of them are not
    /// listed.
    pub(super) fn names(&self, part: &str, count: usize, names: &str, more: usize) -> Piece {
        self.template
            .render(context! { part, count, names, more }, self.most)
    }

    pub(super) fn tool(&self, tool: &ToolMetadata, level: Level) -> Piece {
        let schema = tool.input_schema.as_value();
        let parameters = match level {
            Level::Compact => json::compact(schema, self.most),
            _ => json::pretty(schema, self.most),
        };
        let Some(parameters) = parameters else {
            return Ok(None);
        };
        let is_short = level >= Level::Short;
        let text = |text: &str| match is_short {
            true => escape::text(&bounded(text, SHORT)).into_owned(),
            false => escape::text(text).into_owned(),
        };
        let texts = |list: &[String]| list.iter().map(|entry| text(entry)).collect::<Vec<_>>();
        let details = tool.details.as_deref().filter(|_| !is_short);
        let notes = if is_short { &[][..] } else { &tool.notes };
        let examples = match level {
            Level::Whole => self.examples(tool),
            _ => Vec::new(),
        };
        let context = context! {
            part => "tool",
            name => escape::text(&tool.name),
            purpose => tool.description.as_deref().map_or_else(|| PENDING.to_owned(), text),
            important => texts(&tool.important),
            details => details.map(text),
            notes => texts(notes),
            parameters,
            examples,
            returns => tool.returns.as_deref().map(text),
        };
        self.template.render(context, self.most)
    }

    /// The examples as code blocks. Those of one language share one, but for JSON, where
    /// a comment cannot stand in the code.
    fn examples(&self, tool: &ToolMetadata) -> Vec<Value> {
        let mut blocks: Vec<Block> = Vec::new();
        for example in &tool.examples {
            let code = example.written(self.form, &tool.name, &tool.input_schema);
            let language = match (self.form, example.arguments()) {
                (ExampleForm::Json, Some(_)) => "json",
                (ExampleForm::CommandLine, Some(_)) => "sh",
                _ => "python",
            };
            if language == "json" {
                let comment = example
                    .comment()
                    .map(|comment| escape::text(comment).into());
                blocks.push(Block {
                    comment,
                    language,
                    code,
                });
                continue;
            }
            let code = match example.comment() {
                Some(comment) => format!("# {comment}\n{code}"),
                None => code,
            };
            match blocks.last_mut() {
                Some(block) if block.language == language => {
                    block.code.push_str("\n\n");
                    block.code.push_str(&code);
                }
                _ => blocks.push(Block {
                    comment: None,
                    language,
                    code,
                }),
            }
        }
        blocks.into_iter().map(Block::value).collect()
    }
}

/// A name inside a paragraph.
pub(super) fn name(name: &str) -> Cow<'_, str> {
    escape::text(name)
}

/// A code block of examples.
struct Block {
    comment: Option<String>,
    language: &'static str,
    code: String,
}

impl Block {
    fn value(self) -> Value {
        let fence = fence(&self.code);
        context! { comment => self.comment, language => self.language, fence, code => self.code }
    }
}

/// A fence longer than any run of backticks in the code.
fn fence(code: &str) -> String {
    let runs = code.split(|c| c != '`').map(str::len);
    "`".repeat(runs.max().unwrap_or(0).max(2) + 1)
}
