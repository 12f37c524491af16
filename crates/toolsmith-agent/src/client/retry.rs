//! Whether and when a request is made again.
//!
//! Only one of which nothing was answered yet: a model that has begun to speak is not asked
//! twice, since both answers are paid for and the first may have been shown.

use std::time::Duration;

use super::failure::Failure;
use super::settings::HttpSettings;

/// The first pause where nobody says how long to wait; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LAST_PAUSE: Duration = Duration::from_secs(20);

/// How long to wait after a try that failed; none where there is no other.
pub(super) fn pause(failure: &Failure, attempt: u32, settings: &HttpSettings) -> Option<Duration> {
    if !failure.may_pass || attempt >= settings.tries {
        return None;
    }
    match failure.error.retry_after {
        Some(told) if told > settings.longest_wait => None,
        Some(told) => Some(told.saturating_add(spread(told / 8))),
        None => Some(backoff(attempt)),
    }
}

/// Twice as long each time, and never quite the same: those that failed together must not
/// come back together.
fn backoff(attempt: u32) -> Duration {
    let doubled = FIRST_PAUSE.saturating_mul(1 << (attempt - 1).min(16));
    let pause = doubled.min(LAST_PAUSE);
    pause / 2 + spread(pause / 2)
}

/// Some of a time, by chance.
fn spread(whole: Duration) -> Duration {
    let mut bytes = [0_u8; 2];
    // Without randomness everybody waits the whole of it.
    let part = match getrandom::fill(&mut bytes) {
        Ok(()) => u32::from(u16::from_le_bytes(bytes)),
        Err(_) => u32::from(u16::MAX),
    };
    (whole / u32::from(u16::MAX)).saturating_mul(part)
}
