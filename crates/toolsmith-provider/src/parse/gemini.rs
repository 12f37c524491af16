//! Google's Gemini: a turn is a list of parts, and a part with a signature must come back
//! exactly as it was.

use serde_json::{Value, json};

use super::draft::{Draft, Input, Sent};
use super::{list, text};

pub(super) fn read(body: &Value, draft: &mut Draft<'_>) -> Option<()> {
    // Vertex' and others' gateways wrap the answer.
    let body = match body.get("response") {
        Some(response) if response.get("candidates").is_some() => response,
        _ => body,
    };
    let candidate = match body.get("candidates") {
        Some(candidates) => choose(candidates.as_array()?),
        None if body.get("content").is_some_and(Value::is_object) => Some(body),
        None if body.get("parts").is_some() => {
            draft.stopped("");
            return parts(body, draft);
        }
        None => None,
    };
    let Some(candidate) = candidate else {
        // The question was refused: there is no candidate then.
        let reason = body.pointer("/promptFeedback/blockReason")?.as_str()?;
        draft.stopped("safety");
        draft.note(&format!("the question was refused: {reason}"));
        return Some(());
    };
    draft.stopped(text(candidate, "finishReason"));
    let message = text(candidate, "finishMessage");
    if !message.is_empty() {
        draft.note(message);
    }
    match candidate.get("content") {
        Some(content) => parts(content, draft),
        // Thinking may have used up all the room there was.
        None => Some(()),
    }
}

/// The first candidate, unless only another makes calls.
fn choose(candidates: &[Value]) -> Option<&Value> {
    let calls = |candidate: &&Value| {
        let parts = candidate
            .pointer("/content/parts")
            .and_then(Value::as_array);
        parts.is_some_and(|parts| parts.iter().any(|part| part.get("functionCall").is_some()))
    };
    candidates.iter().find(calls).or_else(|| candidates.first())
}

fn parts(content: &Value, draft: &mut Draft<'_>) -> Option<()> {
    content.as_object()?;
    let parts = list(content, "parts");
    let mut turn = Vec::with_capacity(parts.len());
    for (position, part) in parts.iter().enumerate() {
        let mut part = part.clone();
        if let Some(call) = part.get("functionCall").cloned() {
            let last = position + 1 == parts.len();
            part["functionCall"] = function_call(call, last, draft);
        } else if part.get("thought").and_then(Value::as_bool) == Some(true) {
            draft.reasoning(text(&part, "text"));
        } else {
            draft.text(text(&part, "text"));
        }
        turn.push(part);
    }
    if !turn.is_empty() {
        draft.turn(json!({"role": "model", "parts": turn}));
    }
    Some(())
}

fn function_call(mut call: Value, last: bool, draft: &mut Draft<'_>) -> Value {
    let id = call.get("id").and_then(Value::as_str);
    let input = match &call {
        Value::Object(_) => Input::Json(call.get("args").or_else(|| call.get("arguments"))),
        _ => Input::Unreadable,
    };
    // A call without arguments has no `args`, cut off or not: parts come whole, unless
    // they say that they go on.
    let input = match input {
        _ if call.get("willContinue") == Some(&Value::Bool(true)) => Input::CutOff,
        Input::Json(None) => Input::Json(Some(&EMPTY)),
        input => input,
    };
    let echo = draft.call(&Sent {
        id,
        name: text(&call, "name"),
        input,
        last,
    });
    let numbered = id.is_some();
    if let Value::Object(fields) = &mut call {
        fields.retain(|key, _| !matches!(key.as_str(), "willContinue" | "partialArgs"));
    } else {
        call = json!({});
    }
    // Servers of before there were numbers refuse them.
    if numbered {
        call["id"] = echo.id.into();
    }
    call["name"] = echo.name.into();
    if call.get("args").is_some() || !echo.arguments.is_empty() {
        call["args"] = echo.arguments.into();
    }
    call
}

static EMPTY: std::sync::LazyLock<Value> = std::sync::LazyLock::new(|| json!({}));
