//! The server over streamable HTTP.
//!
//! A request passes, in this order: `admit` (Host, Origin, token), `body` (size,
//! time, strict JSON), `sessions` (how many there may be), and then `rmcp`, which
//! knows the protocol's own headers. `connections` keeps slow and numerous clients
//! within bounds and drains them at the end.

#![expect(
    clippy::result_large_err,
    reason = "a refusal is an answer, made once and handed to whoever writes it"
)]

mod admit;
mod answer;
mod body;
mod connections;
mod metrics;
mod mounts;
mod sessions;
mod token;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use hyper::body::Incoming;
use hyper::{Method, Request, StatusCode};
use rmcp::transport::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use toolsmith_core::CancellationToken;

pub use mounts::Mounts;
pub use token::{Token, TokenError};

use self::admit::Admission;
use self::answer::{Answer, Flight, json, plain};
use self::body::{Bodies, Checked};
use self::metrics::Counts;
use self::mounts::{Ground, Mount};
use self::sessions::Sessions;
use super::envelope::Rejected;
use super::lanes::Lanes;
use super::{Life, Server};

/// Where the protocol is spoken.
pub const PATH: &str = "/mcp";

/// What paths of servers beneath the whole one begin with.
const BENEATH: &str = "/mcp/";

/// Where the server listens unless told otherwise.
pub const ADDRESS: &str = "127.0.0.1:8765";

/// How a server is reached over HTTP.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpOptions {
    /// The token clients must bring; none lets everybody in.
    pub token: Option<Token>,
    /// Hosts clients may name beside loopback and the address listened on.
    pub hosts: Vec<String>,
    /// Origins web pages may come from beside the server's own.
    pub origins: Vec<String>,
    /// The ceilings.
    pub limits: HttpLimits,
}

impl HttpOptions {
    /// Lets in who brings the token.
    pub fn with_token(token: Token) -> Self {
        Self {
            token: Some(token),
            hosts: Vec::new(),
            origins: Vec::new(),
            limits: HttpLimits::default(),
        }
    }

    /// Lets in everybody who can reach the address.
    pub fn without_token() -> Self {
        Self {
            token: None,
            hosts: Vec::new(),
            origins: Vec::new(),
            limits: HttpLimits::default(),
        }
    }
}

/// The ceilings of a server over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpLimits {
    /// How many bytes a request's body may have.
    pub body_bytes: usize,
    /// How many bytes the bodies of all requests that are not answered yet may have
    /// together.
    pub all_bodies_bytes: usize,
    /// How many bytes a request's head may have.
    pub head_bytes: usize,
    /// How long a client may take for a head, and how long it may be idle.
    pub head_time: Duration,
    /// How long a client may take for a body.
    pub body_time: Duration,
    /// How long a client may take none of what is sent to it.
    pub stall: Duration,
    /// How many connections there may be.
    pub connections: usize,
    /// How many sessions there may be; the one unused for longest gives way.
    pub sessions: usize,
    /// How long calls may go on after the server was told to stop.
    pub drain: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            body_bytes: 4 << 20,
            all_bodies_bytes: 32 << 20,
            head_bytes: 64 << 10,
            head_time: Duration::from_secs(30),
            body_time: Duration::from_secs(30),
            stall: Duration::from_secs(60),
            connections: 2048,
            sessions: 1024,
            drain: Duration::from_secs(10),
        }
    }
}

/// A server that listens.
pub struct HttpServer {
    listener: TcpListener,
    service: Arc<Service>,
}

/// What answers requests.
struct Service {
    /// The whole server.
    whole: Arc<Mount>,
    /// The servers beneath it, by path.
    beneath: ArcSwap<BTreeMap<String, Arc<Mount>>>,
    ground: Ground,
    admission: Admission,
    bodies: Bodies,
    sessions: Sessions,
    counts: Counts,
    limits: HttpLimits,
    /// Ends every stream; cancelled when nobody waits for an answer any more.
    streams: CancellationToken,
}

impl fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpServer")
            .field("server", &self.service.whole.server)
            .field("listener", &self.listener)
            .finish_non_exhaustive()
    }
}

impl Server {
    /// Listens for HTTP.
    pub async fn listen_http(
        &self,
        address: SocketAddr,
        options: HttpOptions,
    ) -> io::Result<HttpServer> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let manager = Arc::new(LocalSessionManager::default());
        let streams = CancellationToken::new();
        // Host and Origin are checked before anything gets here.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_json_response(true)
            .with_max_request_body_bytes(options.limits.body_bytes)
            .with_cancellation_token(streams.clone());
        let ground = Ground {
            manager: Arc::clone(&manager),
            config,
            life: Life::default(),
            lanes: Lanes::default(),
        };
        let service = Service {
            whole: Arc::new(ground.mount(self)),
            beneath: ArcSwap::default(),
            ground,
            admission: Admission::new(address, &options),
            bodies: Bodies::new(&options.limits),
            sessions: Sessions::new(manager, options.limits.sessions),
            counts: Counts::default(),
            limits: options.limits,
            streams,
        };
        Ok(HttpServer {
            listener,
            service: Arc::new(service),
        })
    }
}

