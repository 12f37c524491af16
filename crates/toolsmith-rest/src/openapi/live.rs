//! An API whose document is fetched instead of written down: its operations are tools
//! for as long as it is there.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use toolsmith_core::tool::SourceError;
use toolsmith_core::{AnyTool, ToolSource};
use toolsmith_net::{Client, ClientLimits, Method, Reach, read_body};
use url::Url;

use super::{Imported, OpenApiError, Options, ReadLimits, import, read};
use crate::form::Entry;
use crate::make::{Made, Surroundings};

/// How long a document may take to come.
const TIME: Duration = Duration::from_secs(60);

/// Why there is no document.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// It was not fetched.
    #[error("fetch the document: {0}")]
    Fetch(String),
    /// The server did not give it to us, as with 401 or 403.
    #[error("fetch the document: {0}")]
    Refused(String),
    /// It is none, or none that is understood.
    #[error(transparent)]
    Document(#[from] OpenApiError),
}

/// Fetches a document from an address the user named.
///
/// # Errors
/// When the address cannot be reached, or answers with a failure or with too much.
pub async fn fetch(url: &str) -> Result<Vec<u8>, FetchError> {
    let failed = |error: &dyn fmt::Display| FetchError::Fetch(error.to_string());
    let reach = Reach::public()
        .and_origin(url)
        .map_err(|error| failed(&error))?;
    let limits = ClientLimits {
        total: Some(TIME),
        ..ClientLimits::default()
    };
    let client = Client::new(reach, limits).map_err(|error| failed(&error))?;
    let request = client.request(Method::GET, url);
    let request = request.map_err(|error| failed(&error))?;
    let request = request.header("accept", "application/json, application/yaml, */*;q=0.5");
    // An address may hold a key, so it is not told.
    let response = request.send().await.map_err(|error| {
        let told = toolsmith_net::Refused::find(&error).map(ToString::to_string);
        FetchError::Fetch(told.unwrap_or_else(|| error.without_url().to_string()))
    })?;
    if !response.status().is_success() {
        let message = format!("the server answered {}", response.status());
        return Err(match response.status().as_u16() {
            401 | 403 | 407 => FetchError::Refused(message),
            _ => FetchError::Fetch(message),
        });
    }
    let body = read_body(response, ReadLimits::default().json_bytes).await;
    body.map_err(|error| failed(&error))
}

/// Reads a document and lays over it what the user says: how the API is reached, how
/// requests show who makes them, how long they take.
///
/// # Errors
/// When it is no document that is understood.
pub fn import_over(
    bytes: &[u8],
    options: &Options,
    over: &Entry,
) -> Result<Imported, OpenApiError> {
    let document = read(bytes, &ReadLimits::default())?;
    let mut options = options.clone();
    if let Some(api_url) = &over.api_url {
        // Then no operation has another: what the user gives a secret for is asked where
        // the user says.
        options.api_url = Some(api_url.value.expose_written().to_owned());
    }
    let mut imported = import(&document, &options)?;
    let says_how = over.auth_method.is_some() || over.auth.is_some() || over.api_key.is_some();
    if says_how {
        // What a document says about one operation would beat what the user says.
        for tool in &mut imported.entry.tools {
            let tool = &mut tool.value;
            (tool.auth_method, tool.auth, tool.api_key) = (None, None, None);
        }
        let entry = &mut imported.entry;
        (entry.auth_method, entry.auth, entry.api_key) = (None, None, None);
    }
    let tools = std::mem::take(&mut imported.entry.tools);
    let name = imported.entry.name.take();
    imported.entry = over.over(&imported.entry);
    (imported.entry.tools, imported.entry.name) = (tools, name);
    Ok(imported)
}

/// The tools of an API whose document is fetched. Cheap to clone.
#[derive(Clone)]
pub struct LiveDocument {
    inner: Arc<Inner>,
}

