//! MCP's answer to `tools/call`, under the number of the request.

use serde_json::{Value, json};

use super::answered::Answered;
use super::made::Made;
use crate::answer::Answer;

pub(super) fn results(answer: &Answer, answered: &[Answered<'_>]) -> Vec<Value> {
    let result = |each: &Answered<'_>| {
        let request = answer.turn.get(each.position);
        let id = request.and_then(|request| request.get("id")).cloned();
        let id = id.unwrap_or_else(|| each.id().into());
        json!({"jsonrpc": "2.0", "id": id, "result": each.outcome.to_mcp()})
    };
    answered.iter().map(result).collect()
}

pub(super) fn calls(made: Vec<Made>) -> Vec<Value> {
    let request = |call: Made| {
        let params = json!({"name": call.name, "arguments": call.arguments});
        json!({"jsonrpc": "2.0", "id": call.id, "method": "tools/call", "params": params})
    };
    made.into_iter().map(request).collect()
}
