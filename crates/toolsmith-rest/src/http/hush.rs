//! Takes secrets out of what is told.
//!
//! The runtime removes the secrets it was told of beforehand. A token that a server
//! hands out later is known only here, and so is what an address looks like with a
//! secret encoded into it.

use std::borrow::Cow;

use serde_json::Value;

use super::encode;

/// What stands where a secret stood.
const REDACTED: &str = "[redacted]";

/// Shorter ones would take ordinary words with them; the runtime draws the same line.
const SHORTEST: usize = 6;

/// Texts nobody may see. It has no `Debug` that shows them.
#[derive(Clone, Default)]
pub(crate) struct Hush {
    /// The longest come first, so that a secret that holds another one goes whole.
    secrets: Vec<String>,
}

impl Hush {
    /// Hides these, and what they look like in an address or in JSON.
    pub(crate) fn new<'s>(secrets: impl IntoIterator<Item = &'s str>) -> Self {
        let mut hush = Self::default();
        secrets.into_iter().for_each(|secret| hush.add(secret));
        hush
    }

    /// Hides one more.
    pub(crate) fn add(&mut self, secret: &str) {
        let in_path: Vec<String> = secret.split('/').map(encode::literal).collect();
        let in_json = Value::from(secret).to_string();
        let in_json = in_json.trim_matches('"');
        for spelling in [
            secret.to_owned(),
            encode::segment(secret),
            encode::form(secret),
            in_path.join("/"),
            in_json.to_owned(),
            // Some write every slash of JSON like this.
            in_json.replace('/', "\\/"),
        ] {
            if spelling.len() >= SHORTEST && !self.secrets.contains(&spelling) {
                self.secrets.push(spelling);
            }
        }
        self.secrets
            .sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    }

    /// Takes them out of every text of a value, the names of its fields included.
    pub(crate) fn scrub_value(&self, value: &mut Value) {
        if self.secrets.is_empty() {
            return;
        }
        match value {
            Value::String(text) => {
                if let Cow::Owned(clean) = self.scrub(text) {
                    *text = clean;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.scrub_value(item)),
            Value::Object(fields) => {
                fields
                    .values_mut()
                    .for_each(|field| self.scrub_value(field));
                let is_secret = |name: &String| matches!(self.scrub(name), Cow::Owned(_));
                if fields.keys().any(is_secret) {
                    let named = std::mem::take(fields).into_iter();
                    *fields = named
                        .map(|(name, field)| (self.scrub(&name).into_owned(), field))
                        .collect();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The text without them.
    pub(crate) fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = Cow::Owned(text.replace(secret.as_str(), REDACTED));
            }
        }
        text
    }
}
