//! A tick while clients are there.
//!
//! A timer that is due before all others wakes the thread that waits for input, and
//! a request has several timers. With a tick due before them none of them wakes
//! anybody: often where much happens, seldom where little does.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

/// How far ticks are apart where little happens: less than connections and most
/// calls may take.
const QUIET: Duration = Duration::from_secs(5);

/// How far they are apart where much happens: less than any wait of a request.
const BUSY: Duration = Duration::from_millis(20);

/// How many ticks without a request make it quiet.
const STILL: u32 = 100;

/// Ticks, and hears of requests.
#[derive(Debug, Default)]
pub(super) struct Ticker {
    requests: AtomicU64,
    is_quiet: AtomicBool,
    stirred: Notify,
}

impl Ticker {
    /// A request came.
    pub(super) fn stir(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        if self.is_quiet.load(Ordering::Relaxed) && self.is_quiet.swap(false, Ordering::Relaxed) {
            self.stirred.notify_one();
        }
    }

    /// Ticks for ever.
    pub(super) async fn tick(&self) {
        loop {
            self.is_quiet.store(true, Ordering::Relaxed);
            tokio::select! {
                () = self.stirred.notified() => self.tick_often().await,
                () = tokio::time::sleep(QUIET) => {}
            }
        }
    }

    /// Ticks until nothing has happened for a while.
    async fn tick_often(&self) {
        let (mut seen, mut still) = (0, 0);
        while still < STILL {
            tokio::time::sleep(BUSY).await;
            let requests = self.requests.load(Ordering::Relaxed);
            still = if requests == seen { still + 1 } else { 0 };
            seen = requests;
        }
    }
}
