//! A file's text and nothing else: what the context tools answer with.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
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
    /// The arguments that read on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<Map<String, Value>>,
    /// The tool that takes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_tool: Option<&'static str>,
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
    let is_last = matches!(wanted, Lines::Last { .. });
    let cut = match is_last {
        true => Cut::front(&mut content, budget),
        false => Cut::end(&mut content, budget),
    };
    let first = slice.first.map(|first| first + cut.lines_before);
    let line_count = crate::numbered::lines(&content, '\n').count() as u64;
    let is_whole = first == Some(1) && !slice.has_more && !slice.is_cut && cut.is_nothing();
    if let Some(digest) = slice.digest.filter(|_| line_count > 0 || is_empty) {
        let seen = is_whole.then_some(content.as_str());
        workspace.saw(context.caller(), &open.shown, digest, seen)?;
    }
    let next = match (first, is_last) {
        (None, _) => None,
        // What there was no room for stands before the end.
        (Some(first), true) if cut.lines_before > 0 => Some(json!({
            "file_path": open.shown, "offset": first - cut.lines_before, "limit": cut.lines_before,
        })),
        (Some(_), true) => None,
        (Some(_), false) if cut.is_nothing() && !slice.has_more => None,
        // Where not even one line fits, the rest of that line comes next.
        (Some(first), false) if cut.within_line => Some(json!({
            "file_path": open.shown, "offset": first, "limit": 1,
            "column": content.chars().count() + 1,
        })),
        (Some(first), false) => Some(json!({
            "file_path": open.shown, "offset": first + line_count,
        })),
    };
    let next = next.and_then(|next| next.as_object().cloned());
    Ok(PlainText {
        encoding: slice.encoding.name(),
        line_count,
        file_path: open.shown,
        is_partial: !is_whole,
        total_lines: slice.total,
        truncated: !cut.is_nothing() || slice.is_cut,
        next_tool: next.as_ref().map(|_| "read"),
        next,
        content,
    })
}

/// What was left out of a text for want of room.
#[derive(Debug, Default)]
struct Cut {
    /// How many lines before what is left.
    lines_before: u64,
    /// Whether anything is missing.
    is_something: bool,
    /// Whether what is left is a part of one line.
    within_line: bool,
}

impl Cut {
    /// Keeps the beginning, in whole lines if one fits.
    fn end(text: &mut String, budget: usize) -> Self {
        if text.len() <= budget {
            return Self::default();
        }
        let end = text.floor_char_boundary(budget);
        let newline = text[..end].rfind('\n');
        text.truncate(newline.map_or(end, |newline| newline + 1));
        Self {
            is_something: true,
            within_line: newline.is_none(),
            ..Self::default()
        }
    }

    /// Keeps the end, in whole lines if one fits.
    fn front(text: &mut String, budget: usize) -> Self {
        if text.len() <= budget {
            return Self::default();
        }
        let start = text.ceil_char_boundary(text.len() - budget);
        // A line that ends where the text does is the last one, not the one before.
        let rest = &text.as_bytes()[start..text.len() - 1];
        let newline = memchr::memchr(b'\n', rest).map(|newline| start + newline + 1);
        let removed: String = text.drain(..newline.unwrap_or(start)).collect();
        Self {
            lines_before: removed.matches('\n').count() as u64,
            is_something: true,
            within_line: newline.is_none(),
        }
    }

    fn is_nothing(&self) -> bool {
        !self.is_something
    }
}
