//! The desk where running calls hand in their questions.
//!
//! A call asks without knowing the era of its client. The desk answers at once
//! what the client brought along or cannot be asked, and hands the rest to
//! whoever attends the request: there it becomes a request to the client, or the
//! request's result.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ClientCapabilities, InputResponses};
use serde_json::Value;
use tokio::sync::{Notify, oneshot};
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

/// Where a running call asks. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Desk(Arc<Inner>);

/// The other side of a desk, where whoever attends the call takes its questions.
#[derive(Debug)]
pub(super) struct Window(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    client: Arc<Client>,
    state: Mutex<State>,
    bell: Notify,
}

#[derive(Debug)]
struct State {
    /// Answers that came with the request before anything was asked.
    brought: BTreeMap<String, Value>,
    /// The capability for want of which a question could not be asked.
    missing: Option<ClientCapabilities>,
    asked: VecDeque<Asked>,
    /// Whether somebody attends.
    is_open: bool,
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Window {
    /// The next questions. It may be given up at any point.
    pub(super) async fn next(&mut self) -> Asked {
        loop {
            if let Some(asked) = self.0.state().asked.pop_front() {
                return asked;
            }
            self.0.bell.notified().await;
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_open = false;
        let unanswered = std::mem::take(&mut state.asked);
        drop(state);
        // Which tells those who asked that nobody answers.
        drop(unanswered);
    }
}

/// Whether answers a client brought along count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Brought {
    Counts,
    IsLeft,
}

impl Desk {
    /// A desk, and the other side of it. `brought` are answers that came with the
    /// request before anything was asked.
    pub(super) fn new(client: Arc<Client>, brought: Option<InputResponses>) -> (Self, Window) {
        let inner = Arc::new(Inner {
            client,
            state: Mutex::new(State {
                brought: brought.unwrap_or_default(),
                missing: None,
                asked: VecDeque::new(),
                is_open: true,
            }),
            bell: Notify::new(),
        });
        (Self(Arc::clone(&inner)), Window(inner))
    }

    /// What the client would have needed to be asked.
    pub(super) fn missing(&self) -> Option<ClientCapabilities> {
        self.0.state().missing.clone()
    }

    /// Hands questions in; none where nobody attends.
    fn hand_in(&self, inquiries: Vec<Inquiry>) -> Option<oneshot::Receiver<Vec<Response>>> {
        let mut state = self.0.state();
        if !state.is_open {
            return None;
        }
        let (answer, answered) = oneshot::channel();
        state.asked.push_back(Asked { inquiries, answer });
        drop(state);
        self.0.bell.notify_one();
        Some(answered)
    }

    /// Asks; the answers come in the order of the questions.
    async fn ask(&self, inquiries: Vec<Inquiry>, brought: Brought) -> Vec<Response> {
        let mut answers: Vec<Option<Response>> = inquiries
            .iter()
            .map(|inquiry| self.at_once(inquiry, brought))
            .collect();
        let (open, places): (Vec<Inquiry>, Vec<usize>) = inquiries
            .into_iter()
            .enumerate()
            .filter(|(place, _)| answers[*place].is_none())
            .map(|(place, inquiry)| (inquiry, place))
            .unzip();
        if !open.is_empty() {
            let given = match self.hand_in(open) {
                Some(answered) => answered.await.unwrap_or_default(),
                None => Vec::new(),
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
    fn at_once(&self, inquiry: &Inquiry, brought: Brought) -> Option<Response> {
        let brought = match brought {
            Brought::Counts => self.0.state().brought.remove(&inquiry.key),
            Brought::IsLeft => None,
        };
        if let Some(brought) = brought
            && let Some(response) = wire::question::answer(&inquiry.question, brought)
        {
            return Some(response);
        }
        if self.0.client.can_answer(&inquiry.question) {
            return None;
        }
        let needed = || wire::question::needed(&inquiry.question);
        self.0.state().missing.get_or_insert_with(needed);
        Some(Response::Unavailable)
    }
}

impl Inquirer for Desk {
    fn inquire(&self, inquiries: Vec<Inquiry>) -> BoxFuture<'_, Vec<Response>> {
        Box::pin(self.ask(inquiries, Brought::Counts))
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
        let responses = self.ask(inquiries, Brought::IsLeft).await;
        let answered = requests.iter().zip(responses);
        answered
            .map(|(request, response)| approval(request, &response))
            .collect()
    }
}

fn form(request: &ApprovalRequest) -> Question {
    let schema = Schema::as_received(request.form()).unwrap_or_else(|_| Schema::no_arguments());
    let message = format!("Allow {}? ({})", request.plan.summary, request.reason);
    Question::new(message, schema)
}

fn approval(request: &ApprovalRequest, response: &Response) -> Approval {
    match response {
        Response::Given(content) => request.answered(content, "client"),
        Response::Unavailable => Approval::Unavailable {
            reason: "the client could not ask its user".to_owned(),
        },
        _ => Approval::Refused {
            by: "client".to_owned(),
            reason: "the user said no".to_owned(),
        },
    }
}
