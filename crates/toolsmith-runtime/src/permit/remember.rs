//! Approvals that count again: for as long as the toolbox lives, or for as long as the
//! host's store keeps them.
//!
//! A remembered approval answers a question instead of a person. It never answers a no, and
//! a rule answers the policy alone: what another guard asks, or the tool itself, is asked
//! about this very call, and only an approval of this very call answers that.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use toolsmith_core::ToolName;

use super::guard::{Subject, Verdict};
use super::{Approval, CallDigest, Decision, Rule};
use crate::caller::Caller;
use crate::plan::PlannedCall;

/// How many approvals one run remembers.
const MOST: usize = 1000;

/// How many characters of a summary are kept.
const SUMMARY: usize = 300;

/// Keeps approvals beyond a run. Implemented by hosts.
///
/// It is asked before a person would be, so it should be cheap while nothing changes. An
/// error, or a panic, means that nothing is remembered and the person is asked.
pub trait ApprovalStore: Send + Sync + 'static {
    /// The approvals that count now.
    fn approvals(&self) -> Result<Arc<Vec<Remembered>>, ApprovalStoreError>;

    /// Keeps one more. It may block.
    fn keep(&self, approval: Remembered) -> Result<(), ApprovalStoreError>;
}

/// Why a store of approvals could not answer.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct ApprovalStoreError(pub String);

/// An approval that counts again.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Remembered {
    /// Which calls it is for.
    pub calls: RememberedCalls,
    /// The agent that asked; it counts for no other, and without one for none.
    pub agent: Option<String>,
    /// The program that brought the answer, where a program did, and for a run its session:
    /// what it says of a person's mind counts for its own calls alone. None for what a
    /// person said here.
    pub program: Option<String>,
}

/// Which calls an approval is for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RememberedCalls {
    /// One exact call: this tool as it is defined now, with these arguments.
    Exactly {
        /// The call.
        digest: CallDigest,
        /// Its tool, for lists.
        tool: ToolName,
        /// What it does, for lists.
        summary: String,
    },
    /// Those a rule is about.
    Matching(Rule),
}

/// What a person wants remembered of an answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Remember {
    /// For how long.
    pub lasts: Lasts,
    /// Which calls.
    pub covers: Covers,
    /// Whether it counts for the calls of the program alone that asks.
    pub of_program: bool,
}

/// For how long an approval counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lasts {
    /// As long as this toolbox lives.
    Run,
    /// Until it is revoked, wherever the host keeps approvals of the project.
    Project,
}

/// Which calls an answer is for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Covers {
    /// The very call that was shown.
    Call,
    /// Those of a rule, which must be about the call that was shown.
    Rule(Box<Rule>),
}

impl Covers {
    /// Those of a rule.
    pub fn rule(rule: Rule) -> Self {
        Self::Rule(Box::new(rule))
    }
}

impl Remember {
    /// Remembers an answer for so long and these calls.
    pub fn new(lasts: Lasts, covers: Covers) -> Self {
        Self {
            lasts,
            covers,
            of_program: false,
        }
    }

    /// Counts for the calls of the program alone that asks, for answers that came through it.
    #[must_use]
    pub fn of_program(mut self) -> Self {
        self.of_program = true;
        self
    }
}

impl Remembered {
    /// An approval of these calls, given while this agent asked.
    pub fn new(calls: RememberedCalls, agent: Option<String>) -> Self {
        Self {
            calls,
            agent,
            program: None,
        }
    }

    /// Counts for the calls of this program alone.
    #[must_use]
    pub fn of_program(mut self, program: Option<String>) -> Self {
        self.program = program;
        self
    }
}

/// Who wants a person to be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asking {
    /// The policy and nobody else, which a rule can answer.
    Policy,
    /// Another guard or the tool itself: about this very call.
    Further,
}

/// What is remembered.
pub(crate) struct Memory {
    run: Mutex<Vec<Remembered>>,
    store: Option<Arc<dyn ApprovalStore>>,
}

/// An approval on its way into memory.
#[derive(Debug)]
pub(crate) struct Lasting {
    lasts: Lasts,
    approval: Remembered,
}

impl Memory {
    pub(crate) fn with(store: Option<Arc<dyn ApprovalStore>>) -> Self {
        let run = Mutex::default();
        Self { run, store }
    }

