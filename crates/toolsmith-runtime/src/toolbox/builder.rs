//! A toolbox, option by option.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arc_swap::ArcSwap;
use tokio::runtime::Handle;
use toolsmith_core::event::{MetricsCollector, Recorder};
use toolsmith_core::store::SpillStore;
use toolsmith_core::{AnyTool, Binding};

use super::{Inner, Toolbox};
use crate::execute::{PathLocks, Pool};
use crate::limits::Limits;
use crate::offer::name_glob;
use crate::permit::{ApprovalStore, ErasedGuard, Guard, Guards, Memory, Policy, Signer};
use crate::record::{FaultHandler, LogRecorder, Metrics, Recorders};
use crate::registry::pin::PinStore;
use crate::registry::{BindingOverlay, Registry, RegistryError, Settings};
use crate::shape::{Redactor, Shaper};
use crate::shield::{Protection, Settled, Shield, Sources};
use crate::tape::{Recording, Replay, Spills};
use crate::validate::Cache;

/// Why a toolbox could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A tool could not be registered.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// A binding's pattern is no glob.
    #[error("the binding for {pattern:?} names no tools: {reason}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A source's pattern is no glob.
    #[error("the settings for {pattern:?} name no source: {reason}")]
    SourcePattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A prefix with characters no tool name can have.
    #[error(
        "prefix {prefix:?} cannot stand in a tool name; use at most 32 letters, digits, `_`, `.` and `-`"
    )]
    Prefix {
        /// The prefix.
        prefix: String,
    },
}

/// Builds a [`Toolbox`].
#[derive(Default)]
pub struct ToolboxBuilder {
    tools: Vec<AnyTool>,
    files: Vec<(Arc<str>, AnyTool)>,
    loads: Vec<(String, Vec<AnyTool>)>,
    policy: Policy,
    guards: Vec<Arc<dyn ErasedGuard>>,
    recorders: Vec<Arc<dyn Recorder>>,
    metrics: Option<Arc<dyn MetricsCollector>>,
    without_log: bool,
    on_fault: Option<FaultHandler>,
    limits: Limits,
    secrets: Vec<String>,
    store: Option<Arc<dyn SpillStore>>,
    prefix: String,
    bindings: Vec<(String, Binding)>,
    runtime: Option<Handle>,
    protection: Protection,
    pins: Option<Arc<dyn PinStore>>,
    approvals: Option<Arc<dyn ApprovalStore>>,
    recording: Option<Arc<Recording>>,
    replay: Option<Arc<Replay>>,
}

impl fmt::Debug for ToolboxBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolboxBuilder")
            .field("tools", &self.tools)
            .field("limits", &self.limits)
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

impl ToolboxBuilder {
    /// Adds tools. Two of one name are an error.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = AnyTool>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Adds tools of which the first of a name stays and the others are listed as
    /// shadowed; one that cannot be registered harms no other.
    #[must_use]
    pub fn load(
        mut self,
        origin: impl Into<String>,
        tools: impl IntoIterator<Item = AnyTool>,
    ) -> Self {
        self.loads
            .push((origin.into(), tools.into_iter().collect()));
        self
    }

    /// Adds tools the user wrote down, each with the file it stands in. They come before
    /// those that are loaded, also where names collide; of two with one name the first
    /// stays. [`Toolbox::reload`] replaces them.
    #[must_use]
    pub fn files(mut self, tools: impl IntoIterator<Item = (Arc<str>, AnyTool)>) -> Self {
        self.files.extend(tools);
        self
    }

    /// Sets the policy.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Adds a guard beside the policy; the strictest wins.
    #[must_use]
    pub fn guard(mut self, guard: impl Guard) -> Self {
        self.guards.push(Arc::new(guard));
        self
    }

    /// Adds a recorder.
    #[must_use]
    pub fn recorder(mut self, recorder: impl Recorder) -> Self {
        self.recorders.push(Arc::new(recorder));
        self
    }

