//! How a run ended, and what it took.

use std::fmt;
use std::time::Duration;

use toolsmith_core::ErrorKind;
use toolsmith_provider::Usage;

use crate::limits::Limit;

/// What came of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The answer, or what the model said last.
    pub text: String,
    /// Why it ended.
    pub end: End,
    /// How many turns the model had.
    pub turns: u32,
    /// How many calls were made.
    pub calls: u32,
    /// How many of them failed.
    pub failed: u32,
    /// How many tokens it took, tasks it gave to others included.
    pub usage: Usage,
    /// What that costs, where a price is known.
    pub cost: Option<f64>,
    /// How long it took.
    pub took: Duration,
}

impl Report {
    /// A run that ended before it began.
    pub(crate) fn not_begun(end: End) -> Self {
        Self {
            text: String::new(),
            end,
            turns: 0,
            calls: 0,
            failed: 0,
            usage: Usage::default(),
            cost: None,
            took: Duration::ZERO,
        }
    }
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// The model answered.
    Answered,
    /// The answer was cut off at the model's own limit.
    CutOff,
    /// The model, or a filter of its provider, would not answer.
    Refused,
    /// The model said nothing, again and again.
    Silent,
    /// A limit was reached.
    Limit(Limit),
    /// Somebody gave it up.
    Cancelled,
    /// It could not go on.
    Failed {
        /// The kind of failure.
        kind: ErrorKind,
        /// What happened.
        message: String,
    },
}

impl End {
    pub(crate) fn failed(kind: ErrorKind, message: impl fmt::Display) -> Self {
        Self::Failed {
            kind,
            message: message.to_string(),
        }
    }

    /// The limit that was reached, if one was.
    pub fn limit(&self) -> Option<Limit> {
        match self {
            Self::Limit(limit) => Some(*limit),
            _ => None,
        }
    }

    /// What it is called in events and journals.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::CutOff => "cut_off",
            Self::Refused => "refused",
            Self::Silent => "silent",
            Self::Limit(_) => "limit",
            Self::Cancelled => "cancelled",
            Self::Failed { .. } => "failed",
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Answered => "the model answered",
            Self::CutOff => "the answer was cut off at the model's own limit of length",
            Self::Refused => "the model, or a filter of its provider, would not answer",
            Self::Silent => "the model said nothing, although it was asked again",
            Self::Cancelled => "it was given up",
            Self::Failed { message, .. } => message,
            Self::Limit(limit) => match limit {
                Limit::Turns => "the limit of turns was reached",
                Limit::Time => "the time limit was reached",
                Limit::Tokens => "the limit of tokens was reached",
                Limit::Cost => "the limit of cost was reached",
                Limit::Context => {
                    "the conversation is larger than the context, even with its results shortened; begin a new one"
                }
                Limit::Prompt => "what was asked is larger than a prompt may be; put it into a file and name that",
                Limit::Corrections => "the model kept making calls that do not fit their tools",
                Limit::Repeats => "the model kept making the same call, which brought the same result each time",
            },
        })
    }
}
