//! Durations as people write them: `500ms`, `30s`, `5m`, `2h`.
//!
//! One grammar for attributes, configuration and command line. A bare number is
//! refused: whether it meant seconds or milliseconds is a guess.

use std::time::Duration;

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The longest duration accepted: a year. Longer ones are typing errors, and
/// timers overflow on some systems not far beyond.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);

/// A duration in a file, such as `500ms`, `30s` or `5m`; longer than nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String", title = "duration")]
pub struct Span(pub Duration);

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match parse(&text).map_err(D::Error::custom)? {
            Duration::ZERO => Err(D::Error::custom("it must be longer than nothing")),
            span => Ok(Self(span)),
        }
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format(self.0))
    }
}

/// Why a text is no duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no duration; write a number and a unit, such as `500ms`, `30s`, `5m` or `2h`")]
pub struct DurationError {
    text: String,
}

/// Reads a duration such as `30s` or `1.5s`.
///
/// ```
/// use std::time::Duration;
/// use toolsmith_core::duration;
///
/// assert_eq!(duration::parse("500ms"), Ok(Duration::from_millis(500)));
/// assert!(duration::parse("30").is_err());
/// ```
pub fn parse(text: &str) -> Result<Duration, DurationError> {
    let error = || DurationError {
        text: text.chars().take(40).collect(),
    };
    let trimmed = text.trim();
    let split = trimmed
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .ok_or_else(error)?;
    let (number, unit) = trimmed.split_at(split);
    let millis: u32 = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(error()),
    };
    let duration = if let Ok(whole) = number.parse::<u64>() {
        // Whole numbers are kept exactly; floats would lose the last millisecond.
        whole.checked_mul(millis.into()).map(Duration::from_millis)
    } else {
        let number: f64 = number.parse().map_err(|_| error())?;
        Duration::try_from_secs_f64(number * f64::from(millis) / 1000.0).ok()
    };
    duration
        .filter(|duration| *duration <= LONGEST)
        .ok_or_else(error)
}

/// Writes a duration the way [`parse`] reads it, with the largest exact unit.
pub fn format(duration: Duration) -> String {
    let millis = duration.as_millis();
    match millis {
        0 => "0s".to_owned(),
        m if m % 3_600_000 == 0 => format!("{}h", m / 3_600_000),
        m if m % 60_000 == 0 => format!("{}m", m / 60_000),
        m if m % 1000 == 0 => format!("{}s", m / 1000),
        m => format!("{m}ms"),
    }
}

/// `#[serde(with = "…")]` for a duration that may be missing.
pub(crate) mod optional {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[expect(clippy::ref_option, reason = "serde hands a reference to the field")]
    pub(crate) fn serialize<S: Serializer>(
        duration: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match duration {
            Some(duration) => serializer.serialize_some(&super::format(*duration)),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        Option::<String>::deserialize(deserializer)?
            .map(|text| super::parse(&text).map_err(D::Error::custom))
            .transpose()
    }
}

/// `#[serde(with = "toolsmith_core::duration::text")]` for a `Duration`.
pub mod text {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// Writes the duration as text.
    pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&super::format(*duration))
    }

    /// Reads the duration from text.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let text = String::deserialize(deserializer)?;
        super::parse(&text).map_err(D::Error::custom)
    }
}
