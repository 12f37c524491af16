//! Approvals that come back with the call itself.
//!
//! A caller without a live channel to a person gets the question and a signed
//! state back, and makes the call again with the answer. The signature is over the
//! call's digest and the caller, so an answer opens that call to that caller and
//! nothing else; and each state counts once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::time::Instant;
use toolsmith_core::Schema;
use toolsmith_core::call::Answers;
use toolsmith_core::reply::{InputRequest, InputRequired};

use super::form::APPROVE;
use super::{Approval, ApprovalRequest, CallDigest};
use crate::canonical::{hex, unhex};

/// How long an answer counts.
const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// Signs and checks the states of one toolbox. The key is random and never leaves
/// the process, so a state is worth nothing after a restart.
pub(crate) struct Signer {
    key: [u8; 32],
    start: Instant,
    issued: AtomicU64,
    /// The states that were used, until they are too old to count anyway.
    used: Mutex<HashMap<u64, u64>>,
}

/// What a state is signed over, beside the call.
#[derive(Clone, Copy)]
struct Stamp {
    /// Seconds from the signer's start to the question.
    age: u64,
    /// Its number.
    number: u64,
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
            issued: AtomicU64::new(0),
            used: Mutex::default(),
        })
    }

    /// The question, with the state that must come back with the answer.
    pub(crate) fn question(&self, request: &ApprovalRequest, caller: &str) -> InputRequired {
        let schema = Schema::input(request.form()).unwrap_or_else(|_| Schema::no_arguments());
        let message = format!("Allow {}? ({})", request.plan.summary, request.reason);
        let question = InputRequest::new(APPROVE, message, schema);
        InputRequired::new(vec![question], self.state(&request.digest, caller))
    }

    /// The approval that came back with a call, if it is for this very call.
    pub(crate) fn approval(
        &self,
        answers: &Answers,
        request: &ApprovalRequest,
        caller: &str,
    ) -> Approval {
        let refused = |reason: &str| Approval::Refused {
            by: "caller".to_owned(),
            reason: reason.to_owned(),
        };
        let Some(stamp) = self.genuine(&answers.state, &request.digest, caller) else {
            return refused("the answer does not belong to this call, or is too old");
        };
        if !self.use_up(stamp) {
            return refused("the answer was used before");
        }
        // Clients answer with the value itself, or with the form they showed.
        match answers.responses.get(APPROVE) {
            Some(form @ Value::Object(_)) => request.answered(form, "caller"),
            Some(answer) => request.answered(&json!({ APPROVE: answer }), "caller"),
            None => refused("the user said no"),
        }
    }

    fn state(&self, digest: &CallDigest, caller: &str) -> String {
        let stamp = Stamp {
            age: self.start.elapsed().as_secs(),
            number: self.issued.fetch_add(1, Ordering::Relaxed),
        };
        let signature = self.mac(stamp, digest, caller).finalize().into_bytes();
        format!("{:x}.{:x}.{}", stamp.age, stamp.number, hex(&signature))
    }

    /// The stamp of a state that is ours, for this call and caller, and not too old.
    fn genuine(&self, state: &str, digest: &CallDigest, caller: &str) -> Option<Stamp> {
        let mut parts = state.splitn(3, '.');
        let mut number = || u64::from_str_radix(parts.next()?, 16).ok();
        let stamp = Stamp {
            age: number()?,
            number: number()?,
        };
        let signature = unhex(parts.next()?)?;
        // The comparison is the library's, in constant time.
        let mac = self.mac(stamp, digest, caller);
        mac.verify_slice(&signature).ok()?;
        (self.start.elapsed().as_secs().saturating_sub(stamp.age) <= LIFETIME.as_secs())
            .then_some(stamp)
    }

    /// Uses a state up; tells whether it was unused.
    fn use_up(&self, stamp: Stamp) -> bool {
        let now = self.start.elapsed().as_secs();
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|_, age| now.saturating_sub(*age) <= LIFETIME.as_secs());
        used.insert(stamp.number, stamp.age).is_none()
    }

    fn mac(&self, stamp: Stamp, digest: &CallDigest, caller: &str) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("any key length will do");
        mac.update(b"toolsmith approval 1\0");
        mac.update(&stamp.age.to_le_bytes());
        mac.update(&stamp.number.to_le_bytes());
        mac.update(digest.bytes());
        mac.update(caller.as_bytes());
        mac
    }
}
