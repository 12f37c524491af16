//! When a request that was put off is made again.
//!
//! A server says how long to wait in seconds, or by a date. A date is read against the
//! date of the same answer, so no clock of ours is asked.

use std::time::Duration;

use toolsmith_core::date::Date;

/// Whoever has to wait longer is told so instead.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// The first wait where the server says nothing; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// How often unless the file says otherwise.
pub(crate) const DEFAULT_RETRIES: u8 = 2;

/// Tells whether a status puts a request off.
pub(crate) fn puts_off(status: u16) -> bool {
    matches!(status, 429 | 503)
}

/// How long to wait before another try, from the headers of the answer; none where that
/// is too long.
pub(crate) fn wait(retry_after: Option<&str>, date: Option<&str>, tried: u8) -> Option<Duration> {
    let told = retry_after.and_then(|text| {
        let text = text.trim();
        if let Ok(seconds) = text.parse() {
            return Some(Duration::from_secs(seconds));
        }
        let (then, now) = (seconds_of(text)?, seconds_of(date?.trim())?);
        let wait = u64::try_from(then - now).unwrap_or_default();
        Some(Duration::from_secs(wait))
    });
    let wait = told.unwrap_or_else(|| FIRST_WAIT * 2_u32.pow(u32::from(tried.min(6))));
    (wait <= LONGEST_WAIT).then_some(wait)
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
        for (told, date, tried, expected) in [
            (Some("0"), None, 0, seconds(0)),
            (Some(" 7 "), None, 5, seconds(7)),
            (Some("30"), None, 0, seconds(30)),
            (Some("31"), None, 0, None),
            (Some("99999999999999999999999"), None, 1, seconds(1)),
            (Some("-1"), None, 1, seconds(1)),
            (Some("Sun, 06 Nov 1994 08:50:00 GMT"), now, 0, seconds(23)),
            (Some("Sun, 06 Nov 1994 08:49:00 GMT"), now, 0, seconds(0)),
            (Some("Mon, 07 Nov 1994 08:49:37 GMT"), now, 0, None),
            // Without a date to read it against, it says nothing.
            (Some("Sun, 06 Nov 1994 08:50:00 GMT"), None, 1, seconds(1)),
            (Some("soon"), now, 2, seconds(2)),
            (None, None, 0, Some(Duration::from_millis(500))),
            (None, None, 255, None),
        ] {
            assert_eq!(wait(told, date, tried), expected, "{told:?}");
        }
    }

    #[test]
    fn dates_over_the_turn_of_a_year() {
        let told = Some("Sat, 01 Jan 2000 00:00:05 GMT");
        let date = Some("Fri, 31 Dec 1999 23:59:55 GMT");
        assert_eq!(wait(told, date, 0), Some(Duration::from_secs(10)));
    }
}
