//! Takes keys out of what a server says.
//!
//! Some servers repeat what they were shown, and their words end up before people and in
//! records.

use std::borrow::Cow;

use secrecy::{ExposeSecret, SecretString};

use super::endpoint::Endpoint;

/// What stands where a key stood.
const HIDDEN: &str = "[hidden]";

/// The shortest key that is taken out of answers: what is shorter is found where no key is.
const SHORTEST: usize = 8;

/// The keys and headers of an endpoint, which are not told.
#[derive(Clone, Debug)]
pub(super) struct Hush {
    secrets: Vec<SecretString>,
    key: Option<SecretString>,
}

impl Hush {
    pub(super) fn new(endpoint: &Endpoint) -> Self {
        let key = endpoint.key.as_ref().map(|key| key.secret.clone());
        Self {
            secrets: endpoint.secrets(),
            key: key.filter(|key| key.expose_secret().len() >= SHORTEST),
        }
    }

    /// An answer that is on its way, without the key. Headers stay: their values may be words
    /// that a model has to write.
    pub(super) fn answer(&self) -> Hushing<'_> {
        Hushing {
            key: self.key.as_ref().map(|key| key.expose_secret().as_bytes()),
            held: Vec::new(),
        }
    }

    /// The text without keys.
    pub(super) fn text(&self, text: &str) -> String {
        let mut text = Cow::Borrowed(text);
        for secret in &self.secrets {
            if text.contains(secret.expose_secret()) {
                text = text.replace(secret.expose_secret(), HIDDEN).into();
            }
        }
        text.into_owned()
    }

    /// A body without keys; as it is where there are none in it.
    pub(super) fn body(&self, body: Vec<u8>) -> Vec<u8> {
        let text = String::from_utf8_lossy(&body);
        let holds = |secret: &SecretString| text.contains(secret.expose_secret());
        match self.secrets.iter().any(holds) {
            true => self.text(&text).into_bytes(),
            false => body,
        }
    }
}

/// Bytes as they come, without a key, wherever it is cut.
pub(super) struct Hushing<'h> {
    key: Option<&'h [u8]>,
    /// What may be the beginning of it.
    held: Vec<u8>,
}

impl Hushing<'_> {
    /// The next bytes that can be told.
    pub(super) fn push<'b>(&mut self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        let Some(key) = self.key else {
            return bytes.into();
        };
        let mut rest = std::mem::take(&mut self.held);
        rest.extend_from_slice(bytes);
        let mut told = Vec::with_capacity(rest.len());
        let mut rest = rest.as_slice();
        while let Some(at) = rest.windows(key.len()).position(|part| part == key) {
            told.extend_from_slice(&rest[..at]);
            told.extend_from_slice(HIDDEN.as_bytes());
            rest = &rest[at + key.len()..];
        }
        let longest = rest.len().min(key.len() - 1);
        let begins = |count: &usize| rest.ends_with(&key[..*count]);
        let begun = (1..=longest).rev().find(begins).unwrap_or(0);
        let (whole, begun) = rest.split_at(rest.len() - begun);
        told.extend_from_slice(whole);
        self.held.extend_from_slice(begun);
        told.into()
    }

    /// What was held and is no key after all.
    pub(super) fn finish(self) -> Vec<u8> {
        self.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolsmith_provider::Provider;

    #[test]
    fn a_key_is_found_wherever_it_is_cut() {
        let endpoint = Endpoint::new(Provider::Ollama).unwrap();
        let hush = Hush::new(&endpoint.with_key("key-key-keyed".to_owned().into()));
        let text = "a key-key-key-keyed b key-key-keye k";
        for first in 0..text.len() {
            for second in first..text.len() {
                let mut hushing = hush.answer();
                let cuts = [&text[..first], &text[first..second], &text[second..]];
                let mut told: Vec<u8> = Vec::new();
                for piece in cuts {
                    told.extend_from_slice(&hushing.push(piece.as_bytes()));
                }
                told.extend(hushing.finish());
                let told = String::from_utf8(told).unwrap();
                assert_eq!(told, "a key-[hidden] b key-key-keye k", "{cuts:?}");
            }
        }
    }

    #[test]
    fn what_is_no_key_is_told_at_once() {
        let endpoint = Endpoint::new(Provider::Ollama).unwrap();
        for endpoint in [
            endpoint.clone(),
            endpoint.with_key("short".to_owned().into()),
        ] {
            let hush = Hush::new(&endpoint);
            let mut hushing = hush.answer();
            assert_eq!(*hushing.push(b"a short sho"), *b"a short sho");
            assert_eq!(hushing.finish(), b"");
        }
    }
}
