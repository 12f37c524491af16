//! Removes secrets: values the host knows to be secret, and what looks like a key.

use std::borrow::Cow;
use std::sync::Arc;

use arc_swap::ArcSwap;
use toolsmith_core::clean::clean;
use toolsmith_core::event::Redact;

use super::known::{Known, REDACTED, SHORTEST_SECRET};
use super::{keys, named};

/// No text without a colon that is shorter holds any of the shapes.
const SHORTEST_SHAPE: usize = 15;

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

    /// Where the private key begins that a piece of a stream ends within.
    pub(crate) fn open_key(piece: &str) -> Option<usize> {
        keys::open_armour(piece)
    }

    /// How much of a piece of a stream still belongs to a private key that began before.
    pub(crate) fn rest_of_key(piece: &str) -> usize {
        keys::rest_of_armour(piece)
    }

    /// What stands where a secret stood.
    pub(crate) const REDACTED: &str = REDACTED;

    /// The text as a log may hold it, at most so many bytes of it. Secrets are taken out
    /// before it is cut: half a secret is no longer known for one.
    pub(crate) fn redact_within<'t>(&self, text: &'t str, most: usize) -> Cow<'t, str> {
        // What lies far beyond the cut is not even looked at.
        let window = text.floor_char_boundary(most.saturating_mul(4).saturating_add(4096));
        let mut clean = self.redact(&text[..window.min(text.len())]);
        if clean.len() > most {
            let end = clean.floor_char_boundary(most);
            clean.to_mut().truncate(end);
        }
        clean
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

    /// Tells whether a text holds a secret.
    pub(super) fn is_needed_for(&self, text: &str) -> bool {
        matches!(self.secrets(text), Cow::Owned(_))
    }

    /// The text without secrets, and otherwise as it is.
    pub(super) fn secrets<'t>(&self, text: &'t str) -> Cow<'t, str> {
        // No shape is shorter, but for the password of an address.
        let known = self.known.load();
        if known.is_empty() && text.len() < SHORTEST_SHAPE && !text.contains(':') {
            return Cow::Borrowed(text);
        }
        chain(known.replace(text), keys::replace)
    }
}

impl Redactor {
    /// Tells whether what stands under this name is secret whatever it looks like.
    pub fn is_secret_name(name: &str) -> bool {
        named::is_secret_name(name)
    }
}

impl Redact for Redactor {
    /// For logs: also whatever stands under a telling name.
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        // What is known goes first: of a value that is cut short by its name alone, the rest
        // would be known no longer.
        let known = self.known.load();
        let named = chain(known.replace(text), named::replace);
        // What comes here may have been cut, and in the middle of a secret.
        let mut clean = chain(named, |text| self.clean(text));
        if self.open_end(&clean, SHORTEST_SECRET) > 0 {
            self.close_end(clean.to_mut());
        }
        clean
    }
}

/// Applies a second replacement without a copy where the first changed nothing.
pub(super) fn chain<'t>(
    text: Cow<'t, str>,
    next: impl for<'u> Fn(&'u str) -> Cow<'u, str>,
) -> Cow<'t, str> {
    match text {
        Cow::Borrowed(text) => next(text),
        Cow::Owned(text) => Cow::Owned(next(&text).into_owned()),
    }
}
