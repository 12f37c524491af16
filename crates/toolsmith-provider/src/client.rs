//! What a model is reached through, as far as formats must know it.

use std::future::Future;
use std::pin::Pin;

use serde_json::Value;

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
}

/// An answer that is on its way.
pub type Completion<'a> = Pin<Box<dyn Future<Output = Result<Vec<u8>, ModelError>> + Send + 'a>>;

/// Why no answer came at all.
#[derive(Debug, thiserror::Error)]
#[error("the model could not be reached: {message}")]
pub struct ModelError {
    /// What happened.
    pub message: String,
    /// What caused it.
    #[source]
    pub cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl ModelError {
    /// An error in words.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            cause: None,
        }
    }
}
