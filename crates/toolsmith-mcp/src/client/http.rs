//! An upstream over streamable HTTP, through the guarded client.
//!
//! `rmcp` decides what is sent and when; here it is sent, within bounds: answers are
//! capped, refusals keep their status, and a server that does not say which era it
//! is of is answered for after a while.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt};
use http::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, InsufficientScopeError, StreamableHttpClient, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};
use tokio::sync::watch;
use toolsmith_net::{Client, Method, RequestBuilder, Response, read_body};

use super::authorize::{Authorizer, Gained, Refusal};
use super::error::HttpError;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const SESSION: &str = "mcp-session-id";
const LAST_EVENT: &str = "last-event-id";

/// How many bytes an answer, or one event of a stream, may have.
const ANSWER: usize = 16 << 20;

/// How many bytes of a refusal are read, and how many of them are told.
const REFUSAL: usize = 64 << 10;
const TOLD: usize = 300;

/// How long the stream of a session is waited for; some servers begin it with their
/// first word only.
const LISTENS: Duration = Duration::from_millis(1500);

/// How often one request may be authorized.
const AUTHORIZATIONS: usize = 3;

type Failure = StreamableHttpError<HttpError>;
type Events = BoxStream<'static, Result<Sse, sse_stream::Error>>;

/// The guarded client, in the terms `rmcp` asks for one.
#[derive(Clone, Debug)]
pub(super) struct Http {
    client: Client,
    /// How long a server may take to say which era it is of.
    patience: Duration,
    /// Gets requests in that are refused.
    authorizer: Option<Authorizer>,
    /// What became of the stream for what a server says by itself.
    stream: Arc<watch::Sender<OwnStream>>,
}

/// The stream of a session for what its server says by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnStream {
    /// There is no session.
    None,
    /// It is being opened.
    Awaited,
    /// It is open, or cannot be.
    Settled,
}

impl Http {
    pub(super) fn new(client: Client, patience: Duration, authorizer: Option<Authorizer>) -> Self {
        Self {
            client,
            patience,
            authorizer,
            stream: Arc::new(watch::Sender::new(OwnStream::None)),
        }
    }

    /// Waits a while for the stream of a session, if there is one: what a server asks
    /// before it is open would be lost.
    pub(super) async fn listens(&self) {
        let mut stream = self.stream.subscribe();
        let settled = stream.wait_for(|stream| *stream != OwnStream::Awaited);
        let _ = tokio::time::timeout(LISTENS, settled).await;
    }

    /// Makes a request, and gets it in where it is refused.
    async fn admitted<T, R>(&self, request: impl Fn(Option<String>) -> R) -> Result<T, Failure>
    where
        R: Future<Output = Result<T, Failure>>,
    {
        let Some(authorizer) = &self.authorizer else {
            return request(None).await;
        };
        let mut gained = None;
        for _ in 0..AUTHORIZATIONS {
            let token = authorizer.token().await;
            let answer = request(token.clone()).await;
            let Some(mut refusal) = answer
                .as_ref()
                .err()
                .and_then(|error| refusal(error, token))
            else {
                if gained.is_some() && answer.is_ok() {
                    authorizer.admitted();
                }
                return answer;
            };
            // Whom a new authorization does not let in, another will not.
            if refusal.scope.is_none() && gained == Some(Gained::Authorized) {
                return answer;
            }
            refusal.renewed = gained == Some(Gained::Renewed);
            let admitted = authorizer.admit(&refusal).await;
            gained = Some(admitted.map_err(|error| failed(error.into()))?);
        }
        request(authorizer.token().await).await
    }

