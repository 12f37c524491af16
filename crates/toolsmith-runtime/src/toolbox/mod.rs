//! The one door: every call, whoever makes it, enters here.

mod batch;
mod builder;
mod explain;
mod terms;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::time::Instant;
use toolsmith_core::call::Answers;
use toolsmith_core::event::{Event, What};
use toolsmith_core::tool::SourceError;
use toolsmith_core::{
    AnyTool, CallId, Offer, Outcome, RawCall, Reply, ToolError, ToolName, ToolSource,
};

pub use batch::Order;
pub use builder::{BuildError, ToolboxBuilder};
pub use explain::Explanation;
pub use terms::{Reload, Terms};

use crate::caller::Caller;
use crate::execute::{PathLocks, Pool, Time, Waits, execute, time_limit};
use crate::limits::Limits;
use crate::offer::{self, Selection};
use crate::permit::{
    Approval, ApprovalRequest, Asking, Decision, Guards, Judged, Lasting, Memory, PermittedCall,
    Signer, approved, judge,
};
use crate::plan::{PlannedCall, plan};
use crate::record::{Metrics, Recorders, Trail};
use crate::registry::{Refreshed, Registry, RegistryError};
use crate::resolve::resolve;
use crate::shape::{About, Redactor, Shaper, without_secrets};
use crate::shield::{self, Shield, SourceStatus, SourceWatch};
use crate::tape::{Recording, Replay};
use crate::validate::{Cache, ValidCall, validate};

/// Tools, and the one door to them. Cheap to clone.
///
/// ```
/// use serde_json::json;
/// use toolsmith_core::{AnyTool, Kind, Outcome, RawCall, Schema, ToolDef};
/// use toolsmith_runtime::{Caller, Toolbox};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let schema = Schema::input(json!({
///     "properties": { "n": { "type": "integer", "description": "The number." } },
///     "required": ["n"],
/// }))?;
/// let double = ToolDef::new("double")?.with_kind(Kind::Think).with_input(schema);
/// let tool = AnyTool::from_fn(double, async |arguments: serde_json::Value, _context| {
///     Outcome::ok(arguments["n"].as_i64().unwrap_or_default() * 2)
/// });
///
/// let toolbox = Toolbox::new([tool])?;
/// let reply = toolbox.run(RawCall::new("double", json!({"n": 21})), &Caller::new("me")).await;
/// assert_eq!(reply.into_outcome().value, Some(json!(42)));
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[derive(Clone)]
pub struct Toolbox {
    inner: Arc<Inner>,
}

/// What every call shares.
pub(crate) struct Inner {
    pub(crate) registry: Registry,
    limits: ArcSwap<Limits>,
    pub(crate) shaper: Shaper,
    pub(crate) paths: PathLocks,
    pub(crate) pool: Pool,
    /// Where tools run, if not where their callers do.
    pub(crate) runtime: Option<Handle>,
    pub(crate) shield: Shield,
    /// What is recorded, and what is played.
    recording: Option<Arc<Recording>>,
    replay: Option<Arc<Replay>>,
    guards: Guards,
    memory: Arc<Memory>,
    cache: Cache,
    recorders: Arc<Recorders>,
    metrics: Option<Arc<Metrics>>,
    signer: Option<Signer>,
    calls: AtomicU64,
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tools", self.registry.len())
    }
}

impl fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Toolbox").field(&self.inner).finish()
    }
}

/// A call on which everything but a person has spoken.
pub(crate) enum Prepared {
    Ready(PermittedCall),
    Ask(PlannedCall, Decision, Asking),
    Refused(ToolError),
}

impl Toolbox {
    /// A toolbox of these tools, with the default policy: reading runs, the rest
    /// is asked for.
    pub fn new(tools: impl IntoIterator<Item = AnyTool>) -> Result<Self, BuildError> {
        Self::builder().tools(tools).build()
    }

