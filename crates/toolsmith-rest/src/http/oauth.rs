//! Tokens by client credentials (RFC 6749, 4.4): asked for when the first request needs
//! one, kept until shortly before it ends, and asked for again where a server refuses it.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::Instant;
use toolsmith_core::{ErrorKind, ToolError, json};
use toolsmith_net::{Client, Method, Response, read_body};

use super::address::Address;
use super::encode;
use super::failure;
use super::hush::Hush;
use super::pairs::Pairs;

/// What a token server answers is small.
const MAX_ANSWER: usize = 64 << 10;

/// How long before its end a token is no longer used, at most.
const MARGIN: Duration = Duration::from_secs(30);

/// What tokens are asked for with.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Settings {
    url: String,
    origin: String,
    client_id: String,
    client_secret: String,
    scopes: String,
}

/// The tokens of one client at one server.
pub(crate) struct Tokens {
    settings: Settings,
    /// Held while a token is asked for, so that many calls at once ask once.
    current: Mutex<Current>,
}

#[derive(Default)]
struct Current {
    token: Option<Token>,
    /// Whether the server wants the secret in the body, which some do.
    in_body: bool,
}

#[derive(Clone)]
struct Token {
    text: Arc<str>,
    ends: Option<Instant>,
}

impl Settings {
    /// Checks where tokens are asked for.
    ///
    /// # Errors
    /// Says what is wrong with the address.
    pub(crate) fn new(
        url: &str,
        client_id: String,
        client_secret: String,
        scopes: &[String],
    ) -> Result<Self, String> {
        let address = Address::parse(url)?;
        if address.base.names().next().is_some() {
            return Err("where tokens come from cannot depend on an argument".to_owned());
        }
        Ok(Self {
            url: url.trim().to_owned(),
            origin: address.origin,
            client_id,
            client_secret,
            scopes: scopes.join(" "),
        })
    }

    /// What shows who asks: both halves encoded, and then joined.
    pub(crate) fn basic(&self) -> String {
        let (id, secret) = (&self.client_id, &self.client_secret);
        STANDARD.encode(format!("{}:{}", encode::form(id), encode::form(secret)))
    }
}

impl Tokens {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            settings,
            current: Mutex::default(),
        }
    }

    /// Scheme, host and port of where tokens are asked for.
    pub(crate) fn origin(&self) -> &str {
        &self.settings.origin
    }

    /// A token that is good for now.
    ///
    /// # Errors
    /// When the token server cannot be reached, or gives none.
    pub(crate) async fn get(&self, client: &Client) -> Result<Arc<str>, ToolError> {
        let mut current = self.current.lock().await;
        if let Some(token) = &current.token
            && token.ends.is_none_or(|ends| Instant::now() < ends)
        {
            return Ok(Arc::clone(&token.text));
        }
        let token = self.ask(client, &mut current.in_body).await?;
        let text = Arc::clone(&token.text);
        current.token = Some(token);
        Ok(text)
    }

    /// Forgets a token that a server refused, unless there is a newer one.
    pub(crate) async fn forget(&self, refused: &str) {
        let mut current = self.current.lock().await;
        if current
            .token
            .as_ref()
            .is_some_and(|token| &*token.text == refused)
        {
            current.token = None;
        }
    }

    async fn ask(&self, client: &Client, in_body: &mut bool) -> Result<Token, ToolError> {
        let mut response = self.send(client, *in_body).await?;
        if matches!(response.status().as_u16(), 400 | 401) {
            // The header is what every server should take; the body is what some take.
            let other = self.send(client, !*in_body).await?;
            if other.status().is_success() {
                *in_body = !*in_body;
                response = other;
            }
        }
        let status = response.status();
        let received = Instant::now();
        let bytes = read_body(response, MAX_ANSWER).await;
        let bytes = bytes.map_err(|error| self.failed(ErrorKind::Network, &error.to_string()))?;
        let answer = json::parse(&bytes, MAX_ANSWER);
        if !status.is_success() {
            let told = answer.as_ref().ok().map(|answer| self.told(answer));
            let told = told.unwrap_or_default();
            let kind = match failure::kind_of(status.as_u16()) {
                ErrorKind::Failed => ErrorKind::PermissionDenied,
                other => other,
            };
            return Err(self.failed(kind, &format!("it answered {status}{told}")));
        }
        let answer = answer.map_err(|_| self.failed(ErrorKind::Failed, "its answer is no JSON"))?;
        self.read(&answer, received)
    }

    async fn send(&self, client: &Client, in_body: bool) -> Result<Response, ToolError> {
        let Settings {
            url,
            client_id,
            client_secret,
            scopes,
            ..
        } = &self.settings;
        let refused = |refused: toolsmith_net::Refused| {
            self.failed(ErrorKind::PermissionDenied, &refused.to_string())
        };
        let mut pairs = Pairs::default();
        pairs.push("grant_type", "client_credentials");
        if !scopes.is_empty() {
            pairs.push("scope", scopes);
        }
        let mut request = client.request(Method::POST, url).map_err(refused)?;
        if in_body {
            pairs.push("client_id", client_id);
            pairs.push("client_secret", client_secret);
        } else {
            let basic = format!("Basic {}", self.settings.basic());
            request = request.header("authorization", basic);
        }
        let sent = request
            .header("accept", "application/json")
            .header("content-type", "application/x-www-form-urlencoded")
            .body(pairs.write())
            .send();
        sent.await
            .map_err(|error| failure::transport("POST the token server", error, &self.hush()))
    }

    fn read(&self, answer: &Value, received: Instant) -> Result<Token, ToolError> {
        let text = answer
            .get("access_token")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let is_plain = |c: char| c.is_ascii_graphic();
        if text.is_empty() || text.len() > MAX_ANSWER || !text.chars().all(is_plain) {
            let message = "its answer holds no `access_token` that can be sent";
            return Err(self.failed(ErrorKind::Failed, message));
        }
        let kind = answer.get("token_type").and_then(Value::as_str);
        if !kind.unwrap_or("bearer").eq_ignore_ascii_case("bearer") {
            return Err(self.failed(ErrorKind::Failed, "its token is no bearer token"));
        }
        let seconds = match answer.get("expires_in") {
            Some(Value::Number(number)) => number.as_f64().map(|seconds| seconds as u64),
            Some(Value::String(text)) => text.parse().ok(),
            _ => None,
        };
        let ends = seconds.and_then(|seconds| {
            let lasts = Duration::from_secs(seconds);
            received.checked_add(lasts.saturating_sub(MARGIN.min(lasts / 10)))
        });
        let text = text.into();
        Ok(Token { text, ends })
    }

    fn failed(&self, kind: ErrorKind, message: &str) -> ToolError {
        let message = format!("no token from {}: {message}", self.origin());
        ToolError::new(kind, self.hush().scrub(&message))
    }

    /// What an answer says of its failure, in the two fields that are meant for that.
    /// It is hushed before it is cut: half a secret is found by nobody afterwards.
    fn told(&self, answer: &Value) -> String {
        let hush = self.hush();
        let told = ["error", "error_description"].into_iter();
        let told = told.filter_map(|key| answer.get(key).and_then(Value::as_str));
        told.map(|text| format!(": {}", failure::excerpt(&hush.scrub(text))))
            .collect()
    }

    fn hush(&self) -> Hush {
        Hush::new([&*self.settings.client_secret, &*self.settings.basic()])
    }
}