    /// Replaces the metrics kept in memory by the host's own.
    #[must_use]
    pub fn metrics(mut self, metrics: impl MetricsCollector) -> Self {
        self.metrics = Some(Arc::new(metrics));
        self
    }

    /// Leaves out the log through `tracing`, for hosts that record otherwise.
    #[must_use]
    pub fn without_log(mut self) -> Self {
        self.without_log = true;
        self
    }

    /// Sets who is told when a recorder fails.
    #[must_use]
    pub fn on_recorder_fault(mut self, tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.on_fault = Some(Box::new(tell));
        self
    }

    /// Sets the ceilings.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Names values that must reach no model, terminal or log.
    #[must_use]
    pub fn secrets(mut self, secrets: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.secrets.extend(secrets.into_iter().map(Into::into));
        self
    }

    /// Sets where outputs too large for a reply are kept.
    #[must_use]
    pub fn spill_store(mut self, store: impl SpillStore) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// Sets the prefix of offered names; empty for none.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Lays a binding over the default ones of the tools a name or glob means;
    /// later ones are laid over earlier ones.
    #[must_use]
    pub fn binding(mut self, pattern: impl Into<String>, binding: Binding) -> Self {
        self.bindings.push((pattern.into(), binding));
        self
    }

    /// Sets how sources and callers are held within bounds.
    #[must_use]
    pub fn protection(mut self, protection: Protection) -> Self {
        self.protection = protection;
        self
    }

    /// Sets the runtime tools run on, so that none of them can hold up whoever speaks
    /// with callers; without one it is that of the caller.
    #[must_use]
    pub fn runtime(mut self, runtime: Handle) -> Self {
        self.runtime = Some(runtime);
        self
    }

    /// Sets where the definitions of sources' tools are pinned. What [`Toolbox::refresh`]
    /// takes in is compared with them from then on; without, it is taken as it is.
    #[must_use]
    pub fn pins(mut self, store: impl PinStore) -> Self {
        self.pins = Some(Arc::new(store));
        self
    }

    /// Sets where approvals are kept beyond a run. Those that are kept answer what a person
    /// would be asked; without a store, approvals can be remembered for the run.
    #[must_use]
    pub fn approvals(mut self, store: impl ApprovalStore) -> Self {
        self.approvals = Some(Arc::new(store));
        self
    }

    /// Records what tools say and do.
    #[must_use]
    pub fn recording(mut self, recording: Arc<Recording>) -> Self {
        self.recording = Some(recording);
        self
    }

    /// Adds the tools of a tape, which answer from it.
    #[must_use]
    pub fn replaying(mut self, replay: Arc<Replay>) -> Self {
        self.loads.extend(replay.tools());
        self.replay = Some(replay);
        self
    }

    /// Builds the toolbox. Tools that were left out are logged.
    pub fn build(self) -> Result<Toolbox, BuildError> {
        let (toolbox, _) = self.made(|origin, error| match origin {
            Some(origin) => {
                tracing::warn!(target: "toolsmith::host", "a tool of {origin} was left out: {error}");
            }
            None => tracing::warn!(target: "toolsmith::host", "a tool was left out: {error}"),
        })?;
        Ok(toolbox)
    }

    /// As [`ToolboxBuilder::build`], and tells which tools were left out, and why, instead
    /// of logging it.
    pub fn build_noting(self) -> Result<(Toolbox, Vec<RegistryError>), BuildError> {
        self.made(|_, _| {})
    }

