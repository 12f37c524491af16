//! A model that says what a script says.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use toolsmith_provider::client::{Completion, ModelError};
use toolsmith_provider::{ModelClient, Provider, Support, capability};

/// A model whose answers were written beforehand, and which keeps what it was asked.
#[derive(Debug)]
pub struct ScriptedModel {
    provider: Provider,
    model: String,
    support: Option<Support>,
    answers: Mutex<VecDeque<Vec<u8>>>,
    requests: Mutex<Vec<Value>>,
}

impl ScriptedModel {
    /// A model that is silent so far.
    pub fn new(provider: Provider, model: impl Into<String>) -> Self {
        Self {
            provider,
            model: model.into(),
            support: None,
            answers: Mutex::default(),
            requests: Mutex::default(),
        }
    }

    /// Says whether it can call functions, whatever the table has of its name.
    #[must_use]
    pub fn with_support(mut self, support: Support) -> Self {
        self.support = Some(support);
        self
    }

    /// Adds the body of an answer; they are given in order.
    #[must_use]
    pub fn saying(self, body: impl Into<Vec<u8>>) -> Self {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.push_back(body.into());
        drop(answers);
        self
    }

    /// What it was asked so far.
    pub fn requests(&self) -> Vec<Value> {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.clone()
    }
}

impl ModelClient for ScriptedModel {
    fn provider(&self) -> Provider {
        self.provider
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn supports_function_calling(&self) -> Support {
        let known = || capability::support(self.provider, &self.model);
        self.support.unwrap_or_else(known)
    }

    fn complete(&self, request: Value) -> Completion<'_> {
        Box::pin(async move {
            let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
            requests.push(request);
            let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
            let answer = answers.pop_front();
            answer.ok_or_else(|| ModelError::new("the script has ended"))
        })
    }
}