    fn request(
        &self,
        method: Method,
        uri: &str,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<RequestBuilder, Failure> {
        let request = self.client.request(method, uri);
        let mut request = request.map_err(|refused| failed(refused.into()))?;
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        Ok(request)
    }

    async fn post(
        &self,
        uri: &str,
        message: &ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let mut request = self
            .request(Method::POST, uri, token, headers)?
            .header(ACCEPT, format!("{JSON}, {EVENTS}"))
            .header(CONTENT_TYPE, JSON)
            .body(serde_json::to_vec(message)?);
        let in_session = session.is_some();
        if let Some(session) = session {
            request = request.header(SESSION, &*session);
        }
        let response = request.send().await.map_err(|error| failed(error.into()))?;
        challenged(&response)?;
        let status = response.status();
        if status == StatusCode::ACCEPTED || status == StatusCode::NO_CONTENT {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && in_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        if !status.is_success() {
            return refused(response, message, in_session).await;
        }
        let opened = header(response.headers(), SESSION);
        if opened.is_some() {
            self.stream.send_if_modified(|stream| match stream {
                OwnStream::None => {
                    *stream = OwnStream::Awaited;
                    true
                }
                _ => false,
            });
        }
        let wants_answer = matches!(message, JsonRpcMessage::Request(_));
        if is_of(&response, EVENTS) {
            return Ok(StreamableHttpPostResponse::Sse(events(response), opened));
        }
        if !is_of(&response, JSON) {
            // What answers nothing need not be anything.
            if !wants_answer {
                return Ok(StreamableHttpPostResponse::Accepted);
            }
            let kind = header(response.headers(), CONTENT_TYPE.as_str());
            return Err(StreamableHttpError::UnexpectedContentType(kind));
        }
        let body = read_body(response, ANSWER).await;
        let body = body.map_err(|error| failed(error.into()))?;
        match read(&body) {
            Some(answer) => Ok(StreamableHttpPostResponse::Json(answer, opened)),
            None if !wants_answer => Ok(StreamableHttpPostResponse::Accepted),
            None => Err(StreamableHttpError::UnexpectedServerResponse(
                "the answer is no JSON-RPC message".into(),
            )),
        }
    }
}

impl StreamableHttpClient for Http {
    type Error = HttpError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let post = |token: Option<String>| {
            let (session, headers) = (session_id.clone(), custom_headers.clone());
            let token = token.or_else(|| auth_header.clone());
            self.post(&uri, &message, session, token, headers)
        };
        let Some(id) = probe(&message) else {
            return self.admitted(post).await;
        };
        let token = match &self.authorizer {
            Some(authorizer) => authorizer.token().await,
            None => None,
        };
        match tokio::time::timeout(self.patience, post(token.clone())).await {
            Ok(answer) => {
                // Who connects gets it in: here it would be given up too early.
                if let Some(authorizer) = &self.authorizer
                    && let Err(error) = &answer
                    && let Some(refusal) = refusal(error, token)
                {
                    authorizer.note(refusal);
                }
                answer
            }
            Err(_) => Ok(of_the_other_era(id, "it did not answer")),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        let token = match &self.authorizer {
            Some(authorizer) => authorizer.token().await,
            None => auth_header,
        };
        let request = self
            .request(Method::DELETE, &uri, token, custom_headers)?
            .header(SESSION, &*session_id);
        // Whether it could be ended or not, it is not used any more.
        request.send().await.map_err(|error| failed(error.into()))?;
        Ok(())
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Events, Failure> {
        let opened = self
            .admitted(|token| {
                let (session, headers) = (session_id.clone(), custom_headers.clone());
                let token = token.or_else(|| auth_header.clone());
                self.listen(&uri, session, last_event_id.clone(), token, headers)
            })
            .await;
        self.stream.send_replace(OwnStream::Settled);
        opened
    }
}

impl Http {
    async fn listen(
        &self,
        uri: &str,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Events, Failure> {
        let mut request = self
            .request(Method::GET, uri, token, headers)?
            .header(ACCEPT, EVENTS);
        if let Some(session) = session {
            request = request.header(SESSION, &*session);
        }
        if let Some(last) = last_event {
            request = request.header(LAST_EVENT, last);
        }
        let response = request.send().await.map_err(|error| failed(error.into()))?;
        challenged(&response)?;
        if response.status() == StatusCode::METHOD_NOT_ALLOWED || !response.status().is_success() {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        if !is_of(&response, EVENTS) {
            let kind = header(response.headers(), CONTENT_TYPE.as_str());
            return Err(StreamableHttpError::UnexpectedContentType(kind));
        }
        Ok(events(response))
    }
}

fn failed(error: HttpError) -> Failure {
    StreamableHttpError::Client(error)
}

/// The id of a question for the era.
fn probe(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        JsonRpcMessage::Request(request)
            if matches!(request.request, ClientRequest::DiscoverRequest(_)) =>
        {
            Some(request.id.clone())
        }
        _ => None,
    }
}

/// The answer of a server that knows nothing of eras.
fn of_the_other_era(id: RequestId, why: &str) -> StreamableHttpPostResponse {
    let message = format!("taken to be a server with a handshake: {why}");
    let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None);
    StreamableHttpPostResponse::Json(ServerJsonRpcMessage::error(error, Some(id)), None)
}

/// A refusal that says how to be let in.
fn challenged(response: &Response) -> Result<(), Failure> {
    let status = response.status();
    if status != StatusCode::UNAUTHORIZED && status != StatusCode::FORBIDDEN {
        return Ok(());
    }
    match header(response.headers(), WWW_AUTHENTICATE.as_str()) {
        Some(challenge) if status == StatusCode::UNAUTHORIZED => Err(
            StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge)),
        ),
        Some(challenge) => {
            let scope = scope_of(&challenge);
            let error = InsufficientScopeError::new(challenge, scope);
            Err(StreamableHttpError::InsufficientScope(error))
        }
        None => Err(failed(HttpError::Unauthorized {
            status: status.as_u16(),
        })),
    }
}

/// What an error says about being let in, if that is what it is about.
fn refusal(error: &Failure, token: Option<String>) -> Option<Refusal> {
    let (challenge, scope) = match error {
        StreamableHttpError::AuthRequired(error) => {
            (Some(error.www_authenticate_header.clone()), None)
        }
        StreamableHttpError::InsufficientScope(error)
            if error.www_authenticate_header.contains("insufficient_scope") =>
        {
            let scope = error.required_scope.clone()?;
            (Some(error.www_authenticate_header.clone()), Some(scope))
        }
        StreamableHttpError::Client(HttpError::Unauthorized { status: 401 }) => (None, None),
        _ => return None,
    };
    Some(Refusal {
        token,
        challenge,
        scope,
        renewed: false,
    })
}

/// The scope a challenge asks for.
fn scope_of(challenge: &str) -> Option<String> {
    let start = challenge.to_ascii_lowercase().find("scope=")? + "scope=".len();
    let value = &challenge[start..];
    let scope = match value.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => value.split([',', ' ']).next(),
    };
    scope.map(str::to_owned)
}

