//! A request of MCP's `tools/call`, or its parameters alone.

use serde_json::{Value, json};

use super::draft::{Draft, Input, Sent};
use super::text;

pub(super) fn read(body: &Value, draft: &mut Draft<'_>) -> Option<()> {
    let request = match body.get("params") {
        Some(params) if text(body, "method") == "tools/call" => params,
        None if body.get("name").is_some_and(Value::is_string) => body,
        _ => return None,
    };
    let number = match body.get("id") {
        Some(Value::String(id)) => Some(id.clone()),
        Some(Value::Number(id)) => Some(id.to_string()),
        _ => None,
    };
    draft.stopped("");
    let echo = draft.call(&Sent {
        id: number.as_deref(),
        name: text(request, "name"),
        input: Input::Json(request.get("arguments")),
        last: true,
    });
    let params = json!({"name": echo.name, "arguments": echo.arguments});
    // The number keeps its type: a server answers under the very same.
    let id = body.get("id").cloned().unwrap_or_else(|| echo.id.into());
    draft.turn(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
    Some(())
}
