//! Secrets that a call refers to by name, filled in at the last moment.
//!
//! A model writes `${secret:NAME}`; what it stands for is in the user's configuration,
//! with the servers it may be sent to. The arguments that are planned, permitted and
//! recorded hold the reference only.

use serde_json::Value;
use url::Url;

use super::WebSecret;
use crate::refusal::{Reason, Refusal};

/// Fills in what a request to one URL may hold.
pub(crate) struct Filler<'s> {
    secrets: &'s [WebSecret],
    /// Where the request goes.
    origin: String,
    /// Whether anything was filled in.
    pub(crate) has_filled: bool,
}

impl<'s> Filler<'s> {
    /// A filler for a request to this URL.
    pub(crate) fn new(secrets: &'s [WebSecret], url: &Url) -> Self {
        Self {
            secrets,
            origin: url.origin().ascii_serialization(),
            has_filled: false,
        }
    }

    /// A text with its references filled in.
    pub(crate) fn fill(&mut self, text: &str) -> Result<String, Refusal> {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("${secret:") {
            filled.push_str(&rest[..at]);
            let inside = &rest[at + "${secret:".len()..];
            let Some(end) = inside.find('}') else {
                return Err(bad("a reference to a secret has no `}`"));
            };
            filled.push_str(self.value(&inside[..end])?);
            self.has_filled = true;
            rest = &inside[end + 1..];
        }
        filled.push_str(rest);
        Ok(filled)
    }

    /// A value whose texts are filled in. Depth is bounded where arguments are read.
    pub(crate) fn fill_value(&mut self, value: Value) -> Result<Value, Refusal> {
        Ok(match value {
            Value::String(text) => Value::String(self.fill(&text)?),
            Value::Array(list) => {
                let list = list.into_iter().map(|each| self.fill_value(each));
                Value::Array(list.collect::<Result<_, _>>()?)
            }
            Value::Object(map) => {
                let map = map
                    .into_iter()
                    .map(|(key, each)| Ok((key, self.fill_value(each)?)));
                Value::Object(map.collect::<Result<_, Refusal>>()?)
            }
            other => other,
        })
    }

    fn value(&self, name: &str) -> Result<&'s str, Refusal> {
        let name = name.trim();
        let shown: String = name.escape_debug().take(60).collect();
        let Some(secret) = self.secrets.iter().find(|secret| secret.name == name) else {
            let known: Vec<&str> = self
                .secrets
                .iter()
                .map(|secret| secret.name.as_str())
                .collect();
            let next = match known.is_empty() {
                true => "Ask the user to add it to web.secrets of the configuration".to_owned(),
                false => format!(
                    "There is {}; ask the user to add others to web.secrets",
                    known.join(", ")
                ),
            };
            return Err(bad(&format!("there is no secret called `{shown}`")).next(next));
        };
        if !secret.origins.contains(&self.origin) {
            let message = format!("the secret `{shown}` may not be sent to {}", self.origin);
            return Err(Refusal::new(Reason::Denied, message)
                .next("Ask the user to add this server to the secret's hosts, if it is meant"));
        }
        Ok(&secret.value)
    }
}

/// Refuses a text that refers to a secret where none is filled in.
pub(crate) fn refuse_reference(text: &str, place: &str) -> Result<(), Refusal> {
    match text.contains("${secret:") {
        true => Err(bad(&format!("{place} cannot hold a secret"))
            .next("Put the reference into auth, headers, query_params or body of api_call")),
        false => Ok(()),
    }
}

fn bad(message: &str) -> Refusal {
    Refusal::new(Reason::BadArgument, message)
}
