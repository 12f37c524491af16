//! Rates: how many in which time, as people write them and as they are reckoned.
//!
//! The reckoning has no clock. Whoever keeps one hands over how far ahead of an even
//! pace the takers so far are.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How many in which time: `5/s`, `100/min`, `1000/h`, `10000/d`.
///
/// ```
/// use toolsmith_core::rate::Rate;
///
/// let rate: Rate = "100/min".parse()?;
/// assert_eq!((rate.count, rate.per.as_secs()), (100, 60));
/// assert_eq!(rate.to_string(), "100/min");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, JsonSchema)]
#[schemars(
    with = "String",
    title = "rate",
    description = "How many in which time: `5/s`, `100/min`, `1000/h`, `10000/d`."
)]
pub struct Rate {
    /// How many; at least one.
    pub count: u32,
    /// In which time.
    pub per: Duration,
}

impl Rate {
    /// Reckons one more in. `ahead` is how far those so far are ahead of an even pace;
    /// returned is how long the one more has to wait, and how far ahead they are with it.
    /// As many as the rate counts may come at once.
    pub fn reckon(self, ahead: Duration) -> (Duration, Duration) {
        let share = self.per / self.count.max(1);
        let at_once = self.per.saturating_sub(share);
        (ahead.saturating_sub(at_once), ahead.saturating_add(share))
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            let text: String = text.chars().take(40).collect();
            format!("{text:?} is no rate; write it as 5/s, 100/min, 1000/h or 10000/d")
        };
        let (count, unit) = text.split_once('/').ok_or_else(wrong)?;
        let count: u32 = count.trim().parse().map_err(|_| wrong())?;
        let seconds = match unit.trim() {
            "s" | "sec" | "second" => 1,
            "m" | "min" | "minute" => 60,
            "h" | "hour" => 3600,
            "d" | "day" => 24 * 3600,
            _ => return Err(wrong()),
        };
        if count == 0 {
            return Err("a rate of nothing lets nothing through".to_owned());
        }
        let per = Duration::from_secs(seconds);
        Ok(Self { count, per })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.per.as_secs() {
            60 => "min",
            3600 => "h",
            86_400 => "d",
            _ => "s",
        };
        write!(f, "{}/{unit}", self.count)
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
