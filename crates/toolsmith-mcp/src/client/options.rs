//! How an upstream is reached, and within what bounds.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use toolsmith_process::Launch;

use super::authorize::Authorization;

/// An upstream server, as a host describes it.
#[derive(Clone)]
#[non_exhaustive]
pub struct UpstreamOptions {
    /// The name the user gave it, which its tools carry.
    pub name: String,
    /// How it is reached.
    pub reach: Reach,
    /// Which era it is spoken to in.
    pub protocol: Protocol,
    /// How long it may take to start and list its tools.
    pub start_time: Duration,
    /// How long one call may take, where the caller does not say.
    pub call_time: Option<Duration>,
    /// Which of its tools are taken, by the names it gives them.
    pub admits: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    /// What it may ask of callers.
    pub questions: Questions,
}

/// How an upstream is reached.
#[derive(Clone)]
pub enum Reach {
    /// A program, spoken to over its standard streams.
    Child(Launch),
    /// An address, spoken to over streamable HTTP.
    Http(HttpUpstream),
}

/// An upstream over HTTP.
#[derive(Clone)]
#[non_exhaustive]
pub struct HttpUpstream {
    /// Where it is.
    pub url: String,
    /// Headers that go with every request, credentials among them.
    pub headers: Vec<(String, String)>,
    /// How it lets us in where it asks for OAuth; without it, what it refuses stays
    /// refused.
    pub authorization: Option<Box<Authorization>>,
}

impl HttpUpstream {
    /// An upstream at an address.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            headers: Vec::new(),
            authorization: None,
        }
    }

    /// Sends a header with every request.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Says how it lets us in.
    #[must_use]
    pub fn with_authorization(mut self, authorization: Authorization) -> Self {
        self.authorization = Some(Box::new(authorization));
        self
    }
}

/// Which era an upstream is spoken to in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// The stateless one where it can, the other where it cannot.
    #[default]
    Auto,
    /// 2026-07-28 only.
    Stateless,
    /// A handshake only.
    Handshake,
}

/// What an upstream may ask of callers. It is declared to it, so that it does not ask
/// in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Questions {
    /// Forms, and addresses to visit.
    pub forms: bool,
    /// The caller's model.
    pub sampling: bool,
    /// The caller's folders.
    pub roots: bool,
}

impl Questions {
    /// Everything a client may be asked, for gateways.
    pub const ALL: Self = Self {
        forms: true,
        sampling: true,
        roots: true,
    };

    /// Nothing, for hosts with nobody to ask.
    pub const NONE: Self = Self {
        forms: false,
        sampling: false,
        roots: false,
    };
}

impl UpstreamOptions {
    /// An upstream of a name.
    pub fn new(name: impl Into<String>, reach: Reach) -> Self {
        Self {
            name: name.into(),
            reach,
            protocol: Protocol::Auto,
            start_time: Duration::from_secs(30),
            call_time: None,
            admits: Arc::new(|_| true),
            questions: Questions::ALL,
        }
    }

    /// Says which era it is spoken to in.
    #[must_use]
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.protocol = protocol;
        self
    }

    /// Sets how long it may take to start and list its tools.
    #[must_use]
    pub fn start_time(mut self, time: Duration) -> Self {
        self.start_time = time;
        self
    }

    /// Sets how long one call may take.
    #[must_use]
    pub fn call_time(mut self, time: Option<Duration>) -> Self {
        self.call_time = time;
        self
    }

    /// Sets which of its tools are taken.
    #[must_use]
    pub fn admits(mut self, admits: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.admits = Arc::new(admits);
        self
    }

    /// Sets what it may ask of callers.
    #[must_use]
    pub fn questions(mut self, questions: Questions) -> Self {
        self.questions = questions;
        self
    }
}

/// Headers and environments hold secrets and are not shown.
impl fmt::Debug for UpstreamOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UpstreamOptions")
            .field("name", &self.name)
            .field("reach", &self.reach)
            .field("protocol", &self.protocol)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Child(launch) => launch.fmt(f),
            Self::Http(http) => http.fmt(f),
        }
    }
}

impl fmt::Debug for HttpUpstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("HttpUpstream")
            .field("url", &self.url.split(['?', '#']).next())
            .field("headers", &names)
            .field("authorization", &self.authorization)
            .finish()
    }
}
