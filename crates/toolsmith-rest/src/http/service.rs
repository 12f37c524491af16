//! Sends a request: at the host's pace, with what shows who makes it, and once more with a
//! new token where the old one was refused. What was put off is for the runtime to repeat.

use std::sync::Arc;

use toolsmith_core::{ErrorKind, ToolError, duration};
use toolsmith_net::{Client, Response};

use super::address::Address;
use super::auth::Auth;
use super::failure;
use super::fill::{Filler, Gathered};
use super::hush::Hush;
use super::pace::Pace;
use super::place::header_problem;
use super::request::{self, Prepared};
use super::shared::{Connection, Shared};
use crate::form::{Entry, HttpMethod, Rate, sounds_secret};
use crate::make::Surroundings;

/// What is asked for where the file does not say.
const ACCEPT: &str = "application/json, text/*;q=0.9, */*;q=0.5";

/// What is said of an address that gets braces from elsewhere; it names nothing of them.
const BRACED: &str = "what it refers to holds a brace, which would be a place for an argument";

/// An API as one tool asks it.
pub(crate) struct Service {
    pub(crate) address: Address,
    /// The headers of the file.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) auth: Auth,
    pub(crate) connection: Arc<Connection>,
    pub(crate) pace: Pace,
    pub(crate) rate: Option<Rate>,
    /// The header that names a call.
    pub(crate) key_header: Option<String>,
    pub(crate) hush: Hush,
}

/// An answer of which the status and the headers are read.
pub(crate) struct Answer {
    pub(crate) response: Response,
    /// Method, host and path of what was asked.
    pub(crate) line: String,
    /// What must not be told of it, the token it was asked with included.
    pub(crate) hush: Hush,
}

impl Answer {
    /// A header's value, where it is a text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }
}

impl Service {
    /// The API as an entry asks it; none where something it refers to is not there.
    pub(crate) fn read(
        entry: &Entry,
        surroundings: &Surroundings,
        filler: &mut Filler<'_>,
        shared: &mut Shared,
        gathered: &mut Gathered,
    ) -> Option<Self> {
        let url = entry.api_url.as_ref()?;
        let address = filler.text("api_url", url, gathered).and_then(|text| {
            let address = Address::parse(&text);
            let address = address.and_then(|address| {
                // What is looked up says what it is, and not where arguments go.
                match gathered.secrets.iter().any(|it| it.contains(['{', '}'])) {
                    true if address.base.names().next().is_some() => Err(BRACED.to_owned()),
                    _ => Ok(address),
                }
            });
            address
                .map_err(|message| gathered.problem("api_url", url, &message))
                .ok()
        });
        let auth = Auth::read(entry, filler, shared, gathered);
        let mut headers = Vec::new();
        for (name, value) in &entry.headers {
            let key = format!("headers.{name}");
            if let Some(problem) = header_problem(name) {
                gathered.problem(&key, value, &format!("it {problem}"));
                continue;
            }
            let Some(text) = filler.text(&key, value, gathered) else {
                continue;
            };
            if text.contains(|c: char| c.is_control()) {
                gathered.problem(
                    &key,
                    value,
                    "it holds a line break or another control character",
                );
                continue;
            }
            let is_it = |header: &str| header.eq_ignore_ascii_case(name);
            if auth.as_ref().and_then(Auth::header).is_some_and(is_it) {
                gathered.problem(&key, value, "`auth` sets this header already");
            }
            if sounds_secret(name) && !value.value.has_references() {
                // The word before a token is no secret.
                let bare = text.trim_end().rsplit(' ').next().unwrap_or_default();
                gathered.secrets.push(bare.to_owned());
            }
            headers.push((name.clone(), text));
        }
        let key_header = key_header(entry, &headers, auth.as_ref(), gathered);
        let (address, auth) = (address?, auth?);
        if !gathered.missing.is_empty() || !gathered.problems.is_empty() {
            return None;
        }
        let mut origins = vec![address.origin.clone()];
        if let Auth::Tokens(tokens) = &auth {
            origins.push(tokens.origin().to_owned());
        }
        if let Some(private) = &surroundings.private {
            origins.retain(|origin| private.contains(origin));
        }
        Some(Self {
            connection: shared.connection(origins),
            address,
            headers,
            auth,
            pace: surroundings.pace.clone(),
            rate: entry.rate_limit,
            key_header,
            hush: Hush::new(gathered.secrets.iter().map(String::as_str)),
        })
    }

    /// Sends a request and returns the answer to it, if it is a success.
    ///
    /// # Errors
    /// When the API cannot be reached, or answers with a failure.
    pub(crate) async fn ask(&self, prepared: &Prepared) -> Result<Answer, ToolError> {
        let client = self.connection.client()?;
        let line = self.hush.scrub(&prepared.line()).into_owned();
        let mut renewed = false;
        loop {
            self.take_turn().await?;
            let mut hush = self.hush.clone();
            let token = match &self.auth {
                Auth::Tokens(tokens) => Some(tokens.get(client).await?),
                _ => None,
            };
            if let Some(token) = &token {
                hush.add(token);
            }
            let response = self
                .send(client, prepared, token.as_deref(), &line, &hush)
                .await?;
            let status = response.status().as_u16();
            if let (401, false, Auth::Tokens(tokens), Some(token)) =
                (status, renewed, &self.auth, &token)
            {
                tokens.forget(token).await;
                renewed = true;
                continue;
            }
            if !response.status().is_success() {
                return Err(failure::status(&line, response, &hush).await);
            }
            return Ok(Answer {
                response,
                line,
                hush,
            });
        }
    }

