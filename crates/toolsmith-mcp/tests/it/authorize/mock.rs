//! An upstream behind OAuth and the server that grants it, as wayward as a test wants.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use toolsmith_mcp::BoxFuture;
use toolsmith_mcp::client::authorize::{Authorization, Consent};
use toolsmith_mcp::client::{HttpUpstream, Protocol, Reach, UpstreamOptions, Upstreams};
use toolsmith_runtime::Toolbox;

use crate::support::toolbox;

/// A request somebody made.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) authorization: Option<String>,
    pub(super) body: String,
}

/// What a listener answers: a status, headers, a body.
pub(super) type Answer = (u16, Vec<(&'static str, String)>, Value);

/// A listener at this machine.
#[derive(Clone)]
pub(super) struct Listener {
    pub(super) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Listener {
    /// Listens and answers.
    pub(super) async fn answering(
        answer: impl Fn(&Seen) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let listener = Self {
            address: socket.local_addr().unwrap(),
            seen: Arc::default(),
        };
        let (answer, seen) = (Arc::new(answer), Arc::clone(&listener.seen));
        tokio::spawn(async move {
            while let Ok((stream, _)) = socket.accept().await {
                let (answer, seen) = (Arc::clone(&answer), Arc::clone(&seen));
                let service = service_fn(move |request: Request<Incoming>| {
                    let (answer, seen) = (Arc::clone(&answer), Arc::clone(&seen));
                    async move {
                        let request = read(request).await;
                        seen.lock().unwrap().push(request.clone());
                        Ok::<_, std::convert::Infallible>(write(answer(&request)))
                    }
                });
                let connection = hyper::server::conn::http1::Builder::new();
                tokio::spawn(connection.serve_connection(TokioIo::new(stream), service));
            }
        });
        listener
    }

    /// Listens where nobody should come.
    pub(super) async fn forbidden() -> Self {
        Self::answering(|_| (200, Vec::new(), json!({}))).await
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far.
    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The requests of a path.
    pub(super) fn seen_at(&self, path: &str) -> Vec<Seen> {
        let seen = self.seen().into_iter();
        seen.filter(|each| each.path == path).collect()
    }
}

async fn read(request: Request<Incoming>) -> Seen {
    let header = request.headers().get("authorization");
    let authorization = header.map(|value| value.to_str().unwrap().to_owned());
    let (method, path) = (
        request.method().to_string(),
        request.uri().path().to_owned(),
    );
    let body = request.into_body().collect().await.unwrap().to_bytes();
    Seen {
        method,
        path,
        authorization,
        body: String::from_utf8(body.to_vec()).unwrap(),
    }
}

fn write((status, headers, body): Answer) -> Response<Full<Bytes>> {
    let mut response = Response::builder()
        .status(status)
        .header("content-type", "application/json");
    for (name, value) in headers {
        response = response.header(name, value);
    }
    response.body(Full::from(body.to_string())).unwrap()
}

/// How the upstream and its authorization server behave.
#[derive(Clone, Debug)]
pub(super) struct Ways {
    /// The tokens that are good, and the scopes each has.
    pub(super) good: HashMap<String, String>,
    /// What the metadata says the resource is, where it is not the truth.
    pub(super) resource: Option<String>,
    /// Where the metadata says authorization is granted, where that is not the truth.
    pub(super) granted_at: Option<String>,
    /// Where the upstream says its metadata is, where that is not the truth.
    pub(super) metadata_at: Option<String>,
    /// Endpoints of the authorization server that are elsewhere.
    pub(super) endpoints: HashMap<String, String>,
    /// Who the browser says has granted it.
    pub(super) iss: Option<String>,
    /// The scope a call needs, if any.
    pub(super) call_needs: Option<String>,
    /// Whether any token is good.
    pub(super) lets_in: bool,
    /// Where the upstream sends everybody on, if it does.
    pub(super) moved_to: Option<String>,
}

/// An upstream, its authorization server, and a person who consents to everything.
#[derive(Clone)]
pub(super) struct World {
    pub(super) upstream: Listener,
    pub(super) granting: Listener,
    pub(super) ways: Arc<Mutex<Ways>>,
    pub(super) person: Person,
    pub(super) clock: Arc<AtomicU64>,
}

impl World {
    pub(super) async fn new() -> Self {
        let ways = Arc::new(Mutex::new(Ways {
            good: HashMap::new(),
            resource: None,
            granted_at: None,
            metadata_at: None,
            endpoints: HashMap::new(),
            iss: None,
            call_needs: None,
            lets_in: true,
            moved_to: None,
        }));
        let person = Person {
            visits: Arc::default(),
            ways: Arc::clone(&ways),
        };
        let granting = granting(Arc::clone(&ways), person.clone()).await;
        let upstream = upstream(Arc::clone(&ways), granting.url()).await;
        Self {
            upstream,
            granting,
            ways,
            person,
            clock: Arc::new(AtomicU64::new(1_800_000_000)),
        }
    }

    pub(super) fn url(&self) -> String {
        format!("{}/mcp", self.upstream.url())
    }

    /// Authorization by the person, who may use the authorization server.
    pub(super) fn authorization(&self) -> Authorization {
        let clock = Arc::clone(&self.clock);
        let now = move || UNIX_EPOCH + Duration::from_secs(clock.load(Ordering::Relaxed));
        Authorization::by_person(self.person.clone(), now).trusting(self.granting.url())
    }

    pub(super) fn passes(&self, seconds: u64) {
        self.clock.fetch_add(seconds, Ordering::Relaxed);
    }

    /// Reaches the upstream, by authorization where there is one.
    pub(super) async fn reach(&self, authorization: Option<Authorization>) -> (Upstreams, Toolbox) {
        let mut http = HttpUpstream::new(self.url());
        if let Some(authorization) = authorization {
            http = http.with_authorization(authorization);
        }
        let options = UpstreamOptions::new("up", Reach::Http(http)).protocol(Protocol::Handshake);
        let toolbox = toolbox([]);
        let upstreams = Upstreams::start([options], &toolbox);
        crate::support::soon(upstreams.settled()).await;
        (upstreams, toolbox)
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Ways)) {
        change(&mut self.ways.lock().unwrap());
    }
}

/// A person who consents to everything.
#[derive(Clone)]
pub(super) struct Person {
    visits: Arc<Mutex<Vec<HashMap<String, String>>>>,
    ways: Arc<Mutex<Ways>>,
}

impl Person {
    /// What the pages that were visited asked for.
    pub(super) fn visits(&self) -> Vec<HashMap<String, String>> {
        self.visits.lock().unwrap().clone()
    }
}

impl Consent for Person {
    fn redirect_uri(&self) -> &str {
        "http://127.0.0.1:1/back"
    }

    fn visit<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<String, String>> {
        let page = url::Url::parse(url).unwrap();
        let asked: HashMap<String, String> = page.query_pairs().into_owned().collect();
        let state = asked["state"].clone();
        let mut visits = self.visits.lock().unwrap();
        visits.push(asked);
        let mut back = format!(
            "{}?code=code-{}&state={state}",
            self.redirect_uri(),
            visits.len()
        );
        if let Some(iss) = &self.ways.lock().unwrap().iss {
            back.push_str(&format!("&iss={iss}"));
        }
        Box::pin(std::future::ready(Ok(back)))
    }
}

async fn granting(ways: Arc<Mutex<Ways>>, person: Person) -> Listener {
    let given = AtomicUsize::new(0);
    let own = Arc::new(Mutex::new(String::new()));
    let url = Arc::clone(&own);
    let listener = Listener::answering(move |seen| {
        let url = url.lock().unwrap().clone();
        let mut ways = ways.lock().unwrap();
        match seen.path.as_str() {
            "/.well-known/oauth-authorization-server" => {
                let mut metadata = json!({
                    "issuer": url,
                    "authorization_endpoint": format!("{url}/authorize"),
                    "token_endpoint": format!("{url}/token"),
                    "registration_endpoint": format!("{url}/register"),
                    "code_challenge_methods_supported": ["S256"],
                });
                for (name, elsewhere) in &ways.endpoints {
                    metadata[name] = elsewhere.as_str().into();
                }
                (200, Vec::new(), metadata)
            }
            "/register" => {
                let client = json!({ "client_id": "client-1", "redirect_uris": [] });
                (201, Vec::new(), client)
            }
            "/token" => {
                let number = given.fetch_add(1, Ordering::Relaxed) + 1;
                let token = format!("token-{number}");
                let visits = person.visits();
                let scope = visits.last().and_then(|asked| asked.get("scope").cloned());
                if ways.lets_in {
                    ways.good.insert(token.clone(), scope.unwrap_or_default());
                }
                let answer = json!({
                    "access_token": token,
                    "token_type": "Bearer",
                    "refresh_token": format!("refresh-{number}"),
                    "expires_in": 3600,
                });
                (200, Vec::new(), answer)
            }
            _ => (404, Vec::new(), json!({})),
        }
    })
    .await;
    *own.lock().unwrap() = listener.url();
    listener
}

async fn upstream(ways: Arc<Mutex<Ways>>, granting: String) -> Listener {
    let own = Arc::new(Mutex::new(String::new()));
    let url = Arc::clone(&own);
    let listener = Listener::answering(move |seen| {
        let url = url.lock().unwrap().clone();
        let ways = ways.lock().unwrap();
        match (seen.method.as_str(), seen.path.as_str()) {
            (_, "/.well-known/oauth-protected-resource/mcp") => {
                let resource = ways.resource.clone();
                let metadata = json!({
                    "resource": resource.unwrap_or_else(|| format!("{url}/mcp")),
                    "authorization_servers": [ways.granted_at.as_ref().unwrap_or(&granting)],
                    "scopes_supported": ["read"],
                });
                (200, Vec::new(), metadata)
            }
            ("POST", "/mcp") => {
                if let Some(elsewhere) = &ways.moved_to {
                    return (307, vec![("location", elsewhere.clone())], json!({}));
                }
                let path = "/.well-known/oauth-protected-resource/mcp";
                let metadata = ways.metadata_at.clone();
                let metadata = metadata.unwrap_or_else(|| format!("{url}{path}"));
                message(seen, &ways, &metadata)
            }
            _ => (405, Vec::new(), json!({})),
        }
    })
    .await;
    *own.lock().unwrap() = listener.url();
    listener
}

/// What the upstream answers to a message.
fn message(seen: &Seen, ways: &Ways, metadata: &str) -> Answer {
    let token = seen.authorization.as_deref().unwrap_or_default();
    let token = token.strip_prefix("Bearer ").unwrap_or_default();
    let challenge = |more: &str| {
        let value = format!("Bearer {more}resource_metadata=\"{metadata}\"");
        vec![("www-authenticate", value)]
    };
    let Some(scopes) = ways.good.get(token) else {
        return (401, challenge(""), json!({}));
    };
    let message: Value = serde_json::from_str(&seen.body).unwrap();
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "mock", "version": "1" },
        }),
        "tools/list" => json!({
            "tools": [{ "name": "act", "inputSchema": { "type": "object" } }],
        }),
        "tools/call" => {
            if let Some(needed) = &ways.call_needs
                && !scopes.split(' ').any(|scope| scope == needed)
            {
                let more = format!("error=\"insufficient_scope\", scope=\"{needed}\", ");
                return (403, challenge(&more), json!({}));
            }
            json!({ "content": [{ "type": "text", "text": "done" }] })
        }
        _ => return (202, Vec::new(), json!({})),
    };
    let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
    (200, Vec::new(), answer)
}
