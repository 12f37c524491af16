//! What a running call tells its client before it ends: progress, streamed output
//! and log entries.
//!
//! Recorders must not block, so notes go through a bounded channel; a client that
//! reads slower than a tool talks misses some, and nothing waits for it.

#![expect(deprecated, reason = "the protocol keeps logging for another year")]

use rmcp::RoleServer;
use rmcp::model::{LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use serde_json::Value;
use tokio::sync::mpsc;
use toolsmith_core::Progress;
use toolsmith_core::context::{Level, LogEntry};
use toolsmith_core::event::{Event, RecordError, Recorder, What};

use super::Life;
use super::client::Client;
use crate::wire;

/// How many notes may wait for a client to read them.
const WAITING: usize = 256;

/// Something a running call tells.
#[derive(Debug)]
pub(super) enum Note {
    Progress(Progress),
    Output(String),
    Log(LogEntry),
}

/// Takes the events of a call and keeps those a client may want.
#[derive(Debug)]
pub(super) struct NoteTaker(mpsc::Sender<Note>);

impl NoteTaker {
    pub(super) fn new() -> (Self, mpsc::Receiver<Note>) {
        let (sender, receiver) = mpsc::channel(WAITING);
        (Self(sender), receiver)
    }

    /// Tells whether a client wants any notes at all.
    pub(super) fn is_wanted(client: &Client) -> bool {
        client.progress.is_some() || client.level.is_some()
    }
}

impl Recorder for NoteTaker {
    fn record(&self, event: &Event<'_>) -> Result<(), RecordError> {
        let note = match &event.what {
            What::Progress { progress } => Note::Progress((*progress).clone()),
            What::Output { text } => Note::Output((*text).to_owned()),
            What::Logged { entry } => Note::Log((*entry).clone()),
            _ => return Ok(()),
        };
        let _ = self.0.try_send(note);
        Ok(())
    }
}

/// Tells a client what a call notes, in the terms of one request.
#[derive(Debug)]
pub(super) struct Teller {
    life: Life,
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    level: Option<Level>,
    told: Option<f64>,
    streams: Option<f64>,
}

impl Teller {
    pub(super) fn new(peer: Peer<RoleServer>, client: &Client, life: &Life) -> Self {
        Self {
            life: life.clone(),
            peer,
            token: client.progress.clone(),
            level: client.level,
            told: None,
            streams: None,
        }
    }

    /// Tells one note. A client that is gone is no failure of the call, and once
    /// nothing more is read from it, nobody may see to what it is told.
    pub(super) async fn tell(&mut self, note: Note) {
        let draining = self.life.draining.clone();
        let telling = async {
            match note {
                Note::Progress(progress) => self.progress(progress).await,
                Note::Output(text) => self.output(text).await,
                Note::Log(entry) => self.log(entry).await,
            }
        };
        tokio::select! {
            biased;
            () = telling => {}
            () = draining.cancelled() => {}
        }
    }

    async fn progress(&mut self, progress: Progress) {
        // The protocol wants progress to grow; what does not is nothing new.
        let grows = progress.done.is_finite() && self.told.is_none_or(|told| progress.done > told);
        let Some(token) = self.token.clone().filter(|_| grows) else {
            return;
        };
        self.told = Some(progress.done);
        self.streams = None;
        let mut params = ProgressNotificationParam::new(token, progress.done);
        params.total = progress.total.filter(|total| total.is_finite());
        params.message = progress.message;
        let _ = self.peer.notify_progress(params).await;
    }

    /// Output travels as the message of progress that counts its bytes, unless the
    /// tool counts something itself; to a log it goes either way.
    async fn output(&mut self, text: String) {
        let counts_itself = self.told.is_some() && self.streams.is_none();
        if let Some(token) = self.token.clone().filter(|_| !counts_itself) {
            let streamed = self.streams.unwrap_or(0.0) + text.len() as f64;
            self.streams = Some(streamed);
            self.told = Some(streamed);
            let mut params = ProgressNotificationParam::new(token, streamed);
            params.message = Some(text.clone());
            let _ = self.peer.notify_progress(params).await;
        }
        let entry = LogEntry::new(Level::Info, text);
        self.log(entry.by("output")).await;
    }

    async fn log(&mut self, entry: LogEntry) {
        let wanted = self.level.is_some_and(|level| entry.level >= level);
        if !wanted {
            return;
        }
        let level = wire::log::to_wire(entry.level);
        let data: Value = entry.message;
        let mut params = LoggingMessageNotificationParam::new(level, data);
        params.logger = entry.logger;
        let _ = self.peer.notify_logging_message(params).await;
    }
}
