//! Shield: what stands between a permitted call and its tool.
//!
//! A toolbox does not hammer, repeat or forget blindly. On its way to a tool a call meets
//! these guards, each a file of its own and none of them a judge of whether it may run:
//!
//! | guard | does |
//! |---|---|
//! | `answers` | gives a kept answer, and lets equal calls run once |
//! | `limits` | holds tools, sources and callers to their rates and quotas |
//! | `circuit` | leaves a source alone that keeps failing |
//! | `queue` | lets a source have so many calls at once, fairly among callers |
//! | `retry`, `budget` | make a call again that may succeed, but not too often |

mod answers;
mod budget;
mod circuit;
mod limits;
mod queue;
mod retry;
mod settings;
mod source;

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use serde_json::json;
use tokio::time::Instant;
use toolsmith_core::event::Clock as _;
use toolsmith_core::{ErrorKind, Outcome, Source as From, ToolError, duration};

pub(crate) use answers::{Answers, Forgetting};
pub use circuit::CircuitState;
pub(crate) use limits::Allowance;
pub(crate) use settings::Settled;
pub use settings::{CallerSettings, CircuitSettings, Protection, SourceSettings};
pub(crate) use source::{Source, Sources};
pub use source::{SourceStatus, SourceWatch};

use crate::execute::{Time, Waits, execute, time_limit};
use crate::permit::PermittedCall;
use crate::record::Trail;
use crate::registry::Entry;
use crate::toolbox::Inner;
use answers::{Found, Key};
use circuit::{Closed, Pass, Told};
use limits::{Callers, Spent};
use queue::{Entered, Full, Place};
use source::Counts;

/// How long a call that was given up must have run to count against its source.
const HUNG: Duration = Duration::from_secs(5);

/// What the guards of a toolbox keep, beside what they keep of each source.
#[derive(Debug, Default)]
pub(crate) struct Shield {
    pub(crate) answers: Answers,
    caller_settings: ArcSwap<CallerSettings>,
    callers: Callers,
}

/// Takes a permitted call past the guards to its tool, and its outcome back.
pub(crate) async fn carry(
    inner: &Arc<Inner>,
    call: &PermittedCall,
    mut trail: Box<Trail>,
    waits: Waits,
) -> (Outcome, Box<Trail>) {
    let entry = call.entry();
    let Some(lifetime) = entry
        .binding
        .cache
        .filter(|_| entry.definition.changes_nothing())
    else {
        return guarded(inner, call, trail, waits).await;
    };
    let caller = trail.caller().clone();
    let key = Key::of(call, caller.identity(), caller.agent());
    let limit = time_limit(inner, call, caller.timeout());
    let began = Instant::now();
    loop {
        let mut landed = match inner.shield.answers.find(key, call) {
            Found::Answer(outcome, age) => {
                trail.answered_from_cache(age);
                inner.count_cached(&entry.definition.name);
                return ((*outcome).clone(), trail);
            }
            Found::Flying(landed) => landed,
            Found::Fetch(fetching) => {
                let (outcome, trail) = guarded(inner, call, trail, waits).await;
                let given_up = is_given_up(&outcome);
                let outcome = match given_up {
                    // Whoever else waits for it still wants it.
                    true => outcome,
                    false => fetching.landed(outcome, lifetime, &inner.limits()),
                };
                return (outcome, trail);
            }
        };
        let left = limit.saturating_sub(began.elapsed());
        let end = tokio::select! {
            biased;
            () = caller.cancellation().cancelled() => Err(ErrorKind::Cancelled),
            landed = tokio::time::timeout(left, landed.wait_for(Option::is_some)) => match landed {
                Ok(landed) => Ok(landed.ok().and_then(|landed| landed.clone())),
                Err(_) => Err(ErrorKind::Timeout),
            },
        };
        match end {
            Ok(Some(outcome)) => {
                trail.answered_from_cache(Duration::ZERO);
                inner.count_cached(&entry.definition.name);
                return ((*outcome).clone(), trail);
            }
            // Whoever was to get it went away: somebody else must.
            Ok(None) => {}
            Err(kind) => {
                let message = "an equal call was under way and did not answer in time";
                return (Outcome::failure(ToolError::new(kind, message)), trail);
            }
        }
    }
}

