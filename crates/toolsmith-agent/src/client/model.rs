//! A model over HTTP: what the other files make, put together to a [`ModelClient`].

use bytes::Bytes;
use secrecy::ExposeSecret;
use serde_json::Value;
use toolsmith_core::ErrorKind;
use toolsmith_core::reference::Lookup;
use toolsmith_net::{
    Client, ClientError, ClientLimits, HeaderMap, HeaderName, HeaderValue, Reach, Refused,
};
use toolsmith_provider::client::{Completion, ModelError, Pieces, Streaming};
use toolsmith_provider::{ModelClient, Provider, Support, capability};
use url::Url;

use super::endpoint::{Endpoint, EndpointError};
use super::form::Way;
use super::hush::Hush;
use super::name::{ModelName, ModelNameError, is_name};
use super::send::Sent;
use super::settings::HttpSettings;
use super::table::KeyHeader;

/// The version of Anthropic's interface that is spoken.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// A model that is reached over HTTP.
///
/// It goes to the address of its [`Endpoint`] and nowhere else: no redirect is followed and
/// no proxy of the environment is used. A request ends when its future is dropped.
///
/// A stream that breaks off, falls silent or grows too large after it has begun is handed
/// on as far as it came, and the answer read from it is
/// [`Stop::Broken`](toolsmith_provider::Stop::Broken).
#[derive(Debug)]
pub struct HttpModel {
    pub(super) endpoint: Endpoint,
    pub(super) settings: HttpSettings,
    pub(super) client: Client,
    pub(super) headers: HeaderMap,
    pub(super) hush: Hush,
    model: String,
}

