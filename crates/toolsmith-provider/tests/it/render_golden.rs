//! Results as providers want them, from files: `tests/golden/render/<provider>/<case>.json`.
//!
//! A case has the `body` of an answer, the `replies` to its calls, and the messages that
//! are expected: the turn itself and the results.

use serde_json::{Value, json};
use toolsmith_core::outcome::{Block, Outcome};
use toolsmith_core::{ErrorKind, Reply, ToolError};
use toolsmith_provider::parse::parse;
use toolsmith_provider::{Dictionary, render};

use crate::parse_golden::walk;

#[test]
fn results_are_written_as_the_files_say() {
    walk("render", |provider, case| {
        let body = case["body"].to_string();
        let answer = parse(provider, body.as_bytes(), &Dictionary::default()).unwrap();
        let replies = case["replies"].as_array().expect("replies are a list");
        let replies: Vec<Reply> = replies.iter().map(reply).collect();
        let results = render::results(provider, &answer, &replies);
        json!({"turn": answer.turn, "results": results})
    });
}

fn reply(case: &Value) -> Reply {
    let mut outcome = Outcome::default();
    if let Some(message) = case["error"].as_str() {
        outcome = Outcome::failure(ToolError::new(ErrorKind::Failed, message));
    }
    if let Some(value) = case.get("value") {
        outcome = outcome.with_value(value.clone());
    }
    if let Some(text) = case["text"].as_str() {
        outcome = outcome.with_block(Block::text(text));
    }
    for block in case["blocks"].as_array().into_iter().flatten() {
        outcome =
            outcome.with_block(serde_json::from_value(block.clone()).expect("blocks are blocks"));
    }
    if let Some(instruction) = case["instruction"].as_str() {
        outcome = outcome.with_instruction(instruction);
    }
    if let Some(id) = case["call_id"].as_str() {
        outcome.facts.call_id = Some(id.into());
    }
    outcome.into()
}
