//! The client: a reach, limits, and the guards put together.
//!
//! Whatever is asked of the inner client passes the gate and the judged names, so it may
//! be handed to a library that brings its own requests.

use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::{Action, Attempt, Policy};
use reqwest::{Method, RequestBuilder};

use crate::error::{Refused, origin};
use crate::gate::gate;
use crate::names::{JudgedNames, Names, SystemNames};
use crate::reach::Reach;
use crate::{HttpClient, tls};

/// How many bytes of headers an answer may have over HTTP/2; over HTTP/1 it is 400 KiB.
const MAX_HEADER_BYTES: u32 = 64 << 10;

/// A client that reaches what its [`Reach`] permits.
#[derive(Clone, Debug)]
pub struct Client {
    inner: HttpClient,
    reach: Arc<Reach>,
}

/// How long a request may take and how much of a header an answer may have.
#[derive(Clone, Copy, Debug)]
pub struct ClientLimits {
    /// For the name, the connection and its encryption.
    pub connect_timeout: Duration,
    /// For the whole of a request, the answer's body included; without it a stream may last.
    pub total: Option<Duration>,
    /// How many headers an answer may have.
    pub max_headers: usize,
    /// How many redirects in a row are followed, all at one origin; with none the
    /// redirect itself is the answer.
    pub max_redirects: usize,
}

/// Why no client could be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The encryption library refused its configuration.
    #[error("prepare encrypted connections: {0}")]
    Encryption(#[from] rustls::Error),
    /// The HTTP library refused its configuration.
    #[error("prepare the HTTP client: {0}")]
    Http(#[from] reqwest::Error),
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            total: Some(Duration::from_secs(60)),
            max_headers: 100,
            max_redirects: 5,
        }
    }
}

impl Client {
    /// Makes a client that asks the system for the addresses of names.
    ///
    /// # Errors
    /// When the libraries below refuse their configuration.
    pub fn new(reach: Reach, limits: ClientLimits) -> Result<Self, ClientError> {
        Self::with_names(reach, limits, Arc::new(SystemNames))
    }

    /// Makes a client that asks `names` for the addresses of names.
    ///
    /// # Errors
    /// When the libraries below refuse their configuration.
    pub fn with_names(
        reach: Reach,
        limits: ClientLimits,
        names: Arc<dyn Names>,
    ) -> Result<Self, ClientError> {
        let reach = Arc::new(reach);
        let judged = JudgedNames {
            names,
            reach: reach.clone(),
        };
        let ClientLimits {
            connect_timeout,
            total,
            max_headers,
            max_redirects,
        } = limits;
        let at_redirect = reach.clone();
        let builder = HttpClient::builder()
            .user_agent(concat!("toolsmith/", env!("CARGO_PKG_VERSION")))
            .tls_backend_preconfigured(tls::config()?)
            .no_proxy()
            .proxy(gate(reach.clone()))
            .dns_resolver(judged)
            .redirect(Policy::custom(move |attempt| {
                redirect(&at_redirect, max_redirects, attempt)
            }))
            .referer(false)
            .tcp_nodelay(true)
            .connect_timeout(connect_timeout)
            .http1_max_headers(max_headers)
            .http2_max_header_list_size(MAX_HEADER_BYTES);
        let builder = match total {
            Some(total) => builder.timeout(total),
            None => builder,
        };
        let inner = builder.build()?;
        Ok(Self { inner, reach })
    }

    /// Begins a request to a URL within reach.
    ///
    /// # Errors
    /// When the URL is malformed or out of reach. A name is judged when the request is
    /// sent; [`Refused::find`] takes the refusal out of that error.
    pub fn request(&self, method: Method, url: &str) -> Result<RequestBuilder, Refused> {
        Ok(self.inner.request(method, self.reach.vet(url)?))
    }

    /// Judges a URL without sending anything, as far as it can be told before its name is resolved.
    ///
    /// # Errors
    /// When the URL is malformed, holds credentials, or is out of reach.
    pub fn vet(&self, url: &str) -> Result<(), Refused> {
        self.reach.vet(url).map(drop)
    }

    /// Returns the inner client, which keeps the guards on where it connects.
    ///
    /// Only what can be told from a URL's text is not asked again: [`vet`](Self::vet) a
    /// URL before it is handed over, for better errors and to refuse credentials in it.
    pub fn into_inner(self) -> HttpClient {
        self.inner
    }
}

/// Follows a redirect to the same origin; credentials and bodies go nowhere else.
fn redirect(reach: &Reach, most: usize, attempt: Attempt<'_>) -> Action {
    let (Some(first), next) = (attempt.previous().first(), attempt.url()) else {
        return attempt.stop();
    };
    if most == 0 {
        return attempt.stop();
    }
    let judged = if next.origin() != first.origin() {
        Err("it leads to another server".to_owned())
    } else if attempt.previous().len() > most {
        Err(format!("more than {most} in a row"))
    } else {
        reach
            .vet(next.as_str())
            .map_err(|refused| refused.to_string())
    };
    match judged {
        Ok(_) => attempt.follow(),
        Err(reason) => {
            let refused = Refused::Redirect {
                from: origin(first),
                to: format!("{}{}", origin(next), next.path()),
                reason,
            };
            attempt.error(refused)
        }
    }
}
