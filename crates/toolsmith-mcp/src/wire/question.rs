//! Questions on both sides: elicitation, sampling and roots.

#![expect(
    deprecated,
    reason = "the protocol keeps sampling and roots for another year"
)]

use rmcp::model::{
    ClientCapabilities, CreateMessageRequest, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, InputRequest,
    ListRootsRequest, ListRootsResult,
};
use serde_json::{Value, json};
use toolsmith_core::Schema;
use toolsmith_core::reply::{Question, Response};

/// A question as a client gets it; none where the protocol cannot carry it.
pub(crate) fn to_wire(question: &Question, number: u64) -> Option<InputRequest> {
    let form = match question {
        Question::Form { message, schema } => json!({
            "mode": "form",
            "message": message,
            "requestedSchema": schema.as_value(),
        }),
        Question::Visit { message, url } => json!({
            "mode": "url",
            "message": message,
            "url": url,
            "elicitationId": format!("question-{number}"),
        }),
        Question::Sample { request } => {
            let params: CreateMessageRequestParams =
                serde_json::from_value(request.clone()).ok()?;
            return Some(InputRequest::CreateMessage(CreateMessageRequest::new(
                params,
            )));
        }
        Question::Roots => return Some(InputRequest::ListRoots(ListRootsRequest::default())),
        _ => return None,
    };
    let params: ElicitRequestParams = serde_json::from_value(form).ok()?;
    Some(InputRequest::Elicitation(ElicitRequest::new(params)))
}

/// A question as an upstream sent it.
pub(crate) fn from_wire(request: InputRequest) -> Option<Question> {
    match request {
        InputRequest::Elicitation(request) => from_elicitation(request.params),
        InputRequest::CreateMessage(request) => from_sampling(&request.params),
        InputRequest::ListRoots(_) => Some(Question::Roots),
        _ => None,
    }
}

pub(crate) fn from_elicitation(params: ElicitRequestParams) -> Option<Question> {
    match params {
        ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } => {
            let schema = serde_json::to_value(requested_schema).ok()?;
            let schema = Schema::as_received(schema).ok()?;
            Some(Question::Form { message, schema })
        }
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
            Some(Question::Visit { message, url })
        }
        _ => None,
    }
}

pub(crate) fn from_sampling(params: &CreateMessageRequestParams) -> Option<Question> {
    let request = serde_json::to_value(params).ok()?;
    Some(Question::Sample { request })
}

/// The capability a client must have to be asked this.
pub(crate) fn needed(question: &Question) -> ClientCapabilities {
    let name = match question {
        Question::Sample { .. } => "sampling",
        Question::Roots => "roots",
        _ => "elicitation",
    };
    serde_json::from_value(json!({ name: {} })).unwrap_or_default()
}

/// Tells whether a client can be asked this.
pub(crate) fn can_answer(capabilities: &ClientCapabilities, question: &Question) -> bool {
    match question {
        Question::Sample { .. } => capabilities.sampling.is_some(),
        Question::Roots => capabilities.roots.is_some(),
        // An empty object means forms, and nothing else.
        Question::Visit { .. } => capabilities
            .elicitation
            .as_ref()
            .is_some_and(|elicitation| elicitation.url.is_some()),
        _ => capabilities
            .elicitation
            .as_ref()
            .is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none()),
    }
}

/// The answer to a question as a client sent it; none where it is no answer to it.
pub(crate) fn answer(question: &Question, sent: Value) -> Option<Response> {
    match question {
        Question::Sample { .. } => {
            serde_json::from_value::<CreateMessageResult>(sent.clone()).ok()?;
            Some(Response::Given(sent))
        }
        Question::Roots => {
            serde_json::from_value::<ListRootsResult>(sent.clone()).ok()?;
            Some(Response::Given(sent))
        }
        Question::Form { schema, .. } => {
            let result: ElicitResult = serde_json::from_value(sent).ok()?;
            match result.action {
                ElicitationAction::Accept => {
                    let content = result.content.unwrap_or_else(|| json!({}));
                    toolsmith_runtime::validate::fits(schema, &content)
                        .then_some(Response::Given(content))
                }
                ElicitationAction::Cancel => Some(Response::Dismissed),
                _ => Some(Response::Declined),
            }
        }
        _ => {
            let result: ElicitResult = serde_json::from_value(sent).ok()?;
            Some(match result.action {
                ElicitationAction::Accept => Response::Given(json!({})),
                ElicitationAction::Cancel => Response::Dismissed,
                _ => Response::Declined,
            })
        }
    }
}

/// An answer as an upstream gets it.
pub(crate) fn answer_to_wire(question: &Question, response: Response) -> Option<Value> {
    let elicited = matches!(question, Question::Form { .. } | Question::Visit { .. });
    match response {
        Response::Given(content) if elicited => {
            Some(json!({ "action": "accept", "content": content }))
        }
        Response::Given(value) => Some(value),
        Response::Declined if elicited => Some(json!({ "action": "decline" })),
        Response::Dismissed if elicited => Some(json!({ "action": "cancel" })),
        _ => None,
    }
}
