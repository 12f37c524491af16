//! Removes secrets: values the host knows to be secret, and what looks like a key.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use toolsmith_core::event::Redact;

use super::clean::clean;

/// What stands where a secret stood.
const REDACTED: &str = "[redacted]";

/// Shorter values are too common to be replaced wherever they occur.
const SHORTEST_SECRET: usize = 6;

/// Shapes of keys that are secret wherever they occur. A group named `keep` is
/// what stays in front.
const SHAPES: &str = r#"(?x)
    -----BEGIN\ [A-Z\ ]*PRIVATE\ KEY-----[\s\S]*?(?:-----END\ [A-Z\ ]*PRIVATE\ KEY-----|\z)
  | \bsk-[A-Za-z0-9_-]{16,}
  | \bgh[pousr]_[A-Za-z0-9]{20,}
  | \bgithub_pat_[A-Za-z0-9_]{20,}
  | \bglpat-[A-Za-z0-9_-]{16,}
  | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b
  | \bAIza[A-Za-z0-9_-]{30,}
  | \bxox[abeoprs]-[A-Za-z0-9-]{10,}
  | \bnpm_[A-Za-z0-9]{30,}
  | \bpypi-[A-Za-z0-9_-]{30,}
  | \bhf_[A-Za-z0-9]{30,}
  | \b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}
  | \beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}
  | (?P<keep>
        (?i:authorization)\\?["']?\s*[:=]\s*\\?["']?(?:(?i:bearer|basic|token|digest)\s+)?
      | \b(?i:bearer)\s+
      | ://[^/\s:@"]+:
    )(?P<secret>[A-Za-z0-9._~+/=%-]{8,}|[^/\s@"]+@)
"#;

/// Names under which a value is secret whatever it looks like, in JSON.
const NAMES: &str = r#"(?x)
    (?P<keep>"[^"]*(?i:password|passwd|passphrase|secret|api_?-?key|apikey|access_?-?key|private_?-?key|token|authorization|cookie|credential)[^"]*"\s*:\s*)
    (?:"(?:[^"\\]|\\.)*(?:"|\z)|-?[0-9][0-9.eE+-]*)
"#;

static KNOWN_SHAPES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(SHAPES).expect("the pattern is a constant"));

static SECRET_NAMES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(NAMES).expect("the pattern is a constant"));

/// Removes secrets from what models, terminals and logs get.
#[derive(Debug, Default)]
pub struct Redactor {
    values: Option<Regex>,
}

impl Redactor {
    /// A redactor that also knows these values, longest first, so that a secret
    /// that contains another is replaced whole.
    pub fn new(secrets: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut values: Vec<String> = secrets
            .into_iter()
            .map(Into::into)
            .filter(|value: &String| value.len() >= SHORTEST_SECRET)
            .collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        if values.is_empty() {
            return Self::default();
        }
        let mut alternatives = Vec::new();
        for value in &values {
            alternatives.push(regex::escape(value));
            // Inside JSON a secret is written with escapes.
            let escaped = serde_json::Value::from(value.as_str()).to_string();
            let escaped = &escaped[1..escaped.len() - 1];
            if escaped != value {
                alternatives.push(regex::escape(escaped));
            }
        }
        Self {
            values: Regex::new(&alternatives.join("|")).ok(),
        }
    }

    /// The text without characters that hide, and without secrets.
    pub fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match clean(text) {
            Cow::Borrowed(text) => self.secrets(text),
            // Cleaning comes first: a secret with a zero-width character inside is
            // still a secret.
            Cow::Owned(cleaned) => Cow::Owned(self.secrets(&cleaned).into_owned()),
        }
    }

    fn secrets<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let text = match &self.values {
            Some(values) => values.replace_all(text, REDACTED),
            None => Cow::Borrowed(text),
        };
        chain(text, |text| KNOWN_SHAPES.replace_all(text, keep_front))
    }
}

impl Redact for Redactor {
    /// For logs: also whatever stands under a telling name.
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let named = SECRET_NAMES.replace_all(text, |found: &Captures<'_>| {
            format!("{}\"{REDACTED}\"", &found["keep"])
        });
        chain(named, |text| self.clean(text))
    }
}

fn keep_front(found: &Captures<'_>) -> String {
    let front = found.name("keep").map_or("", |front| front.as_str());
    // The `@` of an address stays, so that it remains one.
    let behind = match found.name("secret") {
        Some(secret) if secret.as_str().ends_with('@') => "@",
        _ => "",
    };
    format!("{front}{REDACTED}{behind}")
}

/// Applies a second replacement without a copy where the first changed nothing.
fn chain<'t>(text: Cow<'t, str>, next: impl for<'u> Fn(&'u str) -> Cow<'u, str>) -> Cow<'t, str> {
    match text {
        Cow::Borrowed(text) => next(text),
        Cow::Owned(text) => Cow::Owned(next(&text).into_owned()),
    }
}