/// What a refusal means: an error of the protocol, the other era, or just no.
async fn refused(
    response: Response,
    message: &ClientJsonRpcMessage,
    in_session: bool,
) -> Result<StreamableHttpPostResponse, Failure> {
    let status = response.status();
    let body = read_body(response, REFUSAL).await.unwrap_or_default();
    let error = match read(&body) {
        Some(ServerJsonRpcMessage::Error(error)) => Some(error),
        _ => None,
    };
    if let Some(id) = probe(message).filter(|_| status.is_client_error() && !in_session) {
        // Servers with a handshake refuse this in many ways, mostly without its id.
        return Ok(match error {
            Some(error) => {
                let answer = ServerJsonRpcMessage::error(error.error, Some(id));
                StreamableHttpPostResponse::Json(answer, None)
            }
            None => of_the_other_era(id, &format!("it answered HTTP {status}")),
        });
    }
    if let Some(error) = error {
        return Ok(StreamableHttpPostResponse::Json(
            ServerJsonRpcMessage::Error(error),
            None,
        ));
    }
    let text = String::from_utf8_lossy(&body);
    let text = toolsmith_runtime::shape::clean(&text);
    Err(failed(HttpError::Status {
        status: status.as_u16(),
        text: text.chars().take(TOLD).collect(),
    }))
}

fn read(body: &[u8]) -> Option<ServerJsonRpcMessage> {
    crate::wire::message::read(body, ANSWER)
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

fn is_of(response: &Response, kind: &str) -> bool {
    header(response.headers(), CONTENT_TYPE.as_str())
        .is_some_and(|given| given.to_ascii_lowercase().starts_with(kind))
}

fn events(response: Response) -> Events {
    let bytes = Bounded {
        bytes: response.bytes_stream().boxed(),
        event: 0,
        line_is_empty: true,
    };
    SseStream::from_bytes_stream(bytes).boxed()
}

/// A stream that ends where one event of it gets too large.
struct Bounded<E> {
    bytes: BoxStream<'static, Result<Bytes, E>>,
    event: usize,
    line_is_empty: bool,
}

/// Why a stream was given up.
#[derive(Debug, thiserror::Error)]
enum StreamError<E: std::error::Error> {
    #[error("an event has more than {ANSWER} bytes")]
    TooLarge,
    #[error(transparent)]
    Source(E),
}

impl<E> Bounded<E> {
    fn fits(&mut self, bytes: &[u8]) -> bool {
        for byte in bytes {
            match byte {
                b'\n' if self.line_is_empty => self.event = 0,
                b'\n' => self.line_is_empty = true,
                b'\r' => {}
                _ => {
                    self.line_is_empty = false;
                    self.event += 1;
                }
            }
        }
        self.event <= ANSWER
    }
}

impl<E: std::error::Error> Stream for Bounded<E> {
    type Item = Result<Bytes, StreamError<E>>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = std::task::ready!(self.bytes.poll_next_unpin(context));
        Poll::Ready(match next {
            Some(Ok(bytes)) if self.fits(&bytes) => Some(Ok(bytes)),
            Some(Ok(_)) => Some(Err(StreamError::TooLarge)),
            Some(Err(error)) => Some(Err(StreamError::Source(error))),
            None => None,
        })
    }
}
