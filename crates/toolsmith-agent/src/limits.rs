//! Every ceiling of an agent's run, in one place.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use toolsmith_provider::Usage;

/// The ceilings of a run. A run that reaches one ends, with everything it did told.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AgentLimits {
    /// How many turns the model may have.
    pub turns: u32,
    /// How long the run may take, waiting for people included.
    pub time: Option<Duration>,
    /// How many tokens may be read and written, tasks it gives to others included.
    pub tokens: Option<u64>,
    /// How much it may cost, in the currency of the price.
    pub cost: Option<f64>,
    /// What tokens cost; without it no cost is known.
    pub price: Option<Price>,
    /// How many bytes of conversation a request may hold: older results are shortened to
    /// stay within.
    pub context_bytes: usize,
    /// How many calls of one turn are made; of the others the model is told.
    pub calls_per_turn: usize,
    /// How many turns in a row may make nothing but calls that do not fit their tools.
    pub corrections: u32,
    /// In how many turns the same call may bring the same result: from the third on the model
    /// is told, and here the run ends.
    pub repeats: u32,
    /// How often in a row an answer that broke off, or said nothing, is asked for again.
    pub second_chances: u32,
    /// How many bytes the user may say at once.
    pub prompt_bytes: usize,
}

impl Default for AgentLimits {
    fn default() -> Self {
        Self {
            turns: 50,
            time: Some(Duration::from_secs(3600)),
            tokens: None,
            cost: None,
            price: None,
            // About a hundred thousand tokens, which every model of these days reads.
            context_bytes: 400_000,
            calls_per_turn: 64,
            corrections: 4,
            repeats: 8,
            second_chances: 2,
            prompt_bytes: 1 << 20,
        }
    }
}

/// What a million tokens cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Of those that are read.
    pub input: f64,
    /// Of those that are written.
    pub output: f64,
}

impl Price {
    /// What so many tokens cost.
    pub fn of(&self, usage: &Usage) -> f64 {
        let cost = |tokens: u64, price: f64| tokens as f64 / 1e6 * price;
        cost(usage.input_tokens, self.input) + cost(usage.output_tokens, self.output)
    }
}

/// A ceiling that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// The number of turns.
    Turns,
    /// The time.
    Time,
    /// The tokens.
    Tokens,
    /// The cost.
    Cost,
    /// The size of the conversation, with every result shortened.
    Context,
    /// The size of what the user says.
    Prompt,
    /// Turns that make nothing but calls that do not fit.
    Corrections,
    /// The same call with the same result.
    Repeats,
}

impl Limit {
    /// What it is called in reports and events.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Turns => "turns",
            Self::Time => "time",
            Self::Tokens => "tokens",
            Self::Cost => "cost",
            Self::Context => "context",
            Self::Prompt => "prompt",
            Self::Corrections => "corrections",
            Self::Repeats => "repeats",
        }
    }
}
