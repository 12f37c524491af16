//! What a tool does: its kind in lists, and its effect, by which permission is decided.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What sort of thing a tool does.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// Reads something.
    Read,
    /// Changes something.
    Edit,
    /// Removes something.
    Delete,
    /// Moves or renames something.
    Move,
    /// Looks for something.
    Search,
    /// Runs a program.
    Execute,
    /// Talks to the network.
    Network,
    /// Only reasons.
    Think,
    /// Belongs to somebody else's server.
    External,
    /// None of these.
    Other,
}

impl Kind {
    /// The effect that goes with the kind. What is not known to stay here is
    /// taken to leave.
    pub const fn effect(self) -> Effect {
        match self {
            Self::Read | Self::Search | Self::Think => Effect::Read,
            Self::Edit | Self::Delete | Self::Move => Effect::Write,
            Self::Execute => Effect::Execute,
            Self::Network | Self::External | Self::Other => Effect::Network,
        }
    }

    /// The kind that goes with an effect, where only that was said.
    pub const fn of_effect(effect: Effect) -> Self {
        match effect {
            Effect::Read => Self::Read,
            Effect::Write => Self::Edit,
            Effect::Execute => Self::Execute,
            Effect::Network => Self::Network,
        }
    }
}

/// What a tool does to the world; what modes and rules speak of.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Looks, and changes nothing.
    Read,
    /// Changes files or state here.
    Write,
    /// Runs programs here.
    Execute,
    /// Reaches beyond this machine.
    Network,
}

/// Finer statements about an effect, as MCP's annotations know them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Hints {
    /// Says that it only looks. Answers may be kept and calls repeated on the strength of
    /// it; permission is decided by the effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// May destroy what was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Doing it twice does no more than doing it once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// Deals with an open world: the web, other people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
}

impl Hints {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
