//! Text: calls in what a model writes, and the prompts that ask for them.
//!
//! Each format has a file that writes and reads its blocks; where a block begins and ends
//! is found in one place for all (`reader`), in one pass, so that a whole text and the
//! same text in pieces read alike. Nothing a model wrote is dropped: calls that cannot be
//! read are kept, and what is no call is prose.

mod calls;
mod deepseek;
mod format;
mod glm;
mod hermes;
mod json;
mod kimi;
mod mistral;
mod models;
mod openers;
mod parameters;
mod prompt;
mod pythonic;
mod qwen_coder;
mod reader;
mod scan;
mod tools;
mod write;
mod xml;

pub use calls::TextCall;
pub use format::{TextFormat, UnknownFormat};
pub use models::{format_for, formats_of};
pub use prompt::{prompt, result};
pub use reader::{Piece, Reader, TextAnswer};
pub use tools::Tools;
pub use write::write;

/// Reads a whole text: its calls, and what it says beside them.
///
/// ```
/// use toolsmith_provider::text::{self, TextFormat, Tools};
///
/// let said = "Let me look.\n<tool_call>{\"name\": \"find\", \"arguments\": {\"n\": 1}}</tool_call>";
/// let answer = text::read(said, &TextFormat::ALL, &Tools::default());
/// assert_eq!(answer.text, "Let me look.\n");
/// assert_eq!(answer.calls[0].name, "find");
/// ```
pub fn read(text: &str, formats: &[TextFormat], tools: &Tools) -> TextAnswer {
    let mut reader = Reader::new(formats, tools.clone());
    reader.push(text);
    reader.finish()
}
