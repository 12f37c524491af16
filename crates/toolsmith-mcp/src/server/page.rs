//! Long lists, page by page.

use rmcp::model::{ErrorData, PaginatedRequestParams};

/// What a cursor begins with, so that a foreign one is told from ours.
const MARK: &str = "after-";

/// The part of a list a request asks for, and the cursor of the next part.
pub(super) fn page<T: Clone>(
    items: &[T],
    request: Option<&PaginatedRequestParams>,
    size: usize,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let start = match request.and_then(|request| request.cursor.as_deref()) {
        None => 0,
        Some(cursor) => cursor
            .strip_prefix(MARK)
            .and_then(|number| number.parse::<usize>().ok())
            .ok_or_else(|| {
                ErrorData::invalid_params("the cursor is not one of this server", None)
            })?,
    };
    let size = size.max(1);
    let end = start.saturating_add(size).min(items.len());
    let part = items.get(start..end).unwrap_or_default().to_vec();
    let next = (end < items.len()).then(|| format!("{MARK}{end}"));
    Ok((part, next))
}
