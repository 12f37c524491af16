//! How fast one host is asked, over all tools of a process.
//!
//! A bucket for each host: as many requests as the rate names may be made at once, and
//! from then on one for each share of its time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::form::Rate;

/// Above so many hosts, those that were left alone for long are forgotten.
const MANY_HOSTS: usize = 1000;

/// Whoever has to wait for its turn longer is told so instead.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// The rates of all hosts. Cheap to clone; clones share.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    /// When the requests made so far would all have been made at an even pace.
    hosts: Arc<Mutex<HashMap<String, Instant>>>,
}

impl Pace {
    /// Waits for the turn of a request.
    ///
    /// # Errors
    /// When the wait would be longer than a call should take: how long it is.
    pub(crate) async fn turn(&self, host: &str, rate: Rate) -> Result<(), Duration> {
        let wait = {
            let now = Instant::now();
            let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
            if hosts.len() > MANY_HOSTS {
                hosts.retain(|_, even| *even > now);
            }
            let even = hosts.get(host).copied().unwrap_or(now).max(now);
            let (wait, ahead) = rate.reckon(even - now);
            if wait > LONGEST_WAIT {
                return Err(wait);
            }
            hosts.insert(host.to_owned(), now + ahead);
            wait
        };
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(text: &str) -> Rate {
        text.parse().unwrap()
    }

    /// When each of so many requests is made, in milliseconds.
    async fn turns(pace: &Pace, host: &str, rate: Rate, count: usize) -> Vec<u128> {
        let begun = Instant::now();
        let mut turns = Vec::new();
        for _ in 0..count {
            pace.turn(host, rate).await.unwrap();
            turns.push(begun.elapsed().as_millis());
        }
        turns
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_is_asked_at_its_rate() {
        let pace = Pace::default();
        let made = turns(&pace, "a", rate("2/s"), 5).await;
        assert_eq!(made, [0, 0, 500, 1000, 1500]);
        // Whoever waited long may ask at once again, and no more than the rate says.
        tokio::time::advance(Duration::from_secs(60)).await;
        let made = turns(&pace, "a", rate("2/s"), 3).await;
        assert_eq!(made, [0, 0, 500]);
    }

    #[tokio::test(start_paused = true)]
    async fn hosts_are_counted_by_themselves_and_clones_together() {
        let pace = Pace::default();
        turns(&pace, "a", rate("1/s"), 1).await;
        assert_eq!(turns(&pace, "b", rate("1/s"), 1).await, [0]);
        assert_eq!(turns(&pace.clone(), "a", rate("1/s"), 1).await, [1000]);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_would_wait_too_long_is_told() {
        let pace = Pace::default();
        pace.turn("a", rate("1/h")).await.unwrap();
        let wait = pace.turn("a", rate("1/h")).await.unwrap_err();
        assert_eq!(wait, Duration::from_secs(3600));
    }

    #[tokio::test(start_paused = true)]
    async fn many_at_once_are_put_in_line() {
        let pace = Pace::default();
        let begun = Instant::now();
        let turn = || {
            let pace = pace.clone();
            tokio::spawn(async move { pace.turn("a", rate("10/s")).await })
        };
        let waiting: Vec<_> = (0..30).map(|_| turn()).collect();
        for turn in waiting {
            turn.await.unwrap().unwrap();
        }
        assert_eq!(begun.elapsed(), Duration::from_secs(2));
    }
}
