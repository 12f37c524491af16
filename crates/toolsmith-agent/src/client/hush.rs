//! Takes keys out of what a server says.
//!
//! Some servers repeat what they were shown, and their words end up before people and in
//! records.

use std::borrow::Cow;

use secrecy::{ExposeSecret, SecretString};

/// What stands where a key stood.
const HIDDEN: &str = "[hidden]";

/// The keys and headers of an endpoint, which are not told.
#[derive(Clone, Debug)]
pub(super) struct Hush(Vec<SecretString>);

impl Hush {
    pub(super) fn new(secrets: Vec<SecretString>) -> Self {
        Self(secrets)
    }

    /// The text without keys.
    pub(super) fn text(&self, text: &str) -> String {
        let mut text = Cow::Borrowed(text);
        for secret in &self.0 {
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
        match self.0.iter().any(holds) {
            true => self.text(&text).into_bytes(),
            false => body,
        }
    }
}
