//! Strategy: in which way a model is asked for calls.
//!
//! Two switches of the configuration and what is known of the model decide; where they
//! leave no way, that is an error which says which of them to change.

use serde::{Deserialize, Serialize};

use crate::capability::Support;

/// How models are told to call tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct OutputStrategy {
    /// In the model's own format, where it has one.
    pub function_calling: bool,
    /// By a prompt, where it has none.
    pub fallback_to_structured_output: bool,
}

impl Default for OutputStrategy {
    fn default() -> Self {
        Self {
            function_calling: true,
            fallback_to_structured_output: true,
        }
    }
}

impl OutputStrategy {
    /// A strategy with both switches set.
    pub const fn new(function_calling: bool, fallback_to_structured_output: bool) -> Self {
        Self {
            function_calling,
            fallback_to_structured_output,
        }
    }

    /// The way to ask a model of which this much is known. One of which nothing is known
    /// is tried.
    pub fn choose(self, support: Support) -> Result<Way, StrategyError> {
        match (self.function_calling, support) {
            (true, Support::Yes | Support::Unknown) => Ok(Way::Native),
            (true, Support::No) => self.fall_back(StrategyError::CannotCall),
            (false, _) => self.fall_back(StrategyError::NoWay),
        }
    }

    /// The way that is left when a model has refused to take tools.
    pub fn after_refusal(self) -> Result<Way, StrategyError> {
        self.fall_back(StrategyError::CannotCall)
    }

    fn fall_back(self, otherwise: StrategyError) -> Result<Way, StrategyError> {
        match self.fallback_to_structured_output {
            true => Ok(Way::Structured),
            false => Err(otherwise),
        }
    }
}

/// A way to ask for calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// In the provider's own format.
    Native,
    /// As text, by a prompt that holds the schemas.
    Structured,
}

impl Way {
    /// What it is called: `function_calling` or `structured_output`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Native => "function_calling",
            Self::Structured => "structured_output",
        }
    }
}

/// Why there is no way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StrategyError {
    /// Neither way may be used.
    #[error(
        "output_strategy allows neither function_calling nor fallback_to_structured_output; set one of them to true"
    )]
    NoWay,
    /// Only function calling may be used, and the model does not know it.
    #[error(
        "the model does not support function calling, and output_strategy.fallback_to_structured_output is false; set it to true or choose another model"
    )]
    CannotCall,
}
