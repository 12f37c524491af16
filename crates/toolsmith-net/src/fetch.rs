//! One request with all that it leads to: redirects followed hop by hop, the body decoded.
//!
//! Every hop is read, judged, resolved and connected like a first request. What the
//! caller sent goes along within one origin; to another one go a few harmless headers and
//! no body. One time limit holds for everything, and whatever ends early says how far it
//! came.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, CONTENT_ENCODING, HeaderMap, HeaderValue, LOCATION,
    USER_AGENT,
};
use reqwest::{Method, Response, StatusCode};
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::client::{Client, ClientError, ClientLimits};
use crate::decode::{ACCEPTED, Decoder};
use crate::error::{Refused, origin};
use crate::fetch_error::{Facts, FetchError, FetchErrorKind};
use crate::names::{Names, SystemNames};
use crate::reach::Reach;
use crate::room::{Held, Room};

/// How many bytes of headers an answer may have.
const MAX_HEADER_BYTES: usize = 64 << 10;

/// The longest time limit: a clock cannot count beyond what it has room for.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);

/// How long the address of a redirect may be.
const MAX_LOCATION: usize = 8 << 10;

/// What another origin may know of a request: nothing here names or admits anybody.
const HARMLESS: [reqwest::header::HeaderName; 3] = [ACCEPT, ACCEPT_LANGUAGE, USER_AGENT];

/// A client that follows redirects by itself and decodes what it gets.
///
/// ```no_run
/// use toolsmith_net::{Fetch, Fetcher, Method, Reach};
///
/// # async fn page() -> Result<(), Box<dyn std::error::Error>> {
/// let mut request = Fetch::new(Method::GET, "https://example.org/");
/// request.max_body = 64 << 10;
/// let page = Fetcher::new(Reach::public())?.fetch(request).await?;
/// println!("{} after {} redirects", page.status, page.facts.hops.len());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Fetcher {
    client: Client,
    room: Room,
}

/// What is asked for.
#[derive(Clone)]
#[non_exhaustive]
pub struct Fetch {
    /// The method.
    pub method: Method,
    /// Where to.
    pub url: String,
    /// What goes with it; none of it is shown by `Debug`. A value that is marked as
    /// sensitive never leaves the first origin, whatever the name of its header.
    pub headers: HeaderMap,
    /// What is sent.
    pub body: Option<Vec<u8>>,
    /// Which redirects are followed.
    pub redirects: Redirects,
    /// How many in a row.
    pub max_redirects: usize,
    /// How long everything may take; at most a year.
    pub total: Duration,
    /// How many bytes of the decoded body are kept.
    pub max_body: usize,
}

/// Which redirects are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Redirects {
    /// None: the redirect itself is the answer.
    Unfollowed,
    /// Those that stay at their host; another host is an error that names it.
    SameHost,
    /// Those that stay at their scheme, host and port, for requests that hold a secret:
    /// a server may repeat what it was sent in the address it leads to.
    SameOrigin,
    /// All that lead where the client may go.
    #[default]
    Any,
}

/// A redirect that was followed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hop {
    /// The status that said so.
    pub status: u16,
    /// From where.
    pub from: String,
    /// To where.
    pub to: String,
}

/// An answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fetched {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The decoded body, or its beginning.
    pub body: Vec<u8>,
    /// Whether the body goes on after what is kept of it.
    pub is_cut: bool,
    /// How it came about.
    pub facts: Facts,
    /// The room of the body, which is free again when this is dropped. Who keeps the answer
    /// beyond its use, and counts what is kept, takes it out.
    pub held: Arc<Held>,
}

impl Fetch {
    /// Asks for a URL, with thirty seconds, ten mebibytes and five redirects.
    pub fn new(method: Method, url: impl Into<String>) -> Self {
        Self {
            method,
            url: url.into(),
            headers: HeaderMap::new(),
            body: None,
            redirects: Redirects::default(),
            max_redirects: 5,
            total: Duration::from_secs(30),
            max_body: 10 << 20,
        }
    }
}

impl fmt::Debug for Fetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetch")
            .field("method", &self.method)
            .field("headers", &self.headers.len())
            .field("body", &self.body.as_ref().map(Vec::len))
            .field("redirects", &self.redirects)
            .finish_non_exhaustive()
    }
}

impl Fetcher {
    /// A fetcher that asks the system for the addresses of names.
    ///
    /// # Errors
    /// When the libraries below refuse their configuration.
    pub fn new(reach: Reach) -> Result<Self, ClientError> {
        Self::with_names(reach, Arc::new(SystemNames))
    }

    /// A fetcher that asks `names` for the addresses of names.
    ///
    /// # Errors
    /// When the libraries below refuse their configuration.
    pub fn with_names(reach: Reach, names: Arc<dyn Names>) -> Result<Self, ClientError> {
        let limits = ClientLimits {
            total: None,
            max_redirects: 0,
            ..ClientLimits::default()
        };
        let client = Client::with_names(reach, limits, names)?;
        let room = Room::default();
        Ok(Self { client, room })
    }

