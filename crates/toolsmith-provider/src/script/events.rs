//! A whole answer cut into the events its provider would stream.

use serde_json::{Value, json};

use crate::parse::{list, text};

/// A text in up to three pieces.
fn pieces(text: &str) -> Vec<&str> {
    let first = text.floor_char_boundary(text.len() / 3);
    let second = text.floor_char_boundary(text.len() * 2 / 3);
    [&text[..first], &text[first..second], &text[second..]]
        .into_iter()
        .filter(|piece| !piece.is_empty())
        .collect()
}

fn data(events: &[Value]) -> Vec<u8> {
    let lines = events.iter().map(|event| format!("data: {event}\n\n"));
    lines.collect::<String>().into_bytes()
}

fn named(events: &[Value]) -> Vec<u8> {
    let lines =
        (events.iter()).map(|event| format!("event: {}\ndata: {event}\n\n", text(event, "type")));
    lines.collect::<String>().into_bytes()
}

fn lines(events: &[Value]) -> Vec<u8> {
    let lines = events.iter().map(|event| format!("{event}\n"));
    lines.collect::<String>().into_bytes()
}

/// What every event of an answer repeats of its body, where that has it.
fn with(body: &Value, keys: &[&str], mut event: Value) -> Value {
    for key in keys {
        if let Some(value) = body.get(*key) {
            event[*key] = value.clone();
        }
    }
    event
}

pub(super) fn openai(body: &Value) -> Vec<u8> {
    let choice = &body["choices"][0];
    let message = &choice["message"];
    let chunk = |choices: Value| {
        let event = json!({"object": "chat.completion.chunk", "choices": choices});
        with(body, &["id", "created", "model"], event)
    };
    let mut events = Vec::new();
    let mut send = |delta: Value, reason: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        events.push(chunk(json!([choice])));
    };
    send(json!({"role": "assistant", "content": null}), Value::Null);
    if message["content"] == "" {
        send(json!({"content": ""}), Value::Null);
    }
    for piece in pieces(text(message, "content")) {
        send(json!({"content": piece}), Value::Null);
    }
    for (index, call) in list(message, "tool_calls").iter().enumerate() {
        let function = json!({"name": call["function"]["name"], "arguments": ""});
        let start =
            json!({"index": index, "id": call["id"], "type": "function", "function": function});
        send(json!({"tool_calls": [start]}), Value::Null);
        for piece in pieces(text(&call["function"], "arguments")) {
            let more = json!({"index": index, "function": {"arguments": piece}});
            send(json!({"tool_calls": [more]}), Value::Null);
        }
    }
    if let Some(call) = message.get("function_call") {
        let start = json!({"name": call["name"], "arguments": ""});
        send(json!({"function_call": start}), Value::Null);
        for piece in pieces(text(call, "arguments")) {
            send(json!({"function_call": {"arguments": piece}}), Value::Null);
        }
    }
    send(json!({}), choice["finish_reason"].clone());
    if body.get("usage").is_some() {
        events.push(with(body, &["usage"], chunk(json!([]))));
    }
    let mut bytes = data(&events);
    bytes.extend_from_slice(b"data: [DONE]\n\n");
    bytes
}

