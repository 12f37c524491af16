//! Approvals that come back with the call itself.
//!
//! A caller without a live channel to a person gets the question and a signed
//! state back, and makes the call again with the answer. The signature is over the
//! call's digest, so the answer to one call opens no other.

use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::time::Instant;
use toolsmith_core::Schema;
use toolsmith_core::call::Answers;
use toolsmith_core::reply::{InputRequest, InputRequired};

use super::{Approval, ApprovalRequest, CallDigest};

/// What the answer is filed under.
const APPROVE_KEY: &str = "approve";

/// How long an answer counts.
const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// Signs and checks the states of one toolbox. The key is random and never leaves
/// the process, so a state is worth nothing after a restart.
pub(crate) struct Signer {
    key: [u8; 32],
    start: Instant,
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Signer")
    }
}

impl Signer {
    /// Draws a key. Without randomness there is no signer, and nothing that needs
    /// one is answered.
    pub(crate) fn new() -> Option<Self> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).ok()?;
        Some(Self {
            key,
            start: Instant::now(),
        })
    }

    /// The question, with the state that must come back with the answer.
    pub(crate) fn question(&self, request: &ApprovalRequest) -> InputRequired {
        let schema = Schema::input(json!({
            "properties": {
                APPROVE_KEY: { "type": "boolean", "description": "Whether the call may run." }
            },
            "required": [APPROVE_KEY],
        }))
        .unwrap_or_else(|_| Schema::no_arguments());
        let message = format!("Allow {}? ({})", request.plan.summary, request.reason);
        let question = InputRequest::new(APPROVE_KEY, message, schema);
        InputRequired::new(vec![question], self.state(&request.digest))
    }

    /// The approval that came back with a call, if it is for this very call.
    pub(crate) fn approval(&self, answers: &Answers, digest: &CallDigest) -> Approval {
        let refused = |reason: &str| Approval::Refused {
            by: "caller".to_owned(),
            reason: reason.to_owned(),
        };
        if !self.is_genuine(&answers.state, digest) {
            return refused("the answer does not belong to this call, or is too old");
        }
        // Clients answer with the value itself, or with the form they showed.
        let answer = match answers.responses.get(APPROVE_KEY) {
            Some(Value::Object(form)) => form.get(APPROVE_KEY),
            other => other,
        };
        match answer {
            Some(Value::Bool(true)) => Approval::Granted {
                digest: *digest,
                by: "caller".to_owned(),
            },
            _ => refused("the user said no"),
        }
    }

    fn state(&self, digest: &CallDigest) -> String {
        let age = self.start.elapsed().as_secs();
        format!("{age:x}.{}", hex(&self.sign(age, digest)))
    }

    fn is_genuine(&self, state: &str, digest: &CallDigest) -> bool {
        let Some((age, signature)) = state.split_once('.') else {
            return false;
        };
        let (Ok(age), Some(signature)) = (u64::from_str_radix(age, 16), unhex(signature)) else {
            return false;
        };
        let now = self.start.elapsed().as_secs();
        let mac = self.mac(age, digest);
        // The comparison is the library's, in constant time.
        mac.verify_slice(&signature).is_ok() && now.saturating_sub(age) <= LIFETIME.as_secs()
    }

    fn sign(&self, age: u64, digest: &CallDigest) -> Vec<u8> {
        self.mac(age, digest).finalize().into_bytes().to_vec()
    }

    fn mac(&self, age: u64, digest: &CallDigest) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("any key length will do");
        mac.update(b"toolsmith approval 1\0");
        mac.update(&age.to_le_bytes());
        mac.update(digest.bytes());
        mac
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok())
        .collect()
}
