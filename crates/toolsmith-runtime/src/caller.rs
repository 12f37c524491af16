//! The host's side of a call: who makes it, what they may see, whom to ask, and
//! when to give up.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use toolsmith_core::event::Recorder;
use toolsmith_core::reply::{Inquiry, Response};
use toolsmith_core::trace::{self, TraceParent};
use toolsmith_core::{CancellationToken, Offer, ToolContext};

use crate::permit::{Approver, ErasedApprover, Nobody};

/// Who makes a call, and on what terms. Cheap to clone.
///
/// ```
/// use std::time::Duration;
/// use toolsmith_runtime::Caller;
///
/// let caller = Caller::new("tests").with_timeout(Duration::from_secs(5));
/// assert_eq!(caller.identity(), "tests");
/// ```
#[derive(Clone)]
pub struct Caller {
    terms: Arc<Terms>,
}

/// What a caller is made of; shared, because every call keeps its caller.
#[derive(Clone)]
struct Terms {
    identity: String,
    agent: Option<String>,
    offer: Option<Arc<Offer>>,
    approver: Option<Arc<dyn ErasedApprover>>,
    inquirer: Option<Arc<dyn Inquirer>>,
    takes_input_requests: bool,
    cancellation: CancellationToken,
    timeout: Option<Duration>,
    recorders: Vec<Arc<dyn Recorder>>,
    idempotency_key: Option<String>,
    trace: Option<Trace>,
    above: Vec<Above>,
}

/// Somebody a caller works for.
#[derive(Clone)]
struct Above {
    agent: Option<String>,
    offer: Option<Arc<Offer>>,
}

/// The trace context of a caller.
#[derive(Clone)]
struct Trace {
    parent: TraceParent,
    text: String,
    state: Option<String>,
}

impl Caller {
    /// A caller with nobody to ask, who may see every tool.
    pub fn new(identity: impl Into<String>) -> Self {
        Self {
            terms: Arc::new(Terms {
                identity: identity.into(),
                agent: None,
                offer: None,
                approver: None,
                inquirer: None,
                takes_input_requests: false,
                cancellation: CancellationToken::new(),
                timeout: None,
                recorders: Vec::new(),
                idempotency_key: None,
                trace: None,
                above: Vec::new(),
            }),
        }
    }

    fn with(mut self, change: impl FnOnce(&mut Terms)) -> Self {
        change(Arc::make_mut(&mut self.terms));
        self
    }

    /// Names the agent the calls are made by, which rules can speak of.
    #[must_use]
    pub fn with_agent(self, agent: impl Into<String>) -> Self {
        self.with(|terms| terms.agent = Some(agent.into()))
    }

    /// Limits the caller to what it was offered: where it works for another, to what of it
    /// that one was offered too.
    #[must_use]
    pub fn with_offer(self, offer: impl Into<Arc<Offer>>) -> Self {
        let mut offer = offer.into();
        for above in &self.terms.above {
            if let Some(bounds) = &above.offer {
                offer = Arc::new(offer.within(bounds));
            }
        }
        self.with(|terms| terms.offer = Some(offer))
    }

    /// The caller on whose terms a running call is made, for a tool that makes calls itself.
    pub fn of(context: &ToolContext) -> Option<Self> {
        context.terms()?.downcast_ref().cloned()
    }

    /// A caller that works for this one and may do at most what this one may: it is asked
    /// about where either is, forbidden what either is, offered what both are, has no more
    /// time for a call, and ends when this one is cancelled. Its name is this one's with `mark` behind it.
    ///
    /// ```
    /// use toolsmith_runtime::Caller;
    ///
    /// let child = Caller::new("cli").delegate("task-1", Some("reviewer"));
    /// assert_eq!((child.identity(), child.program()), ("cli#task-1", "cli"));
    /// assert_eq!((child.agent(), child.depth()), (Some("reviewer"), 1));
    /// ```
    #[must_use]
    pub fn delegate(&self, mark: &str, agent: Option<&str>) -> Self {
        let joint = if self.identity().contains('#') {
            '/'
        } else {
            '#'
        };
        let identity = format!("{}{joint}{mark}", self.identity());
        let above = Above {
            agent: self.terms.agent.clone(),
            offer: self.terms.offer.clone(),
        };
        self.clone().with(|terms| {
            terms.identity = identity;
            terms.above.push(above);
            if let Some(agent) = agent {
                terms.agent = Some(agent.to_owned());
            }
            terms.cancellation = terms.cancellation.child_token();
            terms.idempotency_key = None;
            terms.recorders.clear();
            terms.takes_input_requests = false;
        })
    }

    /// Sets who is asked for approval.
    #[must_use]
    pub fn with_approver(self, approver: impl Approver) -> Self {
        self.with(|terms| terms.approver = Some(Arc::new(approver)))
    }

    /// Sets who answers what tools ask while they run.
    #[must_use]
    pub fn with_inquirer(self, inquirer: impl Inquirer) -> Self {
        self.with(|terms| terms.inquirer = Some(Arc::new(inquirer)))
    }

