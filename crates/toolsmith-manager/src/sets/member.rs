//! What stands in the list of a set or an agent.

use std::fmt;
use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// How many characters a name has at most.
const LONGEST: usize = 64;

/// The name of a set or an agent. It stands in addresses too, so it holds letters, digits,
/// `_`, `-` and `.` only, and does not begin with a dot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SetName(String);

impl SetName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SetName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let is_name = !text.is_empty()
            && text.len() <= LONGEST
            && !text.starts_with('.')
            && text.chars().all(fits);
        if !is_name {
            let shown: String = text.chars().take(40).collect();
            return Err(format!(
                "{shown:?} is no name of a set or an agent; use up to {LONGEST} letters, \
                 digits, `_`, `-` and `.`"
            ));
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for SetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for SetName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

/// A tool, a glob over tools, or a set. A set is `set:NAME`, or its name alone where no tool
/// has that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Member(String);

impl Member {
    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The set it names as such, with `set:`.
    pub fn set(&self) -> Option<&str> {
        self.0.strip_prefix("set:")
    }

    /// Tells whether it is a glob, which may mean no tool at all.
    pub fn is_glob(&self) -> bool {
        self.0.contains(['*', '?', '[', '{', '\\'])
    }
}

impl<'de> Deserialize<'de> for Member {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let is_odd = |c: char| c.is_control() || c.is_whitespace();
        if text.is_empty() || text.len() > 4 * LONGEST || text.contains(is_odd) {
            let message = "a member is the name of a tool or a set, or a glob over tools";
            return Err(D::Error::custom(message));
        }
        globset::Glob::new(&text).map_err(D::Error::custom)?;
        Ok(Self(text))
    }
}
