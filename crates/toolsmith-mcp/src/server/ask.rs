//! The desk where running calls hand in their questions.
//!
//! A call asks without knowing the era of its client. The desk answers at once
//! what the client brought along or cannot be asked, and hands the rest to
//! whoever attends the request: there it becomes a request to the client, or the
//! request's result.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{ClientCapabilities, InputResponses};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use toolsmith_core::Schema;
use toolsmith_core::reply::{Inquiry, Question, Response};
use toolsmith_runtime::Inquirer;
use toolsmith_runtime::permit::{Approval, ApprovalRequest, Approver};

use super::client::Client;
use crate::{BoxFuture, wire};

/// What an approval is filed under in the form a person gets.
const APPROVE: &str = "approve";

/// Questions, and where their answers go.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) inquiries: Vec<Inquiry>,
    pub(super) answer: oneshot::Sender<Vec<Response>>,
}

/// Where a running call asks.
#[derive(Clone, Debug)]
pub(super) struct Desk {
    client: Client,
    questions: mpsc::Sender<Asked>,
    brought: Arc<Mutex<BTreeMap<String, Value>>>,
    missing: Missing,
}

/// The capability for want of which a question could not be asked.
#[derive(Clone, Debug, Default)]
pub(super) struct Missing(Arc<Mutex<Option<ClientCapabilities>>>);

impl Missing {
    pub(super) fn get(&self) -> Option<ClientCapabilities> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn note(&self, question: &Question) {
        let mut missing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        missing.get_or_insert_with(|| wire::question::needed(question));
    }
}

impl Desk {
    /// A desk, and the other side of it. `brought` are answers that came with the
    /// request before anything was asked.
    pub(super) fn new(
        client: Client,
        brought: Option<InputResponses>,
    ) -> (Self, mpsc::Receiver<Asked>, Missing) {
        // Questions of one call are asked one after another.
        let (questions, asked) = mpsc::channel(1);
        let missing = Missing::default();
        let desk = Self {
            client,
            questions,
            brought: Arc::new(Mutex::new(brought.unwrap_or_default())),
            missing: missing.clone(),
        };
        (desk, asked, missing)
    }

    /// Asks; the answers come in the order of the questions. What the client brought
    /// along counts.
    pub(super) async fn ask(&self, inquiries: Vec<Inquiry>) -> Vec<Response> {
        let mut answers: Vec<Option<Response>> = inquiries
            .iter()
            .map(|inquiry| self.at_once(inquiry))
            .collect();
        let (open, places): (Vec<Inquiry>, Vec<usize>) = inquiries
            .into_iter()
            .enumerate()
            .filter(|(place, _)| answers[*place].is_none())
            .map(|(place, inquiry)| (inquiry, place))
            .unzip();
        if !open.is_empty() {
            let (answer, answered) = oneshot::channel();
            let asked = Asked {
                inquiries: open,
                answer,
            };
            // Nobody attends any more: then nobody answers.
            let given = match self.questions.send(asked).await {
                Ok(()) => answered.await.unwrap_or_default(),
                Err(_) => Vec::new(),
            };
            for (place, response) in places.into_iter().zip(given) {
                answers[place] = Some(response);
            }
        }
        answers
            .into_iter()
            .map(|answer| answer.unwrap_or(Response::Unavailable))
            .collect()
    }

    /// The answer to a question that need not, or cannot, be asked.
    fn at_once(&self, inquiry: &Inquiry) -> Option<Response> {
        let brought = {
            let mut brought = self.brought.lock().unwrap_or_else(PoisonError::into_inner);
            brought.remove(&inquiry.key)
        };
        if let Some(brought) = brought
            && let Some(response) = wire::question::answer(&inquiry.question, brought)
        {
            return Some(response);
        }
        if self.client.can_answer(&inquiry.question) {
            return None;
        }
        self.missing.note(&inquiry.question);
        Some(Response::Unavailable)
    }
}

impl Inquirer for Desk {
    fn inquire(&self, inquiries: Vec<Inquiry>) -> BoxFuture<'_, Vec<Response>> {
        Box::pin(self.ask(inquiries))
    }
}

impl Approver for Desk {
    async fn approve(&self, requests: &[ApprovalRequest]) -> Vec<Approval> {
        let inquiries = requests
            .iter()
            .enumerate()
            .map(|(number, request)| Inquiry::new(format!("{APPROVE}-{number}"), form(request)))
            .collect();
        // Nobody may say yes before being asked.
        let afresh = Self {
            brought: Arc::default(),
            ..self.clone()
        };
        let responses = afresh.ask(inquiries).await;
        let answered = requests.iter().zip(responses);
        answered
            .map(|(request, response)| approval(request, &response))
            .collect()
    }
}

fn form(request: &ApprovalRequest) -> Question {
    let schema = json!({
        "type": "object",
        "properties": {
            APPROVE: { "type": "boolean", "description": "Whether the call may run." }
        },
        "required": [APPROVE],
    });
    let schema = Schema::as_received(schema).unwrap_or_else(|_| Schema::no_arguments());
    let message = format!("Allow {}? ({})", request.plan.summary, request.reason);
    Question::new(message, schema)
}

fn approval(request: &ApprovalRequest, response: &Response) -> Approval {
    match response {
        Response::Given(content) if content.get(APPROVE) == Some(&Value::Bool(true)) => {
            request.grant("client")
        }
        Response::Unavailable => Approval::Unavailable {
            reason: "the client could not ask its user".to_owned(),
        },
        _ => Approval::Refused {
            by: "client".to_owned(),
            reason: "the user said no".to_owned(),
        },
    }
}
