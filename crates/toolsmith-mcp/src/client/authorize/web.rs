//! The guarded client for everything authorization asks of the web.
//!
//! Addresses come from upstreams and their metadata, so each is vetted: public and
//! encrypted, or named by the configuration. No redirect is followed; `rmcp` follows
//! those it may, and each of them comes here again.

use std::time::Duration;

use rmcp::transport::auth::{
    OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRequest,
};
use toolsmith_net::{Client, ClientLimits, Reach, Refused, read_body};

use super::{Authorization, AuthorizeError, Grant};

/// How long one request may take.
const TIME: Duration = Duration::from_secs(20);

/// How many bytes an answer may have.
const ANSWER: usize = 1 << 20;

type Request = http::Request<Vec<u8>>;
type Response = http::Response<Vec<u8>>;

/// Where authorization may go.
#[derive(Debug)]
pub(super) struct Web {
    client: Client,
    reach: Reach,
}

/// Why a request was not made, or not answered.
#[derive(Debug, thiserror::Error)]
pub(super) enum WebError {
    #[error("{0} is not encrypted, and the configuration does not name it")]
    Plain(String),
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("{}", cause(.0))]
    Http(#[from] toolsmith_net::HttpError),
    #[error(transparent)]
    Body(#[from] toolsmith_net::BodyError),
    #[error(transparent)]
    Message(#[from] http::Error),
}

impl Web {
    pub(super) fn new(url: &str, options: &Authorization) -> Result<Self, AuthorizeError> {
        let settings = |error: &dyn std::fmt::Display| AuthorizeError::Settings(error.to_string());
        let mut named = vec![url];
        named.extend(options.trusted_origins.iter().map(String::as_str));
        if let Grant::Enterprise(enterprise) = &options.grant {
            named.push(&enterprise.token_endpoint);
        }
        let mut reach = Reach::public();
        for url in named {
            reach = reach.and_origin(url).map_err(|error| settings(&error))?;
        }
        if options.allow_loopback {
            reach = reach.and_loopback();
        }
        let limits = ClientLimits {
            total: Some(TIME),
            max_redirects: 0,
            ..ClientLimits::default()
        };
        let client = Client::new(reach.clone(), limits).map_err(|error| settings(&error))?;
        Ok(Self { client, reach })
    }

    /// Judges an address before it is asked for, or shown to a person.
    pub(super) fn vet(&self, url: &str) -> Result<(), WebError> {
        self.client.vet(url)?;
        let encrypted = url
            .get(..8)
            .is_some_and(|start| start.eq_ignore_ascii_case("https://"));
        match encrypted || self.reach.names(url) {
            true => Ok(()),
            false => {
                let shown = url.split(['?', '#']).next().unwrap_or_default();
                Err(WebError::Plain(shown.chars().take(200).collect()))
            }
        }
    }

    pub(super) async fn send(&self, request: Request) -> Result<Response, WebError> {
        let (parts, body) = request.into_parts();
        let url = parts.uri.to_string();
        self.vet(&url)?;
        let request = self.client.request(parts.method, &url)?;
        let response = request.headers(parts.headers).body(body).send().await?;
        let mut answer = http::Response::builder().status(response.status());
        if let Some(headers) = answer.headers_mut() {
            headers.clone_from(response.headers());
        }
        let body = read_body(response, ANSWER).await?;
        Ok(answer.body(body)?)
    }
}

impl OAuthHttpClient for Web {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let answer = self.send(request.request).await;
            answer.map_err(|error| Box::new(error) as OAuthHttpClientError)
        })
    }
}

/// What the guard said, or the last of the causes: the others repeat the address.
fn cause(error: &toolsmith_net::HttpError) -> String {
    if let Some(refused) = Refused::find(error) {
        return refused.to_string();
    }
    let mut last: &dyn std::error::Error = error;
    while let Some(next) = last.source() {
        last = next;
    }
    last.to_string()
}
