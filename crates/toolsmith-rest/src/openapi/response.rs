//! What an operation answers when all goes well.

use serde_json::Value;

use super::notes::Notes;
use super::refer;
use super::schema::{Cut, Pool};
use crate::form::{Placed, ResponseForm};

/// The schema of an operation's answer, where there is one and it is small enough.
pub(super) fn response<'d>(
    root: &'d Value,
    operation: &'d Value,
    limit: usize,
    pool: &mut Pool<'d>,
    notes: &mut Notes,
) -> Option<ResponseForm> {
    let responses = refer::object(operation, "responses")?;
    // More than one success means more than one form, which one schema cannot tell.
    let is_success = |status: &str| status.len() == 3 && status.starts_with('2');
    let mut found = responses.iter().filter(|(status, _)| is_success(status));
    let (_, first) = found.next()?;
    let is_empty = |response: &Value| {
        let response = refer::follow(root, response);
        response.is_ok_and(|response| refer::object(response, "content").is_none())
    };
    if found.any(|(_, other)| !is_empty(other)) {
        return None;
    }
    let content = refer::object(refer::follow(root, first).ok()?, "content")?;
    let is_json = |kind: &str| {
        let kind = kind.split(';').next().unwrap_or_default().trim();
        kind.eq_ignore_ascii_case("application/json") || kind.ends_with("+json")
    };
    if content.len() != 1 {
        return None;
    }
    let (_, media) = content.iter().find(|(kind, _)| is_json(kind))?;
    let piece = pool.convert(media.get("schema")?, notes);
    let (schema, cut) = pool.gather(&piece, limit, notes)?;
    let says_something = schema.as_object().is_some_and(|object| !object.is_empty());
    if cut == Cut::Parts || !says_something {
        return None;
    }
    Some(ResponseForm {
        schema: Some(Placed::nowhere(schema)),
        ..ResponseForm::default()
    })
}
