//! The end of what a child wrote to its standard error.
//!
//! Everything is read, so that the child never waits; only the last part is kept, so that
//! a flood costs no memory.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// How many bytes are kept.
const KEPT: usize = 64 << 10;

/// A handle on the last 64 KiB that a child wrote to its standard error.
///
/// It is cheap to clone, may be read at any time, and stays readable after the child.
#[derive(Clone, Default)]
pub struct Tail {
    ring: Arc<Mutex<Ring>>,
}

#[derive(Default)]
struct Ring {
    bytes: VecDeque<u8>,
    total: u64,
}

impl Tail {
    /// Returns what is kept, with a replacement character for what is not UTF-8.
    pub fn text(&self) -> String {
        let bytes: Vec<u8> = self.lock().bytes.iter().copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Returns how many bytes were written, kept or not.
    pub fn total(&self) -> u64 {
        self.lock().total
    }

    /// Reads until the stream ends or fails.
    pub(crate) async fn follow(self, mut stream: impl AsyncRead + Unpin) {
        let mut chunk = vec![0; 16 << 10];
        while let Ok(length) = stream.read(&mut chunk).await {
            if length == 0 {
                break;
            }
            self.lock().push(&chunk[..length]);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ring {
    fn push(&mut self, chunk: &[u8]) {
        self.total += chunk.len() as u64;
        let excess = (self.bytes.len() + chunk.len()).saturating_sub(KEPT);
        self.bytes.drain(..excess);
        self.bytes.extend(chunk);
    }
}

impl fmt::Debug for Tail {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Tail")
            .field("total", &self.total())
            .finish_non_exhaustive()
    }
}
