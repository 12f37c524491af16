//! Chat completions, as OpenAI invented and many others copied them.
//!
//! The message itself is also what Cohere's and Ollama's answers hold, with differences
//! that are data: see [`Shape`].

use serde_json::{Map, Value, json};

use super::draft::{Draft, Input, Sent};
use super::{list, text};

/// How the messages of one provider differ from those of the others.
pub(super) struct Shape {
    /// Whether arguments go back as a text; otherwise as an object.
    pub(super) arguments_as_text: bool,
    /// Whether calls have numbers even where none were sent.
    pub(super) always_numbered: bool,
    /// Whether a message that says nothing has a content all the same, which is null.
    pub(super) null_content: bool,
}

const SHAPE: Shape = Shape {
    arguments_as_text: true,
    always_numbered: true,
    null_content: true,
};

/// Where reasoning is told, and which goes back with calls, since servers that think
/// between calls want it again. Cohere's plan is one.
const REASONING: &[&str] = &["reasoning_content", "reasoning", "thinking", "tool_plan"];

/// What else of a message goes back.
const KEPT: &[&str] = &["reasoning_details", "citations"];

pub(super) fn read(body: &Value, draft: &mut Draft<'_>) -> Option<()> {
    // DashScope's own form wraps the choices once more.
    let body = match body.get("output") {
        Some(output) if output.get("choices").is_some() => output,
        _ => body,
    };
    let choice = match body.get("choices") {
        Some(choices) => choose(choices.as_array()?)?,
        None => body,
    };
    let message = match choice.get("message") {
        Some(message @ Value::Object(_)) => message,
        Some(_) => return None,
        None if text(choice, "role") == "assistant" || calls_of(choice).next().is_some() => choice,
        None => return None,
    };
    draft.stopped(text(choice, "finish_reason"));
    message_of(message, &SHAPE, draft);
    Some(())
}

/// The first choice, unless only another makes calls.
fn choose(choices: &[Value]) -> Option<&Value> {
    let calls = |choice: &&Value| {
        (choice.get("message")).is_some_and(|message| calls_of(message).next().is_some())
    };
    choices.iter().find(calls).or_else(|| choices.first())
}

/// The calls of a message: a list, or a single one where somebody forgot the list.
fn calls_of(message: &Value) -> impl Iterator<Item = &Value> {
    let (many, one) = match message.get("tool_calls") {
        Some(Value::Array(calls)) => (calls.as_slice(), None),
        Some(Value::Null) | None => (&[][..], None),
        one => (&[][..], one),
    };
    let legacy = (message.get("function_call")).filter(|call| !call.is_null());
    many.iter().chain(one).chain(legacy)
}

/// Reads an answer that is one message without choices, or such a message alone.
pub(super) fn single(
    body: &Value,
    reason: &str,
    shape: &Shape,
    draft: &mut Draft<'_>,
) -> Option<()> {
    let message = match body.get("message") {
        Some(message) => message,
        None if text(body, "role") == "assistant" => body,
        None => return None,
    };
    message.as_object()?;
    draft.stopped(text(body, reason));
    message_of(message, shape, draft);
    Some(())
}

/// Reads a message, and keeps what goes back of it.
fn message_of(message: &Value, shape: &Shape, draft: &mut Draft<'_>) {
    content(message.get("content").unwrap_or(&Value::Null), draft);
    let mut turn = Map::new();
    turn.insert("role".into(), "assistant".into());
    if let Some(refusal) = message.get("refusal").and_then(Value::as_str)
        && !refusal.is_empty()
    {
        draft.refused();
        if !draft.has_text() {
            draft.text(refusal);
        }
        turn.insert("refusal".into(), refusal.into());
    }
    if let Some(reasoning) = (REASONING.iter()).find_map(|key| message.get(*key)?.as_str()) {
        draft.reasoning(reasoning);
    }
    let content = message.get("content").cloned().unwrap_or_default();
    turn.insert("content".into(), content);
    let count = calls_of(message).count();
    if count > 0 {
        let kept = REASONING.iter().chain(KEPT);
        for (key, value) in kept.filter_map(|key| Some((*key, message.get(*key)?))) {
            if !value.is_null() {
                turn.insert(key.into(), value.clone());
            }
        }
    }
    if turn["content"].is_null() {
        if count == 0 {
            turn["content"] = "".into();
        } else if !shape.null_content {
            turn.remove("content");
        }
    }
    let mut echoes = Vec::with_capacity(count);
    for (position, call) in calls_of(message).enumerate() {
        let last = position + 1 == count;
        if std::ptr::eq(call, message.get("function_call").unwrap_or(&Value::Null)) {
            let echo = draft.call(&sent(call, call, last));
            let name = echo.name.clone();
            let legacy = json!({"name": name, "arguments": echo.arguments_text()});
            turn.insert("function_call".into(), legacy);
        } else {
            echoes.push(one_call(call, last, shape, draft));
        }
    }
    if !echoes.is_empty() {
        turn.insert("tool_calls".into(), echoes.into());
    }
    draft.turn(Value::Object(turn));
}

/// What the model says and thinks: a text, or a list of typed pieces.
fn content(content: &Value, draft: &mut Draft<'_>) {
    let pieces = match content {
        Value::String(text) => return draft.text(text),
        Value::Array(pieces) => pieces,
        _ => return,
    };
    for piece in pieces {
        match text(piece, "type") {
            "thinking" => match piece.get("thinking") {
                Some(Value::String(thought)) => draft.reasoning(thought),
                _ => (list(piece, "thinking").iter())
                    .for_each(|each| draft.reasoning(text(each, "text"))),
            },
            "refusal" => draft.text(text(piece, "refusal")),
            _ => draft.text(text(piece, "text")),
        }
    }
}

fn sent<'a>(call: &'a Value, function: &'a Value, last: bool) -> Sent<'a> {
    let input = match function {
        Value::Object(_) => Input::Json(function.get("arguments")),
        _ => Input::Unreadable,
    };
    Sent {
        id: call.get("id").and_then(Value::as_str),
        name: text(function, "name"),
        input,
        last,
    }
}

/// Reads one call. Keys nobody here knows go back with it: Gemini, spoken to in OpenAI's
/// words, hides its signature there.
fn one_call(call: &Value, last: bool, shape: &Shape, draft: &mut Draft<'_>) -> Value {
    let mut kept = call.as_object().cloned().unwrap_or_default();
    kept.retain(|key, _| !matches!(key.as_str(), "index" | "name" | "arguments"));
    if let Some(custom) = call
        .get("custom")
        .filter(|_| text(call, "type") == "custom")
    {
        let free = Sent {
            input: Input::Free(text(custom, "input")),
            ..sent(call, custom, last)
        };
        let echo = draft.call(&free);
        kept.insert("id".into(), echo.id.into());
        let custom = json!({"name": echo.name, "input": text(custom, "input")});
        kept.insert("custom".into(), custom);
        return Value::Object(kept);
    }
    // Some servers leave out the level below.
    let function = match call.get("function") {
        Some(function @ Value::Object(_)) => function,
        _ => call,
    };
    let echo = draft.call(&sent(call, function, last));
    if shape.always_numbered || echo.id_as_sent || call.get("id").is_some() {
        kept.insert("id".into(), echo.id.clone().into());
    }
    kept.insert("type".into(), "function".into());
    let name = echo.name.clone();
    let arguments = if shape.arguments_as_text {
        Value::String(echo.arguments_text())
    } else {
        Value::Object(echo.arguments)
    };
    kept.insert(
        "function".into(),
        json!({"name": name, "arguments": arguments}),
    );
    Value::Object(kept)
}
