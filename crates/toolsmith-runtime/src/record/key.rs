//! What names a call to whoever must tell a repetition from a second wish.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::caller::Caller;
use crate::canonical;

/// The key of one call, the same in every attempt.
#[derive(Debug, Default)]
pub(crate) struct CallKey {
    /// Which of several calls that were made with one key, if there are several.
    index: Option<usize>,
    made: OnceLock<Option<String>>,
}

impl CallKey {
    /// The key of one of several calls.
    pub(super) fn numbered(index: usize) -> Self {
        Self {
            index: Some(index),
            ..Self::default()
        }
    }

    /// The caller's own key, or one made up for the call. Without randomness there is
    /// none: two calls must not be taken for one.
    pub(crate) fn of<'k>(&'k self, caller: &'k Caller) -> Option<Cow<'k, str>> {
        let made = || self.made.get_or_init(random).as_deref();
        self.callers(caller).or_else(|| made().map(Cow::Borrowed))
    }

    /// The caller's own key.
    pub(crate) fn callers<'k>(&'k self, caller: &'k Caller) -> Option<Cow<'k, str>> {
        let key = caller.idempotency_key()?;
        Some(match self.index {
            None => Cow::Borrowed(key),
            Some(index) => Cow::Owned(format!("{key}-{index}")),
        })
    }
}

fn random() -> Option<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(canonical::hex(&bytes))
}