    /// Lets bodies share room with those of other fetchers.
    #[must_use]
    pub fn with_room(mut self, room: Room) -> Self {
        self.room = room;
        self
    }

    /// Judges a URL without sending anything, as [`Client::vet`] does.
    ///
    /// # Errors
    /// When the URL is malformed, holds credentials, or is out of reach.
    pub fn vet(&self, url: &str) -> Result<(), Refused> {
        self.client.vet(url)
    }

    /// Sends a request, follows where it leads, and reads what it comes to.
    ///
    /// # Errors
    /// When a hop is refused, the time is over, the connection fails, or the answer has
    /// too long a head or is not encoded as it says. Whatever the status, an answer is one.
    pub async fn fetch(&self, request: Fetch) -> Result<Fetched, FetchError> {
        let until = Instant::now() + request.total.min(LONGEST);
        let mut facts = Facts::default();
        match self.follow(request, until, &mut facts).await {
            Ok(fetched) => Ok(Fetched { facts, ..fetched }),
            Err((kind, message)) => Err(FetchError {
                kind,
                message,
                facts,
            }),
        }
    }

    async fn follow(
        &self,
        mut request: Fetch,
        until: Instant,
        facts: &mut Facts,
    ) -> Result<Fetched, Failure> {
        let limit = request.total;
        let late = move || {
            let message = format!("the time limit of {} ms is over", limit.as_millis());
            (FetchErrorKind::TimedOut, message)
        };
        loop {
            facts.final_url.clone_from(&request.url);
            let mut sending = (self.client.request(request.method.clone(), &request.url))
                .map_err(|error| refused(&error))?
                .headers(request.headers.clone())
                .header(ACCEPT_ENCODING, ACCEPTED);
            if let Some(body) = &request.body {
                sending = sending.body(body.clone());
            }
            let response = timeout_at(until, sending.send()).await;
            let response = response.map_err(|_| late())?.map_err(network)?;
            let url = response.url().clone();
            facts.final_url = url.to_string();
            facts.status = Some(response.status().as_u16());
            check_head(response.headers())?;
            let next = match request.redirects {
                Redirects::Unfollowed => None,
                Redirects::SameHost | Redirects::SameOrigin | Redirects::Any => location(&response),
            };
            let Some(next) = next else {
                let mut waits = Waits::default();
                let read = self.read(response, &request, facts, &mut waits);
                let read = timeout_at(until, read).await;
                return read.unwrap_or_else(|_| {
                    let (kind, message) = late();
                    if waits.so_far() < request.total / 2 {
                        return Err((kind, message));
                    }
                    let message = format!("{message}, most of it without room for the answer");
                    Err((FetchErrorKind::NoRoom, message))
                });
            };
            let next = self.judge_redirect(&request, &url, &next, facts.hops.len())?;
            facts.hops.push(Hop {
                status: response.status().as_u16(),
                from: url.to_string(),
                to: next.to_string(),
            });
            redirected(&mut request, response.status(), &url, &next)?;
        }
    }

    /// Reads where a redirect leads, and whether it may be followed.
    fn judge_redirect(
        &self,
        request: &Fetch,
        from: &Url,
        location: &str,
        so_far: usize,
    ) -> Result<Url, Failure> {
        let next = from.join(location);
        let shown = match &next {
            Ok(next) => format!("{}{}", origin(next), next.path()),
            Err(_) => "what is no URL".to_owned(),
        };
        let no = |reason: String| {
            refused(&Refused::Redirect {
                from: origin(from),
                to: shown.chars().take(500).collect(),
                reason,
            })
        };
        if so_far >= request.max_redirects {
            let most = request.max_redirects;
            let (_, message) = no(format!("more than {most} in a row"));
            return Err((FetchErrorKind::Redirects, message));
        }
        let next = next.map_err(|error| no(error.to_string()))?;
        (self.client.vet(next.as_str())).map_err(|refused| no(refused.to_string()))?;
        let stays = next.host_str() == from.host_str();
        if request.redirects == Redirects::SameHost && !stays {
            let reason =
                "it leads to another host, and the configuration permits none (web.redirects)";
            return Err(no(reason.to_owned()));
        }
        if request.redirects == Redirects::SameOrigin && next.origin() != from.origin() {
            let reason = "it leads to another server, and the call holds a secret";
            return Err(no(reason.to_owned()));
        }
        Ok(next)
    }

