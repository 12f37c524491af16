//! Programs nobody waits for. Each belongs to the caller who started it: to others it is
//! as if it were not there.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::process::{Phase, Process};
use crate::refusal::{Reason, Refusal};

/// How many jobs may run at once.
pub(crate) const LIVE: usize = 64;

/// How many that have ended are kept to be read.
const ENDED: usize = 32;

/// The jobs of a toolbox.
#[derive(Debug)]
pub(crate) struct Jobs {
    table: Mutex<Table>,
    places: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct Table {
    last: u64,
    jobs: BTreeMap<u64, Arc<Job>>,
}

/// A program in the background.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) id: u64,
    caller: String,
    pub(crate) label: String,
    pub(crate) description: Option<String>,
    pub(crate) folder: String,
    pub(crate) process: Process,
    /// Up to where its output was read, and the line that was not complete then.
    read: Mutex<(u64, String)>,
    /// Whether its caller knows that it has ended.
    is_told: AtomicBool,
}

impl Default for Jobs {
    fn default() -> Self {
        Self {
            table: Mutex::default(),
            places: Arc::new(Semaphore::new(LIVE)),
        }
    }
}

impl Jobs {
    /// A place for one more job.
    pub(crate) fn place(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        place.map_err(|_| {
            let message = format!("{LIVE} jobs run in the background, and no more may");
            Refusal::new(Reason::Busy, message)
                .next("End one with shell_kill, or wait for one to end; shell_list names yours")
        })
    }

    /// Takes a program in, which has a place.
    pub(crate) fn add(
        &self,
        caller: &str,
        process: &Process,
        label: &str,
        description: Option<&str>,
        folder: &str,
        read: u64,
    ) -> Arc<Job> {
        let mut table = self.table();
        table.last += 1;
        let job = Arc::new(Job {
            id: table.last,
            caller: caller.to_owned(),
            label: label.to_owned(),
            description: description.map(str::to_owned),
            folder: folder.to_owned(),
            process: process.clone(),
            read: Mutex::new((read, String::new())),
            is_told: AtomicBool::new(false),
        });
        table.jobs.insert(job.id, Arc::clone(&job));
        let ended = table.jobs.values().filter(|job| job.is_over());
        let ended: Vec<u64> = ended.map(|job| job.id).collect();
        for oldest in ended.iter().take(ended.len().saturating_sub(ENDED)) {
            table.jobs.remove(oldest);
        }
        job
    }

    /// A job of a caller's.
    pub(crate) fn get(&self, caller: &str, id: &str) -> Result<Arc<Job>, Refusal> {
        let number = id.trim().trim_start_matches('#').parse::<u64>().ok();
        let table = self.table();
        let job = number.and_then(|number| table.jobs.get(&number));
        if let Some(job) = job.filter(|job| job.caller == caller) {
            return Ok(Arc::clone(job));
        }
        let own = table.jobs.values().filter(|job| job.caller == caller);
        let own: Vec<String> = own.map(|job| job.id.to_string()).collect();
        let next = match own.as_slice() {
            [] => "There are none; run_in_background starts one".to_owned(),
            own => format!(
                "There are {}; shell_list says what they are",
                own.join(", ")
            ),
        };
        Err(Refusal::new(Reason::NotFound, format!("there is no job {id:?}")).next(next))
    }

    /// The jobs of a caller's, the oldest first.
    pub(crate) fn of(&self, caller: &str) -> Vec<Arc<Job>> {
        let table = self.table();
        let own = table.jobs.values().filter(|job| job.caller == caller);
        own.cloned().collect()
    }

    /// What a caller has not been told yet: which of its jobs have ended.
    pub(crate) fn news(&self, caller: &str) -> Vec<String> {
        let own = self.of(caller);
        let ended = own
            .iter()
            .filter(|job| job.is_over() && !job.is_told.load(Ordering::Relaxed));
        let mut news = Vec::new();
        for job in ended {
            job.told();
            news.push(format!(
                "job {} ({}) {}; read it with shell_output(id=\"{}\")",
                job.id,
                job.short_label(),
                job.state().1,
                job.id
            ));
        }
        news
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Job {
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.process.phase(), Phase::Ended(_))
    }

    /// Up to where its output was read.
    pub(crate) fn read_to(&self) -> u64 {
        self.lock_read().0
    }

    /// The line that was not complete when it was last read.
    pub(crate) fn unfinished(&self) -> String {
        self.lock_read().1.clone()
    }

    /// Notes how far it was read, and tells whether the unfinished line was seen before.
    pub(crate) fn note_read(&self, place: u64, unfinished: &str) -> bool {
        let mut read = self.lock_read();
        let is_seen = read.1 == unfinished && place <= read.0;
        *read = (read.0.max(place), unfinished.to_owned());
        is_seen
    }

    fn lock_read(&self) -> MutexGuard<'_, (u64, String)> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that its caller knows how it ended.
    pub(crate) fn told(&self) {
        self.is_told.store(true, Ordering::Relaxed);
    }

    /// What it runs, in a few words.
    pub(crate) fn short_label(&self) -> String {
        super::report::one_line(&self.label, 60)
    }

    /// A word for how far it is, and a sentence.
    pub(crate) fn state(&self) -> (&'static str, String) {
        match self.process.phase() {
            Phase::Running => ("running", "runs".to_owned()),
            Phase::Left { exit, left } => {
                let how = exit.map_or("has ended".to_owned(), super::exit::Exit::told);
                let named = super::report::named(&left);
                (
                    "running",
                    format!("{how}, and {named} it started still run"),
                )
            }
            Phase::Ended(ended) => {
                let how = ended
                    .exit
                    .map_or("has ended".to_owned(), super::exit::Exit::told);
                let word = match (ended.was_ended, ended.exit) {
                    (true, _) => "killed",
                    (false, Some(exit)) if exit.is_success() => "finished",
                    _ => "failed",
                };
                (word, how)
            }
        }
    }
}
