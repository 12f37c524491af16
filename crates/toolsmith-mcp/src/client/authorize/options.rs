//! How an upstream lets us in, as a host describes it.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::Credentials;
use crate::BoxFuture;

/// How long a person may take to consent.
const CONSENT: Duration = Duration::from_secs(300);

/// How we are let in where an upstream asks for OAuth.
///
/// Without one, an upstream that refuses us stays refused.
#[derive(Clone)]
#[non_exhaustive]
pub struct Authorization {
    /// Who grants it.
    pub grant: Grant,
    /// Clients that were registered beforehand, each with its issuer. They go before
    /// everything else.
    pub registered: Vec<Registered>,
    /// Where the document that describes this client is: its identity at every issuer
    /// that takes such documents.
    pub metadata_url: Option<String>,
    /// The name this client registers by where it has no other identity.
    pub client_name: String,
    /// Where what was granted is kept; without it, until the upstream is let go.
    pub credentials: Option<Arc<dyn Credentials>>,
    /// Origins beside the upstream's own that authorization may reach though they are
    /// not public, or not encrypted.
    pub trusted_origins: Vec<String>,
    /// Whether authorization may reach this machine at any port. For tests only: an
    /// upstream could then have us talk to whatever listens here.
    pub allow_loopback: bool,
    /// How long a person may take to consent.
    pub consent_time: Duration,
    clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
}

/// Who grants authorization.
#[derive(Clone)]
#[non_exhaustive]
pub enum Grant {
    /// A person, in a browser.
    Person(Arc<dyn Consent>),
    /// Nobody but ourselves, as a registered client (client credentials).
    Program,
    /// Whoever vouches for this workload with a token (RFC 7523).
    Workload(Secret),
    /// An enterprise's identity provider, for a person who is logged in there.
    Enterprise(Enterprise),
}

/// Shows a person where to consent. Implemented by hosts.
pub trait Consent: Send + Sync + 'static {
    /// Where the browser is sent when the person has decided. It stays the same.
    fn redirect_uri(&self) -> &str;

    /// Says why nobody can be asked, where that is known beforehand. Then what was
    /// granted before is used, and nothing new is begun.
    fn absent(&self) -> Option<String> {
        None
    }

    /// Lets the person visit an address, and returns the address the browser was then
    /// sent to, with everything in it. Where others can come there too, only one that
    /// [`is_answer_to`](super::is_answer_to) the page counts.
    ///
    /// # Errors
    /// When the person would not, or nobody is there; the words say which.
    fn visit<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<String, String>>;
}

/// A client that an authorization server knows.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Registered {
    /// The issuer that knows it; it is shown to no other. None stands for whichever
    /// the upstream names, which is safe only where the upstream is trusted with the
    /// client's secret.
    pub issuer: Option<String>,
    /// Its id.
    pub id: String,
    /// How it proves to be that client.
    pub proof: Proof,
}

/// How a client proves to be itself.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Proof {
    /// It cannot.
    None,
    /// By a secret.
    Secret(Secret),
    /// By its signature: a private key in PKCS#8 as PEM, of P-256 (ES256) or RSA (RS256).
    Key(Secret),
}

/// An enterprise's identity provider, and a person who is logged in there.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Enterprise {
    /// Where the provider exchanges tokens.
    pub token_endpoint: String,
    /// Ourselves, as the provider knows us.
    pub client: Registered,
    /// What the provider said of the person.
    pub id_token: Secret,
}

/// Something that is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Authorization {
    /// Authorization by a grant. Tokens outlive the process, so their end is told by
    /// the clock of the wall.
    pub fn new(grant: Grant, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self {
            grant,
            registered: Vec::new(),
            metadata_url: None,
            client_name: "Toolsmith".to_owned(),
            credentials: None,
            trusted_origins: Vec::new(),
            allow_loopback: false,
            consent_time: CONSENT,
            clock: Arc::new(clock),
        }
    }

    /// Authorization by a person.
    pub fn by_person(
        consent: impl Consent,
        clock: impl Fn() -> SystemTime + Send + Sync + 'static,
    ) -> Self {
        Self::new(Grant::Person(Arc::new(consent)), clock)
    }

    /// Adds a client that was registered beforehand.
    #[must_use]
    pub fn with_registered(mut self, client: Registered) -> Self {
        self.registered.push(client);
        self
    }

    /// Sets where the document that describes this client is.
    #[must_use]
    pub fn with_metadata_url(mut self, url: impl Into<String>) -> Self {
        self.metadata_url = Some(url.into());
        self
    }

    /// Sets where what was granted is kept.
    #[must_use]
    pub fn with_credentials(mut self, credentials: impl Credentials) -> Self {
        self.credentials = Some(Arc::new(credentials));
        self
    }

    /// Lets authorization reach an origin that is not public, or not encrypted.
    #[must_use]
    pub fn trusting(mut self, origin: impl Into<String>) -> Self {
        self.trusted_origins.push(origin.into());
        self
    }

    /// Lets authorization reach this machine at any port. For tests only.
    #[must_use]
    pub fn trusting_loopback(mut self) -> Self {
        self.allow_loopback = true;
        self
    }

    /// Seconds since 1970.
    pub(super) fn now(&self) -> u64 {
        let now = (self.clock)().duration_since(UNIX_EPOCH);
        now.unwrap_or_default().as_secs()
    }

    /// The registered client of an issuer.
    pub(super) fn client_of(&self, issuer: &str) -> Option<&Registered> {
        let bound = |client: &&Registered| client.issuer.as_deref() == Some(issuer);
        let anywhere = |client: &&Registered| client.issuer.is_none();
        let mut clients = self.registered.iter();
        clients
            .find(bound)
            .or_else(|| self.registered.iter().find(anywhere))
    }

    /// How much longer an upstream may take to start because of a person.
    pub(in crate::client) fn waits(&self) -> Duration {
        match &self.grant {
            Grant::Person(consent) if consent.absent().is_none() => self.consent_time,
            _ => Duration::ZERO,
        }
    }

    /// Why nothing new can be granted.
    pub(super) fn absent(&self) -> Option<String> {
        match &self.grant {
            Grant::Person(consent) => consent.absent(),
            _ => None,
        }
    }
}

impl Registered {
    /// A client known to one issuer.
    pub fn at(issuer: impl Into<String>, id: impl Into<String>, proof: Proof) -> Self {
        Self {
            issuer: Some(issuer.into()),
            id: id.into(),
            proof,
        }
    }

    /// A client shown to whichever issuer the upstream names.
    pub fn anywhere(id: impl Into<String>, proof: Proof) -> Self {
        Self {
            issuer: None,
            id: id.into(),
            proof,
        }
    }
}

impl Enterprise {
    /// A person logged in at a provider, which knows us as `client`.
    pub fn new(
        token_endpoint: impl Into<String>,
        client: Registered,
        id_token: impl Into<Secret>,
    ) -> Self {
        Self {
            token_endpoint: token_endpoint.into(),
            client,
            id_token: id_token.into(),
        }
    }
}

impl Secret {
    /// Keeps something from being shown.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl<T: Into<String>> From<T> for Secret {
    fn from(secret: T) -> Self {
        Self::new(secret)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[not shown]")
    }
}

impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Person(_) => "Person",
            Self::Program => "Program",
            Self::Workload(_) => "Workload",
            Self::Enterprise(_) => "Enterprise",
        })
    }
}

impl fmt::Debug for Authorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorization")
            .field("grant", &self.grant)
            .field("registered", &self.registered)
            .field("metadata_url", &self.metadata_url)
            .finish_non_exhaustive()
    }
}
