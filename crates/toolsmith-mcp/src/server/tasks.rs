//! Calls that take long, as tasks: the client gets a name at once and asks later.
//!
//! A call that is not over after a moment becomes a task, where the client can take
//! one. What it asks from then on, the client finds when it looks. Names are random,
//! so only who was given one can use it.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rmcp::model::{
    CallToolResult, CreateTaskResult, DetailedTask, ErrorData, GetTaskResult, InputResponses,
    JsonObject, Task, TaskPayload, TaskStatus,
};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::oneshot;
use toolsmith_core::date::Date;
use toolsmith_core::reply::{Inquiry, Response};
use toolsmith_core::{CancellationToken, Reply};

use super::ask::Asked;
use super::errand::{Errand, next_note, requests};
use crate::wire;

/// How long a call may take before it becomes a task.
pub(super) const MOMENT: Duration = Duration::from_millis(500);

/// How long a task is remembered.
const MEMORY: Duration = Duration::from_secs(3600);

/// How many tasks are remembered; beyond that calls are answered as they always were.
const MOST: usize = 1024;

/// How many bytes of results are remembered; the oldest give way.
const MOST_BYTES: usize = 64 << 20;

/// About how many bytes the requests of those that go on may have together; beyond that,
/// too, calls are answered as they always were.
const MOST_GOING_ON: usize = 32 << 20;

/// How often a client should look.
const POLL_MS: u64 = 500;

/// Tells the time of day, which only a host may do.
pub(super) type Clock = Box<dyn Fn() -> SystemTime + Send + Sync>;

/// The tasks of one server.
pub(super) struct Tasks {
    clock: Arc<Clock>,
    entries: Arc<Mutex<HashMap<String, Entry>>>,
}

struct Entry {
    created: SystemTime,
    updated: SystemTime,
    state: State,
    cancellation: CancellationToken,
    used_keys: HashSet<String>,
    /// About how many bytes its request has, while it goes on.
    request_bytes: usize,
    /// How many bytes its result has.
    bytes: usize,
}

enum State {
    Working,
    Asks(Open),
    Completed(JsonObject),
    Failed(JsonObject),
    Cancelled,
}

/// Questions of which some may be answered.
struct Open {
    inquiries: Vec<(Inquiry, Option<Response>)>,
    answer: oneshot::Sender<Vec<Response>>,
}

impl Tasks {
    pub(super) fn new(clock: Clock) -> Self {
        Self {
            clock: Arc::new(clock),
            entries: Arc::default(),
        }
    }

    /// Tells whether another task can be remembered.
    pub(super) fn has_room(&self) -> bool {
        let entries = self.entries();
        let going_on: usize = entries.values().map(|entry| entry.request_bytes).sum();
        entries.len() < MOST && going_on < MOST_GOING_ON
    }

    /// Goes on with an errand as a task. `finish` makes the result of its reply.
    pub(super) fn begin(
        &self,
        errand: Errand<Reply>,
        request_bytes: usize,
        finish: impl FnOnce(Reply) -> Result<CallToolResult, ErrorData> + Send + 'static,
    ) -> Option<CreateTaskResult> {
        let name = new_name()?;
        let now = (self.clock)();
        let entry = Entry {
            created: now,
            updated: now,
            state: State::Working,
            cancellation: errand.cancellation.clone(),
            used_keys: HashSet::new(),
            request_bytes,
            bytes: 0,
        };
        let told = task(&name, &entry);
        self.entries().insert(name.clone(), entry);
        let driver = Driver {
            name,
            clock: Arc::clone(&self.clock),
            entries: Arc::clone(&self.entries),
        };
        tokio::spawn(driver.drive(errand, finish));
        Some(CreateTaskResult::new(told))
    }

    /// How a task is doing.
    pub(super) fn get(&self, name: &str) -> Result<GetTaskResult, ErrorData> {
        let entries = self.entries();
        let entry = entries.get(name).ok_or_else(unknown)?;
        let payload = match &entry.state {
            State::Working => TaskPayload::Working,
            State::Cancelled => TaskPayload::Cancelled,
            State::Completed(result) => TaskPayload::Completed {
                result: result.clone(),
            },
            State::Failed(error) => TaskPayload::Failed {
                error: error.clone(),
            },
            State::Asks(open) => {
                let inquiries: Vec<Inquiry> = open
                    .inquiries
                    .iter()
                    .filter(|(_, response)| response.is_none())
                    .map(|(inquiry, _)| inquiry.clone())
                    .collect();
                TaskPayload::InputRequired {
                    input_requests: requests(&inquiries).unwrap_or_default(),
                }
            }
        };
        let detailed = DetailedTask::new(task(name, entry), payload);
        Ok(GetTaskResult::new(detailed))
    }

