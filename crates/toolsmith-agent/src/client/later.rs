//! When a server asks one to come back.
//!
//! It says so in seconds, in milliseconds or by a date. A date is read against the date of
//! the same answer, so no clock of ours is asked.

use std::time::Duration;

use toolsmith_core::date::Date;
use toolsmith_net::HeaderMap;

/// The longest time that is believed: a year.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);

/// How long a server asks to be left alone, by the headers of its answer.
pub(super) fn asked_for(headers: &HeaderMap) -> Option<Duration> {
    let header = |name| headers.get(name)?.to_str().ok().map(str::trim);
    // The finer of the two counts, where both are there.
    if let Some(wait) = header("retry-after-ms").and_then(|text| read(text, 0.001)) {
        return Some(wait);
    }
    let text = header("retry-after")?;
    read(text, 1.0).or_else(|| {
        let (then, now) = (seconds_of(text)?, seconds_of(header("date")?)?);
        let wait = u64::try_from(then - now).unwrap_or_default();
        Some(Duration::from_secs(wait).min(LONGEST))
    })
}

/// A number of units, with or without a fraction.
fn read(text: &str, unit: f64) -> Option<Duration> {
    let number: f64 = text.parse().ok()?;
    let is_number = number.is_finite() && number >= 0.0;
    is_number.then(|| Duration::from_secs_f64((number * unit).min(LONGEST.as_secs_f64())))
}

/// The seconds since 1970 of a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
fn seconds_of(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let (_, text) = text.split_once(", ")?;
    let parts: Vec<&str> = text.strip_suffix(" GMT")?.split([' ', ':']).collect();
    let [day, month, year, hour, minute, second] = parts[..] else {
        return None;
    };
    let number = |text: &str, most: i64| {
        let number: i64 = text.parse().ok()?;
        (0..=most).contains(&number).then_some(number)
    };
    let month = MONTHS.iter().position(|name| *name == month)?;
    let date = Date {
        year: number(year, 9999)?,
        month: i64::try_from(month).ok()? + 1,
        day: number(day, 31)?,
    };
    let hours = date.days() * 24 + number(hour, 23)?;
    Some((hours * 60 + number(minute, 59)?) * 60 + number(second, 60)?)
}
