//! Fixtures that ask: the person, the client's model, and for its folders.

use serde_json::{Value, json};
use toolsmith_core::reply::{Inquiry, Question, Response};
use toolsmith_core::{AnyTool, ErrorKind, Outcome, Schema, ToolContext, ToolError};

use super::{fixture, nothing};

pub(super) fn tools() -> Vec<AnyTool> {
    let mut tools = in_a_session();
    tools.extend(without_a_session());
    tools
}

/// Those the suite calls with a handshake.
fn in_a_session() -> Vec<AnyTool> {
    vec![
        fixture(
            "test_sampling",
            "Lets the client's model write.",
            required("prompt"),
            async |arguments: Value, context: ToolContext| {
                let asked = context.ask(sample(&arguments["prompt"], 100)).await;
                answered(asked, |answer| {
                    format!("LLM response: {}", answer["content"]["text"])
                })
            },
        ),
        fixture(
            "test_elicitation",
            "Asks the person.",
            required("message"),
            async |arguments: Value, context: ToolContext| {
                let question = form(
                    arguments["message"].as_str().unwrap_or_default(),
                    json!({
                        "username": { "type": "string", "description": "User's response" },
                        "email": { "type": "string", "description": "User's email address" },
                    }),
                    &["username", "email"],
                );
                answered(context.ask(question).await, |answer| {
                    format!("User response: {answer}")
                })
            },
        ),
        fixture(
            "test_elicitation_sep1034_defaults",
            "Asks with defaults.",
            nothing(),
            async |_, context: ToolContext| {
                let question = form(
                    "Please review and update the form fields with defaults",
                    json!({
                        "name": { "type": "string", "description": "User name", "default": "John Doe" },
                        "age": { "type": "integer", "description": "User age", "default": 30 },
                        "score": { "type": "number", "description": "User score", "default": 95.5 },
                        "status": { "type": "string", "description": "User status", "enum": ["active", "inactive", "pending"], "default": "active" },
                        "verified": { "type": "boolean", "description": "Verification status", "default": true },
                    }),
                    &[],
                );
                completed(context.ask(question).await)
            },
        ),
        fixture(
            "test_elicitation_sep1330_enums",
            "Asks for choices.",
            nothing(),
            async |_, context: ToolContext| {
                let titled = json!([
                    { "const": "value1", "title": "First Option" },
                    { "const": "value2", "title": "Second Option" },
                    { "const": "value3", "title": "Third Option" },
                ]);
                let question = form(
                    "Please select options from the enum fields",
                    json!({
                        "untitledSingle": { "type": "string", "enum": ["option1", "option2", "option3"] },
                        "titledSingle": { "type": "string", "oneOf": titled },
                        "legacyEnum": { "type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"] },
                        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": ["option1", "option2", "option3"] } },
                        "titledMulti": { "type": "array", "items": { "anyOf": titled } },
                    }),
                    &[],
                );
                completed(context.ask(question).await)
            },
        ),
    ]
}

