//! What a model is reached through, as far as formats must know it.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use serde_json::Value;
use toolsmith_core::ErrorKind;

use crate::capability::{self, Support};
use crate::provider::Provider;

/// A model, wherever it runs.
///
/// Implemented by whoever has a connection to one; a test scripts one. Requests and answers
/// are the provider's own JSON: nothing is translated behind this trait.
pub trait ModelClient: Send + Sync {
    /// Whose format it speaks.
    fn provider(&self) -> Provider;

    /// Its name, as the provider knows it.
    fn model(&self) -> &str;

    /// Tells whether it can call functions; by the table unless somebody knows better.
    fn supports_function_calling(&self) -> Support {
        capability::support(self.provider(), self.model())
    }

    /// Sends a request and gives the body of the answer, also where that is an error in the
    /// provider's words.
    fn complete(&self, request: Value) -> Completion<'_>;

    /// Sends a request and hands on the bytes of the answer as they come, in the form the
    /// provider streams them, or the whole body at once: [`Stream`](crate::Stream) reads
    /// both. One that cannot stream hands on what [`complete`](Self::complete) gives.
    ///
    /// The request is the same as for `complete`: what asks for a stream is added here.
    /// Where the answer breaks off, what came of it was handed on, and that is no error.
    fn stream<'a>(&'a self, request: Value, pieces: Pieces<'a>) -> Streaming<'a> {
        Box::pin(async move {
            let body = self.complete(request).await?;
            pieces(&body);
            Ok(())
        })
    }
}

/// An answer that is on its way.
pub type Completion<'a> = Pin<Box<dyn Future<Output = Result<Vec<u8>, ModelError>> + Send + 'a>>;

/// What takes the bytes of an answer while they come.
pub type Pieces<'a> = &'a mut (dyn FnMut(&[u8]) + Send);

/// The end of an answer that is handed on while it comes.
pub type Streaming<'a> = Pin<Box<dyn Future<Output = Result<(), ModelError>> + Send + 'a>>;

/// Why no answer came at all.
#[derive(Debug, thiserror::Error)]
#[error("the model could not be asked: {message}")]
#[non_exhaustive]
pub struct ModelError {
    /// What kind of failure it is.
    pub kind: ErrorKind,
    /// What happened.
    pub message: String,
    /// When to come back, where somebody said so.
    pub retry_after: Option<Duration>,
    /// What caused it.
    #[source]
    pub cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl ModelError {
    /// A model that cannot be reached, in words.
    pub fn new(message: impl Into<String>) -> Self {
        Self::of(ErrorKind::Network, message)
    }

    /// A failure of some kind, in words.
    pub fn of(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            retry_after: None,
            cause: None,
        }
    }

    /// Says when to come back.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Option<Duration>) -> Self {
        self.retry_after = wait;
        self
    }

    /// Keeps what caused it.
    #[must_use]
    pub fn with_cause(mut self, cause: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.cause = Some(Box::new(cause));
        self
    }
}
