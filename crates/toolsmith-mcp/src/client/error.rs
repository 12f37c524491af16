//! What goes wrong between us and an upstream.

use std::error::Error;

use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, InsufficientScopeError, StreamableHttpError,
};
use toolsmith_core::{ErrorKind, ToolError};
use toolsmith_net::Refused;

use super::authorize::AuthorizeError;
use crate::wire;

/// Why an upstream could not be reached over HTTP.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// It wants credentials, or others.
    #[error("the server refuses us (HTTP {status}); check the credentials configured for it")]
    Unauthorized {
        /// 401 or 403.
        status: u16,
    },
    /// It answered with something that is no MCP.
    #[error("the server answered HTTP {status}: {text}")]
    Status {
        /// The status.
        status: u16,
        /// The beginning of what it said.
        text: String,
    },
    /// What it said is longer than it may be, or broke off.
    #[error(transparent)]
    Body(#[from] toolsmith_net::BodyError),
    /// It could not be reached.
    #[error("the server could not be reached: {0}")]
    Network(#[source] toolsmith_net::HttpError),
    /// The guard refused the address.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// It was not authorized.
    #[error(transparent)]
    Authorize(#[from] AuthorizeError),
}

impl From<toolsmith_net::HttpError> for HttpError {
    /// An address may hold a key, so it is not told.
    fn from(error: toolsmith_net::HttpError) -> Self {
        Self::Network(error.without_url())
    }
}

/// Why an upstream is not there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The program could not be started.
    #[error(transparent)]
    Launch(#[from] toolsmith_process::LaunchError),
    /// The address or a header cannot be used.
    #[error("{0}")]
    Settings(String),
    /// The guarded client could not be made.
    #[error(transparent)]
    Client(#[from] toolsmith_net::ClientError),
    /// It did not let us in.
    #[error(transparent)]
    Authorize(#[from] AuthorizeError),
    /// It was not agreed how to talk.
    #[error("{message}")]
    Handshake {
        /// Why not.
        message: String,
        /// Whether it wants credentials, or others.
        unauthorized: bool,
    },
    /// It took too long.
    #[error("it did not answer within {0}")]
    Slow(String),
    /// It ended.
    #[error("it ended{0}")]
    Ended(String),
    /// It could not list its tools.
    #[error("it could not list its tools: {0}")]
    List(String),
}

impl ConnectError {
    pub(super) fn handshake(error: &ClientInitializeError) -> Self {
        let unauthorized = is_unauthorized(error) || error.is_authorization_required();
        Self::Handshake {
            message: told(error),
            unauthorized,
        }
    }
}

/// The failure of a call on its way, for the model.
pub(super) fn of_call(server: &str, error: &ServiceError) -> ToolError {
    match error {
        ServiceError::McpError(error) => wire::outcome::from_error(error),
        ServiceError::Timeout { .. } => ToolError::new(
            ErrorKind::Timeout,
            format!("`{server}` did not answer in time"),
        ),
        ServiceError::Cancelled { .. } => {
            ToolError::new(ErrorKind::Cancelled, "the call was given up")
        }
        error if is_unauthorized(error) => ToolError::new(
            ErrorKind::PermissionDenied,
            format!("`{server}`: {}", told(error)),
        ),
        ServiceError::TransportClosed => ToolError::new(
            ErrorKind::Unavailable,
            format!("`{server}` went away before it answered"),
        ),
        error => ToolError::new(ErrorKind::Network, format!("`{server}`: {}", told(error))),
    }
}

fn is_unauthorized(error: &(dyn Error + 'static)) -> bool {
    chain(error).any(|each| {
        let refused = matches!(
            each.downcast_ref::<HttpError>(),
            Some(HttpError::Unauthorized { .. } | HttpError::Authorize(_))
        );
        refused || each.is::<AuthRequiredError>() || each.is::<InsufficientScopeError>()
    })
}

/// An error with its causes, each once, within bounds.
fn told(error: &(dyn Error + 'static)) -> String {
    let mut text = String::new();
    for each in chain(error).filter(|each| !is_wrapping(*each)) {
        let part = each.to_string();
        if !text.contains(&part) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(&part);
        }
        if text.len() > 2000 {
            break;
        }
    }
    let text = toolsmith_runtime::shape::clean(&text);
    text.chars().take(2000).collect()
}

fn chain<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| cause(*error)).take(16)
}

/// Tells whether an error only says by which types of `rmcp` its cause came.
fn is_wrapping(error: &(dyn Error + 'static)) -> bool {
    let sent = error.downcast_ref::<ServiceError>();
    let begun = error.downcast_ref::<ClientInitializeError>();
    let http = error.downcast_ref::<StreamableHttpError<HttpError>>();
    matches!(sent, Some(ServiceError::TransportSend(_)))
        || matches!(begun, Some(ClientInitializeError::TransportError { .. }))
        || matches!(http, Some(StreamableHttpError::Client(_)))
}

/// The cause of an error; `rmcp` hides the transport's own behind a field.
fn cause<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    if let Some(ServiceError::TransportSend(inner)) = error.downcast_ref::<ServiceError>() {
        return Some(inner.error.as_ref());
    }
    if let Some(StreamableHttpError::Client(inner)) =
        error.downcast_ref::<StreamableHttpError<HttpError>>()
    {
        return Some(inner);
    }
    match error.downcast_ref::<ClientInitializeError>() {
        Some(ClientInitializeError::TransportError { error, .. }) => Some(error.error.as_ref()),
        Some(ClientInitializeError::LegacyFallbackFailed { fallback, .. }) => Some(&**fallback),
        _ => error.source(),
    }
}
