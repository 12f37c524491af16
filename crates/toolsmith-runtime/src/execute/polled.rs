//! The future of an asynchronous tool, and who polls it.
//!
//! In a task of its own a tool that blocks holds up nobody, not even the caller,
//! who hears in time that its time is up. But a task costs more than all the rest
//! of a call. So a tool has one until it has shown that it never blocks; from then
//! on whoever waits for it polls it, until a poll takes long again.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use toolsmith_core::Outcome;

use super::forget_panic;
use super::paths::InLine;

/// How long a poll may take that blocks nobody.
const QUICK: Duration = Duration::from_micros(200);

/// How many calls in a row must have been quick.
const SHOWN: u32 = 16;

/// How a tool has behaved so far.
#[derive(Debug, Default)]
pub(crate) struct Manners {
    quick_calls: AtomicU32,
}

impl Manners {
    /// Tells whether whoever waits for the tool can as well poll it.
    pub(super) fn are_shown(&self) -> bool {
        self.quick_calls.load(Ordering::Relaxed) >= SHOWN
    }

    fn polled(&self, took: Duration, ended: bool) {
        if took > QUICK {
            self.quick_calls.store(0, Ordering::Relaxed);
        } else if ended && !self.are_shown() {
            self.quick_calls.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// What came of a tool: an outcome, or what it panicked with.
pub(super) type Ended = Result<Outcome, Box<dyn Any + Send>>;

/// A tool's future, which panics into nobody's arms.
pub(super) struct Polled {
    future: Option<Pin<Box<dyn Future<Output = Outcome> + Send>>>,
    manners: Arc<Manners>,
    /// Kept by the work itself, so that it ends when the work does.
    _paths: InLine,
}

impl Polled {
    pub(super) fn new(
        future: Pin<Box<dyn Future<Output = Outcome> + Send>>,
        manners: Arc<Manners>,
        paths: InLine,
    ) -> Self {
        Self {
            future: Some(future),
            manners,
            _paths: paths,
        }
    }

    /// Drops the future. What it holds is the tool's, and may panic.
    fn discard(&mut self) {
        let future = self.future.take();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(future))) {
            forget_panic(panic);
        }
    }
}

impl Future for Polled {
    type Output = Ended;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Ended> {
        let Some(future) = &mut self.future else {
            return Poll::Pending;
        };
        let began = Instant::now();
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        let ended = match polled {
            Ok(Poll::Pending) => None,
            Ok(Poll::Ready(outcome)) => Some(Ok(outcome)),
            Err(panic) => Some(Err(panic)),
        };
        self.manners.polled(began.elapsed(), ended.is_some());
        match ended {
            None => Poll::Pending,
            Some(ended) => {
                self.discard();
                Poll::Ready(ended)
            }
        }
    }
}

impl Drop for Polled {
    fn drop(&mut self) {
        self.discard();
    }
}
