//! What one request says about the client that sent it.

use std::sync::LazyLock;

use rmcp::RoleServer;
use rmcp::model::{ClientCapabilities, ProgressToken, ProtocolVersion};
use rmcp::service::RequestContext;
use toolsmith_core::context::Level;
use toolsmith_core::reply::Question;

use crate::wire;

/// Which of the protocol's two eras a request belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// Sessions that began with a handshake; the server may ask the client.
    Handshake,
    /// Every request by itself; what the client is asked comes with the result.
    Stateless,
}

impl Era {
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Self {
        match context.protocol_version() {
            // Versions are dates, and compare as text.
            Some(version) if version.as_str() >= ProtocolVersion::V_2026_07_28.as_str() => {
                Self::Stateless
            }
            _ => Self::Handshake,
        }
    }
}

/// The client behind one request.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) era: Era,
    pub(super) capabilities: ClientCapabilities,
    /// Who it says it is; nothing is granted for it.
    pub(super) name: String,
    pub(super) progress: Option<ProgressToken>,
    pub(super) trace: Option<String>,
    /// The least important log entries it wants; none at all without it.
    pub(super) level: Option<Level>,
}

impl Client {
    pub(super) fn of(context: &RequestContext<RoleServer>, session_level: Option<Level>) -> Self {
        let era = Era::of(context);
        let name = context.client_info().map_or_else(
            || "mcp".to_owned(),
            |info| {
                let name = toolsmith_runtime::shape::clean(&info.name);
                // What follows a `#` is the number of a session.
                let name: String = name.chars().filter(|c| *c != '#').take(64).collect();
                format!("mcp:{name}")
            },
        );
        Self {
            era,
            capabilities: context.client_capabilities().unwrap_or_default(),
            name,
            progress: context.meta.get_progress_token(),
            trace: context.meta.get_traceparent().map(str::to_owned),
            level: match era {
                Era::Handshake => session_level,
                Era::Stateless => context.meta.log_level().map(wire::log::from_wire),
            },
        }
    }

    pub(super) fn can_answer(&self, question: &Question) -> bool {
        wire::question::can_answer(&self.capabilities, question)
    }

    /// Tells whether the person behind the client can be shown a form.
    pub(super) fn can_approve(&self) -> bool {
        static FORM: LazyLock<Question> =
            LazyLock::new(|| Question::new("", toolsmith_core::Schema::no_arguments()));
        self.can_answer(&FORM)
    }
}