    async fn take_turn(&self) -> Result<(), ToolError> {
        let Some(rate) = self.rate else {
            return Ok(());
        };
        let host = self.address.host();
        self.pace.turn(host, rate).await.map_err(|wait_for| {
            let wait = duration::format(std::time::Duration::from_secs(wait_for.as_secs()));
            let host = self.hush.scrub(host);
            let message = format!("{host} may be asked {rate}, and the next turn is in {wait}");
            ToolError::new(ErrorKind::Exhausted, message).with_retry_after(wait_for)
        })
    }

    async fn send(
        &self,
        client: &Client,
        prepared: &Prepared,
        token: Option<&str>,
        line: &str,
        hush: &Hush,
    ) -> Result<Response, ToolError> {
        let mut prepared = prepared.clone();
        if let Auth::Query { name, value } = &self.auth {
            prepared.query.set(name, value);
        }
        let url = prepared.url()?;
        if !self.address.is_origin_of(&url) {
            return Err(ToolError::internal(
                "the request leads to another server; it was not sent",
            ));
        }
        let refused = |refused: toolsmith_net::Refused| {
            let message = hush.scrub(&refused.to_string()).into_owned();
            ToolError::new(ErrorKind::PermissionDenied, message)
        };
        let method = request::method(prepared.method);
        let mut request = client.request(method, url.as_str()).map_err(refused)?;
        let headers = self.headers(&mut prepared, token);
        let expected = headers.len();
        for (name, value) in headers {
            request = request.header(name, value.into_bytes());
        }
        if let Some(body) = prepared.body {
            request = request.body(body.bytes);
        }
        let (client, request) = request.build_split();
        let request = request.map_err(|error| failure::transport(line, error, hush))?;
        // The last look: one header more would be one that nobody wrote.
        if request.headers().len() != expected || request.url() != &url {
            return Err(ToolError::internal(
                "the request is not what it should be; it was not sent",
            ));
        }
        let answer = client.execute(request).await;
        answer.map_err(|error| failure::transport(line, error, hush))
    }

    /// All headers of a request, each by itself.
    fn headers(&self, prepared: &mut Prepared, token: Option<&str>) -> Vec<(String, String)> {
        let mut headers = self.headers.clone();
        headers.append(&mut prepared.headers);
        match (&self.auth, token) {
            (Auth::Header { name, value }, _) => headers.push((name.clone(), value.clone())),
            (_, Some(token)) => {
                headers.push(("authorization".to_owned(), format!("Bearer {token}")));
            }
            _ => {}
        }
        let position = |headers: &[(String, String)], wanted: &str| {
            let is_it = |(name, _): &(String, String)| name.eq_ignore_ascii_case(wanted);
            headers.iter().position(is_it)
        };
        if !prepared.cookies.is_empty() {
            let cookies = prepared.cookies.join("; ");
            match position(&headers, "cookie") {
                Some(at) => headers[at].1 = format!("{}; {cookies}", headers[at].1),
                None => headers.push(("cookie".to_owned(), cookies)),
            }
        }
        if position(&headers, "accept").is_none() {
            headers.push(("accept".to_owned(), ACCEPT.to_owned()));
        }
        if let Some(body) = &prepared.body {
            let content_type = body.content_type.clone();
            match position(&headers, "content-type") {
                // Only who wrote the parts knows what stands between them.
                Some(at) if content_type.starts_with("multipart/") => headers[at].1 = content_type,
                Some(_) => {}
                None => headers.push(("content-type".to_owned(), content_type)),
            }
        }
        if position(&headers, "accept-encoding").is_none() {
            // Left to itself a server may choose, and nothing here undoes it.
            headers.push(("accept-encoding".to_owned(), "identity".to_owned()));
        }
        let is_empty = prepared
            .body
            .as_ref()
            .is_none_or(|body| body.bytes.is_empty());
        let may_have_body = matches!(
            prepared.method,
            HttpMethod::Post | HttpMethod::Put | HttpMethod::Patch
        );
        if is_empty && may_have_body {
            // Left to itself the client says nothing, and some servers refuse that.
            headers.push(("content-length".to_owned(), "0".to_owned()));
        }
        headers
    }
}

/// The header that names a call, if it can be one.
fn key_header(
    entry: &Entry,
    headers: &[(String, String)],
    auth: Option<&Auth>,
    gathered: &mut Gathered,
) -> Option<String> {
    let header = entry.idempotency_header.as_ref()?;
    let name = header.value.as_str();
    let is_it = |other: &str| other.eq_ignore_ascii_case(name);
    let taken = headers.iter().any(|(other, _)| is_it(other));
    let taken = taken || auth.and_then(Auth::header).is_some_and(is_it);
    let problem = match header_problem(name) {
        Some(problem) => format!("it {problem}"),
        None if taken => "the file sets this header already".to_owned(),
        None => return Some(header.value.clone()),
    };
    gathered.problem("idempotency_header", header, &problem);
    None
}