fn is_given_up(outcome: &Outcome) -> bool {
    let kind = outcome.error.as_ref().map(|error| error.kind);
    kind == Some(ErrorKind::Cancelled)
}

/// Runs a call within its limits, again where that may help.
async fn guarded(
    inner: &Arc<Inner>,
    call: &PermittedCall,
    mut trail: Box<Trail>,
    waits: Waits,
) -> (Outcome, Box<Trail>) {
    let entry = call.entry();
    let is_remote = matches!(entry.definition.source, From::Rest | From::Mcp { .. });
    let caller = trail.caller().clone();
    if let Err(error) = inner.shield.admit(entry, caller.program()) {
        Counts::count(&entry.source.counts.turned_away);
        return (Outcome::failure(error), trail);
    }
    let usual = if is_remote { retry::USUAL } else { 0 };
    let repeats = u32::from(entry.binding.retries.unwrap_or(usual));
    if repeats > 0 {
        entry.source.budget.called();
    }
    let whole = time_limit(inner, call, caller.timeout());
    let begun = trail.elapsed();
    let mut last: Option<Outcome> = None;
    let mut repeated = 0;
    loop {
        let used = trail.elapsed().saturating_sub(begun);
        let left = whole.saturating_sub(used);
        let passed = pass(entry, is_remote, &mut trail, whole).await;
        let (place, pass) = match passed {
            Ok(passed) => passed,
            // What the tool itself said comes before what we say.
            Err(error) => return (last.unwrap_or_else(|| error.into()), trail),
        };
        trail.attempted();
        let time = Time { whole, left };
        let began = Instant::now();
        let outcome;
        (outcome, trail) = execute(inner, call, trail, waits, time).await;
        drop(place);
        if let Some(pass) = pass {
            pass.end(told(&outcome, began.elapsed()));
        }
        let used = trail.elapsed().saturating_sub(begun);
        let left = whole.saturating_sub(used);
        let source = &entry.source;
        let pause = (repeated < repeats)
            .then(|| retry::pause(&outcome, entry, repeated, left, &source.budget));
        let Some(pause) = pause.flatten() else {
            return (outcome, trail);
        };
        tokio::select! {
            biased;
            () = caller.cancellation().cancelled() => return (outcome, trail),
            () = tokio::time::sleep(pause) => {}
        }
        repeated += 1;
        Counts::count(&source.counts.repeated);
        inner.count_repeated(&entry.definition.name);
        last = Some(outcome);
    }
}

/// Waits for a place at the source, and passes its circuit.
async fn pass(
    entry: &Entry,
    is_remote: bool,
    trail: &mut Trail,
    limit: Duration,
) -> Result<(Option<Place>, Option<Pass>), ToolError> {
    let source = &entry.source;
    let in_force = source.in_force.load();
    let circuit = in_force.circuit(is_remote);
    let shut = |closed: Closed| {
        Counts::count(&source.counts.spared);
        left_alone(&source.name, &closed)
    };
    if circuit.is_some() {
        source.circuit.looks_shut().map_err(shut)?;
    }
    let place = match in_force.queue(is_remote) {
        Some((most, room)) => Some(turn(source, most, room, trail, limit).await?),
        None => None,
    };
    let pass = match circuit {
        Some(settings) => Some(source.circuit.enter(settings).map_err(shut)?),
        None => None,
    };
    Ok((place, pass))
}

/// Waits for the call's turn, which does not count as its time.
async fn turn(
    source: &Source,
    most: usize,
    room: usize,
    trail: &mut Trail,
    limit: Duration,
) -> Result<Place, ToolError> {
    let caller = trail.caller().clone();
    let full = |full: Full| {
        Counts::count(&source.counts.turned_away);
        no_room(&source.name, full)
    };
    let receiver = match source.queue.enter(caller.program(), most, room) {
        Ok(Entered::Now(place)) => return Ok(place),
        Ok(Entered::Later(receiver)) => receiver,
        Err(refused) => return Err(full(refused)),
    };
    let began = Instant::now();
    let waited = tokio::select! {
        biased;
        () = caller.cancellation().cancelled() => {
            Err(ToolError::new(ErrorKind::Cancelled, "was given up while it waited for its turn"))
        }
        place = tokio::time::timeout(limit, receiver) => match place {
            Ok(Ok(place)) => Ok(place),
            // It had to make room.
            Ok(Err(_)) => Err(full(source.queue.full(most))),
            Err(_) => Err(full(source.queue.full(most))),
        },
    };
    trail.queued(began.elapsed());
    waited
}

