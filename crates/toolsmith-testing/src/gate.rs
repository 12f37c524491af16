//! Gates: tools that run until the test lets them go, and count who is inside.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use serde_json::Value;
use tokio::sync::watch;
use toolsmith_core::{AnyTool, Outcome, ToolDef};

/// Who is inside, and how many ever were at once.
#[derive(Debug, Default)]
struct Count {
    now: AtomicUsize,
    peak: AtomicUsize,
    total: AtomicUsize,
}

impl Count {
    fn enter(&self) {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.peak.fetch_max(now, Ordering::SeqCst);
        self.total.fetch_add(1, Ordering::SeqCst);
    }

    fn leave(&self) {
        self.now.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A gate for asynchronous tools. Clones are the same gate.
#[derive(Clone, Debug)]
pub struct Gate {
    count: Arc<Count>,
    inside: watch::Sender<usize>,
    tickets: watch::Sender<usize>,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            count: Arc::default(),
            inside: watch::Sender::new(0),
            tickets: watch::Sender::new(0),
        }
    }
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// A tool that waits at the gate and answers with its arguments.
    pub fn tool(&self, definition: ToolDef) -> AnyTool {
        let gate = self.clone();
        AnyTool::from_fn(definition, move |arguments: Value, _context| {
            let gate = gate.clone();
            async move {
                gate.pass().await;
                Outcome::ok(arguments)
            }
        })
    }

    /// Goes in, waits to be let go, goes out.
    pub async fn pass(&self) {
        let _inside = Inside::enter(self);
        let mut tickets = self.tickets.subscribe();
        loop {
            let taken = self.tickets.send_if_modified(|left| {
                let any = *left > 0;
                *left = left.saturating_sub(1);
                any
            });
            if taken || tickets.changed().await.is_err() {
                return;
            }
        }
    }

    /// Lets so many go, now or when they come.
    pub fn release(&self, count: usize) {
        self.tickets.send_modify(|left| *left += count);
    }

    /// Lets everybody go from now on.
    pub fn open(&self) {
        self.tickets.send_modify(|left| *left = usize::MAX / 2);
    }

    /// Waits until exactly so many are inside.
    pub async fn inside(&self, count: usize) {
        let mut inside = self.inside.subscribe();
        // The sender lives as long as the gate.
        let _ = inside.wait_for(|now| *now == count).await;
    }

    /// How many are inside now.
    pub fn now(&self) -> usize {
        self.count.now.load(Ordering::SeqCst)
    }

    /// The most that ever were inside at once.
    pub fn peak(&self) -> usize {
        self.count.peak.load(Ordering::SeqCst)
    }

    /// How many ever went in.
    pub fn total(&self) -> usize {
        self.count.total.load(Ordering::SeqCst)
    }
}

/// Somebody inside; an abort leaves too.
struct Inside<'g>(&'g Gate);

impl<'g> Inside<'g> {
    fn enter(gate: &'g Gate) -> Self {
        gate.count.enter();
        gate.inside.send_replace(gate.now());
        Self(gate)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.count.leave();
        self.0.inside.send_replace(self.0.now());
    }
}

/// A gate for tools that block their thread. Clones are the same gate.
#[derive(Clone, Debug, Default)]
pub struct BlockingGate {
    count: Arc<Count>,
    state: Arc<(Mutex<usize>, Condvar)>,
}

impl BlockingGate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// A blocking tool that waits at the gate, whatever its context says, and
    /// answers with its arguments.
    pub fn tool(&self, definition: ToolDef) -> AnyTool {
        let gate = self.clone();
        AnyTool::from_blocking_fn(definition, move |arguments: Value, _context| {
            gate.pass();
            Outcome::ok(arguments)
        })
    }

    /// Goes in, blocks until it is let go, goes out.
    pub fn pass(&self) {
        self.count.enter();
        let (tickets, changed) = &*self.state;
        changed.notify_all();
        let tickets = tickets.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tickets = changed
            .wait_while(tickets, |left| *left == 0)
            .unwrap_or_else(PoisonError::into_inner);
        *tickets -= 1;
        drop(tickets);
        self.count.leave();
        changed.notify_all();
    }

    /// Lets so many go, now or when they come.
    pub fn release(&self, count: usize) {
        let (tickets, changed) = &*self.state;
        *tickets.lock().unwrap_or_else(PoisonError::into_inner) += count;
        changed.notify_all();
    }

    /// Blocks until a condition on the number inside and the number that ever went
    /// in holds.
    pub fn wait_until(&self, holds: impl Fn(usize, usize) -> bool) {
        let (tickets, changed) = &*self.state;
        let guard = tickets.lock().unwrap_or_else(PoisonError::into_inner);
        // Those who enter count themselves before they take the lock, so a look
        // at the counters under it can be late but is looked at again in time.
        let mut guard = guard;
        while !holds(self.now(), self.total()) {
            let pause = std::time::Duration::from_millis(5);
            guard = changed
                .wait_timeout(guard, pause)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// How many are inside now.
    pub fn now(&self) -> usize {
        self.count.now.load(Ordering::SeqCst)
    }

    /// How many ever went in.
    pub fn total(&self) -> usize {
        self.count.total.load(Ordering::SeqCst)
    }

    /// The most that ever were inside at once.
    pub fn peak(&self) -> usize {
        self.count.peak.load(Ordering::SeqCst)
    }
}
