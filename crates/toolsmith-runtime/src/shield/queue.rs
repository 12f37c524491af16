//! A line before a source that has enough to do.
//!
//! Whoever is waiting is let in caller by caller, so that one who brings a thousand calls
//! delays the others by one call each. When the line is full, the newest call of whoever
//! has most of them in it makes room.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

/// What callers are told to wait at least, and at most.
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(60);

/// The line before one source. Cheap to clone; clones share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    running: usize,
    /// How many may run at once, as it was said last.
    most: usize,
    waiting: usize,
    lines: HashMap<Arc<str>, VecDeque<oneshot::Sender<Place>>>,
    /// Whose turn is next; each caller that has a line once.
    turns: VecDeque<Arc<str>>,
    /// How long a place is held, as a moving mean.
    held: Duration,
}

/// A place at the source. Dropped, it goes to whoever is next.
#[derive(Debug)]
pub(crate) struct Place {
    queue: Option<Queue>,
    since: Instant,
}

/// There is no room to wait either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full {
    pub(crate) running: usize,
    pub(crate) waiting: usize,
    /// When there may be.
    pub(crate) wait: Duration,
}

/// A place at once, or the hope for one.
#[derive(Debug)]
pub(crate) enum Entered {
    Now(Place),
    Later(oneshot::Receiver<Place>),
}

impl Queue {
    /// Takes a place, or one in the line; `most` run at once and `room` more may wait.
    pub(crate) fn enter(&self, caller: &str, most: usize, room: usize) -> Result<Entered, Full> {
        let mut state = self.state();
        state.most = most;
        // Nobody overtakes who is waiting already.
        if state.running < most && state.waiting == 0 {
            state.running += 1;
            drop(state);
            return Ok(Entered::Now(self.place()));
        }
        if state.waiting >= room {
            state.sweep();
        }
        let mut evicted = None;
        if state.waiting >= room {
            evicted = state.make_room(caller);
            if evicted.is_none() {
                return Err(state.full(most));
            }
        }
        let (sender, receiver) = oneshot::channel();
        state.waiting += 1;
        if let Some(line) = state.lines.get_mut(caller) {
            line.push_back(sender);
        } else {
            let caller: Arc<str> = caller.into();
            state.turns.push_back(Arc::clone(&caller));
            state.lines.insert(caller, VecDeque::from([sender]));
        }
        drop(state);
        // Whoever had to go hears of it by this.
        drop(evicted);
        // More may run than before.
        self.let_in();
        Ok(Entered::Later(receiver))
    }

    /// What whoever lost its place in the line is told.
    pub(crate) fn full(&self, most: usize) -> Full {
        self.state().full(most)
    }

    /// How many run, and how many wait.
    pub(crate) fn load(&self) -> (usize, usize) {
        let state = self.state();
        (state.running, state.waiting)
    }

    fn place(&self) -> Place {
        Place {
            queue: Some(self.clone()),
            since: Instant::now(),
        }
    }

    /// Takes a place back, and gives it to whoever is next.
    fn hand_on(&self, held: Duration) {
        {
            let mut state = self.state();
            state.held = (state.held * 7 + held) / 8;
            state.running -= 1;
        }
        self.let_in();
    }

    /// Lets in as many as may run.
    fn let_in(&self) {
        loop {
            let next = {
                let mut state = self.state();
                if state.running >= state.most {
                    return;
                }
                let Some(next) = state.next() else { return };
                state.running += 1;
                next
            };
            if let Err(mut place) = next.send(self.place()) {
                // It is not waiting any more, and its place goes to the next.
                place.queue = None;
                self.state().running -= 1;
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The next in turn, taken out of its line.
    fn next(&mut self) -> Option<oneshot::Sender<Place>> {
        let caller = self.turns.pop_front()?;
        let line = self.lines.get_mut(&caller)?;
        let next = line.pop_front();
        if line.is_empty() {
            self.lines.remove(&caller);
        } else {
            self.turns.push_back(caller);
        }
        self.waiting -= usize::from(next.is_some());
        next
    }

    /// Forgets those that do not wait any more.
    fn sweep(&mut self) {
        for line in self.lines.values_mut() {
            line.retain(|waiting| !waiting.is_closed());
        }
        self.lines.retain(|_, line| !line.is_empty());
        let lines = &self.lines;
        self.turns.retain(|caller| lines.contains_key(caller));
        self.waiting = self.lines.values().map(VecDeque::len).sum();
    }

    /// Takes the newest out of the longest line, if that is another's and longer.
    fn make_room(&mut self, caller: &str) -> Option<oneshot::Sender<Place>> {
        let own = self.lines.get(caller).map_or(0, VecDeque::len);
        let longest = self.lines.values_mut().max_by_key(|line| line.len())?;
        if longest.len() <= own + 1 {
            return None;
        }
        self.waiting -= 1;
        longest.pop_back()
    }

    fn full(&self, most: usize) -> Full {
        let before = u32::try_from(self.waiting + 1).unwrap_or(u32::MAX);
        let at_once = u32::try_from(most.max(1)).unwrap_or(u32::MAX);
        let wait = self.held.saturating_mul(before) / at_once;
        Full {
            running: self.running,
            waiting: self.waiting,
            wait: wait.clamp(SHORTEST, LONGEST),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(queue) = self.queue.take() {
            queue.hand_on(self.since.elapsed());
        }
    }
}
