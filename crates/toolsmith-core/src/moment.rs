//! A moment as records write it: UTC, to the microsecond, without asking what time it is.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::date::Date;

const MICROS_OF_SECOND: u64 = 1_000_000;
const SECONDS_OF_DAY: u64 = 24 * 60 * 60;
/// The end of the year 9999, beyond which a date has more digits than are read again.
const LAST: u64 = 253_402_300_799 * MICROS_OF_SECOND + MICROS_OF_SECOND - 1;

/// A moment, counted in microseconds since 1970 began. It is shown as
/// `2026-01-31T09:26:53.589793Z`.
///
/// ```
/// use toolsmith_core::moment::Moment;
///
/// let moment: Moment = "2026-01-31T09:26:53.589793Z".parse().unwrap();
/// assert_eq!(moment.to_string(), "2026-01-31T09:26:53.589793Z");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(u64);

/// Why a text is no moment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no moment; write it as `2026-01-31T09:26:53Z`")]
pub struct MomentError {
    text: String,
}

impl Moment {
    /// The moment of so many microseconds since 1970 began.
    pub fn of_micros(micros: u64) -> Self {
        Self(micros.min(LAST))
    }

    /// How many microseconds since 1970 began.
    pub fn micros(self) -> u64 {
        self.0
    }

    /// The moment a duration before this one; never before 1970.
    #[must_use]
    pub fn before(self, duration: Duration) -> Self {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        Self(self.0.saturating_sub(micros))
    }

    /// The beginning of a day.
    pub fn of_day(day: Date) -> Self {
        let days = u64::try_from(day.days()).unwrap_or(0);
        Self::of_micros(days.saturating_mul(SECONDS_OF_DAY * MICROS_OF_SECOND))
    }
}

/// A clock that stands before 1970 shows its first moment.
impl From<SystemTime> for Moment {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::of_micros(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, micros) = (self.0 / MICROS_OF_SECOND, self.0 % MICROS_OF_SECOND);
        let date = Date::of_days((seconds / SECONDS_OF_DAY).cast_signed());
        let of_day = seconds % SECONDS_OF_DAY;
        // Digit by digit: a record of each call has one, and formatting each number by
        // itself takes ten times as long.
        let mut text = *b"0000-00-00T00:00:00.000000Z";
        put(&mut text[0..4], date.year.unsigned_abs());
        put(&mut text[5..7], date.month.unsigned_abs());
        put(&mut text[8..10], date.day.unsigned_abs());
        put(&mut text[11..13], of_day / 3600);
        put(&mut text[14..16], of_day / 60 % 60);
        put(&mut text[17..19], of_day % 60);
        put(&mut text[20..26], micros);
        f.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

/// Puts the last digits of a number into their places.
fn put(places: &mut [u8], mut number: u64) {
    for place in places.iter_mut().rev() {
        *place = b"0123456789"[(number % 10) as usize];
        number /= 10;
    }
}

impl FromStr for Moment {
    type Err = MomentError;

    /// Reads a moment in UTC, with or without a fraction of a second.
    fn from_str(text: &str) -> Result<Self, MomentError> {
        read(text).ok_or_else(|| MomentError {
            text: text.chars().take(40).collect(),
        })
    }
}

/// Reads a day such as `2026-01-31`.
pub fn read_day(text: &str) -> Option<Date> {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let date = Date {
        year: number(text.get(..4)?)?.cast_signed(),
        month: number(text.get(5..7)?)?.cast_signed(),
        day: number(text.get(8..10)?)?.cast_signed(),
    };
    // The 31st of April would come back as another day.
    (Date::of_days(date.days()) == date && date.year >= 1970).then_some(date)
}

fn read(text: &str) -> Option<Moment> {
    let (day, time) = (text.get(..10)?, text.get(10..)?);
    let time = time.strip_prefix('T')?.strip_suffix('Z')?;
    let (whole, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let bytes = whole.as_bytes();
    if bytes.len() != 8 || bytes[2] != b':' || bytes[5] != b':' {
        return None;
    }
    let part = |from: usize| number(whole.get(from..from + 2)?);
    let (hour, minute, second) = (part(0)?, part(3)?, part(6)?);
    if hour > 23 || minute > 59 || second > 59 || fraction.len() > 6 {
        return None;
    }
    let places = u32::try_from(fraction.len()).ok()?;
    let micros = number(fraction)? * 10u64.pow(6 - places);
    let seconds = hour * 3600 + minute * 60 + second;
    let day = Moment::of_day(read_day(day)?);
    Some(Moment::of_micros(
        day.0 + seconds * MICROS_OF_SECOND + micros,
    ))
}

/// A number of digits alone: `parse` would take a sign.
fn number(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok())?
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}
