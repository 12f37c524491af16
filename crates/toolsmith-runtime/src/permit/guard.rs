//! Guards: whoever has a say in whether a call may run.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::time::Duration;

use futures_util::FutureExt;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use toolsmith_core::{Arguments, Plan, ToolDef};

use super::Decision;
use crate::plan::PlannedCall;

/// Judges calls. Implemented by the policy and by hosts.
///
/// Of all guards the strictest wins: deny beats ask beats allow. An error, a panic
/// or taking too long denies.
pub trait Guard: Send + Sync + 'static {
    /// What the guard is called in decisions and records.
    fn name(&self) -> &str;

    /// Judges a call.
    fn judge(
        &self,
        subject: &Subject<'_>,
    ) -> impl Future<Output = Result<Judgement, GuardError>> + Send;
}

/// A guard, its type erased.
pub(crate) trait ErasedGuard: Send + Sync {
    /// What the guard decides, within a time limit; nothing where the call is none
    /// of its business.
    fn decide<'a>(
        &'a self,
        subject: &'a Subject<'a>,
        limit: Duration,
    ) -> Pin<Box<dyn Future<Output = Option<Decision>> + Send + 'a>>;
}

impl<G: Guard> ErasedGuard for G {
    fn decide<'a>(
        &'a self,
        subject: &'a Subject<'a>,
        limit: Duration,
    ) -> Pin<Box<dyn Future<Output = Option<Decision>> + Send + 'a>> {
        Box::pin(async move {
            // The guard is asked inside, so that a panic before its first wait is
            // caught as well.
            let asking = AssertUnwindSafe(async { self.judge(subject).await }).catch_unwind();
            let began = Instant::now();
            let asked = tokio::time::timeout(limit, asking).await;
            let reason = match asked {
                // One that blocks cannot be interrupted, but it can be disbelieved.
                Ok(_) if began.elapsed() > limit => "the guard took too long".to_owned(),
                Ok(Ok(Ok(Judgement::Decided(decision)))) => return Some(decision),
                Ok(Ok(Ok(Judgement::NoOpinion))) => return None,
                Ok(Ok(Err(error))) => format!("the guard failed: {error}"),
                Ok(Err(_)) => "the guard panicked".to_owned(),
                Err(_) => "the guard took too long".to_owned(),
            };
            let by = format!("guard {}", self.name());
            Some(Decision::new(Verdict::Deny, by, reason))
        })
    }
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
