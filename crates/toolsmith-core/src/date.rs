//! Days as people write them, in UTC: what a time is called, without asking what time it
//! is.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

const SECONDS_OF_DAY: u64 = 24 * 60 * 60;

/// How many days the first of March of the year 0 lies before 1970.
const BEFORE_1970: i64 = 719_468;

/// All spans of 400 years have as many days.
const DAYS_OF_ERA: i64 = 146_097;

/// A day. It is shown as `2026-01-31`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    /// The year.
    pub year: i64,
    /// The month, from 1.
    pub month: i64,
    /// The day of the month, from 1.
    pub day: i64,
}

impl Date {
    /// The day of so many days since 1970 began.
    ///
    /// Years are counted from March, so that a leap day is the last of its year.
    pub fn of_days(days: i64) -> Self {
        let days = days.saturating_add(BEFORE_1970);
        let (era, of_era) = (days.div_euclid(DAYS_OF_ERA), days.rem_euclid(DAYS_OF_ERA));
        let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let (month, carry) = if month < 10 {
            (month + 3, 0)
        } else {
            (month - 9, 1)
        };
        Self {
            year: era * 400 + year + carry,
            month,
            day,
        }
    }

    /// How many days since 1970 began; the other way round.
    pub fn days(self) -> i64 {
        let year = if self.month <= 2 {
            self.year - 1
        } else {
            self.year
        };
        let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let of_year = (153 * ((self.month + 9) % 12) + 2) / 5 + self.day - 1;
        era * DAYS_OF_ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year - BEFORE_1970
    }
}

/// The day of a time. A clock that stands before 1970 shows its first day.
impl From<SystemTime> for Date {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::of_days((since.as_secs() / SECONDS_OF_DAY).cast_signed())
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}