pub(super) fn anthropic(body: &Value) -> Vec<u8> {
    let mut message = body.clone();
    message["content"] = json!([]);
    message["stop_reason"] = Value::Null;
    // What will have been written is not known yet.
    if let Some(written) = message.pointer_mut("/usage/output_tokens") {
        *written = 1.into();
    }
    let mut events = vec![json!({"type": "message_start", "message": message})];
    for (index, block) in list(body, "content").iter().enumerate() {
        let mut start = block.clone();
        let deltas: Vec<Value> = if block["type"] == "text" {
            start["text"] = "".into();
            let delta = |piece: &&str| json!({"type": "text_delta", "text": piece});
            pieces(text(block, "text")).iter().map(delta).collect()
        } else {
            start["input"] = json!({});
            let input = block["input"].to_string();
            let delta = |piece: &&str| json!({"type": "input_json_delta", "partial_json": piece});
            // Nothing at all is sent for an empty object.
            let input = if input == "{}" { "" } else { &input };
            pieces(input).iter().map(delta).collect()
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        for delta in deltas {
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let delta = json!({"stop_reason": body["stop_reason"], "stop_sequence": null});
    let usage = json!({"output_tokens": body["usage"]["output_tokens"]});
    events.push(json!({"type": "message_delta", "delta": delta, "usage": usage}));
    events.push(json!({"type": "message_stop"}));
    named(&events)
}

pub(super) fn gemini(body: &Value) -> Vec<u8> {
    let candidate = &body["candidates"][0];
    let mut parts = Vec::new();
    for part in list(&candidate["content"], "parts") {
        match part.get("text").and_then(Value::as_str) {
            Some(said) => parts.extend(pieces(said).into_iter().map(|it| json!({"text": it}))),
            None => parts.push(part.clone()),
        }
    }
    let chunk = |candidate: Value| {
        let event = json!({ "candidates": [candidate] });
        with(body, &["responseId", "modelVersion"], event)
    };
    let mut events: Vec<Value> = (parts.into_iter())
        .map(|part| {
            let content = json!({"role": "model", "parts": [part]});
            chunk(json!({"content": content}))
        })
        .collect();
    let end = chunk(json!({"finishReason": candidate["finishReason"]}));
    events.push(with(body, &["usageMetadata"], end));
    data(&events)
}

pub(super) fn bedrock(body: &Value) -> Vec<u8> {
    let mut events = vec![json!({"messageStart": {"role": "assistant"}})];
    for (index, block) in list(&body["output"]["message"], "content")
        .iter()
        .enumerate()
    {
        let deltas: Vec<Value> = match block.get("toolUse") {
            Some(call) => {
                let start = json!({"toolUseId": call["toolUseId"], "name": call["name"]});
                let start = json!({"contentBlockIndex": index, "start": {"toolUse": start}});
                events.push(json!({"contentBlockStart": start}));
                let input = call["input"].to_string();
                let delta = |piece: &&str| json!({"toolUse": {"input": piece}});
                pieces(&input).iter().map(delta).collect()
            }
            None => {
                let delta = |piece: &&str| json!({"text": piece});
                pieces(text(block, "text")).iter().map(delta).collect()
            }
        };
        for delta in deltas {
            let delta = json!({"contentBlockIndex": index, "delta": delta});
            events.push(json!({"contentBlockDelta": delta}));
        }
        events.push(json!({"contentBlockStop": {"contentBlockIndex": index}}));
    }
    events.push(json!({"messageStop": {"stopReason": body["stopReason"]}}));
    events.push(json!({"metadata": {"usage": body["usage"]}}));
    lines(&events)
}

pub(super) fn cohere(body: &Value) -> Vec<u8> {
    let message = &body["message"];
    let mut events = Vec::new();
    let mut send = |kind: &str, index: Option<usize>, message: Value| {
        let mut event = json!({"type": kind, "delta": {"message": message}});
        if let Some(index) = index {
            event["index"] = index.into();
        }
        events.push(event);
    };
    send("message-start", None, json!({"role": "assistant"}));
    if let Some(said) = message["content"].as_str() {
        send("content-start", Some(0), json!({"content": ""}));
        for piece in pieces(said) {
            send("content-delta", Some(0), json!({"content": piece}));
        }
    }
    for (index, call) in list(message, "tool_calls").iter().enumerate() {
        let function = json!({"name": call["function"]["name"], "arguments": ""});
        let start = json!({"id": call["id"], "type": "function", "function": function});
        send("tool-call-start", Some(index), json!({"tool_calls": start}));
        for piece in pieces(text(&call["function"], "arguments")) {
            let more = json!({"function": {"arguments": piece}});
            send("tool-call-delta", Some(index), json!({"tool_calls": more}));
        }
        send("tool-call-end", Some(index), json!({}));
    }
    events[0]["id"] = body["id"].clone();
    let end = json!({"finish_reason": body["finish_reason"], "usage": body["usage"]});
    events.push(json!({"type": "message-end", "delta": end}));
    named(&events)
}

pub(super) fn ollama(body: &Value) -> Vec<u8> {
    let message = &body["message"];
    let mut events = Vec::new();
    let mut send = |message: Value| {
        let event = json!({"message": message, "done": false});
        events.push(with(body, &["model", "created_at"], event));
    };
    for piece in pieces(text(message, "content")) {
        send(json!({"role": "assistant", "content": piece}));
    }
    for call in list(message, "tool_calls") {
        send(json!({"role": "assistant", "content": "", "tool_calls": [call]}));
    }
    let mut end = body.clone();
    end["message"] = json!({"role": "assistant", "content": ""});
    events.push(end);
    lines(&events)
}

pub(super) fn responses(body: &Value) -> Vec<u8> {
    let mut start = body.clone();
    start["output"] = json!([]);
    start["status"] = "in_progress".into();
    start["usage"] = Value::Null;
    let mut events = vec![json!({"type": "response.created", "response": start})];
    for (index, item) in list(body, "output").iter().enumerate() {
        let is_call = item["type"] == "function_call";
        let mut added = item.clone();
        let (key, kind, whole) = match is_call {
            true => (
                "arguments",
                "function_call_arguments",
                text(item, "arguments"),
            ),
            false => ("content", "output_text", text(&item["content"][0], "text")),
        };
        added[key] = if is_call { "".into() } else { json!([]) };
        let added =
            json!({"type": "response.output_item.added", "output_index": index, "item": added});
        events.push(added);
        if !is_call {
            let part = json!({"type": "output_text", "text": "", "annotations": []});
            let kind = "response.content_part.added";
            events.push(
                json!({"type": kind, "output_index": index, "content_index": 0, "part": part}),
            );
        }
        for piece in pieces(whole) {
            let kind = format!("response.{kind}.delta");
            events.push(
                json!({"type": kind, "output_index": index, "content_index": 0, "delta": piece}),
            );
        }
        events.push(
            json!({"type": "response.output_item.done", "output_index": index, "item": item}),
        );
    }
    let end = match text(body, "status") {
        "incomplete" => "response.incomplete",
        _ => "response.completed",
    };
    events.push(json!({"type": end, "response": body}));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = number.into();
    }
    named(&events)
}
