//! The future of an asynchronous tool, and where it begins.
//!
//! In a task of its own a tool that blocks holds up nobody, not even its caller, who
//! hears in time that its time is up. But a task costs more than all the rest of a
//! short call. So a tool that has shown that it begins without blocking is begun
//! where it is called; what is not done then goes on in a task.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use toolsmith_core::Outcome;

use super::{Held, forget_panic};

/// How long a poll may take that blocks nobody.
const QUICK: Duration = Duration::from_micros(200);

/// How many calls in a row must have begun quickly.
const SHOWN: u32 = 16;

/// How a tool has behaved so far.
#[derive(Debug, Default)]
pub(crate) struct Manners {
    quick_calls: AtomicU32,
    /// Whether a call is being begun in place. One that blocks is not joined by
    /// others.
    is_beginning: AtomicBool,
}

thread_local! {
    /// Whether this thread begins a call in place. A tool that calls tools must not
    /// pile them up on one stack.
    static BEGINNING: Cell<bool> = const { Cell::new(false) };
}

/// A call that is being begun in place, while it lives.
struct Beginning<'m>(&'m Manners);

impl Manners {
    fn begin(&self) -> Option<Beginning<'_>> {
        let is_shown = self.quick_calls.load(Ordering::Relaxed) >= SHOWN;
        if !is_shown || BEGINNING.get() || self.is_beginning.swap(true, Ordering::Relaxed) {
            return None;
        }
        BEGINNING.set(true);
        Some(Beginning(self))
    }

    fn began(&self, took: Duration) {
        if took > QUICK {
            self.quick_calls.store(0, Ordering::Relaxed);
        } else if self.quick_calls.load(Ordering::Relaxed) < SHOWN {
            self.quick_calls.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Beginning<'_> {
    fn drop(&mut self) {
        BEGINNING.set(false);
        self.0.is_beginning.store(false, Ordering::Relaxed);
    }
}

/// What came of a tool: an outcome, or what it panicked with.
pub(super) type Ended = Result<Box<Outcome>, Box<dyn Any + Send>>;

/// A tool's future, which panics into nobody's arms.
pub(super) struct Polled {
    future: Option<Pin<Box<dyn Future<Output = Outcome> + Send>>>,
    has_begun: bool,
    manners: Arc<Manners>,
    /// Kept by the work itself, so that it ends when the work does.
    _held: Held,
}

impl Polled {
    pub(super) fn new(
        future: Pin<Box<dyn Future<Output = Outcome> + Send>>,
        manners: Arc<Manners>,
        held: Held,
    ) -> Self {
        Self {
            future: Some(future),
            has_begun: false,
            manners,
            _held: held,
        }
    }

    /// Begins in place, if that is the tool's way, and returns its end if it was
    /// quick. Whoever polls it afterwards must do so at once: nobody is woken for
    /// what happens until then.
    pub(super) fn begin(&mut self) -> Option<Ended> {
        let manners = Arc::clone(&self.manners);
        let _beginning = manners.begin()?;
        match Pin::new(self).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(ended) => Some(ended),
            Poll::Pending => None,
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
        if !std::mem::replace(&mut self.has_begun, true) {
            self.manners.began(began.elapsed());
        }
        let ended = match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(outcome)) => Ok(Box::new(outcome)),
            Err(panic) => Err(panic),
        };
        self.discard();
        Poll::Ready(ended)
    }
}

impl Drop for Polled {
    fn drop(&mut self) {
        self.discard();
    }
}
