//! What an upstream answered, as an outcome of ours.

use rmcp::model::{CallToolResult, ErrorCode, ErrorData};
use toolsmith_core::{Block, ErrorKind, Outcome, ToolError};

use super::content;

/// The outcome of a call an upstream answered.
pub(crate) fn from_wire(result: CallToolResult) -> Outcome {
    let blocks = result.content.into_iter().map(content::from_wire);
    let mut outcome = if result.is_error == Some(true) {
        failure(blocks)
    } else {
        let mut outcome = Outcome::nothing();
        outcome.content = blocks.collect();
        outcome
    };
    outcome.value = result.structured_content;
    outcome
}

/// A failure whose words are the texts, and which keeps everything else.
fn failure(blocks: impl Iterator<Item = Block>) -> Outcome {
    let (mut texts, mut others) = (Vec::new(), Vec::new());
    for block in blocks {
        match block {
            Block::Text { text } => texts.push(text),
            other => others.push(other),
        }
    }
    let message = match texts.join("\n") {
        text if text.trim().is_empty() => "the server reported a failure without a word".to_owned(),
        text => text,
    };
    let mut outcome = Outcome::failure(ToolError::failed(message));
    outcome.content = others;
    outcome
}

/// A failure of the protocol instead of the tool.
pub(crate) fn from_error(error: &ErrorData) -> ToolError {
    let kind = match error.code {
        ErrorCode::INVALID_PARAMS => ErrorKind::InvalidParameters,
        ErrorCode::METHOD_NOT_FOUND => ErrorKind::UnknownTool,
        _ => ErrorKind::Failed,
    };
    let message = format!("the server answered: {} ({})", error.message, error.code.0);
    let told = ToolError::new(kind, message);
    match &error.data {
        Some(data) => told.with_details(data.clone()),
        None => told,
    }
}
