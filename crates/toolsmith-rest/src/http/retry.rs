//! When a request that was put off may be made again. Making it again is the runtime's.
//!
//! A server says how long to wait in seconds, or by a date. A date is read against the
//! date of the same answer, so no clock of ours is asked.

use std::time::Duration;

use toolsmith_core::date::Date;

/// The longest time that is believed: a year.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);

/// Whoever has to wait for its turn longer is told so instead.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// How long a server asks to be left alone, by the headers of its answer.
pub(crate) fn after(retry_after: Option<&str>, date: Option<&str>) -> Option<Duration> {
    let text = retry_after?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds).min(LONGEST));
    }
    let (then, now) = (seconds_of(text)?, seconds_of(date?.trim())?);
    let wait = u64::try_from(then - now).unwrap_or_default();
    Some(Duration::from_secs(wait).min(LONGEST))
}

/// The seconds since 1970 of a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
fn seconds_of(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let (_, text) = text.split_once(", ")?;
    let mut parts = text.split(' ');
    let number = |text: &str, most: i64| {
        let number: i64 = text.parse().ok()?;
        (0..=most).contains(&number).then_some(number)
    };
    let day = number(parts.next()?, 31)?;
    let month = parts.next()?;
    let month = MONTHS.iter().position(|name| *name == month)?;
    let month = i64::try_from(month).ok()? + 1;
    let year = number(parts.next()?, 9999)?;
    let mut time = parts.next()?.split(':');
    let hour = number(time.next()?, 23)?;
    let minute = number(time.next()?, 59)?;
    let second = number(time.next()?, 60)?;
    if parts.next()? != "GMT" {
        return None;
    }
    let days = Date { year, month, day }.days();
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_long_to_wait() {
        let now = Some("Sun, 06 Nov 1994 08:49:37 GMT");
        let seconds = |n| Some(Duration::from_secs(n));
        for (told, date, expected) in [
            (Some("0"), None, seconds(0)),
            (Some(" 7 "), None, seconds(7)),
            (Some("86400"), None, seconds(86_400)),
            (Some("18446744073709551615"), None, Some(LONGEST)),
            (Some("99999999999999999999999"), None, None),
            (Some("-1"), None, None),
            (Some("Sun, 06 Nov 1994 08:50:00 GMT"), now, seconds(23)),
            (Some("Sun, 06 Nov 1994 08:49:00 GMT"), now, seconds(0)),
            (Some("Mon, 07 Nov 1994 08:49:37 GMT"), now, seconds(86_400)),
            // Without a date to read it against, it says nothing.
            (Some("Sun, 06 Nov 1994 08:50:00 GMT"), None, None),
            (Some("soon"), now, None),
            (None, now, None),
        ] {
            assert_eq!(after(told, date), expected, "{told:?}");
        }
    }

    #[test]
    fn dates_over_the_turn_of_a_year() {
        let told = Some("Sat, 01 Jan 2000 00:00:05 GMT");
        let date = Some("Fri, 31 Dec 1999 23:59:55 GMT");
        assert_eq!(after(told, date), Some(Duration::from_secs(10)));
    }
}
