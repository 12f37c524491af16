//! A file's text and nothing else: what the context tools answer with.

use schemars::JsonSchema;
use serde::Serialize;
use toolsmith_core::ToolContext;

use crate::missing;
use crate::reading::{self, Lines};
use crate::refusal::{Reason, Refusal};
use crate::text::{FileKind, kind_of};
use crate::workspace::Workspace;

/// The text of a file, or of a part of it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PlainText {
    /// The text.
    pub(crate) content: String,
    /// The file's encoding.
    pub(crate) encoding: String,
    /// How many lines the text has.
    pub(crate) line_count: u64,
    /// The file, relative to the workspace.
    pub(crate) file_path: String,
    /// Whether the file has more than this.
    pub(crate) is_partial: bool,
    /// How many lines the file has, unless it is too large to count.
    pub(crate) total_lines: Option<u64>,
    /// Whether something that was asked for is left out, for want of room.
    pub(crate) truncated: bool,
    /// What to call to read on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

/// Reads lines of a text file.
pub(crate) fn read(
    workspace: &Workspace,
    path: &str,
    wanted: Lines,
    budget: usize,
    context: &ToolContext,
) -> Result<PlainText, Refusal> {
    let open = workspace
        .open_file(path)
        .map_err(|refusal| missing::explained(refusal, workspace, path, context))?;
    let head = reading::head(&open)?;
    if let FileKind::Binary(kind) | FileKind::Image(kind) = kind_of(&head) {
        let message = format!("{} is no text but {kind}", open.shown);
        return Err(Refusal::new(Reason::Binary, message)
            .next("Use read, which shows images and the beginning of other files"));
    }
    let slice = reading::lines(&open, &head, wanted, None, &|| context.is_cancelled())?;
    let mut content = slice.encoding.read_lossy(&slice.bytes);
    let is_empty = open.stat.st_size == 0;
    // A carriage return alone is a control character to whoever reads the answer.
    if slice.end == '\r' {
        content = content.replace('\r', "\n");
    }
    let is_short = content.len() > budget;
    if is_short {
        content.truncate(whole_lines(&content, budget));
    }
    let line_count = crate::numbered::lines(&content, '\n').count() as u64;
    if let Some(digest) = slice.digest.filter(|_| line_count > 0 || is_empty) {
        let is_all = slice.first == Some(1) && !slice.has_more && !slice.is_cut && !is_short;
        let seen = is_all.then_some(content.as_str());
        workspace.saw(context.caller(), &open.shown, digest, seen)?;
    }
    let next = (is_short || slice.has_more)
        .then(|| slice.first.map(|first| first + line_count))
        .flatten()
        .map(|line| format!("read(file_path={:?}, offset={line})", open.shown));
    let is_whole = slice.first == Some(1) && !slice.has_more && !slice.is_cut && !is_short;
    Ok(PlainText {
        encoding: slice.encoding.name(),
        line_count,
        file_path: open.shown,
        is_partial: !is_whole,
        total_lines: slice.total,
        truncated: is_short || slice.is_cut,
        next,
        content,
    })
}

/// How much of a text fits, in whole lines if one does.
fn whole_lines(text: &str, budget: usize) -> usize {
    let mut end = budget.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    match text[..end].rfind('\n') {
        Some(newline) => newline + 1,
        None => end,
    }
}
