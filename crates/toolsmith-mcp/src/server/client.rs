//! What one request says about the client that sent it.

use std::sync::{Arc, LazyLock};

use rmcp::RoleServer;
use rmcp::model::{
    ClientCapabilities, Implementation, InitializeRequestParams, ProgressToken, ProtocolVersion,
};
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

/// What a client says about itself: with a handshake once, else in every request.
#[derive(Clone, Debug)]
pub(super) struct Introduced {
    /// Who it says it is; only what was approved through it counts for it.
    pub(super) name: Arc<str>,
    pub(super) capabilities: Arc<ClientCapabilities>,
}

impl Introduced {
    /// By a request.
    pub(super) fn by(context: &RequestContext<RoleServer>) -> Self {
        let capabilities = context.client_capabilities().unwrap_or_default();
        Self::new(context.client_info(), capabilities)
    }

    /// By the handshake of a session, whatever its requests say.
    pub(super) fn at(handshake: &InitializeRequestParams) -> Self {
        let program = Some(handshake.client_info.clone());
        Self::new(program, handshake.capabilities.clone())
    }

    fn new(program: Option<Implementation>, capabilities: ClientCapabilities) -> Self {
        let name = program.map_or_else(
            || "mcp".to_owned(),
            |program| {
                let name = toolsmith_runtime::shape::clean(&program.name);
                // What follows a `#` is the number of a session.
                let name: String = name.chars().filter(|c| *c != '#').take(64).collect();
                format!("mcp:{name}")
            },
        );
        Self {
            name: name.into(),
            capabilities: Arc::new(capabilities),
        }
    }

    /// Two sessions of one program are two callers.
    #[must_use]
    pub(super) fn in_session(mut self, number: u64) -> Self {
        self.name = format!("{}#{number}", self.name).into();
        self
    }
}

/// The client behind one request.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) era: Era,
    pub(super) introduced: Introduced,
    pub(super) progress: Option<ProgressToken>,
    pub(super) trace: Option<String>,
    /// What it names its call by, so that a repetition can be told.
    pub(super) key: Option<String>,
    pub(super) trace_state: Option<String>,
    /// The least important log entries it wants; none at all without it.
    pub(super) level: Option<Level>,
}

impl Client {
    pub(super) fn new(
        introduced: Introduced,
        context: &RequestContext<RoleServer>,
        session_level: Option<Level>,
    ) -> Self {
        let era = Era::of(context);
        Self {
            era,
            introduced,
            progress: context.meta.get_progress_token(),
            trace: context.meta.get_traceparent().map(str::to_owned),
            key: key(context),
            trace_state: context.meta.get_tracestate().map(str::to_owned),
            level: match era {
                Era::Handshake => session_level,
                Era::Stateless => context.meta.log_level().map(wire::log::from_wire),
            },
        }
    }

    pub(super) fn can_answer(&self, question: &Question) -> bool {
        wire::question::can_answer(&self.introduced.capabilities, question)
    }

    /// Tells whether the person behind the client can be shown a form.
    pub(super) fn can_approve(&self) -> bool {
        static FORM: LazyLock<Question> =
            LazyLock::new(|| Question::new("", toolsmith_core::Schema::no_arguments()));
        self.can_answer(&FORM)
    }
}

/// The key a request brings along, if it can be one.
fn key(context: &RequestContext<RoleServer>) -> Option<String> {
    let key = context.meta.get(wire::IDEMPOTENCY_KEY)?.as_str()?;
    let is_one = (1..=255).contains(&key.len()) && key.bytes().all(|b| b.is_ascii_graphic());
    is_one.then(|| key.to_owned())
}
