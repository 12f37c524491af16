//! Sends a request, again where that may help, and gives the answer from its first byte.

use std::time::Duration;

use bytes::Bytes;
use toolsmith_core::ErrorKind;
use toolsmith_net::{HttpError, Method, Response};
use toolsmith_provider::client::ModelError;
use url::Url;

use super::failure::{self, Failure};
use super::form::Way;
use super::model::HttpModel;
use super::retry;
use super::settings::Retrying;

/// How much of an error is read: enough for any provider's JSON.
const LARGEST_ERROR: usize = 1 << 20;

/// How long an error may take after its head: its status says the most of it.
const ERROR_TIME: Duration = Duration::from_secs(10);

/// What came back.
pub(super) enum Sent {
    /// An answer, of which the first byte is there.
    Arriving(Arriving),
    /// An error in the provider's words, whole.
    Told(Vec<u8>),
}

/// An answer that is on its way.
pub(super) struct Arriving {
    response: Response,
    first: Option<Bytes>,
    /// How many more bytes are handed on.
    left: usize,
    /// Whether there was more than that.
    is_over: bool,
    idle_time: Duration,
}

/// Why an answer broke off after it had begun.
pub(super) enum Broken {
    Silent,
    TooLarge,
    Dropped(HttpError),
}

impl HttpModel {
    /// Sends a body until an answer begins or there is no hope of one.
    pub(super) async fn send(&self, url: &Url, body: &Bytes, way: Way) -> Result<Sent, ModelError> {
        let mut attempt = 1;
        loop {
            let mut failure = match self.attempt(url, body.clone(), way).await {
                Ok(sent) => return Ok(sent),
                Err(failure) => failure,
            };
            let Some(wait) = retry::pause(&failure, attempt, &self.settings) else {
                if attempt > 1 {
                    failure.error.message.push_str(&format!(" (try {attempt})"));
                }
                return Err(failure.error);
            };
            self.settings.tell(&Retrying {
                attempt,
                wait,
                reason: failure.error.message,
            });
            tokio::time::sleep(wait).await;
            attempt += 1;
        }
    }

    async fn attempt(&self, url: &Url, body: Bytes, way: Way) -> Result<Sent, Failure> {
        let limit = self.settings.first_byte_time;
        let begun = tokio::time::timeout(limit, self.begin(url, body, way)).await;
        let begun = begun.map_err(|_| failure::no_first_byte(&self.endpoint, limit))?;
        match begun? {
            Begun::Answer(arriving) => Ok(Sent::Arriving(arriving)),
            Begun::Error(mut response) => {
                let body = error_body(&mut response).await;
                let (status, headers) = (response.status(), response.headers());
                failure::status(&self.endpoint, &self.hush, status, headers, body).map(Sent::Told)
            }
        }
    }

    async fn begin(&self, url: &Url, body: Bytes, way: Way) -> Result<Begun, Failure> {
        let broken = |error| failure::transport(&self.endpoint, error);
        let request = self.client.request(Method::POST, url.as_str());
        let request = request.map_err(|refused| failure::refused(&refused))?;
        let accepted = match way {
            Way::Whole => "application/json",
            Way::Streamed => "text/event-stream, application/x-ndjson, application/json",
        };
        let request = request
            .header("content-type", "application/json")
            .header("accept", accepted)
            .headers(self.headers.clone())
            .body(body);
        let mut response = request.send().await.map_err(broken)?;
        if !response.status().is_success() {
            return Ok(Begun::Error(response));
        }
        // A connection that breaks after the head, with nothing said, has cost nothing yet.
        let first = response.chunk().await.map_err(broken)?;
        Ok(Begun::Answer(Arriving {
            response,
            first,
            left: self.settings.largest_answer,
            is_over: false,
            idle_time: self.settings.idle_time,
        }))
    }
}

enum Begun {
    Answer(Arriving),
    Error(Response),
}

impl Arriving {
    /// The next piece; none at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Broken> {
        let piece = match self.first.take() {
            Some(first) => Some(first),
            None if self.is_over => return Err(Broken::TooLarge),
            None => match tokio::time::timeout(self.idle_time, self.response.chunk()).await {
                Err(_) => return Err(Broken::Silent),
                Ok(piece) => piece.map_err(|error| Broken::Dropped(error.without_url()))?,
            },
        };
        Ok(piece.map(|mut piece| {
            self.is_over = piece.len() > self.left;
            piece.truncate(self.left);
            self.left -= piece.len();
            piece
        }))
    }
}

impl Broken {
    /// What it is told as, where a part of an answer is none.
    pub(super) fn told(self, model: &HttpModel) -> ModelError {
        let origin = model.endpoint.origin();
        match self {
            Self::Silent => {
                let idle = model.settings.idle_time;
                let message =
                    format!("{origin} fell silent for {idle:?} in the middle of its answer");
                ModelError::of(ErrorKind::Timeout, message)
            }
            Self::TooLarge => {
                let most = model.settings.largest_answer;
                let message = format!("the answer of {origin} is longer than {most} bytes");
                ModelError::of(ErrorKind::Failed, message)
            }
            Self::Dropped(error) => {
                let message =
                    format!("the connection to {origin} broke in the middle of its answer");
                ModelError::of(ErrorKind::Network, message).with_cause(error)
            }
        }
    }
}

/// The body of an error, as far as it comes.
async fn error_body(response: &mut Response) -> Vec<u8> {
    let mut body = Vec::new();
    let reading = async {
        while let Ok(Some(piece)) = response.chunk().await {
            let room = LARGEST_ERROR - body.len();
            body.extend_from_slice(&piece[..room.min(piece.len())]);
            if body.len() == LARGEST_ERROR {
                break;
            }
        }
    };
    // What came until then is told.
    let _ = tokio::time::timeout(ERROR_TIME, reading).await;
    body
}
