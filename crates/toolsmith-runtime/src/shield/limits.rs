//! How fast and how often: rates at an even pace, quotas by the period.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use toolsmith_core::rate::Rate;

use super::settings::CallerSettings;

/// So many callers are told apart; those beyond share one reckoning.
const MOST_CALLERS: usize = 100_000;

/// How often a full list of callers is gone through for those that are as good as new.
const SWEEP: Duration = Duration::from_secs(1);

/// What was taken so far, of one rate and one quota.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reckoning {
    /// When what was taken so far would have been taken at an even pace.
    even: Option<Instant>,
    /// When the period ends, and how many were taken in it.
    period: Option<(Instant, u32)>,
}

/// Why one more cannot be taken, and when it can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spent {
    pub(crate) of: Rate,
    pub(crate) wait: Duration,
}

impl Reckoning {
    /// Takes one, or says when there is one to take.
    pub(crate) fn take(
        &mut self,
        rate: Option<Rate>,
        quota: Option<Rate>,
        now: Instant,
    ) -> Result<(), Spent> {
        let period = match (quota, self.period) {
            (None, _) => None,
            (Some(_), Some((ends, taken))) if now < ends => Some((ends, taken)),
            (Some(quota), _) => Some((now + quota.per, 0)),
        };
        if let (Some(of), Some((ends, taken))) = (quota, period)
            && taken >= of.count
        {
            let wait = ends - now;
            return Err(Spent { of, wait });
        }
        if let Some(of) = rate {
            let ahead = self
                .even
                .map_or(Duration::ZERO, |even| even - now.min(even));
            let (wait, ahead) = of.reckon(ahead);
            if !wait.is_zero() {
                return Err(Spent { of, wait });
            }
            self.even = Some(now + ahead);
        }
        self.period = period.map(|(ends, taken)| (ends, taken + 1));
        Ok(())
    }

    /// Gives back what was taken last: it was not used after all.
    fn give_back(&mut self, rate: Option<Rate>) {
        if let Some((_, taken)) = &mut self.period {
            *taken = taken.saturating_sub(1);
        }
        if let (Some(rate), Some(even)) = (rate, self.even) {
            self.even = even.checked_sub(rate.per / rate.count.max(1));
        }
    }

    /// Tells whether forgetting it makes no difference.
    fn is_as_new(&self, now: Instant) -> bool {
        self.even.is_none_or(|even| even <= now) && self.period.is_none_or(|(ends, _)| ends <= now)
    }
}

/// A reckoning that calls share.
#[derive(Debug, Default)]
pub(crate) struct Allowance(Mutex<Reckoning>);

impl Allowance {
    pub(crate) fn take(&self, rate: Option<Rate>, quota: Option<Rate>) -> Result<(), Spent> {
        if rate.is_none() && quota.is_none() {
            return Ok(());
        }
        self.reckoning().take(rate, quota, Instant::now())
    }

    pub(crate) fn give_back(&self, rate: Option<Rate>, quota: Option<Rate>) {
        if rate.is_some() || quota.is_some() {
            self.reckoning().give_back(rate);
        }
    }

    fn reckoning(&self) -> MutexGuard<'_, Reckoning> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The reckonings of all callers.
#[derive(Debug, Default)]
pub(crate) struct Callers(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    by_name: HashMap<Arc<str>, Reckoning>,
    /// Of all for whom there is no room.
    others: Reckoning,
    swept: Option<Instant>,
}

impl Callers {
    pub(crate) fn take(&self, caller: &str, settings: CallerSettings) -> Result<(), Spent> {
        if settings == CallerSettings::default() {
            return Ok(());
        }
        let now = Instant::now();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let reckoning = known.of(caller, now);
        reckoning.take(settings.rate, settings.quota, now)
    }
}

impl Known {
    fn of(&mut self, caller: &str, now: Instant) -> &mut Reckoning {
        if !self.by_name.contains_key(caller) {
            let is_due = self.swept.is_none_or(|swept| now >= swept + SWEEP);
            if self.by_name.len() >= MOST_CALLERS && is_due {
                self.by_name.retain(|_, each| !each.is_as_new(now));
                self.swept = Some(now);
            }
            if self.by_name.len() >= MOST_CALLERS {
                return &mut self.others;
            }
            self.by_name.insert(caller.into(), Reckoning::default());
        }
        self.by_name.get_mut(caller).unwrap_or(&mut self.others)
    }
}