impl HttpServer {
    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// The servers beneath this one, none of them yet.
    pub fn mounts(&self) -> Mounts {
        Mounts {
            service: Arc::clone(&self.service),
        }
    }

    /// Serves until the token is cancelled; then no more is taken in, calls in
    /// flight finish or are answered, and every connection is closed.
    pub async fn run(self, stop: CancellationToken) -> io::Result<()> {
        self.run_on(&[], stop).await
    }

    /// As [`HttpServer::run`], with the connections shared out among several runtimes.
    /// One with a single thread for each core does more than one with a thread for all
    /// of them: what a request needs is then where it arrived.
    pub async fn run_on(self, lanes: &[Handle], stop: CancellationToken) -> io::Result<()> {
        self.service.ground.lanes.open(lanes);
        connections::serve(self.listener, self.service, stop).await
    }
}

impl Service {
    /// Answers one request.
    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Answer {
        let answer = match self.route(request).await {
            Ok(answer) | Err(answer) => answer,
        };
        self.counts.answered(answer.status());
        answer
    }

    async fn route(&self, request: Request<Incoming>) -> Result<Answer, Answer> {
        self.admission.host_and_origin(&request)?;
        match request.uri().path() {
            "/healthz" => {
                only(&request, &[Method::GET, Method::HEAD])?;
                Ok(plain(StatusCode::OK, "ok\n"))
            }
            "/metrics" => {
                only(&request, &[Method::GET, Method::HEAD])?;
                self.admission.token(&request)?;
                Ok(metrics::page(self).await)
            }
            path if path == PATH || path.starts_with(BENEATH) => {
                // Who is not let in does not learn what there is.
                self.admission.token(&request)?;
                let mount = self.mount(path).ok_or_else(nothing)?;
                only(&request, &[Method::POST, Method::GET, Method::DELETE])?;
                self.protocol(request, &mount).await
            }
            _ => Err(nothing()),
        }
    }

    fn mount(&self, path: &str) -> Option<Arc<Mount>> {
        if path == PATH {
            return Some(Arc::clone(&self.whole));
        }
        self.beneath.load().get(path).cloned()
    }

    /// Hands a request that was let in to the protocol.
    async fn protocol(
        &self,
        mut request: Request<Incoming>,
        mount: &Mount,
    ) -> Result<Answer, Answer> {
        // It opened the door; nothing behind it needs to know it.
        request.headers_mut().remove(hyper::header::AUTHORIZATION);
        let path = request.uri().path().to_owned();
        if self.sessions.is_of_another(request.headers(), &path) {
            let message = "there is no such session here; it was opened at another path\n";
            return Err(plain(StatusCode::NOT_FOUND, message));
        }
        let mut in_use = self.sessions.used_by(request.headers());
        let is_call = request.method() == Method::POST;
        let mut flight = is_call.then(|| Flight::begin(&self.counts));
        let Checked {
            request,
            id,
            opens,
            room,
        } = self.bodies.check(request).await?;
        if in_use.as_mut().is_some_and(|session| !session.claims(&id)) {
            let rejected = Rejected::invalid("a request with this id is still unanswered", id);
            return Err(json(StatusCode::BAD_REQUEST, &rejected.to_value()));
        }
        if let Some(flight) = &mut flight {
            flight.keep(room, in_use);
        }
        if opens {
            self.sessions.make_room().await;
        }
        // In a box: it is large, and every layer around it would move it.
        let mut answer = Box::pin(mount.protocol.handle(request)).await;
        if !id.is_null() {
            answer = answer::whole(answer).await;
        }
        // The type was checked; what is not supported is the message.
        if answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            let rejected = Rejected::invalid("the message was not understood", id);
            return Err(json(StatusCode::BAD_REQUEST, &rejected.to_value()));
        }
        self.sessions.opened(answer.headers(), &path);
        Ok(answer::held(answer, flight))
    }
}

fn nothing() -> Answer {
    plain(
        StatusCode::NOT_FOUND,
        "not found; MCP is spoken at /mcp, and beneath it where there are sets or agents\n",
    )
}

/// The methods a path knows.
fn only(request: &Request<Incoming>, methods: &[Method]) -> Result<(), Answer> {
    if methods.contains(request.method()) {
        return Ok(());
    }
    let mut answer = plain(StatusCode::METHOD_NOT_ALLOWED, "method not allowed\n");
    let allowed: Vec<&str> = methods.iter().map(Method::as_str).collect();
    if let Ok(allowed) = allowed.join(", ").parse() {
        answer.headers_mut().insert(hyper::header::ALLOW, allowed);
    }
    Err(answer)
}
