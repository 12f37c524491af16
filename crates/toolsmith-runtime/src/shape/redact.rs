//! Removes secrets: values the host knows to be secret, and what looks like a key.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use arc_swap::ArcSwap;
use regex::{Captures, Regex};
use toolsmith_core::event::Redact;

use super::known::{Known, REDACTED, SHORTEST_SECRET};
use toolsmith_core::clean::clean;

/// No text without a colon that is shorter holds any of the shapes.
const SHORTEST_SHAPE: usize = 15;

/// Shapes of keys that are secret wherever they occur. What the groups `keep` and
/// `address` match stays in front.
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
        (?i:authorization|x-api-key)\\?["']?\s*[:=]\s*\\?["']?(?:[A-Za-z][A-Za-z0-9-]*\s+)?
      | \b(?i:bearer)\s+
    )[^\s"'\\,;<>]{8,}
  | (?P<address>://[^/\s:@"']*:)[^/\s"'<>]+@
"#;

/// Names under which a value is secret whatever it looks like.
const NAMES: &str = "(?i:password|passwd|passphrase|secret|api_?-?key|access_?-?key|private_?-?key\
     |token|authorization|cookie|credential)";

static KNOWN_SHAPES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(SHAPES).expect("the pattern is a constant"));

/// Values under such names in JSON, and in JSON written into a JSON string.
static SECRET_NAMES: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = format!(
        r#"(?x)
        (?P<keep>"[^"]*{NAMES}[^"]*"\s*:\s*)
        (?: "(?:[^"\\]|\\.)*(?:"|\z) | -?[0-9][0-9.eE+-]*
          | \[[^\]]*(?:\]|\z) | \{{[^}}]*(?:\}}|\z) )
      | (?P<inner>\\"[^"\\]*{NAMES}[^"\\]*\\"\s*:\s*) \\"[^"]*(?:"|\z)
    "#
    );
    Regex::new(&pattern).expect("the pattern is a constant")
});

/// Removes secrets from what models, terminals and logs get.
#[derive(Debug, Default)]
pub struct Redactor {
    known: ArcSwap<Known>,
}

impl Redactor {
    /// A redactor that also knows these values.
    pub fn new(secrets: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let secrets = secrets.into_iter();
        let secrets = secrets.map(|secret| Arc::<str>::from(secret.into()));
        Self {
            known: ArcSwap::from_pointee(Known::new(secrets)),
        }
    }

    /// Learns more values. None is ever forgotten: what was a secret once may still turn
    /// up in what somebody answers.
    pub fn learn(&self, secrets: impl IntoIterator<Item = impl Into<String>>) {
        let known = self.known.load();
        let fresh: Vec<Arc<str>> = secrets
            .into_iter()
            .map(|secret| Arc::from(secret.into()))
            .filter(|secret: &Arc<str>| !known.covers(secret))
            .collect();
        if !fresh.is_empty() {
            self.known.rcu(|known| known.and(&fresh));
        }
    }

    /// How many bytes at the end of a text may be the beginning of a secret, of
    /// which at least `least` must be there to count.
    pub(crate) fn open_end(&self, text: &str, least: usize) -> usize {
        self.known.load().open_end(text, least)
    }

    /// This place of a text, or where the secret begins that it is in the middle of.
    pub(crate) fn floor_secret_boundary(&self, text: &str, at: usize) -> usize {
        self.known.load().floor_boundary(text, at)
    }

    /// The text without the beginning of a secret at its end, for texts that were
    /// cut there.
    pub(crate) fn close_end(&self, text: &mut String) {
        let open = self.open_end(text, SHORTEST_SECRET);
        if open > 0 {
            text.truncate(text.len() - open);
            text.push_str(REDACTED);
        }
    }

    /// The text without characters that hide, and without secrets.
    pub fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match clean(text) {
            Cow::Borrowed(text) => self.secrets(text),
            // A secret with a zero-width character inside is still a secret, so
            // cleaning comes first; but an escape sequence right before one would
            // swallow its beginning, so secrets are looked for before that too.
            Cow::Owned(_) => {
                let redacted = self.secrets(text);
                Cow::Owned(self.secrets(&clean(&redacted)).into_owned())
            }
        }
    }

    /// Tells whether a text holds a value the host knows to be secret.
    pub(super) fn knows_any_of(&self, text: &str) -> bool {
        self.without_known(text) != text
    }

    /// The text without the values the host knows to be secret, and otherwise as it is.
    pub(super) fn without_known<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.known.load().replace(text)
    }

    fn secrets<'t>(&self, text: &'t str) -> Cow<'t, str> {
        // No shape is shorter, but for the password of an address.
        let known = self.known.load();
        if known.is_empty() && text.len() < SHORTEST_SHAPE && !text.contains(':') {
            return Cow::Borrowed(text);
        }
        chain(known.replace(text), |text| {
            KNOWN_SHAPES.replace_all(text, keep_front)
        })
    }
}

impl Redactor {
    /// Tells whether what stands under this name is secret whatever it looks like.
    pub fn is_secret_name(name: &str) -> bool {
        static SECRET: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(NAMES).expect("the pattern is a constant"));
        SECRET.is_match(name)
    }
}

impl Redact for Redactor {
    /// For logs: also whatever stands under a telling name.
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let named = SECRET_NAMES.replace_all(text, |found: &Captures<'_>| {
            match (found.name("keep"), found.name("inner")) {
                (Some(keep), _) => format!("{}\"{REDACTED}\"", keep.as_str()),
                (_, inner) => format!("{}\\\"{REDACTED}\\\"", inner.map_or("", |i| i.as_str())),
            }
        });
        // What comes here may have been cut, and in the middle of a secret.
        let mut clean = chain(named, |text| self.clean(text));
        if self.open_end(&clean, SHORTEST_SECRET) > 0 {
            self.close_end(clean.to_mut());
        }
        clean
    }
}

fn keep_front(found: &Captures<'_>) -> String {
    let front = |name: &str| found.name(name).map(|front| front.as_str());
    let whole = &found[0];
    let is_header = front("keep").is_some_and(|keep| keep.contains([':', '=']));
    // `sk-some-class-name` and `bearer authentication` look like keys too, but keys
    // have digits or no words.
    let is_words = match (whole.strip_prefix("sk-"), front("keep")) {
        (Some(rest), _) => rest.contains('-'),
        (None, Some(keep)) if !is_header => {
            let rest = &whole[keep.len()..];
            rest.len() <= 24 && rest.bytes().all(|byte| byte.is_ascii_lowercase())
        }
        _ => false,
    };
    if is_words && !whole.bytes().any(|byte| byte.is_ascii_digit()) {
        return whole.to_owned();
    }
    // The `@` of an address stays, so that it remains one.
    match (front("keep"), front("address")) {
        (_, Some(address)) => format!("{address}{REDACTED}@"),
        (keep, None) => format!("{}{REDACTED}", keep.unwrap_or_default()),
    }
}

/// Applies a second replacement without a copy where the first changed nothing.
fn chain<'t>(text: Cow<'t, str>, next: impl for<'u> Fn(&'u str) -> Cow<'u, str>) -> Cow<'t, str> {
    match text {
        Cow::Borrowed(text) => next(text),
        Cow::Owned(text) => Cow::Owned(next(&text).into_owned()),
    }
}
