//! The host's side of a call: who makes it, what they may see, whom to ask, and
//! when to give up.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use toolsmith_core::event::Recorder;
use toolsmith_core::reply::{Question, Response};
use toolsmith_core::{CancellationToken, Offer};

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
    identity: Arc<str>,
    agent: Option<Arc<str>>,
    offer: Option<Arc<Offer>>,
    pub(crate) approver: Option<Arc<dyn ErasedApprover>>,
    pub(crate) inquirer: Option<Arc<dyn Inquirer>>,
    pub(crate) takes_input_requests: bool,
    cancellation: CancellationToken,
    pub(crate) timeout: Option<Duration>,
    pub(crate) recorder: Option<Arc<dyn Recorder>>,
    idempotency_key: Option<Arc<str>>,
    trace: Option<Arc<str>>,
}

impl Caller {
    /// A caller with nobody to ask, who may see every tool.
    pub fn new(identity: impl AsRef<str>) -> Self {
        Self {
            identity: identity.as_ref().into(),
            agent: None,
            offer: None,
            approver: None,
            inquirer: None,
            takes_input_requests: false,
            cancellation: CancellationToken::new(),
            timeout: None,
            recorder: None,
            idempotency_key: None,
            trace: None,
        }
    }

    /// Names the agent the calls are made by, which rules can speak of.
    #[must_use]
    pub fn with_agent(mut self, agent: impl AsRef<str>) -> Self {
        self.agent = Some(agent.as_ref().into());
        self
    }

    /// Limits the caller to what it was offered.
    #[must_use]
    pub fn with_offer(mut self, offer: impl Into<Arc<Offer>>) -> Self {
        self.offer = Some(offer.into());
        self
    }

    /// Sets who is asked for approval.
    #[must_use]
    pub fn with_approver(mut self, approver: impl Approver) -> Self {
        self.approver = Some(Arc::new(approver));
        self
    }

    /// Sets who answers what tools ask while they run.
    #[must_use]
    pub fn with_inquirer(mut self, inquirer: impl Inquirer) -> Self {
        self.inquirer = Some(Arc::new(inquirer));
        self
    }

    /// Says that the caller can take [`Reply::NeedsInput`](toolsmith_core::Reply)
    /// and come back with answers.
    #[must_use]
    pub fn taking_input_requests(mut self) -> Self {
        self.takes_input_requests = true;
        self
    }

    /// Ends the caller's calls when the token is cancelled.
    #[must_use]
    pub fn with_cancellation(mut self, token: CancellationToken) -> Self {
        self.cancellation = token;
        self
    }

    /// Sets the time limit of each call instead of the tool's own.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sends the events of the caller's calls here too, progress and streamed
    /// output among them.
    #[must_use]
    pub fn with_recorder(mut self, recorder: impl Recorder) -> Self {
        self.recorder = Some(Arc::new(recorder));
        self
    }

    /// Names the attempt, so that a repetition can be told from a second wish.
    #[must_use]
    pub fn with_idempotency_key(mut self, key: impl AsRef<str>) -> Self {
        self.idempotency_key = Some(key.as_ref().into());
        self
    }

    /// Carries a trace context in the W3C form.
    #[must_use]
    pub fn with_trace(mut self, trace: impl AsRef<str>) -> Self {
        self.trace = Some(trace.as_ref().into());
        self
    }

    /// Who makes the calls.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// The agent the calls are made by.
    pub fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// What the caller was offered.
    pub fn offer(&self) -> Option<&Arc<Offer>> {
        self.offer.as_ref()
    }

    /// What ends the caller's calls.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.cancellation
    }

    /// What names the attempt.
    pub fn idempotency_key(&self) -> Option<&str> {
        self.idempotency_key.as_deref()
    }

    /// The trace context.
    pub fn trace(&self) -> Option<&str> {
        self.trace.as_deref()
    }

    pub(crate) fn approver(&self) -> &dyn ErasedApprover {
        match &self.approver {
            Some(approver) => &**approver,
            None => &Nobody,
        }
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller")
            .field("identity", &self.identity)
            .field("agent", &self.agent)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// Answers what tools ask while they run. Implemented by hosts.
pub trait Inquirer: Send + Sync + 'static {
    /// Asks the person the call is made for.
    fn inquire(&self, question: Question) -> Pin<Box<dyn Future<Output = Response> + Send + '_>>;
}
