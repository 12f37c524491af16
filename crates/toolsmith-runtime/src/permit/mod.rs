//! Permit: may this call run?
//!
//! Three gates, none of which replaces another: the consent literal, the guards
//! (the policy is the first), and a person where one must be asked. Whatever goes
//! wrong in here is a no. Only this module makes a `PermittedCall`, and nothing
//! else can be executed.

mod approve;
mod digest;
mod form;
mod guard;
mod matcher;
mod part;
mod place;
mod policy;
mod propose;
mod remember;
mod rule;
mod ticket;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use serde::Serialize;
use serde_json::json;
use toolsmith_core::{Arguments, Confirm, ErrorKind, Plan, ToolError};

pub(crate) use approve::ErasedApprover;
pub use approve::{Approval, ApprovalRequest, Approver, Nobody, YesToAll};
pub use digest::CallDigest;
pub(crate) use guard::ErasedGuard;
pub use guard::{Guard, GuardError, Judgement, Subject, Verdict};
pub use matcher::{Matcher, MatcherError};
pub use policy::{Mode, Policy};
pub use remember::{
    ApprovalStore, ApprovalStoreError, Covers, Lasts, Remember, Remembered, RememberedCalls,
};
pub(crate) use remember::{Asking, Lasting, Memory};
pub use rule::{Rule, RuleError};
pub(crate) use ticket::Signer;

use crate::caller::Caller;
use crate::plan::PlannedCall;
use crate::registry::Entry;

/// What was decided about a call, by what, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Decision {
    /// Yes, no, or ask.
    pub verdict: Verdict,
    /// What decided: a rule as it was written, a mode, a guard, a person.
    pub by: String,
    /// Why, in words.
    pub reason: String,
}

impl Decision {
    /// A decision, for guards of a host's own.
    pub fn new(verdict: Verdict, by: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            verdict,
            by: by.into(),
            reason: reason.into(),
        }
    }
}

/// A call that may run. Only this module can make one.
#[derive(Debug)]
pub(crate) struct PermittedCall {
    entry: Arc<Entry>,
    arguments: Arguments,
    plan: Plan,
}

impl PermittedCall {
    pub(crate) fn entry(&self) -> &Arc<Entry> {
        &self.entry
    }