    /// Says that the caller can take [`Reply::NeedsInput`](toolsmith_core::Reply)
    /// and come back with answers.
    #[must_use]
    pub fn taking_input_requests(self) -> Self {
        self.with(|terms| terms.takes_input_requests = true)
    }

    /// Ends the caller's calls when the token is cancelled.
    #[must_use]
    pub fn with_cancellation(self, token: CancellationToken) -> Self {
        self.with(|terms| terms.cancellation = token)
    }

    /// Sets the time limit of each call instead of the tool's own.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        self.with(|terms| terms.timeout = Some(timeout))
    }

    /// Sends the events of the caller's calls here too, progress and streamed
    /// output among them; beside whoever gets them already.
    #[must_use]
    pub fn with_recorder(self, recorder: impl Recorder) -> Self {
        self.with(|terms| terms.recorders.push(Arc::new(recorder)))
    }

    /// Names the attempt, so that a repetition can be told from a second wish.
    #[must_use]
    pub fn with_idempotency_key(self, key: impl Into<String>) -> Self {
        self.with(|terms| terms.idempotency_key = Some(key.into()))
    }

    /// Carries a trace context in the W3C form, `traceparent`. Anything else is as if
    /// nothing had been said.
    #[must_use]
    pub fn with_trace(self, trace: impl AsRef<str>) -> Self {
        let Ok(parent) = trace.as_ref().parse::<TraceParent>() else {
            return self;
        };
        self.with(|terms| {
            terms.trace = Some(Trace {
                text: parent.to_string(),
                parent,
                state: None,
            });
        })
    }

    /// Carries what vendors note beside the trace context, `tracestate`: where there is a
    /// context, and the notes are of the W3C form.
    #[must_use]
    pub fn with_trace_state(self, state: impl AsRef<str>) -> Self {
        let state = state.as_ref();
        if self.terms.trace.is_none() || !trace::is_state(state) {
            return self;
        }
        self.with(|terms| {
            if let Some(trace) = &mut terms.trace {
                trace.state = Some(state.to_owned());
            }
        })
    }

    /// Who makes the calls.
    pub fn identity(&self) -> &str {
        &self.terms.identity
    }

    /// The program that makes the calls: what stands before the number of a session.
    pub fn program(&self) -> &str {
        let identity = self.identity();
        identity
            .split_once('#')
            .map_or(identity, |(program, _)| program)
    }

    /// How many callers it works for, one for the other.
    pub fn depth(&self) -> usize {
        self.terms.above.len()
    }

    /// Every agent that must be allowed what this caller does: its own, and those it
    /// works for.
    pub(crate) fn agents(&self) -> impl Iterator<Item = Option<&str>> {
        let above = self.terms.above.iter().map(|above| above.agent.as_deref());
        let mut seen = self.agent();
        let others = above.rev().filter(move |agent| {
            let is_new = *agent != seen;
            seen = *agent;
            is_new
        });
        std::iter::once(self.agent()).chain(others)
    }

    /// The agent the calls are made by.
    pub fn agent(&self) -> Option<&str> {
        self.terms.agent.as_deref()
    }

    /// What the caller was offered.
    pub fn offer(&self) -> Option<&Arc<Offer>> {
        self.terms.offer.as_ref()
    }

    /// What ends the caller's calls.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.terms.cancellation
    }

    /// What names the attempt.
    pub fn idempotency_key(&self) -> Option<&str> {
        self.terms.idempotency_key.as_deref()
    }

    /// The trace context.
    pub fn trace(&self) -> Option<&str> {
        self.terms.trace.as_ref().map(|trace| trace.text.as_str())
    }

    /// What vendors note beside the trace context.
    pub fn trace_state(&self) -> Option<&str> {
        self.terms.trace.as_ref()?.state.as_deref()
    }

    pub(crate) fn trace_parent(&self) -> Option<TraceParent> {
        self.terms.trace.as_ref().map(|trace| trace.parent)
    }

    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.terms.timeout
    }

    pub(crate) fn recorders(&self) -> &[Arc<dyn Recorder>] {
        &self.terms.recorders
    }

    pub(crate) fn inquirer(&self) -> Option<&Arc<dyn Inquirer>> {
        self.terms.inquirer.as_ref()
    }

    pub(crate) fn takes_input_requests(&self) -> bool {
        self.terms.takes_input_requests
    }

    pub(crate) fn approver(&self) -> &dyn ErasedApprover {
        match &self.terms.approver {
            Some(approver) => &**approver,
            None => &Nobody,
        }
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller")
            .field("identity", &self.terms.identity)
            .field("agent", &self.terms.agent)
            .field("timeout", &self.terms.timeout)
            .finish_non_exhaustive()
    }
}

/// Answers what tools ask while they run. Implemented by hosts.
pub trait Inquirer: Send + Sync + 'static {
    /// Asks the person the call is made for, or the caller's own program; one answer
    /// for each question, in order. A missing answer counts as unavailable.
    fn inquire(
        &self,
        inquiries: Vec<Inquiry>,
    ) -> Pin<Box<dyn Future<Output = Vec<Response>> + Send + '_>>;
}
