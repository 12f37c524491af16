//! Reads what was fetched, off the threads that others wait for, and not all at once: a
//! page takes several times its length while it is converted.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinError;

/// Up to this length a body is short: what it takes does not matter.
const SHORT: usize = 256 << 10;

/// How many short bodies are converted at once, and how many others.
const MOST_SHORT: usize = 2;
const MOST_LONG: usize = 1;

/// The conversions of all calls. Short bodies wait for no long ones.
#[derive(Clone)]
pub(crate) struct Conversions {
    short: Arc<Semaphore>,
    long: Arc<Semaphore>,
}

impl Default for Conversions {
    fn default() -> Self {
        Self {
            short: Arc::new(Semaphore::new(MOST_SHORT)),
            long: Arc::new(Semaphore::new(MOST_LONG)),
        }
    }
}

impl Conversions {
    /// Does the work on a body of this length when it is its turn. It goes on where nobody
    /// waits for it any more, and has its turn until then.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        length: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, JoinError> {
        let is_short = length <= SHORT;
        let turns = if is_short { &self.short } else { &self.long };
        // Nobody closes it, so there is a turn.
        let turn = Arc::clone(turns).acquire_owned().await.ok();
        let working = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(turn);
            done
        });
        working.await
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::mpsc;
    use std::task::{Context, Waker};

    use super::*;

    #[tokio::test]
    async fn long_bodies_take_turns_and_short_ones_go_beside_them() {
        let conversions = Conversions::default();
        let (go, wait) = mpsc::channel();
        let mut now = Context::from_waker(Waker::noop());
        let mut first = pin!(conversions.run(SHORT + 1, move || wait.recv()));
        assert!(first.as_mut().poll(&mut now).is_pending());
        let (tell, told) = mpsc::channel();
        let mut second = pin!(conversions.run(SHORT + 1, move || tell.send(())));
        assert!(second.as_mut().poll(&mut now).is_pending());
        conversions.run(SHORT, || ()).await.unwrap();
        assert!(second.as_mut().poll(&mut now).is_pending());
        assert!(told.try_recv().is_err());
        go.send(()).unwrap();
        first.await.unwrap().unwrap();
        second.await.unwrap().unwrap();
    }
}
