//! What a program writes to its standard output.
//!
//! Everything is read, so that the program never waits; the beginning is kept, and the
//! rest is counted. Whole lines are handed to whoever watches the call as they come.

use tokio::io::AsyncReadExt as _;
use tokio::process::ChildStdout;
use toolsmith_core::ToolContext;

/// How many bytes are kept.
pub(super) const KEPT: usize = 4 << 20;
/// How many bytes are handed on while the program runs.
const STREAMED: usize = 1 << 20;
/// How long a line may be before it is handed on in pieces.
const LINE: usize = 8 << 10;
/// How much is read at a time.
const CHUNK: usize = 32 << 10;

/// Whether somebody reads along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watched {
    /// Lines are handed on as they come.
    Yes,
    /// Nothing is: half of a JSON text tells nobody anything.
    No,
}

/// What a program has written so far.
#[derive(Debug)]
pub(super) struct Output {
    stdout: Option<ChildStdout>,
    kept: Vec<u8>,
    total: u64,
    watched: Watched,
    /// Where in `kept` the part begins that was not handed on yet.
    streamed: usize,
}

impl Output {
    pub(super) fn new(watched: Watched) -> Self {
        Self {
            stdout: None,
            kept: Vec::new(),
            total: 0,
            watched,
            streamed: 0,
        }
    }

    pub(super) fn read_from(&mut self, stdout: Option<ChildStdout>) {
        self.stdout = stdout;
    }

    /// What was kept.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.kept
    }

    /// What was kept, with a replacement character for what is not UTF-8.
    pub(super) fn text(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.kept).into_owned();
        if self.left_out() > 0 && text.ends_with(char::REPLACEMENT_CHARACTER) {
            // The limit cut through a character, which is nobody's mistake.
            text.pop();
        }
        text
    }

    /// How many bytes were not kept.
    pub(super) fn left_out(&self) -> u64 {
        self.total - self.kept.len() as u64
    }

    /// Reads until the stream ends or fails. It may be given up and begun again.
    pub(super) async fn drain(&mut self, context: &ToolContext) {
        let mut chunk = vec![0; CHUNK];
        while let Some(stdout) = &mut self.stdout {
            match stdout.read(&mut chunk).await {
                Ok(0) | Err(_) => self.stdout = None,
                Ok(length) => {
                    let kept = self.take(&chunk[..length]);
                    self.hand_on_lines(context, kept);
                }
            }
        }
        self.hand_on(context, self.kept.len());
    }

    /// Keeps what there is room for, and tells how much that is.
    fn take(&mut self, chunk: &[u8]) -> usize {
        self.total += chunk.len() as u64;
        let kept = chunk.len().min(KEPT - self.kept.len());
        self.kept.extend_from_slice(&chunk[..kept]);
        kept
    }

    /// Hands on whole lines, and a long one in pieces. Only what was added is searched:
    /// a program that writes byte by byte costs no more than one that does not.
    fn hand_on_lines(&mut self, context: &ToolContext, added: usize) {
        let before = self.kept.len() - added;
        let feed = self.kept[before..].iter().rposition(|byte| *byte == b'\n');
        if let Some(feed) = feed {
            self.hand_on(context, before + feed + 1);
        }
        if self.kept.len() - self.streamed.min(self.kept.len()) > LINE {
            let end = self.kept.len() - open_character(&self.kept);
            self.hand_on(context, end);
        }
    }

    /// Hands on everything before `end`, as far as anybody is to read along.
    fn hand_on(&mut self, context: &ToolContext, end: usize) {
        let end = end.min(STREAMED);
        if self.watched == Watched::Yes && end > self.streamed {
            let piece = &self.kept[self.streamed..end];
            context.output(String::from_utf8_lossy(piece));
            self.streamed = end;
        }
    }
}

/// How many bytes at the end are the beginning of a character.
fn open_character(bytes: &[u8]) -> usize {
    let tail = &bytes[bytes.len().saturating_sub(3)..];
    (1..=tail.len())
        .find(|length| {
            let beginning = &tail[tail.len() - length..];
            let error = std::str::from_utf8(beginning).err();
            error.is_some_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
        })
        .unwrap_or(0)
}
