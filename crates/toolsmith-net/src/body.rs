//! Reads a body up to a limit.
//!
//! Nothing is decompressed, so the limit counts what was sent and what is kept alike.

use reqwest::{Error as HttpError, Response};

/// Why a body was not read to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// There is more than was asked for.
    #[error("read the answer: it is longer than {limit} bytes; ask for less, or raise the limit")]
    TooLong {
        /// How many bytes were permitted.
        limit: usize,
    },
    /// The connection failed or took too long.
    #[error("read the answer: {0}")]
    Interrupted(#[from] reqwest::Error),
}

/// Reads a whole body that is no longer than the limit.
///
/// # Errors
/// When the body is longer, or the connection ends or takes too long.
pub async fn read_body(mut response: Response, limit: usize) -> Result<Vec<u8>, BodyError> {
    let announced = response.content_length().unwrap_or(0);
    if announced > limit as u64 {
        return Err(BodyError::TooLong { limit });
    }
    let mut body = Vec::new();
    // An address may hold a key, so it is not told.
    while let Some(chunk) = (response.chunk().await).map_err(HttpError::without_url)? {
        if body.len() + chunk.len() > limit {
            return Err(BodyError::TooLong { limit });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
