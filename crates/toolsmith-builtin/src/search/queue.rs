//! How the threads of a walk share what is left to do.
//!
//! Each has a pile of its own and takes the newest first, so that few folders are open
//! at once. Whoever sees another without work gives it the older half.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What the threads have in common.
#[derive(Debug)]
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    more: Condvar,
    /// How many threads wait, readable without the lock.
    waiting: AtomicUsize,
}

#[derive(Debug)]
struct State<T> {
    tasks: Vec<T>,
    threads: usize,
    waiting: usize,
    is_over: bool,
}

impl<T> Queue<T> {
    /// A queue for so many threads.
    pub(super) fn new(threads: usize, first: T) -> Self {
        Self {
            state: Mutex::new(State {
                tasks: vec![first],
                threads,
                waiting: 0,
                is_over: false,
            }),
            more: Condvar::new(),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Waits for something to do; nothing when all is done or was ended.
    pub(super) fn take(&self) -> Option<T> {
        let mut state = self.lock();
        loop {
            if state.is_over {
                return None;
            }
            if let Some(task) = state.tasks.pop() {
                return Some(task);
            }
            if state.waiting + 1 == state.threads {
                state.is_over = true;
                self.more.notify_all();
                return None;
            }
            state.waiting += 1;
            self.waiting.store(state.waiting, Ordering::Relaxed);
            state = self
                .more
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
            self.waiting.store(state.waiting, Ordering::Relaxed);
        }
    }

    /// Gives the older half of a pile to those who wait, if anybody does.
    pub(super) fn share(&self, pile: &mut Vec<T>) {
        if pile.len() > 1 && self.waiting.load(Ordering::Relaxed) > 0 {
            let half = pile.len() / 2;
            self.lock().tasks.extend(pile.drain(..half));
            self.more.notify_all();
        }
    }

    /// Ends the work, whatever is left of it.
    pub(super) fn end(&self) {
        self.lock().is_over = true;
        self.more.notify_all();
    }

    /// Tells that a thread could not be had.
    pub(super) fn one_less(&self) {
        let mut state = self.lock();
        state.threads -= 1;
        if state.waiting > 0 && state.waiting == state.threads && state.tasks.is_empty() {
            state.is_over = true;
            self.more.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
