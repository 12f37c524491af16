//! The numbers of calls: all different, and such as the provider takes them back.
//!
//! What is made here depends on nothing but the answer, so that reading it twice gives
//! the same numbers.

use std::collections::HashSet;

use crate::provider::Provider;

/// What a provider takes for the number of a call.
#[derive(Debug)]
struct Rule {
    shortest: usize,
    longest: usize,
    /// What it takes beside letters and digits.
    beside: &'static [u8],
}

/// The rules, each with where it is from.
fn rule(provider: Provider) -> Rule {
    let (shortest, longest, beside): (_, _, &[u8]) = match provider {
        // The API: "Expected a string with maximum length 40" for chat completions.
        Provider::OpenAi => (1, 40, b"_-.:|"),
        // The API: at most 64 for `call_id`.
        Provider::OpenAiResponses => (1, 64, b"_-.:|"),
        // The API: `^[a-zA-Z0-9_-]+$` for `tool_use.id`.
        Provider::Anthropic => (1, 128, b"_-"),
        // botocore's model of the service.
        Provider::Bedrock => (1, 64, b"_.:-"),
        // The API: exactly nine of a-z, A-Z, 0-9.
        Provider::Mistral => (9, 9, b""),
        // Nothing is written of the others; these are what sane ones look like.
        _ => (1, 128, b"_-.:|/#"),
    };
    Rule {
        shortest,
        longest,
        beside,
    }
}

/// Gives every call of a turn its number.
#[derive(Debug)]
pub(crate) struct Ids {
    rule: Rule,
    seed: u64,
    given: HashSet<String>,
}

impl Ids {
    /// Numbers for one turn; `turn` tells it from others, where the provider says how.
    pub(crate) fn new(provider: Provider, turn: &str) -> Self {
        Self {
            rule: rule(provider),
            seed: mix(START, turn.as_bytes()),
            given: HashSet::new(),
        }
    }

    /// The number of the next call: the one it was sent with where that is fit and new,
    /// or one made of it.
    pub(crate) fn give(&mut self, sent: Option<&str>, name: &str) -> String {
        let sent = sent.unwrap_or_default();
        if self.fits(sent) && self.given.insert(sent.to_owned()) {
            return sent.to_owned();
        }
        let seed = mix(mix(self.seed, sent.as_bytes()), name.as_bytes());
        let position = self.given.len() as u64;
        let mut attempt = 0_u64;
        loop {
            let number = mix(mix(seed, &position.to_le_bytes()), &attempt.to_le_bytes());
            let made = self.spell(number);
            if self.given.insert(made.clone()) {
                return made;
            }
            attempt += 1;
        }
    }

    fn fits(&self, id: &str) -> bool {
        // Mistral's library writes the word where there was none.
        id != "null"
            && (self.rule.shortest..=self.rule.longest).contains(&id.len())
            && (id.bytes())
                .all(|byte| byte.is_ascii_alphanumeric() || self.rule.beside.contains(&byte))
    }

    fn spell(&self, mut number: u64) -> String {
        const DIGITS: &[u8; 62] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        let mut made = String::new();
        if self.rule.longest > 9 {
            made.push_str("call_");
        }
        for _ in 0..9 {
            made.push(char::from(DIGITS[(number % 62) as usize]));
            number /= 62;
        }
        made
    }
}

const START: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a: nothing here is secret, and what meets is told apart afterwards.
fn mix(hash: u64, bytes: &[u8]) -> u64 {
    (bytes.iter()).fold(hash, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