    /// The decision that a remembered approval gives instead of a person, for a call that
    /// `agent` makes or has made.
    pub(crate) fn recall(
        &self,
        call: &PlannedCall,
        caller: &Caller,
        agent: Option<&str>,
        asking: Asking,
    ) -> Option<Decision> {
        let subject = Subject::new(call, agent);
        // Over the whole definition, so made only where there is something to compare.
        let mut digest = None;
        let mut fits = |approval: &Remembered| {
            let program = approval.program.as_deref();
            let is_its_own = program
                .is_none_or(|program| program == caller.identity() || program == caller.program());
            if approval.agent.as_deref() != agent || !is_its_own {
                return None;
            }
            match &approval.calls {
                RememberedCalls::Exactly { digest: known, .. } => {
                    let digest = *digest.get_or_insert_with(|| CallDigest::of(&call.call));
                    (digest == *known).then(|| "this exact call".to_owned())
                }
                RememberedCalls::Matching(rule) => {
                    let answers = asking == Asking::Policy
                        && rule.verdict() == Verdict::Allow
                        && rule.matches(&subject);
                    answers.then(|| rule.text().to_owned())
                }
            }
        };
        let decision = |what: String, span: &str| {
            let reason = format!("a person approved it for this {span}");
            Decision::new(Verdict::Allow, format!("remembered: {what}"), reason)
        };
        let found = self.run().iter().find_map(&mut fits);
        if let Some(what) = found {
            return Some(decision(what, "run"));
        }
        let kept = self.kept()?;
        let what = kept.iter().find_map(&mut fits)?;
        Some(decision(what, "project"))
    }

    /// Keeps an approval; tells why it could not. It may block.
    pub(crate) fn keep(&self, lasting: Lasting) -> Result<(), String> {
        match (lasting.lasts, &self.store) {
            (Lasts::Run, _) => {
                let mut run = self.run();
                if run.len() >= MOST {
                    return Err(format!("one run remembers no more than {MOST} approvals"));
                }
                run.push(lasting.approval);
                Ok(())
            }
            (Lasts::Project, Some(store)) => {
                let keeping = AssertUnwindSafe(|| store.keep(lasting.approval));
                let kept = catch_unwind(keeping).map_err(|_| "the store panicked".to_owned())?;
                kept.map_err(|error| error.to_string())
            }
            (Lasts::Project, None) => {
                Err("there is no place to keep approvals of a project in".to_owned())
            }
        }
    }

    fn kept(&self) -> Option<Arc<Vec<Remembered>>> {
        let store = self.store.as_ref()?;
        let asked = catch_unwind(AssertUnwindSafe(|| store.approvals()));
        // The store tells the host what is wrong with it; here the person is asked.
        asked.ok()?.ok()
    }

    fn run(&self) -> std::sync::MutexGuard<'_, Vec<Remembered>> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memory of {} approvals", self.run().len())
    }
}

impl Lasting {
    /// What of an answer is to be remembered, if anything; the error tells why it is not.
    pub(crate) fn of(
        approval: &Approval,
        call: &PlannedCall,
        caller: &Caller,
        asking: Asking,
    ) -> Option<Result<Self, String>> {
        let Approval::Granted {
            remember: Some(remember),
            ..
        } = approval
        else {
            return None;
        };
        let calls = match &remember.covers {
            Covers::Call => {
                let summary = call.plan.summary.chars().take(SUMMARY);
                RememberedCalls::Exactly {
                    digest: CallDigest::of(&call.call),
                    tool: call.call.tool().name.clone(),
                    summary: summary.collect(),
                }
            }
            Covers::Rule(rule) => match fits(rule, &Subject::new(call, caller.agent()), asking) {
                Ok(()) => RememberedCalls::Matching(Rule::clone(rule)),
                Err(reason) => return Some(Err(reason)),
            },
        };
        // A run is the session's; beyond it only the program is known again.
        let program = remember.of_program.then(|| match remember.lasts {
            Lasts::Run => caller.identity().to_owned(),
            Lasts::Project => caller.program().to_owned(),
        });
        let approval = Remembered::new(calls, caller.agent().map(str::to_owned));
        let approval = approval.of_program(program);
        let lasts = remember.lasts;
        Some(Ok(Self { lasts, approval }))
    }
}

/// Tells why a rule cannot be remembered as the answer to a question.
pub(super) fn fits(rule: &Rule, subject: &Subject<'_>, asking: Asking) -> Result<(), String> {
    if asking == Asking::Further {
        return Err("this must be asked for call by call, so no rule answers it".to_owned());
    }
    if rule.verdict() != Verdict::Allow {
        return Err("only a rule that allows answers a question".to_owned());
    }
    if !rule.matches(subject) {
        return Err(format!("the rule `{}` is not about this call", rule.text()));
    }
    Ok(())
}
