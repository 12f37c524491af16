//! How questions are answered: what a model is told first, and how long it may go on.

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use toolsmith_agent::{AgentLimits, Price};
use toolsmith_core::duration::Span;

use super::Positive;

/// How questions are answered. What is not set is as usual.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct AskConfig {
    /// What the model is told before everything else.
    pub instructions: Option<String>,
    /// How many turns it may have.
    pub turns: Option<Positive>,
    /// How long it may take.
    pub time: Option<Span>,
    /// How many tokens it may take.
    pub tokens: Option<Positive>,
    /// How much it may cost, in the currency of the prices under `models`.
    #[serde(deserialize_with = "amount")]
    pub cost: Option<f64>,
    /// How many tokens of conversation a request may hold, as they are estimated.
    pub context_tokens: Option<Positive>,
    /// Fields of every request, in the provider's own words.
    pub settings: Map<String, Value>,
}

/// How many bytes a token has, on an average.
const BYTES: usize = 4;

impl AskConfig {
    /// The same, with what is not set taken from another.
    #[must_use]
    pub fn over(&self, beneath: &Self) -> Self {
        let mut settings = beneath.settings.clone();
        settings.extend(self.settings.clone());
        let instructions = self.instructions.as_ref().or(beneath.instructions.as_ref());
        Self {
            instructions: instructions.cloned(),
            turns: self.turns.or(beneath.turns),
            time: self.time.or(beneath.time),
            tokens: self.tokens.or(beneath.tokens),
            cost: self.cost.or(beneath.cost),
            context_tokens: self.context_tokens.or(beneath.context_tokens),
            settings,
        }
    }

    /// What is said of a run, for another agent that works in it: its own words stay its own,
    /// and of two limits the lower counts.
    #[must_use]
    pub fn around(&self, own: &Self) -> Self {
        let number = |count: Positive| count.0;
        let mut settings = self.settings.clone();
        settings.extend(own.settings.clone());
        let instructions = own.instructions.as_ref().or(self.instructions.as_ref());
        Self {
            instructions: instructions.cloned(),
            turns: lower(self.turns, own.turns, number),
            time: lower(self.time, own.time, |time| time.0),
            tokens: lower(self.tokens, own.tokens, number),
            cost: lower(self.cost, own.cost, |cost| cost),
            context_tokens: lower(self.context_tokens, own.context_tokens, number),
            settings,
        }
    }

    /// The ceilings it comes to, with the price of the model.
    pub fn limits(&self, price: Option<Price>) -> AgentLimits {
        let mut limits = AgentLimits::default();
        let number = |count: Positive| count.0;
        if let Some(turns) = self.turns {
            limits.turns = u32::try_from(number(turns)).unwrap_or(u32::MAX);
        }
        if let Some(time) = self.time {
            limits.time = Some(time.0);
        }
        limits.tokens = self.tokens.map(|tokens| number(tokens) as u64);
        limits.cost = self.cost;
        limits.price = price;
        if let Some(tokens) = self.context_tokens {
            limits.context_bytes = number(tokens).saturating_mul(BYTES);
        }
        limits
    }
}

/// The lower of two limits, where both are set.
fn lower<T: Copy, K: PartialOrd>(
    one: Option<T>,
    other: Option<T>,
    size: impl Fn(T) -> K,
) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) if size(other) < size(one) => Some(other),
        _ => one.or(other),
    }
}

/// An amount of money.
fn amount<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let amount = Option::<f64>::deserialize(deserializer)?;
    if amount.is_some_and(|amount| !amount.is_finite() || amount <= 0.0) {
        return Err(serde::de::Error::custom("expected an amount above nought"));
    }
    Ok(amount)
}
