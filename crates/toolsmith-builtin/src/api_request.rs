//! Builds the request of an `api_call` from its parts, and fills in secrets.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use toolsmith_net::{Fetch, HeaderName, HeaderValue, Method};
use url::Url;

use crate::refusal::{Reason, Refusal};
use crate::web::{self, Filler, WebSecret};

/// The longest body.
const LONGEST_BODY: usize = 4 << 20;

/// How to sign in.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Auth {
    /// How the credentials are sent.
    #[serde(rename = "type")]
    scheme: Scheme,
    /// The token, for `bearer`; best as ${secret:NAME}.
    #[serde(default)]
    token: Option<String>,
    /// The user, for `basic`.
    #[serde(default)]
    username: Option<String>,
    /// The password, for `basic`; best as ${secret:NAME}.
    #[serde(default)]
    password: Option<String>,
    /// The key, for `api_key`; best as ${secret:NAME}.
    #[serde(default)]
    api_key: Option<String>,
    /// The header the key is sent in.
    #[serde(default = "usual_header")]
    api_key_header: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Scheme {
    Bearer,
    Basic,
    ApiKey,
}

fn usual_header() -> String {
    "X-API-Key".to_owned()
}

impl Auth {
    /// What may refer to secrets.
    pub(crate) fn texts(&self) -> Vec<String> {
        let texts = [&self.token, &self.username, &self.password, &self.api_key];
        texts.into_iter().flatten().cloned().collect()
    }
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Auth")
            .field("scheme", &self.scheme)
            .finish_non_exhaustive()
    }
}

/// What a request is made of.
pub(crate) struct Parts<'a> {
    pub(crate) method: Method,
    pub(crate) url: &'a Url,
    pub(crate) headers: &'a BTreeMap<String, String>,
    pub(crate) query: &'a BTreeMap<String, Value>,
    pub(crate) body: Option<&'a Value>,
    pub(crate) auth: Option<&'a Auth>,
}

/// A request, and whether it holds a secret of the configuration.
pub(crate) struct Built {
    pub(crate) request: Fetch,
    pub(crate) has_secret: bool,
}

impl Parts<'_> {
    /// Puts the parts together.
    pub(crate) fn build(self, secrets: &[WebSecret]) -> Result<Built, Refusal> {
        let mut filler = Filler::new(secrets, self.url);
        let mut url = self.url.clone();
        self.add_query(&mut url, &mut filler)?;
        let mut filled = BTreeMap::new();
        for (name, value) in self.headers {
            filled.insert(name.clone(), filler.fill(value)?);
        }
        let mut headers = web::checked(&filled)?;
        if let Some(auth) = self.auth {
            let (name, value) = credentials(auth, &mut filler)?;
            if headers.contains_key(&name) {
                let message = format!("`auth` and `headers` both set `{name}`");
                return Err(bad(message, "Leave one of them out"));
            }
            headers.insert(name, value);
        }
        let mut request = Fetch::new(self.method.clone(), url.to_string());
        if let Some(body) = self.body.filter(|body| !body.is_null()) {
            if matches!(self.method, Method::GET | Method::HEAD) {
                let message = format!("a {} has no body", self.method);
                return Err(bad(message, "Use query_params, or another method"));
            }
            let kind = headers
                .get("content-type")
                .and_then(|kind| kind.to_str().ok());
            let is_json = kind.is_none_or(|kind| kind.to_ascii_lowercase().contains("json"));
            let body = filler.fill_value(body.clone())?;
            let bytes = match body {
                Value::String(text) if !is_json || kind.is_some() => text.into_bytes(),
                body if is_json => serde_json::to_vec(&body).unwrap_or_default(),
                _ => {
                    let message = "a body that is no text goes with JSON only".to_owned();
                    return Err(bad(message, "Send a text, or leave content-type out"));
                }
            };
            if bytes.len() > LONGEST_BODY {
                return Err(bad(
                    format!("the body is longer than {LONGEST_BODY} bytes"),
                    "Send less at once",
                ));
            }
            headers
                .entry("content-type")
                .or_insert(HeaderValue::from_static("application/json"));
            request.body = Some(bytes);
        }
        headers
            .entry("accept")
            .or_insert(HeaderValue::from_static("application/json, */*;q=0.5"));
        request.headers = headers;
        Ok(Built {
            request,
            has_secret: filler.has_filled,
        })
    }

    fn add_query(&self, url: &mut Url, filler: &mut Filler<'_>) -> Result<(), Refusal> {
        if self.query.is_empty() {
            return Ok(());
        }
        let mut pairs = url.query_pairs_mut();
        for (name, value) in self.query {
            let values = match value {
                Value::Array(list) => list.iter().collect(),
                one => vec![one],
            };
            for value in values {
                let text = match value {
                    Value::String(text) => filler.fill(text)?,
                    Value::Number(_) | Value::Bool(_) => value.to_string(),
                    // What is not said is not sent.
                    Value::Null => continue,
                    Value::Array(_) | Value::Object(_) => {
                        let name: String = name.chars().take(60).collect();
                        let message = format!(
                            "the parameter `{name}` is neither a text, a number nor a boolean"
                        );
                        return Err(bad(message, "Write it as a text"));
                    }
                };
                pairs.append_pair(name, &text);
            }
        }
        Ok(())
    }
}

/// The header that credentials are sent in.
fn credentials(auth: &Auth, filler: &mut Filler<'_>) -> Result<(HeaderName, HeaderValue), Refusal> {
    let mut given = |field: &Option<String>, name: &str| match field {
        Some(text) => filler.fill(text),
        None => Err(bad(
            format!("`auth.{name}` is missing"),
            "Add it, or use another type of auth",
        )),
    };
    let (name, value) = match auth.scheme {
        Scheme::Bearer => (
            "authorization",
            format!("Bearer {}", given(&auth.token, "token")?),
        ),
        Scheme::Basic => {
            let pair = format!(
                "{}:{}",
                given(&auth.username, "username")?,
                given(&auth.password, "password")?
            );
            (
                "authorization",
                format!("Basic {}", BASE64_STANDARD.encode(pair)),
            )
        }
        Scheme::ApiKey => (
            auth.api_key_header.as_str(),
            given(&auth.api_key, "api_key")?,
        ),
    };
    // The same rules as for other headers; the message names the header and no value.
    let given = BTreeMap::from([(name.to_owned(), value)]);
    let headers = web::checked(&given)?;
    let first = headers.into_iter().next();
    match first {
        Some((Some(name), mut value)) => {
            value.set_sensitive(true);
            Ok((name, value))
        }
        _ => Err(bad(
            "the credentials are no header".to_owned(),
            "Correct auth.api_key_header",
        )),
    }
}

fn bad(message: String, next: &str) -> Refusal {
    Refusal::new(Reason::BadArgument, message).next(next)
}