    /// A toolbox, option by option.
    pub fn builder() -> ToolboxBuilder {
        ToolboxBuilder::default()
    }

    /// Makes a call: resolves, validates, plans, permits, executes and shapes it,
    /// and records each step. Whatever goes wrong is in the reply.
    pub async fn run(&self, call: RawCall, caller: &Caller) -> Reply {
        let judged = self.judge(call, caller).await;
        // Most calls need nobody's word.
        let (permitted, trail) = match judged {
            (Prepared::Ready(call), _, trail) => (Ok(call), trail),
            judged => self.permit_all(vec![judged], caller).await.remove(0),
        };
        match permitted {
            Ok(call) => self.inner.carry_out(call, trail, Waits::Alone).await,
            Err(reply) => self.inner.reply(reply, trail).await,
        }
    }

    /// As [`Toolbox::run`], for hosts without async: blocks the thread on the
    /// runtime whose handle is given. That must be a multi-thread runtime, since
    /// nobody drives another one meanwhile, and the thread must not belong to a
    /// runtime itself; otherwise the reply is `internal`.
    pub fn execute(&self, call: RawCall, caller: &Caller, runtime: &Handle) -> Reply {
        let wrong = if Handle::try_current().is_ok() {
            "`execute` blocks and was called from within a runtime; use `run` there"
        } else if runtime.runtime_flavor() == RuntimeFlavor::CurrentThread {
            "`execute` needs a multi-thread runtime, which runs by itself"
        } else {
            return runtime.block_on(self.run(call, caller));
        };
        Outcome::failure(ToolError::internal(wrong)).into()
    }

    /// The tools there are.
    pub fn registry(&self) -> &Registry {
        &self.inner.registry
    }

    /// The ceilings in force.
    pub fn limits(&self) -> Arc<Limits> {
        self.inner.limits()
    }

    /// What was counted, unless the host brought its own collector.
    pub fn metrics(&self) -> Option<&Metrics> {
        self.inner.metrics.as_deref()
    }

    /// What removes secrets, those the toolbox was given among them, from texts that do
    /// not pass through a call.
    pub fn redactor(&self) -> &Redactor {
        &self.inner.shaper.redactor
    }

    /// How the sources of tools are doing, by name.
    pub fn sources(&self) -> Vec<SourceStatus> {
        self.inner.registry.sources().status()
    }

    /// What tells that from now on, for whoever is not to keep the toolbox.
    pub fn watch_sources(&self) -> SourceWatch {
        SourceWatch::new(self.inner.registry.sources())
    }

    /// How often a recorder has failed.
    pub fn recorder_faults(&self) -> u64 {
        self.inner.recorders.faults()
    }

    /// How many schemas are compiled now.
    pub fn compiled_schemas(&self) -> usize {
        self.inner.cache.len()
    }

    /// What a caller with this selection may see and call.
    pub fn offer(&self, selection: &Selection) -> Offer {
        let offer = offer::offer(&self.inner.registry, selection);
        let tools = offer.tools().len();
        let event = Event::new(What::Offered { tools });
        self.inner.recorders.record(&event, &[]);
        offer
    }

    /// Asks a source for its tools and puts them in, replacing those it had.
    pub async fn refresh(&self, source: &impl ToolSource) -> Result<Refreshed, SourceError> {
        let ticket = self.inner.registry.begin_refresh(source.name());
        let tools = source.tools().await?;
        let count = tools.len();
        let inner = Arc::clone(&self.inner);
        let put_in = move || {
            let redactor = &inner.shaper.redactor;
            let hushed = tools.into_iter();
            let hushed = hushed.map(|tool| without_secrets(tool, redactor));
            inner.registry.refresh(&ticket, hushed)
        };
        let refreshed = match self.inner.registry.has_pins() {
            false => put_in(),
            // They may stand in a file.
            true => tokio::task::spawn_blocking(put_in)
                .await
                .map_err(|error| SourceError::new(source.name(), error.to_string()))?,
        };
        if let Refreshed::Replaced { refused, .. } = &refreshed {
            // It answers again, so that it may be tried again.
            if let Some(known) = self.inner.registry.sources().find(source.name()) {
                known.circuit.stirred();
            }
            let withheld = self.inner.registry.withheld_of(source.name());
            let taken = count.saturating_sub(refused.len() + withheld);
            self.inner.registered(source.name(), taken);
        }
        Ok(refreshed)
    }