    /// Takes answers to what a task asks; what it did not ask is ignored.
    pub(super) fn update(&self, name: &str, mut sent: InputResponses) -> Result<(), ErrorData> {
        let mut entries = self.entries();
        let entry = entries.get_mut(name).ok_or_else(unknown)?;
        let State::Asks(open) = &mut entry.state else {
            return Ok(());
        };
        for (inquiry, response) in &mut open.inquiries {
            if response.is_none()
                && let Some(sent) = sent.remove(&inquiry.key)
            {
                *response = wire::question::answer(&inquiry.question, sent);
            }
        }
        if open
            .inquiries
            .iter()
            .all(|(_, response)| response.is_some())
        {
            entry.updated = (self.clock)();
            let state = std::mem::replace(&mut entry.state, State::Working);
            if let State::Asks(open) = state {
                let given = open.inquiries.into_iter().filter_map(|(_, given)| given);
                let _ = open.answer.send(given.collect());
            }
        }
        Ok(())
    }

    /// Gives a task up; one that is over stays as it is.
    pub(super) fn cancel(&self, name: &str) -> Result<(), ErrorData> {
        let mut entries = self.entries();
        let entry = entries.get_mut(name).ok_or_else(unknown)?;
        if matches!(entry.state, State::Working | State::Asks(_)) {
            entry.cancellation.cancel();
            entry.state = State::Cancelled;
            entry.updated = (self.clock)();
        }
        Ok(())
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sees a task through.
struct Driver {
    name: String,
    clock: Arc<Clock>,
    entries: Arc<Mutex<HashMap<String, Entry>>>,
}

impl Driver {
    async fn drive(
        self,
        mut errand: Errand<Reply>,
        finish: impl FnOnce(Reply) -> Result<CallToolResult, ErrorData>,
    ) {
        let reply = loop {
            tokio::select! {
                // The end first: a tool that talks without pause holds nothing up.
                biased;
                reply = &mut errand.work => break reply,
                asked = errand.asked.next() => self.note(|entry| entry.ask(asked)),
                Some(_) = next_note(&mut errand.notes) => {}
            }
        };
        let state = match finish(reply) {
            Ok(result) => State::Completed(object(&result)),
            Err(error) => State::Failed(object(&error)),
        };
        let bytes = match &state {
            State::Completed(result) => serde_json::to_vec(result).map_or(0, |bytes| bytes.len()),
            _ => 0,
        };
        self.note(|entry| {
            entry.request_bytes = 0;
            if !matches!(entry.state, State::Cancelled) {
                entry.state = state;
                entry.bytes = bytes;
            }
        });
        self.forget_surplus();
        tokio::time::sleep(MEMORY).await;
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.remove(&self.name);
    }

    /// Forgets the oldest results while all of them together are too large.
    fn forget_surplus(&self) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes: usize = entries.values().map(|entry| entry.bytes).sum();
        while bytes > MOST_BYTES {
            let held = entries.iter().filter(|(_, entry)| entry.bytes > 0);
            let oldest = held.min_by_key(|(_, entry)| entry.updated);
            let Some(oldest) = oldest.map(|(name, _)| name.clone()) else {
                return;
            };
            bytes -= entries.remove(&oldest).map_or(0, |entry| entry.bytes);
        }
    }

    fn note(&self, change: impl FnOnce(&mut Entry)) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries.get_mut(&self.name) {
            change(entry);
            entry.updated = (self.clock)();
        }
    }
}

impl Entry {
    /// Opens questions, each under a key this task has not used yet. Dropping what
    /// the protocol has no words for tells the asker that nobody answers. A call asks one
    /// thing at a time, so there are none open that these would replace.
    fn ask(&mut self, asked: Asked) {
        if requests(&asked.inquiries).is_none() || matches!(self.state, State::Cancelled) {
            return;
        }
        let inquiries = asked.inquiries.into_iter().map(|mut inquiry| {
            let bare = inquiry.key.clone();
            let mut number = 2;
            while !self.used_keys.insert(inquiry.key.clone()) {
                inquiry.key = format!("{bare}-{number}");
                number += 1;
            }
            (inquiry, None)
        });
        let inquiries = inquiries.collect();
        self.state = State::Asks(Open {
            inquiries,
            answer: asked.answer,
        });
    }
}

fn task(name: &str, entry: &Entry) -> Task {
    let status = match entry.state {
        State::Working => TaskStatus::Working,
        State::Asks(_) => TaskStatus::InputRequired,
        State::Completed(_) => TaskStatus::Completed,
        State::Failed(_) => TaskStatus::Failed,
        State::Cancelled => TaskStatus::Cancelled,
    };
    Task::new(name, status, written(entry.created), written(entry.updated))
        .with_ttl_ms(u64::try_from(MEMORY.as_millis()).unwrap_or(u64::MAX))
        .with_poll_interval_ms(POLL_MS)
}

fn unknown() -> ErrorData {
    ErrorData::invalid_params("there is no such task, or it was forgotten", None)
}

fn object(value: &impl Serialize) -> JsonObject {
    match serde_json::to_value(value) {
        Ok(Value::Object(object)) => object,
        _ => JsonObject::new(),
    }
}

fn new_name() -> Option<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    let mut name = "task-".to_owned();
    for byte in bytes {
        let _ = write!(name, "{byte:02x}");
    }
    Some(name)
}

/// A time in ISO 8601, in UTC.
fn written(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (date, second) = (Date::from(time), since.as_secs() % 86_400);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let millis = since.subsec_millis();
    format!("{date}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_iso_8601() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_785_196_799, "2026-07-27T23:59:59.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(written(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
    }
}
