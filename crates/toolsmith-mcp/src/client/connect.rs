//! Reaching an upstream, and agreeing on an era.

use std::collections::{HashMap, HashSet};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use rmcp::RoleClient;
use rmcp::model::{ErrorCode, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, Tool};
use rmcp::service::{
    ClientCacheConfig, ClientInitializeError, ClientLifecycleMode, Peer, RunningService,
    ServiceError, serve_client_with_lifecycle,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use toolsmith_net::{Client, ClientLimits, Reach as NetReach};
use toolsmith_process::{Running, Tail};

use super::authorize::Authorizer;
use super::calls::Calls;
use super::error::ConnectError;
use super::handler::Ear;
use super::http::Http;
use super::lines::Lines;
use super::news::News;
use super::options::{HttpUpstream, Protocol, Reach, UpstreamOptions};
use super::{Era, Upstream};

/// How many tools of one upstream are taken.
const MOST_TOOLS: usize = 10_000;

/// How many bytes, and pages, the list of one upstream's tools may have.
const MOST_BYTES: usize = 32 << 20;
const MOST_PAGES: usize = 1000;

/// No cursor needs to be longer.
const LONGEST_CURSOR: usize = 4096;

/// How long a child that cannot be talked with may take to leave by itself.
const LEAVE: Duration = Duration::from_millis(200);

/// How many requests one HTTP upstream is sent at once.
const AT_ONCE: usize = 256;

/// An upstream that can be called.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) peer: Peer<RoleClient>,
    pub(super) calls: Calls,
    pub(super) era: Era,
    pub(super) server: Option<String>,
    pub(super) capabilities: ServerCapabilities,
}

/// A connection, and what must be kept for it to last.
pub(super) struct Connection {
    pub(super) live: Arc<Live>,
    pub(super) service: RunningService<RoleClient, Ear>,
    pub(super) child: Option<Running>,
    pub(super) news: Arc<News>,
}

/// Reaches an upstream. `patience` is how long it may take to say its era.
pub(super) async fn connect(
    options: &UpstreamOptions,
    authorizer: Option<&Authorizer>,
    patience: Duration,
) -> Result<Connection, ConnectError> {
    // There is nothing to guess where the era is given.
    let patience = match options.protocol {
        Protocol::Auto => patience,
        Protocol::Stateless | Protocol::Handshake => options.start_time,
    };
    let calls = Calls::default();
    let news = Arc::new(News::default());
    let ear = || Ear {
        calls: calls.clone(),
        questions: options.questions,
        news: Arc::clone(&news),
    };
    let (service, child) = match &options.reach {
        Reach::Child(launch) => {
            let mut child = launch.start()?;
            let stderr = child.stderr();
            let (Some(read), Some(write)) = (child.take_stdout(), child.take_stdin()) else {
                return Err(ConnectError::Settings("its streams are taken".to_owned()));
            };
            let lines = Lines::new(read, write, patience);
            let service = serve_client_with_lifecycle(ear(), lines, mode(options.protocol)).await;
            match service {
                Ok(service) => (service, Some(child)),
                Err(error) => {
                    // Its last words come with its end.
                    let ending = child.end(LEAVE).await;
                    return Err(with_words(failed(&error, ending.status), &stderr));
                }
            }
        }
        Reach::Http(http) => {
            let client = guarded(http, patience, authorizer)?;
            let serve = || {
                let transport = StreamableHttpClientTransport::with_client(
                    client.clone(),
                    configuration(http)?,
                );
                let mode = mode(options.protocol);
                Ok::<_, ConnectError>(serve_client_with_lifecycle(ear(), transport, mode))
            };
            let mut service = serve()?.await;
            // A person may take longer than a server may for its first word, so that
            // word is asked for again.
            if service.is_err()
                && let Some(authorizer) = authorizer
                && authorizer.settle().await?
            {
                service = serve()?.await;
                if service.is_ok() {
                    authorizer.admitted();
                }
            }
            let service = service.map_err(|error| ConnectError::handshake(&error))?;
            client.listens().await;
            (service, None)
        }
    };
    let peer = service.peer().clone();
    // Callers must not see each other's answers, nor yesterday's.
    peer.set_response_cache_config(ClientCacheConfig::disabled())
        .await;
    let info = peer.peer_info();
    let version = info.as_ref().map(|info| info.protocol_version.clone());
    let era = match version {
        Some(version) if version.as_str() >= ProtocolVersion::V_2026_07_28.as_str() => {
            Era::Stateless
        }
        _ => Era::Handshake,
    };
    let server = info.as_ref().and_then(|info| info.server_info.as_ref());
    let live = Live {
        peer,
        calls,
        era,
        server: server.map(|server| {
            let told = format!("{} {}", server.name, server.version);
            toolsmith_runtime::shape::clean(&told)
                .chars()
                .take(100)
                .collect()
        }),
        capabilities: info
            .map(|info| info.capabilities.clone())
            .unwrap_or_default(),
    };
    Ok(Connection {
        live: Arc::new(live),
        service,
        child,
        news,
    })
}