    /// Compares the tools of all sources with their pins again, after those have changed:
    /// what was approved is released, and what is no longer pinned is withheld. Tells
    /// whether anything is other than before. The store of pins is asked, and may block.
    pub fn repin(&self) -> bool {
        self.inner.registry.repin()
    }

    /// Registers more tools: all of them, or on the first error none.
    pub fn register(&self, tools: impl IntoIterator<Item = AnyTool>) -> Result<(), RegistryError> {
        let tools: Vec<AnyTool> = tools.into_iter().collect();
        let count = tools.len();
        self.inner.registry.register_all(tools)?;
        self.inner.registered(crate::registry::DIRECT, count);
        Ok(())
    }
}

impl Inner {
    /// The ceilings in force.
    pub(crate) fn limits(&self) -> Arc<Limits> {
        self.limits.load_full()
    }

    fn registered(&self, source: &str, tools: usize) {
        let event = Event::new(What::Registered { source, tools });
        self.recorders.record(&event, &[]);
    }

    pub(crate) fn count_repeated(&self, tool: &ToolName) {
        self.recorders.count(|metrics| metrics.repeated(tool));
    }

    pub(crate) fn count_cached(&self, tool: &ToolName) {
        self.recorders.count(|metrics| metrics.cached(tool));
    }

