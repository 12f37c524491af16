//! Guards: whoever has a say in whether a call may run.

use serde::{Deserialize, Serialize};
use toolsmith_core::{Arguments, Plan, ToolDef};

use super::Decision;
use crate::plan::PlannedCall;

/// Judges calls. Implemented by the policy and by hosts.
///
/// Of all guards the strictest wins: deny beats ask beats allow. An error or a
/// panic denies.
pub trait Guard: Send + Sync + 'static {
    /// What the guard is called in decisions and records.
    fn name(&self) -> &str;

    /// Judges a call.
    fn judge(&self, subject: &Subject<'_>) -> Result<Judgement, GuardError>;
}

/// What a guard gets to see: the real tool, the checked arguments, the plan.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Subject<'a> {
    /// The tool, whatever name it was called by.
    pub tool: &'a ToolDef,
    /// The name it is offered by, which is what people see.
    pub offered_as: &'a str,
    /// The arguments, with defaults filled in.
    pub arguments: &'a Arguments,
    /// What the call would do.
    pub plan: &'a Plan,
    /// The agent that makes the call.
    pub agent: Option<&'a str>,
}

impl<'a> Subject<'a> {
    pub(crate) fn new(call: &'a PlannedCall, agent: Option<&'a str>) -> Self {
        Self {
            tool: call.call.tool(),
            offered_as: &call.call.entry().wire_name,
            arguments: call.call.arguments(),
            plan: &call.plan,
            agent,
        }
    }
}

/// What a guard says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Judgement {
    /// Yes, no or ask, with the reason.
    Decided(Decision),
    /// The call is none of its business.
    NoOpinion,
}

/// Yes, ask or no; the greater is the stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It may run.
    Allow,
    /// A person must be asked.
    Ask,
    /// It may not run.
    Deny,
}

/// Why a guard could not answer. Its answer is then no.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct GuardError(pub String);