/// Why a model cannot be asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpModelError {
    /// It is not named as models are.
    #[error(transparent)]
    Name(#[from] ModelNameError),
    /// It is not known where it is, or which key it needs.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// It has no name, or one with blanks.
    #[error("the model has no name, or one with blanks or of more than 256 characters")]
    Model,
    /// A header cannot be sent; what it holds is not told.
    #[error("{name} cannot be sent: it holds characters that no header may have")]
    Header {
        /// The header, or the variable with the key.
        name: String,
    },
    /// The address is out of reach.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// No client could be made.
    #[error(transparent)]
    Client(#[from] ClientError),
}

impl HttpModel {
    /// A model by its name, such as `ollama/qwen3`, where the variables of the ecosystem say
    /// it is; `variable` looks them up.
    ///
    /// # Errors
    /// When there is no client for it, its key is not set, or its address is none.
    pub fn usual(
        name: &str,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, HttpModelError> {
        let name: ModelName = name.parse()?;
        let endpoint = Endpoint::usual(name.provider, &OfVariables(variable))?;
        Self::new(endpoint, name.model, HttpSettings::default())
    }

    /// Makes a client for a model; nothing is sent yet.
    ///
    /// # Errors
    /// When the key or a header cannot be sent, or the libraries below refuse.
    pub fn new(
        endpoint: Endpoint,
        model: impl Into<String>,
        settings: HttpSettings,
    ) -> Result<Self, HttpModelError> {
        let model = model.into();
        if !is_name(&model) {
            return Err(HttpModelError::Model);
        }
        // The user named it, so it may be on this machine or in this network.
        let reach = Reach::public().and_origin(endpoint.url())?;
        let limits = ClientLimits {
            connect_timeout: settings.connect_time,
            total: None,
            max_redirects: 0,
            ..ClientLimits::default()
        };
        Ok(Self {
            client: Client::new(reach, limits)?,
            headers: headers(&endpoint)?,
            hush: Hush::new(&endpoint),
            endpoint,
            settings,
            model,
        })
    }

    /// The address and the bytes of a request.
    fn request(&self, request: Value, way: Way) -> Result<(Url, Bytes), ModelError> {
        let Value::Object(request) = request else {
            let message = "a request to a model is a JSON object";
            return Err(ModelError::of(ErrorKind::Internal, message));
        };
        let form = self.endpoint.row.form;
        let max_tokens = self.settings.max_tokens;
        let body = form.body(self.provider(), &self.model, request, way, max_tokens);
        let url = form.url(&self.endpoint.url, &self.model, way);
        Ok((url, Value::Object(body).to_string().into()))
    }
}

impl ModelClient for HttpModel {
    fn provider(&self) -> Provider {
        self.endpoint.provider()
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn supports_function_calling(&self) -> Support {
        let known = || capability::support(self.provider(), &self.model);
        self.settings.support.unwrap_or_else(known)
    }

    fn complete(&self, request: Value) -> Completion<'_> {
        Box::pin(async move {
            let (url, body) = self.request(request, Way::Whole)?;
            let mut arriving = match self.send(&url, &body, Way::Whole).await? {
                Sent::Told(body) => return Ok(body),
                Sent::Arriving(arriving) => arriving,
            };
            let mut answer = Vec::new();
            loop {
                match arriving.next().await {
                    Ok(Some(piece)) => answer.extend_from_slice(&piece),
                    Ok(None) => {
                        let mut hushing = self.hush.answer();
                        let mut told = hushing.push(&answer).into_owned();
                        told.extend(hushing.finish());
                        return Ok(told);
                    }
                    Err(broken) => return Err(broken.told(self)),
                }
            }
        })
    }

    fn stream<'a>(&'a self, request: Value, pieces: Pieces<'a>) -> Streaming<'a> {
        Box::pin(async move {
            let (url, body) = self.request(request, Way::Streamed)?;
            let mut arriving = match self.send(&url, &body, Way::Streamed).await? {
                Sent::Told(body) => {
                    pieces(&body);
                    return Ok(());
                }
                Sent::Arriving(arriving) => arriving,
            };
            let mut hushing = self.hush.answer();
            // However it ends: what is not whole is found out by whoever reads it.
            while let Ok(Some(piece)) = arriving.next().await {
                pieces(&hushing.push(&piece));
            }
            pieces(&hushing.finish());
            Ok(())
        })
    }
}

/// What each request shows.
fn headers(endpoint: &Endpoint) -> Result<HeaderMap, HttpModelError> {
    let mut headers = HeaderMap::new();
    if endpoint.provider() == Provider::Anthropic {
        let version = HeaderValue::from_static(ANTHROPIC_VERSION);
        headers.insert("anthropic-version", version);
    }
    if let Some(key) = &endpoint.key {
        let secret = key.secret.expose_secret();
        let (name, text) = match key.header {
            KeyHeader::Bearer => ("authorization", format!("Bearer {secret}")),
            KeyHeader::Anthropic => ("x-api-key", secret.to_owned()),
            KeyHeader::Google => ("x-goog-api-key", secret.to_owned()),
        };
        let told = match key.variable {
            Some(variable) => format!("the key in {variable}"),
            None => "the configured key".to_owned(),
        };
        headers.insert(HeaderName::from_static(name), sensitive(&text, &told)?);
    }
    for (name, value) in &endpoint.headers {
        let told = format!("the header {name:?}");
        let value = sensitive(value.expose_secret(), &told)?;
        let name = HeaderName::try_from(name.as_str());
        let name = name.map_err(|_| HttpModelError::Header { name: told })?;
        headers.insert(name, value);
    }
    Ok(headers)
}

/// A value that `Debug` and compression tables do not show.
fn sensitive(text: &str, told: &str) -> Result<HeaderValue, HttpModelError> {
    let mut value = HeaderValue::try_from(text).map_err(|_| HttpModelError::Header {
        name: told.to_owned(),
    })?;
    value.set_sensitive(true);
    Ok(value)
}

/// Looks variables up, and no files.
struct OfVariables<F>(F);

impl<F: Fn(&str) -> Option<String>> Lookup for OfVariables<F> {
    fn variable(&self, name: &str) -> Option<String> {
        (self.0)(name)
    }

    fn file(&self, path: &str) -> Result<String, String> {
        Err(format!("{path} is not looked up here"))
    }
}