struct Inner {
    name: String,
    url: String,
    options: Options,
    over: Entry,
    surroundings: Surroundings,
    last: Mutex<Last>,
}

/// What the last look came to.
#[derive(Default)]
struct Last {
    secrets: Vec<String>,
    told: Vec<String>,
    was_refused: bool,
}

impl LiveDocument {
    /// The operations of the document at an address, under the name of a source.
    pub fn new(
        name: impl Into<String>,
        url: impl Into<String>,
        options: Options,
        over: Entry,
        surroundings: Surroundings,
    ) -> Self {
        let inner = Inner {
            name: name.into(),
            url: url.into(),
            options,
            over,
            surroundings,
            last: Mutex::default(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Tells whether this is a clone of the other.
    pub fn is_same_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// Values that may be shown to nobody, as of the last listing.
    pub fn secrets(&self) -> Vec<String> {
        self.last().secrets.clone()
    }

    /// What the last listing left out and what is not there, each with its reason.
    pub fn told(&self) -> Vec<String> {
        self.last().told.clone()
    }

    /// How the names of its tools begin; empty where they begin as they like.
    pub fn beginning(&self) -> &str {
        &self.inner.options.prefix
    }

    /// Tells whether the document was refused to us when it was last asked for.
    pub fn was_refused(&self) -> bool {
        self.last().was_refused
    }

    async fn list(&self) -> Result<Vec<AnyTool>, FetchError> {
        let bytes = fetch(&self.inner.url).await?;
        let this = self.clone();
        // Large documents take a while to read.
        let made = tokio::task::spawn_blocking(move || this.made(&bytes)).await;
        let made = made.map_err(|error| FetchError::Fetch(error.to_string()))??;
        Ok(made.tools)
    }

    fn made(&self, bytes: &[u8]) -> Result<Made, FetchError> {
        let Inner { options, over, .. } = &*self.inner;
        let imported = import_over(bytes, options, over)?;
        let mut made = imported.make(&self.surroundings());
        let left_out = imported.left_out.iter().map(ToString::to_string);
        let wrong = made.problems.iter().chain(&made.missing);
        let told = left_out.chain(wrong.map(ToString::to_string));
        *self.last() = Last {
            secrets: std::mem::take(&mut made.secrets),
            told: told.collect(),
            was_refused: false,
        };
        Ok(made)
    }

    /// Its surroundings, in which only what the user named may be somewhere private: a
    /// document from elsewhere cannot lead there.
    fn surroundings(&self) -> Surroundings {
        let Inner { url, over, .. } = &*self.inner;
        let mut surroundings = self.inner.surroundings.clone();
        let token_url = over.auth.as_ref().and_then(|auth| auth.token_url.as_ref());
        let named = [over.api_url.as_ref(), token_url].into_iter().flatten();
        let named = named.filter_map(|address| {
            let filled = address.value.fill(&*surroundings.lookup);
            filled.ok().map(|filled| filled.text)
        });
        let named = named.chain([url.clone()]);
        let origins = named.filter_map(|address| {
            let address = Url::parse(address.trim()).ok()?;
            Some(address.origin().ascii_serialization())
        });
        surroundings.private = Some(origins.collect());
        surroundings
    }

    fn last(&self) -> std::sync::MutexGuard<'_, Last> {
        let last = self.inner.last.lock();
        last.unwrap_or_else(PoisonError::into_inner)
    }
}

impl ToolSource for LiveDocument {
    fn name(&self) -> &str {
        &self.inner.name
    }

    async fn tools(&self) -> Result<Vec<AnyTool>, SourceError> {
        let listed = self.list().await;
        self.last().was_refused = matches!(listed, Err(FetchError::Refused(_)));
        listed.map_err(|error| SourceError::new(&self.inner.name, error.to_string()))
    }
}

impl fmt::Debug for LiveDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LiveDocument")
            .field(&self.inner.name)
            .finish()
    }
}