    pub(crate) fn arguments(&self) -> &Arguments {
        &self.arguments
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(crate) fn digest(&self) -> CallDigest {
        CallDigest::of_parts(&self.entry, &self.arguments)
    }
}

/// A call on which the guards have spoken.
#[derive(Debug)]
pub(crate) enum Judged {
    /// It may run.
    Permitted(Decision, PermittedCall),
    /// A person must be asked.
    Ask(Decision, PlannedCall, Asking),
    /// It may not run.
    Denied(Decision, ToolError),
}

/// Whoever has a say: the policy, then the host's guards.
#[derive(Default)]
pub(crate) struct Guards {
    pub(crate) policy: ArcSwap<Policy>,
    pub(crate) others: Vec<Arc<dyn ErasedGuard>>,
}

/// Lets every guard judge the call.
pub(crate) async fn judge(
    call: PlannedCall,
    guards: &Guards,
    memory: &Memory,
    caller: &Caller,
    limit: Duration,
) -> Judged {
    if let Err(decision) = consent(&call) {
        let error = ToolError::new(ErrorKind::InvalidParameters, decision.reason.clone());
        return Judged::Denied(decision, error);
    }
    let (decision, asking) = decide(&call, guards, memory, caller, limit).await;
    match decision.verdict {
        Verdict::Allow => {
            let permitted = permitted(call);
            Judged::Permitted(decision, permitted)
        }
        Verdict::Ask => Judged::Ask(decision, call, asking),
        Verdict::Deny => {
            let error = denied(&decision);
            Judged::Denied(decision, error)
        }
    }
}

/// What the guards say of a call, without acting on it, and who asks where somebody does.
/// What a person has approved for longer counts as said.
pub(crate) async fn decide(
    call: &PlannedCall,
    guards: &Guards,
    memory: &Memory,
    caller: &Caller,
    limit: Duration,
) -> (Decision, Asking) {
    let mut asking = match call.plan.confirm {
        Confirm::Required { .. } => Asking::Further,
        _ => Asking::Policy,
    };
    let mut decided: Option<Decision> = None;
    // Who works for another may do what both may.
    for agent in caller.agents() {
        let subject = Subject::new(call, agent);
        let (mut strictest, whose) = decide_for(&subject, guards, limit).await;
        asking = whose.unwrap_or(asking);
        if strictest.verdict == Verdict::Ask
            && let Some(remembered) = memory.recall(call, caller, agent, asking)
        {
            strictest = remembered;
        }
        if (decided.as_ref()).is_none_or(|decided| strictest.verdict > decided.verdict) {
            decided = Some(strictest);
        }
    }
    let nobody = || Decision::new(Verdict::Deny, "policy", "nobody was asked");
    (decided.unwrap_or_else(nobody), asking)
}

/// What the guards say of the call of one agent, and who asks where it is not the policy.
async fn decide_for(
    subject: &Subject<'_>,
    guards: &Guards,
    limit: Duration,
) -> (Decision, Option<Asking>) {
    let mut strictest = catch_unwind(AssertUnwindSafe(|| guards.policy.load().decide(subject)))
        .unwrap_or_else(|_| Decision::new(Verdict::Deny, "policy", "the policy panicked"));
    let mut asking = None;
    for guard in &guards.others {
        if let Some(decision) = guard.decide(subject, limit).await {
            if decision.verdict == Verdict::Ask {
                asking = Some(Asking::Further);
            }
            if decision.verdict > strictest.verdict {
                strictest = decision;
            }
        }
    }
    (strictest, asking)
}

/// Turns the answer of a person into permission. The approval must be for this
/// very call: its digest is over the definition and the arguments.
pub(crate) fn approved(
    call: PlannedCall,
    approval: Option<&Approval>,
) -> (Decision, Result<PermittedCall, ToolError>) {
    let digest = CallDigest::of(&call.call);
    match approval {
        Some(Approval::Granted {
            digest: given, by, ..
        }) if *given == digest => {
            let decision = Decision::new(Verdict::Allow, by.clone(), "approved");
            (decision, Ok(permitted(call)))
        }
        Some(Approval::Granted { by, .. }) => {
            refused(by, "the approval was given for another call")
        }
        Some(Approval::Refused { by, reason }) => refused(by, reason),
        Some(Approval::GivenUp) => {
            let reason = "was given up before anybody answered";
            let decision = Decision::new(Verdict::Deny, "caller", reason);
            (decision, Err(ToolError::new(ErrorKind::Cancelled, reason)))
        }
        Some(Approval::Unavailable { reason }) => {
            let decision = Decision::new(Verdict::Deny, "nobody", reason);
            (decision, Err(unasked(&call, reason)))
        }
        None => refused("approver", "the approver gave no answer for this call"),
    }
}

fn permitted(call: PlannedCall) -> PermittedCall {
    PermittedCall {
        entry: Arc::clone(call.call.entry()),
        arguments: call.call.arguments().clone(),
        plan: call.plan,
    }
}

/// The consent literal, checked again: validation has seen it already, but a
/// schema is only data.
fn consent(call: &PlannedCall) -> Result<(), Decision> {
    let Some(consent) = &call.call.tool().consent else {
        return Ok(());
    };
    let said = call.call.arguments().get(&consent.argument);
    if said.and_then(|said| said.as_str()) == Some(&consent.literal) {
        return Ok(());
    }
    let reason = format!(
        "`{}` must be exactly {:?}, and only when the user asked for it",
        consent.argument, consent.literal
    );
    Err(Decision::new(Verdict::Deny, "consent", reason))
}

fn denied(decision: &Decision) -> ToolError {
    let message = format!("not allowed by {}: {}", decision.by, decision.reason);
    ToolError::new(ErrorKind::PermissionDenied, message)
        .with_details(json!({ "by": decision.by, "reason": decision.reason }))
}

fn refused(by: &str, reason: &str) -> (Decision, Result<PermittedCall, ToolError>) {
    let decision = Decision::new(Verdict::Deny, by, reason);
    let error = denied(&decision);
    (decision, Err(error))
}

fn unasked(call: &PlannedCall, reason: &str) -> ToolError {
    let tool = call.call.tool();
    let message = format!("{} needs approval: {reason}", call.plan.summary);
    ToolError::new(ErrorKind::ApprovalRequired, message).with_details(json!({
        "tool": tool.name,
        "effect": tool.effect,
        "summary": call.plan.summary,
    }))
}
