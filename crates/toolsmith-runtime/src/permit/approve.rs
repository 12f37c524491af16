//! Asking a person.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use futures_util::FutureExt;
use serde::Serialize;
use toolsmith_core::{Arguments, Effect, Plan, ToolName};

use super::{CallDigest, Decision};
use crate::plan::PlannedCall;
use crate::shape::{Redactor, shown_arguments};

/// Asks a person whether calls may run.
///
/// Implemented by hosts: a terminal prompt, a dialog, a message to a client. All
/// calls of a batch that must be asked for come in one question. An answer counts
/// for the call whose digest it carries; a call without an answer does not run.
pub trait Approver: Send + Sync + 'static {
    /// Asks about one or several calls.
    fn approve(&self, requests: &[ApprovalRequest]) -> impl Future<Output = Vec<Approval>> + Send;
}

/// A call somebody must be asked about.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// What the answer must carry.
    pub digest: CallDigest,
    /// The tool.
    pub tool: ToolName,
    /// What it does to the world.
    pub effect: Effect,
    /// What the call would do, with the paths it touches.
    pub plan: Plan,
    /// The arguments, without secrets: they are shown on a terminal, or sent to a client.
    pub arguments: Arguments,
    /// Why it must be asked.
    pub reason: String,
}

impl ApprovalRequest {
    pub(crate) fn new(call: &PlannedCall, decision: &Decision, redactor: &Redactor) -> Self {
        let tool = call.call.tool();
        Self {
            digest: CallDigest::of(&call.call),
            tool: tool.name.clone(),
            effect: tool.effect,
            plan: call.plan.clone(),
            arguments: shown_arguments(call.call.arguments(), redactor),
            reason: decision.reason.clone(),
        }
    }

    /// The answer yes to this request, by somebody.
    pub fn grant(&self, by: impl Into<String>) -> Approval {
        Approval::Granted {
            digest: self.digest,
            by: by.into(),
        }
    }
}

/// An answer, in the order of the requests.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Approval {
    /// The call with this digest may run.
    Granted {
        /// The digest of the call that was shown.
        digest: CallDigest,
        /// Who said so.
        by: String,
    },
    /// It may not.
    Refused {
        /// Who said so.
        by: String,
        /// Why.
        reason: String,
    },
    /// The caller gave up before anybody answered.
    GivenUp,
    /// Nobody could be asked.
    Unavailable {
        /// Why not.
        reason: String,
    },
}

/// The approver of a host with nobody to ask: which means no.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Approver for Nobody {
    async fn approve(&self, requests: &[ApprovalRequest]) -> Vec<Approval> {
        let reason = "there is nobody to ask".to_owned();
        vec![Approval::Unavailable { reason }; requests.len()]
    }
}

/// Says yes to everything policy does not deny.
#[derive(Clone, Debug)]
pub struct YesToAll {
    /// Whose word this is, for the record.
    pub by: String,
}

impl Approver for YesToAll {
    async fn approve(&self, requests: &[ApprovalRequest]) -> Vec<Approval> {
        requests.iter().map(|r| r.grant(self.by.clone())).collect()
    }
}

/// An approver, its type erased.
pub(crate) trait ErasedApprover: Send + Sync {
    fn ask<'a>(
        &'a self,
        requests: &'a [ApprovalRequest],
        limit: Duration,
    ) -> Pin<Box<dyn Future<Output = Vec<Approval>> + Send + 'a>>;
}

impl<A: Approver> ErasedApprover for A {
    /// Asks, within a time limit. A time-out and a panic are both a no.
    fn ask<'a>(
        &'a self,
        requests: &'a [ApprovalRequest],
        limit: Duration,
    ) -> Pin<Box<dyn Future<Output = Vec<Approval>> + Send + 'a>> {
        Box::pin(async move {
            // Asked inside the block: an approver may panic before it gives a future.
            let asking = async { self.approve(requests).await };
            let asking = std::panic::AssertUnwindSafe(asking).catch_unwind();
            let reason = match tokio::time::timeout(limit, asking).await {
                Ok(Ok(answers)) => return answers,
                Ok(Err(_)) => "the approver panicked".to_owned(),
                Err(_) => format!(
                    "nobody answered within {}",
                    toolsmith_core::duration::format(limit)
                ),
            };
            let by = "approver".to_owned();
            vec![Approval::Refused { by, reason }; requests.len()]
        })
    }
}