    fn made(
        self,
        tell: impl Fn(Option<&str>, &RegistryError),
    ) -> Result<(Toolbox, Vec<RegistryError>), BuildError> {
        let sources = Sources::new(settled(&self.protection)?);
        let redactor = Arc::new(Redactor::new(self.secrets));
        if let Some(recording) = &self.recording {
            recording.redact_with(&redactor);
        }
        if let Some(replay) = &self.replay {
            replay.redact_with(&redactor);
        }
        let settings = settings(self.prefix, self.bindings, &self.limits)?;
        let registry = Registry::new(settings, sources, self.pins, self.recording.clone());
        registry.register_all(self.tools)?;
        let from_files = registry.reload(None, self.files, Vec::new());
        let mut left_out = from_files.into_refused();
        left_out.iter().for_each(|error| tell(None, error));
        for (origin, tools) in self.loads {
            for error in registry.load(&origin, tools) {
                tell(Some(&origin), &error);
                left_out.push(error);
            }
        }
        for shadowed in registry.shadowed() {
            let (name, origin, by) = (&shadowed.name, &shadowed.origin, &shadowed.by);
            tracing::warn!(target: "toolsmith::host::shadowed", "tool `{name}` of {origin} is not used: {by} has that name first");
        }
        let mut recorders = self.recorders;
        if !self.without_log {
            recorders.insert(0, Arc::new(LogRecorder::new(self.limits.log_bytes)));
        }
        recorders.extend(self.recording.clone().map(|it| it as Arc<dyn Recorder>));
        let store = match &self.replay {
            Some(replay) => Some(Arc::new(Spills {
                replay: Arc::clone(replay),
                store: self.store,
            }) as Arc<dyn SpillStore>),
            None => self.store,
        };
        let (collector, metrics): (Arc<dyn MetricsCollector>, _) = match self.metrics {
            Some(collector) => (collector, None),
            None => {
                let metrics = Arc::new(Metrics::default());
                (Arc::clone(&metrics) as _, Some(metrics))
            }
        };
        let guards = Guards {
            policy: ArcSwap::from_pointee(self.policy),
            others: self.guards,
        };
        let memory = Memory::with(self.approvals);
        let inner = Inner {
            registry,
            memory: Arc::new(memory),
            shaper: Shaper { redactor, store },
            paths: PathLocks::default(),
            pool: Pool::new(self.limits.blocking_threads),
            guards,
            shield: Shield::new(self.protection.callers),
            cache: Cache::new(self.limits.compiled_schemas),
            recorders: Arc::new(Recorders::new(recorders, collector, self.on_fault)),
            metrics,
            runtime: self.runtime,
            recording: self.recording,
            replay: self.replay,
            signer: Signer::new(),
            calls: AtomicU64::new(0),
            limits: ArcSwap::from_pointee(self.limits),
        };
        inner.registered(crate::registry::DIRECT, inner.registry.len());
        let toolbox = Toolbox {
            inner: Arc::new(inner),
        };
        Ok((toolbox, left_out))
    }
}

/// The settings of sources, ready to be looked up.
pub(super) fn settled(protection: &Protection) -> Result<Settled, BuildError> {
    Settled::read(protection)
        .map_err(|(pattern, reason)| BuildError::SourcePattern { pattern, reason })
}

/// What bindings and a prefix come to for the tools to be registered.
pub(super) fn settings(
    prefix: String,
    bindings: Vec<(String, Binding)>,
    limits: &Limits,
) -> Result<Settings, BuildError> {
    check_prefix(&prefix)?;
    let mut overlays = Vec::new();
    for (pattern, binding) in bindings {
        if let Some(prefix) = &binding.prefix {
            check_prefix(prefix)?;
        }
        let pattern = name_glob(&pattern).map_err(|error| BuildError::Pattern {
            reason: error.to_string(),
            pattern,
        })?;
        overlays.push(BindingOverlay { pattern, binding });
    }
    Ok(Settings {
        prefix,
        bindings: overlays,
        threads_per_tool: limits.blocking_threads - limits.blocking_threads / 8,
    })
}

/// A prefix must leave room for the name and hold only what names may hold.
fn check_prefix(prefix: &str) -> Result<(), BuildError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    if prefix.len() <= 32 && prefix.chars().all(fits) {
        return Ok(());
    }
    Err(BuildError::Prefix {
        prefix: prefix.chars().take(80).collect(),
    })
}
