//! When a server asks one to come back.
//!
//! It says so in seconds or by a date. A date is read against the date of the same answer,
//! so no clock of ours is asked.

use std::time::Duration;

use toolsmith_core::date::Date;

/// The longest time that is believed: a year.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);

/// How long a server asks to be left alone, by its headers `Retry-After` and `Date`.
///
/// ```
/// use std::time::Duration;
/// use toolsmith_net::retry_after;
///
/// assert_eq!(retry_after("7", None), Some(Duration::from_secs(7)));
/// let (then, now) = ("Sun, 06 Nov 1994 08:50:00 GMT", "Sun, 06 Nov 1994 08:49:37 GMT");
/// assert_eq!(retry_after(then, Some(now)), Some(Duration::from_secs(23)));
/// ```
pub fn retry_after(text: &str, date: Option<&str>) -> Option<Duration> {
    wait_of(text, 1.0).or_else(|| {
        let (then, now) = (seconds_of(text.trim())?, seconds_of(date?.trim())?);
        let wait = u64::try_from(then - now).unwrap_or_default();
        Some(Duration::from_secs(wait).min(LONGEST))
    })
}

/// How long a server asks to be left alone that says so in milliseconds.
pub fn retry_after_millis(text: &str) -> Option<Duration> {
    wait_of(text, 0.001)
}

/// A number of units, with or without a fraction.
fn wait_of(text: &str, unit: f64) -> Option<Duration> {
    let number: f64 = text.trim().parse().ok()?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_long_to_wait() {
        let now = Some("Sun, 06 Nov 1994 08:49:37 GMT");
        let seconds = |n| Some(Duration::from_secs(n));
        for (told, date, expected) in [
            ("0", None, seconds(0)),
            (" 7 ", None, seconds(7)),
            ("0.25", None, Some(Duration::from_millis(250))),
            ("86400", None, seconds(86_400)),
            ("18446744073709551615", None, Some(LONGEST)),
            ("99999999999999999999999", None, Some(LONGEST)),
            ("-1", None, None),
            ("NaN", None, None),
            ("inf", None, None),
            ("Sun, 06 Nov 1994 08:50:00 GMT", now, seconds(23)),
            ("Sun, 06 Nov 1994 08:49:00 GMT", now, seconds(0)),
            ("Mon, 07 Nov 1994 08:49:37 GMT", now, seconds(86_400)),
            // Without a date to read it against, it says nothing.
            ("Sun, 06 Nov 1994 08:50:00 GMT", None, None),
            ("soon", now, None),
        ] {
            assert_eq!(retry_after(told, date), expected, "{told:?}");
        }
        assert_eq!(retry_after_millis("250"), Some(Duration::from_millis(250)));
    }

    #[test]
    fn dates_over_the_turn_of_a_year() {
        let told = "Sat, 01 Jan 2000 00:00:05 GMT";
        let date = Some("Fri, 31 Dec 1999 23:59:55 GMT");
        assert_eq!(retry_after(told, date), Some(Duration::from_secs(10)));
    }
}
