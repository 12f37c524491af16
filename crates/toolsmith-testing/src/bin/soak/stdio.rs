//! The client over standard streams: many requests in flight, some of them given up.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolsmith_testing::random::Random;

use crate::call::Sort;
use crate::tally::Tally;

/// How many requests may be in flight.
const IN_FLIGHT: usize = 8;
/// How long the oldest of them may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client; it reads on a thread of its own.
#[derive(Debug)]
pub(crate) struct Client {
    write: Option<ChildStdin>,
    waiting: Arc<Waiting>,
    reading: Option<JoinHandle<()>>,
    tally: Arc<Tally>,
    chance: Random,
    asked: u64,
}

/// What waits for an answer, by its id; ids of what was given up are kept away from it.
#[derive(Debug, Default)]
struct Waiting {
    requests: Mutex<HashMap<u64, (Sort, Instant)>>,
    fewer: Condvar,
}

impl Waiting {
    fn requests(&self) -> MutexGuard<'_, HashMap<u64, (Sort, Instant)>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until at most so many are left.
    fn until(&self, most: usize, patience: Duration) -> io::Result<()> {
        let end = Instant::now() + patience;
        let mut requests = self.requests();
        while requests.len() > most {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let text = format!("no answer came to {requests:?}");
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
            let woken = self.fewer.wait_timeout(requests, left);
            requests = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(())
    }
}

impl Client {
    /// Shakes hands.
    pub(crate) fn begin(
        (write, read): (ChildStdin, ChildStdout),
        tally: &Arc<Tally>,
    ) -> io::Result<Self> {
        let waiting = Arc::new(Waiting::default());
        let reading = thread::spawn({
            let (waiting, tally) = (Arc::clone(&waiting), Arc::clone(tally));
            move || read_answers(read, &waiting, &tally)
        });
        let mut client = Self {
            write: Some(write),
            waiting,
            reading: Some(reading),
            tally: Arc::clone(tally),
            chance: Random::new(100),
            asked: 0,
        };
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "soak", "version": "1" },
        });
        client.ask(Sort::Session, "initialize", &params)?;
        client.waiting.until(0, PATIENCE)?;
        client
            .say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string())?;
        Ok(client)
    }

    /// Asks for one more thing, once there is room for it.
    pub(crate) fn step(&mut self) -> io::Result<()> {
        self.waiting.until(IN_FLIGHT - 1, PATIENCE)?;
        let sort = Sort::drawn(&mut self.chance);
        let (method, params) = sort.request(&mut self.chance);
        match sort {
            Sort::Batch => {
                // Answered without an id, so nothing else may be so answered meanwhile.
                self.waiting.until(0, PATIENCE)?;
                self.asked += 1;
                self.tally.sent(sort);
                self.waiting.requests().insert(0, (sort, Instant::now()));
                let call = json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params });
                self.say(&json!([call, call]).to_string())
            }
            Sort::Cancelled => {
                let id = self.ask(sort, method, &params)?;
                thread::sleep(Duration::from_millis(20));
                let given_up = json!({
                    "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id },
                });
                if self.waiting.requests().remove(&id).is_some() {
                    self.tally.abandoned(sort);
                }
                self.say(&given_up.to_string())
            }
            _ => self.ask(sort, method, &params).map(drop),
        }
    }

    /// Waits until everything is answered.
    pub(crate) fn settle(&mut self, patience: Duration) -> io::Result<()> {
        self.waiting.until(0, patience)
    }

    /// Hangs up.
    pub(crate) fn end(mut self) {
        self.write = None;
        if let Some(reading) = self.reading.take() {
            let _ = reading.join();
        }
    }

    fn ask(&mut self, sort: Sort, method: &str, params: &Value) -> io::Result<u64> {
        self.asked += 1;
        let id = self.asked;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.tally.sent(sort);
        self.waiting.requests().insert(id, (sort, Instant::now()));
        self.say(&message.to_string()).map(|()| id)
    }

    fn say(&mut self, line: &str) -> io::Result<()> {
        let write = self.write.as_mut();
        let write = write.ok_or_else(|| io::Error::other("it was hung up"))?;
        write.write_all(format!("{line}\n").as_bytes())?;
        write.flush()
    }
}

fn read_answers(read: ChildStdout, waiting: &Waiting, tally: &Tally) {
    for line in BufReader::with_capacity(64 << 10, read).lines() {
        let Ok(line) = line else { return };
        let Ok(message) = serde_json::from_str::<Value>(&line) else {
            tally.answered(Sort::Echo, Duration::ZERO, &line);
            continue;
        };
        if message.get("method").is_some() {
            continue;
        }
        let id = message["id"].as_u64().unwrap_or_default();
        let asked = waiting.requests().remove(&id);
        if let Some((sort, when)) = asked {
            tally.answered(sort, when.elapsed(), &line);
            waiting.fewer.notify_all();
        }
    }
}
