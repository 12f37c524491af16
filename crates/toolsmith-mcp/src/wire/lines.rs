//! Lines of bounded length, from whoever writes them, and how they are sent.

use std::future::ready;

use futures_util::FutureExt;
use futures_util::future::Either;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// How many bytes one message may have.
pub(crate) const MESSAGE: usize = 16 << 20;

/// How much of a buffer is kept from one line to the next.
const KEPT: usize = 64 << 10;

/// How much is kept of either end of a line that is too long.
const END: usize = 512;

/// What came of reading a line.
pub(crate) enum Line {
    /// It can be taken.
    Whole,
    /// It was longer than a message may be, and is gone but for its two ends.
    TooLong { first: Vec<u8>, last: Vec<u8> },
    /// There are no more.
    End,
}

/// Reads lines, of which it keeps one at a time.
pub(crate) struct LineReader<R> {
    read: BufReader<R>,
    line: Vec<u8>,
    /// The end so far of a line that is too long, of which `line` is the beginning.
    last: Option<Vec<u8>>,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(crate) fn new(read: R) -> Self {
        Self {
            read: BufReader::with_capacity(KEPT, read),
            line: Vec::new(),
            last: None,
        }
    }

    /// Reads a line. It may be given up at any point and goes on where it was.
    pub(crate) async fn next(&mut self) -> Line {
        loop {
            let available = match self.read.fill_buf().await {
                // The last line need not end.
                Ok([]) if self.last.is_some() => return self.taken(),
                Ok([]) if !self.line.is_empty() => return Line::Whole,
                Ok([]) | Err(_) => return Line::End,
                Ok(available) => available,
            };
            let end = available.iter().position(|byte| *byte == b'\n');
            let piece = &available[..end.unwrap_or(available.len())];
            match &mut self.last {
                Some(last) => keep_end(last, piece),
                None => self.line.extend_from_slice(piece),
            }
            if self.line.len() > MESSAGE {
                let mut last = Vec::with_capacity(2 * END);
                keep_end(&mut last, &self.line);
                self.last = Some(last);
                self.line.truncate(END);
                self.line.shrink_to_fit();
            }
            let taken = end.map_or(available.len(), |end| end + 1);
            self.read.consume(taken);
            if end.is_some() {
                return self.taken();
            }
        }
    }

    fn taken(&mut self) -> Line {
        match self.last.take() {
            Some(last) => Line::TooLong {
                first: self.take(),
                last,
            },
            None => Line::Whole,
        }
    }

    /// Takes the line that was read.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.line)
    }

    /// Takes a line's buffer back, to be used again unless it is a large one.
    pub(crate) fn reuse(&mut self, mut line: Vec<u8>) {
        line.clear();
        line.shrink_to(KEPT);
        self.line = line;
    }
}

/// Adds a piece to the end of a line, and keeps no more than the end.
fn keep_end(end: &mut Vec<u8>, piece: &[u8]) {
    end.extend_from_slice(&piece[piece.len().saturating_sub(END)..]);
    end.drain(..end.len().saturating_sub(END));
}

/// Begins to send at once. `rmcp` gives every message a task, to which it comes
/// later; by then most are gone.
pub(crate) fn at_once<F>(sending: F) -> impl Future<Output = F::Output> + Send + 'static
where
    F: Future<Output: Send> + Send + 'static,
{
    let mut sending = Box::pin(sending);
    match (&mut sending).now_or_never() {
        Some(sent) => Either::Left(ready(sent)),
        // Whoever polls it next is the one who is woken.
        None => Either::Right(sending),
    }
}