fn mode(protocol: Protocol) -> ClientLifecycleMode {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    match protocol {
        Protocol::Auto => ClientLifecycleMode::Auto {
            preferred_versions,
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        },
        Protocol::Stateless => ClientLifecycleMode::Discover { preferred_versions },
        Protocol::Handshake => ClientLifecycleMode::Initialize,
    }
}

fn guarded(
    http: &HttpUpstream,
    patience: Duration,
    authorizer: Option<&Authorizer>,
) -> Result<Http, ConnectError> {
    let settings = |error: &dyn std::fmt::Display| ConnectError::Settings(error.to_string());
    // The user named this address, so it may be any; nothing else may be.
    let reach = NetReach::public()
        .and_origin(&http.url)
        .map_err(|error| settings(&error))?;
    let limits = ClientLimits {
        total: None,
        ..ClientLimits::default()
    };
    let client = Client::new(reach, limits)?;
    client.vet(&http.url).map_err(|error| settings(&error))?;
    Ok(Http::new(client, patience, authorizer.cloned()))
}

fn configuration(http: &HttpUpstream) -> Result<StreamableHttpClientTransportConfig, ConnectError> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(http.url.as_str());
    config.max_concurrent_requests = AT_ONCE;
    config.custom_headers = headers(&http.headers)?;
    Ok(config)
}

fn headers(pairs: &[(String, String)]) -> Result<HashMap<HeaderName, HeaderValue>, ConnectError> {
    let mut headers = HashMap::new();
    for (name, value) in pairs {
        let unusable = |what: &str| {
            ConnectError::Settings(format!("the {what} of the header {name:?} cannot be sent"))
        };
        let name: HeaderName = name.parse().map_err(|_| unusable("name"))?;
        let mut value: HeaderValue = value.parse().map_err(|_| unusable("value"))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// Why it was not agreed how to talk with a child: mostly because it is gone.
fn failed(error: &ClientInitializeError, status: Option<ExitStatus>) -> ConnectError {
    let gone = matches!(
        error,
        ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. }
    );
    match status {
        Some(status) if gone => ConnectError::Ended(format!(" before it answered ({status})")),
        _ => ConnectError::handshake(error),
    }
}

/// The error, with the last words of the child that caused it.
fn with_words(error: ConnectError, stderr: &Tail) -> ConnectError {
    let words = stderr.text();
    let words = toolsmith_runtime::shape::clean(words.trim());
    let mut last: Vec<&str> = words.lines().rev().take(5).collect();
    if last.is_empty() {
        return error;
    }
    last.reverse();
    let last: String = last.join(" | ").chars().take(1000).collect();
    match error {
        ConnectError::Handshake {
            message,
            unauthorized,
        } => ConnectError::Handshake {
            message: format!("{message}; it wrote: {last}"),
            unauthorized,
        },
        ConnectError::Ended(how) => ConnectError::Ended(format!("{how}; it wrote: {last}")),
        other => other,
    }
}

/// All tools of an upstream, page by page.
pub(super) async fn list_tools(live: &Live) -> Result<Vec<Tool>, ConnectError> {
    let (mut tools, mut cursors) = (Vec::new(), HashSet::new());
    let mut cursor: Option<String> = None;
    let mut bytes = 0;
    loop {
        let mut request = PaginatedRequestParams::default();
        request.cursor = cursor.take();
        let page = match live.peer.list_tools(Some(request)).await {
            Ok(page) => page,
            // A server without tools need not know the method.
            Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                return Ok(tools);
            }
            Err(error) => {
                let error = super::error::of_call("the server", &error);
                return Err(ConnectError::List(error.message));
            }
        };
        let written = |tool: &Tool| serde_json::to_vec(tool).map_or(0, |bytes| bytes.len());
        bytes += page.tools.iter().map(written).sum::<usize>();
        if bytes > MOST_BYTES || cursors.len() > MOST_PAGES {
            return Err(ConnectError::List("its list is too long".to_owned()));
        }
        tools.extend(page.tools);
        if tools.len() > MOST_TOOLS {
            let message = format!("it has more than {MOST_TOOLS}");
            return Err(ConnectError::List(message));
        }
        match page.next_cursor {
            Some(next) if next.len() > LONGEST_CURSOR => {
                return Err(ConnectError::List("its cursors are too long".to_owned()));
            }
            Some(next) if cursors.insert(next.clone()) => cursor = Some(next),
            Some(_) => return Err(ConnectError::List("its pages go in circles".to_owned())),
            None => return Ok(tools),
        }
    }
}

impl Upstream {
    /// Tells whether the upstream has prompts or resources.
    pub(super) fn serves_beside(&self) -> (bool, bool) {
        self.live().map_or((false, false), |live| {
            let has = &live.capabilities;
            (has.prompts.is_some(), has.resources.is_some())
        })
    }
}
