//! The name of a server: what its tools are prefixed with, `mcp__NAME__tool`.

use std::fmt;
use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// How long a name may be: tool names come after it, and providers accept 64 in all.
const LONGEST: usize = 40;

/// A name of 1 to 40 letters, digits, `_` and `-`, without `__`, which ends it in the
/// names of its tools.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct ServerName(String);

/// Why a text is no name of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{found:?} is no name for a server: it takes 1 to {LONGEST} letters, digits, `_` and `-`, \
     without `__`; try `{suggestion}`"
)]
pub struct NameError {
    /// The beginning of what was given.
    found: String,
    /// A name that would do.
    pub suggestion: String,
}

impl ServerName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ServerName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let fits =
            (1..=LONGEST).contains(&text.len()) && text.chars().all(is_fit) && !text.contains("__");
        if fits {
            return Ok(Self(text.to_owned()));
        }
        Err(NameError {
            found: text.chars().take(60).collect(),
            suggestion: suggestion(text),
        })
    }
}

impl<'de> Deserialize<'de> for ServerName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

fn is_fit(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// The nearest name that would do.
fn suggestion(text: &str) -> String {
    let mut name = String::new();
    for c in text.trim().chars() {
        let c = if is_fit(c) { c } else { '-' };
        // One separator at a time: `__` is taken, and `--` only looks odd.
        if !(matches!(c, '_' | '-') && name.ends_with(['_', '-'])) {
            name.push(c);
        }
        if name.len() == LONGEST {
            break;
        }
    }
    let name = name.trim_matches(['_', '-']);
    if name.is_empty() { "server" } else { name }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_what_is_none() {
        for name in ["a", "git-hub_2", "-", &"x".repeat(40)] {
            assert_eq!(name.parse::<ServerName>().unwrap().as_str(), name);
        }
        for (text, suggestion) in [
            ("", "server"),
            ("a__b", "a_b"),
            ("my server", "my-server"),
            ("io.github.acme/tools", "io-github-acme-tools"),
            ("ümlaut", "mlaut"),
            ("..", "server"),
            ("a\nb", "a-b"),
            (&"x".repeat(41), &"x".repeat(40)),
        ] {
            let error = text.parse::<ServerName>().unwrap_err();
            assert_eq!(error.suggestion, suggestion, "{text:?}");
            assert!(suggestion.parse::<ServerName>().is_ok(), "{suggestion}");
        }
    }
}