/// Those the suite calls without one, whose questions are results.
fn without_a_session() -> Vec<AnyTool> {
    let name = "test_input_required_result_";
    let asking = |last: &str, inquiries: fn() -> Vec<Inquiry>, told: fn(&[Value]) -> String| {
        fixture(
            &format!("{name}{last}"),
            "Asks before it answers.",
            nothing(),
            move |_, context: ToolContext| async move {
                let answers = context.ask_all(inquiries()).await;
                let given: Option<Vec<Value>> = answers.into_iter().map(given).collect();
                match given {
                    Some(given) => Outcome::text(told(&given)),
                    None => unanswered(),
                }
            },
        )
    };
    vec![
        asking(
            "elicitation",
            || vec![user_name()],
            |given| format!("Hello, {}!", given[0]["name"].as_str().unwrap_or_default()),
        ),
        asking(
            "sampling",
            || {
                vec![Inquiry::new(
                    "capital_question",
                    sample(&json!("What is the capital of France?"), 100),
                )]
            },
            |given| given[0]["content"]["text"].to_string(),
        ),
        asking(
            "list_roots",
            || vec![Inquiry::new("client_roots", Question::Roots)],
            |given| given[0]["roots"].to_string(),
        ),
        asking(
            "request_state",
            || vec![confirm()],
            |_| "state-ok".to_owned(),
        ),
        asking(
            "tampered_state",
            || vec![confirm()],
            |_| "The state was left alone.".to_owned(),
        ),
        asking(
            "multiple_inputs",
            || {
                vec![
                    user_name(),
                    Inquiry::new("greeting", sample(&json!("Write a greeting."), 50)),
                    Inquiry::new("client_roots", Question::Roots),
                ]
            },
            |_| "Everything was answered.".to_owned(),
        ),
        fixture(
            &format!("{name}multi_round"),
            "Asks twice.",
            nothing(),
            async |_, context: ToolContext| {
                let name = Inquiry::new(
                    "step1",
                    form(
                        "What is your name?",
                        json!({ "name": { "type": "string" } }),
                        &["name"],
                    ),
                );
                let color = Inquiry::new(
                    "step2",
                    form(
                        "What is your favorite color?",
                        json!({ "color": { "type": "string" } }),
                        &["color"],
                    ),
                );
                for inquiry in [name, color] {
                    let answer = context.ask_all(vec![inquiry]).await;
                    if answer.into_iter().next().and_then(given).is_none() {
                        return unanswered();
                    }
                }
                Outcome::text("Both were answered.")
            },
        ),
        fixture(
            &format!("{name}capabilities"),
            "Asks what it can.",
            nothing(),
            async |_, context: ToolContext| {
                let inquiries = vec![
                    user_name(),
                    Inquiry::new("greeting", sample(&json!("Write a greeting."), 50)),
                ];
                let answers = context.ask_all(inquiries).await;
                if answers.into_iter().any(|answer| given(answer).is_some()) {
                    Outcome::text("One answer is enough.")
                } else {
                    unanswered()
                }
            },
        ),
        fixture(
            "test_missing_capability",
            "Needs the client's model.",
            nothing(),
            async |_, context: ToolContext| {
                let asked = context.ask(sample(&json!("Hello?"), 10)).await;
                answered(asked, |answer| answer.to_string())
            },
        ),
        fixture(
            "test_streaming_elicitation",
            "Asks the person.",
            nothing(),
            async |_, context: ToolContext| {
                let question = form(
                    "What is your name?",
                    json!({ "name": { "type": "string" } }),
                    &["name"],
                );
                answered(context.ask(question).await, |answer| answer.to_string())
            },
        ),
    ]
}

fn required(argument: &str) -> Value {
    json!({
        "type": "object",
        "properties": { argument: { "type": "string", "description": "What to say." } },
        "required": [argument],
    })
}

fn user_name() -> Inquiry {
    Inquiry::new(
        "user_name",
        form(
            "What is your name?",
            json!({ "name": { "type": "string" } }),
            &["name"],
        ),
    )
}

fn confirm() -> Inquiry {
    Inquiry::new(
        "confirm",
        form(
            "Please confirm",
            json!({ "ok": { "type": "boolean" } }),
            &["ok"],
        ),
    )
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the properties are written in place, at every call"
)]
pub(super) fn form(message: &str, properties: Value, required: &[&str]) -> Question {
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    let schema = Schema::as_received(schema).expect("a form is an object");
    Question::new(message, schema)
}

fn sample(prompt: &Value, tokens: u32) -> Question {
    let request = json!({
        "messages": [{ "role": "user", "content": { "type": "text", "text": prompt } }],
        "maxTokens": tokens,
    });
    Question::Sample { request }
}

fn given(response: Response) -> Option<Value> {
    match response {
        Response::Given(value) => Some(value),
        _ => None,
    }
}

fn answered(response: Response, told: impl Fn(&Value) -> String) -> Outcome {
    match given(response) {
        Some(value) => Outcome::text(told(&value)),
        None => unanswered(),
    }
}

fn completed(response: Response) -> Outcome {
    let (action, content) = match response {
        Response::Given(value) => ("accept", value),
        Response::Declined => ("decline", json!({})),
        _ => ("cancel", json!({})),
    };
    Outcome::text(format!(
        "Elicitation completed: action={action}, content={content}"
    ))
}

fn unanswered() -> Outcome {
    Outcome::failure(ToolError::new(
        ErrorKind::ApprovalRequired,
        "nobody answered",
    ))
}