impl Shield {
    pub(crate) fn new(callers: CallerSettings) -> Self {
        Self {
            caller_settings: ArcSwap::from_pointee(callers),
            ..Self::default()
        }
    }

    pub(crate) fn settle(&self, callers: CallerSettings) {
        self.caller_settings.store(Arc::new(callers));
    }

    /// Takes what a call costs of every allowance it falls under, or nothing.
    fn admit(&self, entry: &Entry, caller: &str) -> Result<(), ToolError> {
        let binding = &entry.binding;
        let tool = || format!("`{}`", entry.definition.name);
        entry
            .allowance
            .take(binding.rate, binding.quota)
            .map_err(|spent| too_many(&tool(), spent))?;
        let in_force = entry.source.in_force.load();
        let (rate, quota) = (in_force.rate(), in_force.quota());
        let give_back_tool = || entry.allowance.give_back(binding.rate, binding.quota);
        if let Err(spent) = entry.source.allowance.take(rate, quota) {
            give_back_tool();
            return Err(too_many(
                &format!("the source `{}`", entry.source.name),
                spent,
            ));
        }
        let settings = **self.caller_settings.load();
        if let Err(spent) = self.callers.take(caller, settings) {
            give_back_tool();
            entry.source.allowance.give_back(rate, quota);
            return Err(too_many("a tool by you", spent));
        }
        Ok(())
    }
}

/// What an outcome tells about the source it came from.
fn told(outcome: &Outcome, took: Duration) -> Told {
    match &outcome.error {
        None => Told::Well,
        Some(error) if retry::is_of_source(error) => Told::Failed,
        // Whoever gave up after that long did so because nothing came.
        Some(error) if error.kind == ErrorKind::Cancelled && took >= HUNG => Told::Failed,
        Some(error) if error.kind == ErrorKind::Cancelled => Told::Nothing,
        Some(_) => Told::Well,
    }
}

fn left_alone(source: &str, closed: &Closed) -> ToolError {
    let Closed { why, wait, state } = closed;
    let message = match state {
        CircuitState::HalfOpen => {
            format!("`{source}` {why}; one call is seeing whether it is well again")
        }
        _ => format!(
            "`{source}` {why} and is left alone for another {}",
            rounded(*wait)
        ),
    };
    ToolError::new(ErrorKind::Unavailable, message)
        .with_retry_after(*wait)
        .with_details(json!({ "source": source, "circuit": state }))
}

fn no_room(source: &str, full: Full) -> ToolError {
    let Full {
        running,
        waiting,
        wait,
    } = full;
    let message = format!(
        "`{source}` has {running} calls under way and {waiting} waiting; come back in {}",
        rounded(wait)
    );
    ToolError::new(ErrorKind::Exhausted, message)
        .with_retry_after(wait)
        .with_details(json!({ "source": source, "running": running, "waiting": waiting }))
}

fn too_many(what: &str, spent: Spent) -> ToolError {
    let Spent { of, wait } = spent;
    let message = format!("{what} may be called {of}; come back in {}", rounded(wait));
    ToolError::new(ErrorKind::Exhausted, message)
        .with_retry_after(wait)
        .with_details(json!({ "limit": of }))
}

/// A wait as a person reads it: in whole seconds where it is several.
fn rounded(wait: Duration) -> String {
    let millis = wait.as_micros().div_ceil(1000);
    let millis = u64::try_from(millis).unwrap_or(u64::MAX);
    duration::format(match millis {
        0..2000 => Duration::from_millis(millis),
        _ => Duration::from_secs(millis.div_ceil(1000)),
    })
}
