//! Times as models write them, and as answers tell them: always UTC, because neither
//! the file system nor the model says in which zone it thinks.

use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::Stat;
use toolsmith_core::date::Date;

use crate::refusal::{Reason, Refusal};

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// A moment: seconds since 1970, and nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    pub(crate) seconds: i64,
    pub(crate) nanoseconds: i64,
}

impl Moment {
    /// When something was last changed.
    #[expect(
        clippy::useless_conversion,
        reason = "the system's types differ between machines"
    )]
    pub(crate) fn modified(stat: &Stat) -> Self {
        Self {
            seconds: stat.st_mtime.into(),
            nanoseconds: i64::try_from(stat.st_mtime_nsec).unwrap_or_default(),
        }
    }

    /// A whole second.
    pub(crate) fn at(seconds: i64) -> Self {
        Self {
            seconds,
            nanoseconds: 0,
        }
    }

    /// Written as RFC 3339 has it, to the second.
    pub(crate) fn written(self) -> String {
        let (days, second) = (self.seconds.div_euclid(DAY), self.seconds.rem_euclid(DAY));
        let date = Date::of_days(days);
        let (hour, minute, second) = (second / HOUR, second / MINUTE % 60, second % 60);
        format!("{date}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

impl From<SystemTime> for Moment {
    fn from(time: SystemTime) -> Self {
        let seconds =
            |duration: std::time::Duration| i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
        match time.duration_since(UNIX_EPOCH) {
            Ok(since) => Self {
                seconds: seconds(since),
                nanoseconds: since.subsec_nanos().into(),
            },
            Err(before) => Self::at(-seconds(before.duration())),
        }
    }
}

/// Reads a time that came in an argument: a date, a date and a time, or how long ago.
pub(crate) fn read(argument: &str, text: &str, now: Moment) -> Result<Moment, Refusal> {
    let plain = text.trim().to_ascii_lowercase();
    let found = relative(&plain, now).or_else(|| absolute(&plain));
    found.ok_or_else(|| {
        let shown: String = text.chars().take(60).collect();
        let message = format!("`{argument}` is no time: {shown:?}");
        Refusal::new(Reason::BadArgument, message).next(
            "Write a date such as 2026-01-31, a time such as 2026-01-31T14:30:00Z, \
             how long ago such as 2h or 3d, or yesterday",
        )
    })
}

fn relative(text: &str, now: Moment) -> Option<Moment> {
    let midnight = now.seconds.div_euclid(DAY) * DAY;
    match text {
        "now" => return Some(now),
        "today" => return Some(Moment::at(midnight)),
        "yesterday" => return Some(Moment::at(midnight - DAY)),
        _ => {}
    }
    let text = text.strip_suffix("ago").unwrap_or(text).trim();
    let text = text.strip_prefix('-').unwrap_or(text);
    let (number, unit) = text.split_at(text.find(|character: char| !character.is_ascii_digit())?);
    let unit = match unit.trim() {
        "s" | "sec" | "second" | "seconds" => 1,
        "m" | "min" | "minute" | "minutes" => MINUTE,
        "h" | "hr" | "hour" | "hours" => HOUR,
        "d" | "day" | "days" => DAY,
        "w" | "week" | "weeks" => 7 * DAY,
        "month" | "months" => 30 * DAY,
        "y" | "year" | "years" => 365 * DAY,
        _ => return None,
    };
    let ago = number.parse::<i64>().ok()?.checked_mul(unit)?;
    Some(Moment {
        seconds: now.seconds.checked_sub(ago)?,
        ..now
    })
}

/// `YYYY-MM-DD`, then maybe `THH:MM`, `:SS`, `.fff`, and `Z` or `+hh:mm`.
fn absolute(text: &str) -> Option<Moment> {
    let date = text.get(..10)?;
    let (year, month, day) = (
        digits(date.get(..4)?)?,
        digits(date.get(5..7)?)?,
        digits(date.get(8..)?)?,
    );
    let is_dashed = date.as_bytes()[4] == b'-' && date.as_bytes()[7] == b'-';
    if !is_dashed || !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) {
        return None;
    }
    let midnight = Date { year, month, day }.days() * DAY;
    let rest = &text[10..];
    if rest.is_empty() {
        return Some(Moment::at(midnight));
    }
    let rest = rest.strip_prefix(['t', ' '])?;
    let zone_at = rest.find(['z', '+', '-']).unwrap_or(rest.len());
    let (clock, zone) = rest.split_at(zone_at);
    let (clock, _) = clock.split_once('.').unwrap_or((clock, ""));
    let mut parts = clock.split(':');
    let hour = digits(parts.next()?)?;
    let minute = digits(parts.next()?)?;
    let second = parts.next().map_or(Some(0), digits)?;
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = midnight + hour * HOUR + minute * MINUTE + second;
    Some(Moment::at(seconds - offset(zone)?))
}

fn offset(zone: &str) -> Option<i64> {
    if matches!(zone, "" | "z") {
        return Some(0);
    }
    let (sign, rest) = match zone.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let rest = rest.replace(':', "");
    let (hours, minutes) = (
        digits(rest.get(..2)?)?,
        digits(rest.get(2..).filter(|rest| !rest.is_empty()).unwrap_or("0"))?,
    );
    (hours <= 23 && minutes <= 59).then_some(sign * (hours * HOUR + minutes * MINUTE))
}

fn digits(text: &str) -> Option<i64> {
    let is_number =
        !text.is_empty() && text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}