    /// Opens the trail of a call, numbering it where the caller did not.
    fn begin(&self, call: &RawCall, caller: &Caller) -> Box<Trail> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let id = match &call.id {
            Some(id) => id.clone(),
            None => CallId::new(format!("call-{number}")),
        };
        let redactor = Arc::clone(&self.shaper.redactor);
        Trail::begin(Arc::clone(&self.recorders), redactor, call, id, caller)
    }

    /// From the door to the decision: everything but asking a person.
    async fn prepare(&self, call: RawCall, caller: &Caller, trail: &mut Trail) -> Prepared {
        let offer = caller.offer().map(|offer| &**offer);
        let limits = self.limits();
        let planned = resolve(call, &self.registry, offer)
            .inspect(|call| trail.resolved(&call.entry.definition, &call.entry.origin))
            .and_then(|call| validate(call, &self.cache, limits.argument_bytes))
            .inspect(|_| trail.validated())
            .and_then(|call| self.plan(call, &limits));
        let planned = match planned {
            Ok(planned) => planned,
            Err(error) => return Prepared::Refused(error),
        };
        trail.planned(&planned);
        let judging = judge(planned, &self.guards, &self.memory, caller, limits.judging);
        let judged = judging.await;
        trail.judged();
        match judged {
            Judged::Permitted(decision, call) => {
                trail.decided(&decision);
                Prepared::Ready(call)
            }
            Judged::Ask(decision, mut call, asking) => {
                call.put_in_words(&self.shaper);
                Prepared::Ask(call, decision, asking)
            }
            Judged::Denied(decision, error) => {
                trail.decided(&decision);
                Prepared::Refused(error)
            }
        }
    }

    /// Asks the tool for its plan.
    fn plan(&self, call: ValidCall, limits: &Limits) -> Result<PlannedCall, ToolError> {
        let Some(recording) = &self.recording else {
            return plan(call, &self.shaper, limits.judging);
        };
        let (tool, arguments) = (Arc::clone(call.tool()), call.arguments().clone());
        let planned = plan(call, &self.shaper, limits.judging);
        recording.planned(&tool, &arguments, planned.as_ref().map(PlannedCall::plan));
        planned
    }

    /// Asks the caller's approver, within the time limit.
    async fn ask(&self, requests: &[ApprovalRequest], caller: &Caller) -> Vec<Approval> {
        tokio::select! {
            biased;
            answers = caller.approver().ask(requests, self.limits().approval) => answers,
            () = caller.cancellation().cancelled() => vec![Approval::GivenUp; requests.len()],
        }
    }

    /// The approval a call brought along, if it is for this very call.
    fn brought(
        &self,
        answers: &Answers,
        request: &ApprovalRequest,
        caller: &Caller,
    ) -> Option<Approval> {
        let signer = self.signer.as_ref()?;
        Some(signer.approval(answers, request, caller.identity()))
    }

    /// Remembers an answer, where that is wanted; tells the host where it cannot be.
    async fn remember(&self, lasting: Result<Lasting, String>) {
        let kept = match lasting {
            Ok(lasting) => {
                let memory = Arc::clone(&self.memory);
                // It may stand in a file.
                let keeping = tokio::task::spawn_blocking(move || memory.keep(lasting));
                keeping.await.unwrap_or_else(|error| Err(error.to_string()))
            }
            Err(reason) => Err(reason),
        };
        if let Err(reason) = kept {
            tracing::warn!(target: "toolsmith::host", "approved once, but not remembered: {reason}");
        }
    }

    /// Turns a person's answer into permission, or into the reply.
    fn answered(
        &self,
        call: PlannedCall,
        (decision, asking): (&Decision, Asking),
        approval: Option<&Approval>,
        caller: &Caller,
        trail: &mut Trail,
    ) -> Result<PermittedCall, Reply> {
        if let Some(Approval::Unavailable { .. }) = approval
            && caller.takes_input_requests()
            && let Some(signer) = &self.signer
        {
            trail.decided(decision);
            let redactor = &self.shaper.redactor;
            let request = ApprovalRequest::new(&call, decision, caller.agent(), asking, redactor);
            return Err(Reply::NeedsInput(
                signer.question(&request, caller.identity()),
            ));
        }
        let (decision, permitted) = approved(call, approval);
        trail.decided(&decision);
        permitted.map_err(|error| Outcome::failure(error).into())
    }

    /// Runs a permitted call, and replies.
    async fn carry_out(
        self: &Arc<Self>,
        call: PermittedCall,
        trail: Box<Trail>,
        waits: Waits,
    ) -> Reply {
        if self.replay.is_some() {
            // What guards did to the call is on the tape, and there is nobody to spare.
            let whole = time_limit(self, &call, trail.caller().timeout());
            let time = Time { whole, left: whole };
            let (outcome, trail) = execute(self, &call, trail, waits, time).await;
            return self.reply(outcome.into(), trail).await;
        }
        let began = Instant::now();
        let (outcome, trail) = shield::carry(self, &call, trail, waits).await;
        if let Some(recording) = &self.recording {
            let (id, took) = (trail.id().as_str(), began.elapsed());
            recording.exchanged(id, call.entry(), call.arguments(), &outcome, took);
        }
        self.reply(outcome.into(), trail).await
    }

    /// Shapes a reply, fills in the facts, and ends the trail.
    async fn reply(&self, reply: Reply, mut trail: Box<Trail>) -> Reply {
        let outcome = match reply {
            Reply::Done(outcome) => *outcome,
            other => {
                trail.replied(None);
                return other;
            }
        };
        let about = About {
            id: trail.id(),
            tool: trail.tool(),
        };
        let mut outcome = self.shaper.shape(outcome, &about, &self.limits()).await;
        trail.note_facts(&mut outcome.facts);
        if let Some(replay) = &self.replay {
            replay.restore(&mut outcome.facts);
        }
        trail.replied(Some(&outcome));
        outcome.into()
    }
}
