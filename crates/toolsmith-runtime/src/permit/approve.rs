//! Asking a person.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use serde::Serialize;
use toolsmith_core::{Arguments, Effect, Plan, ToolDef, ToolName};

use super::guard::Subject;
use super::remember::{self, Asking, Remember};
use super::{CallDigest, Decision, Rule, propose};
use crate::plan::PlannedCall;
use crate::shape::{Redactor, shown_arguments, shown_plan};

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
    /// What the call would do, with the paths it touches, without secrets.
    pub plan: Plan,
    /// The arguments, without secrets: they are shown on a terminal, or sent to a client.
    pub arguments: Arguments,
    /// Why it must be asked.
    pub reason: String,
    /// What it is called by, by whom, and with what definition; for rules about it.
    #[serde(skip)]
    about: About,
}

/// What rules see of a call beside its arguments and its plan.
#[derive(Clone, Debug)]
struct About {
    tool: Arc<ToolDef>,
    offered_as: String,
    agent: Option<String>,
    asking: Asking,
}

impl ApprovalRequest {
    pub(crate) fn new(
        call: &PlannedCall,
        decision: &Decision,
        agent: Option<&str>,
        asking: Asking,
        redactor: &Redactor,
    ) -> Self {
        let tool = call.call.tool();
        Self {
            digest: CallDigest::of(&call.call),
            tool: tool.name.clone(),
            effect: tool.effect,
            plan: shown_plan(&call.plan, redactor).into_owned(),
            arguments: shown_arguments(call.call.arguments(), redactor),
            reason: decision.reason.clone(),
            about: About {
                tool: Arc::clone(tool),
                offered_as: call.call.entry().wire_name.clone(),
                agent: agent.map(str::to_owned),
                asking,
            },
        }
    }

    /// The answer yes to this request, by somebody.
    pub fn grant(&self, by: impl Into<String>) -> Approval {
        Approval::Granted {
            digest: self.digest,
            by: by.into(),
            remember: None,
        }
    }

    /// The rule that is proposed to whoever wants to approve more than this call; none
    /// where calls like it must be asked for one by one.
    pub fn proposal(&self) -> Option<String> {
        match self.about.asking {
            Asking::Policy => propose::proposal(&self.subject()),
            Asking::Further => None,
        }
    }

    /// Tells why a rule cannot be remembered as the answer to this request.
    ///
    /// # Errors
    /// When it is not about this very call, or no rule answers it.
    pub fn accepts(&self, rule: &Rule) -> Result<(), String> {
        remember::fits(rule, &self.subject(), self.about.asking)
    }

    fn subject(&self) -> Subject<'_> {
        Subject {
            tool: &self.about.tool,
            offered_as: &self.about.offered_as,
            arguments: &self.arguments,
            plan: &self.plan,
            agent: self.about.agent.as_deref(),
        }
    }
}

/// An answer, in the order of the requests.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Approval {
    /// The call with this digest may run.
    Granted {
        /// The digest of the call that was shown.
        digest: CallDigest,
        /// Who said so.
        by: String,
        /// What of it is to be remembered.
        remember: Option<Remember>,
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

impl Approval {
    /// The same yes, to be remembered; a no stays as it is.
    #[must_use]
    pub fn remembering(mut self, what: Remember) -> Self {
        if let Self::Granted { remember, .. } = &mut self {
            *remember = Some(what);
        }
        self
    }
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