    async fn read(
        &self,
        mut response: Response,
        request: &Fetch,
        facts: &mut Facts,
        waits: &mut Waits,
    ) -> Result<Fetched, Failure> {
        let (status, headers) = (response.status(), response.headers().clone());
        let mut fetched = Fetched {
            status,
            headers,
            body: Vec::new(),
            is_cut: false,
            facts: Facts::default(),
            held: Arc::default(),
        };
        if request.method == Method::HEAD {
            return Ok(fetched);
        }
        let encoding: Vec<&str> = (fetched.headers.get_all(CONTENT_ENCODING).iter())
            .map(|value| value.to_str().unwrap_or("an unknown way"))
            .collect();
        let encoding = encoding.join(",");
        let undecodable = |error: crate::decode::DecodeError| {
            (
                FetchErrorKind::Encoding,
                format!("read the answer: {error}"),
            )
        };
        let mut decoder = Decoder::new(&encoding, request.max_body).map_err(undecodable)?;
        let mut held = Held::default();
        if decoder.codings() > 1 {
            // What lies between the codings is not counted.
            waits.during(self.room.hold_whole(&mut held)).await;
        }
        loop {
            let piece = response.chunk().await.map_err(network)?;
            let turn = match decoder.codings() {
                0 => None,
                _ => Some(waits.during(self.room.turn(&held)).await),
            };
            let wants_more = match &piece {
                Some(piece) => {
                    facts.received += piece.len() as u64;
                    // What is packed and unpacks to nothing has no end either.
                    let is_long = facts.received > 2 * request.max_body as u64;
                    decoder.push(piece).map_err(undecodable)? && !is_long
                }
                None => {
                    decoder.finish().map_err(undecodable)?;
                    false
                }
            };
            let is_end = piece.is_none();
            drop(piece);
            let grown = self.room.grow(&mut held, decoder.size(), turn);
            waits.during(grown).await;
            if !wants_more {
                fetched.is_cut = !is_end;
                break;
            }
        }
        fetched.held = Arc::new(held);
        fetched.body = decoder.take();
        Ok(fetched)
    }
}

/// How long a body has waited for room.
#[derive(Default)]
struct Waits {
    before: Duration,
    since: Option<Instant>,
}

impl Waits {
    /// Counts what is waited here; it may be given up in the middle.
    async fn during<T>(&mut self, wait: impl Future<Output = T>) -> T {
        self.since = Some(Instant::now());
        let waited = wait.await;
        *self = Self {
            before: self.so_far(),
            since: None,
        };
        waited
    }

    fn so_far(&self) -> Duration {
        let now = self.since.map(|since| since.elapsed());
        self.before + now.unwrap_or_default()
    }
}

/// What went wrong, before what is known of it is added.
type Failure = (FetchErrorKind, String);

/// Where an answer wants to go on.
fn location(response: &Response) -> Option<String> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = response.headers().get(LOCATION)?;
    // What is no text is no address: the redirect is the answer then.
    let location = str::from_utf8(location.as_bytes()).ok()?;
    (location.len() <= MAX_LOCATION).then(|| location.to_owned())
}

/// Makes the request that a redirect asks for.
fn redirected(
    request: &mut Fetch,
    status: StatusCode,
    from: &Url,
    next: &Url,
) -> Result<(), Failure> {
    let keeps_body = matches!(status.as_u16(), 307 | 308);
    let stays = from.origin() == next.origin();
    let is_plain = matches!(request.method, Method::GET | Method::HEAD) && request.body.is_none();
    if keeps_body && !stays && !is_plain {
        return Err(refused(&Refused::Redirect {
            from: origin(from),
            to: format!("{}{}", origin(next), next.path()),
            reason: format!("it would repeat a {} at another server", request.method),
        }));
    }
    if !keeps_body {
        request.body = None;
        let described = request.headers.keys().cloned();
        let described = described.filter(|name| name.as_str().starts_with("content-"));
        for name in described.collect::<Vec<_>>() {
            request.headers.remove(name);
        }
        if request.method != Method::HEAD {
            request.method = Method::GET;
        }
    }
    if !stays {
        request.headers = harmless(&request.headers);
    }
    request.url = next.to_string();
    Ok(())
}

fn check_head(headers: &HeaderMap<HeaderValue>) -> Result<(), Failure> {
    let sizes = headers.iter();
    let size: usize = sizes
        .map(|(name, value)| name.as_str().len() + value.len() + 4)
        .sum();
    if size <= MAX_HEADER_BYTES {
        return Ok(());
    }
    let message =
        format!("read the answer: its head has {size} bytes, and {MAX_HEADER_BYTES} are accepted");
    Err((FetchErrorKind::Head, message))
}

fn refused(refused: &Refused) -> Failure {
    (FetchErrorKind::Refused(refused.kind()), refused.to_string())
}

/// An address may hold a key, so it is not told.
fn network(error: reqwest::Error) -> Failure {
    if let Some(found) = Refused::find(&error) {
        return refused(found);
    }
    let kind = match error.is_timeout() {
        true => FetchErrorKind::TimedOut,
        false => FetchErrorKind::Network,
    };
    let error = error.without_url();
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(deeper) = cause {
        message = format!("{message}: {deeper}");
        cause = deeper.source();
    }
    // The library below tells this in words only.
    let is_head = [
        "invalid HTTP",
        "message head is too large",
        "content-length parsed",
        "transfer-encoding parsed",
    ];
    if is_head.iter().any(|words| message.contains(words)) {
        return (FetchErrorKind::Head, message);
    }
    (kind, message)
}

/// What another origin may know of the headers. A key under a harmless name is a key.
fn harmless(headers: &HeaderMap) -> HeaderMap {
    let pairs = headers.iter();
    let pairs = pairs.filter(|(name, value)| HARMLESS.contains(name) && !value.is_sensitive());
    pairs
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}
