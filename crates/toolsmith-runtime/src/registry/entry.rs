//! A registered tool, with all that is kept beside it.

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};

use tokio::sync::Semaphore;
use toolsmith_core::{AnyTool, Binding, ToolDef};

use super::imported;
use super::measure::Measure;
use super::{DIRECT, FILES, RegistryError, Settings, check};
use crate::execute::Manners;
use crate::shield::{Allowance, Source, Sources};
use crate::validate::CompiledSlot;

/// A registered tool.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Taken once, at registration: what was checked is what is used.
    pub(crate) definition: Arc<ToolDef>,
    /// The name it is offered by.
    pub(crate) wire_name: String,
    pub(crate) tool: AnyTool,
    pub(crate) binding: Binding,
    pub(crate) origin: Origin,
    /// How costly the input schema is to apply.
    pub(crate) measure: Measure,
    /// The compiled input schema, once it was needed.
    pub(crate) compiled: CompiledSlot,
    /// Blocking calls that were given up on and still run.
    pub(crate) strays: Arc<AtomicUsize>,
    /// The threads of the pool this tool may hold at once, so that one slow tool
    /// leaves some to the others.
    pub(crate) threads: Arc<Semaphore>,
    /// Whether it has shown that it does not block where it should wait.
    pub(crate) manners: Arc<Manners>,
    /// What its guards keep of where it comes from.
    pub(crate) source: Arc<Source>,
    /// How fast and how often it was called, if that is bounded.
    pub(crate) allowance: Arc<Allowance>,
    /// The digest of its definition, once it was needed.
    pub(crate) digest: OnceLock<[u8; 32]>,
}

/// Where an entry comes from. Direct registrations are no source's, whatever a
/// source calls itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Direct,
    Source(Arc<str>),
    /// The file the user wrote it down in.
    File(Arc<str>),
}

impl Origin {
    pub(super) fn source(name: &str) -> Self {
        Self::Source(name.into())
    }

    /// Tells whether it is the source of this name.
    pub(super) fn is(&self, source: &str) -> bool {
        match self {
            Self::Direct => false,
            Self::Source(name) => **name == *source,
            Self::File(_) => source == FILES,
        }
    }
}

impl Origin {
    /// What lists and records call it.
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Direct => DIRECT,
            Self::Source(name) | Self::File(name) => name,
        }
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Entry {
    pub(super) fn new(
        tool: AnyTool,
        origin: &Origin,
        settings: &Settings,
        sources: &Sources,
    ) -> Result<Self, RegistryError> {
        let definition = imported::cleaned(tool.definition());
        let measure = check::definition(&definition)?;
        let binding = settings.over(tool.binding(), &definition.name);
        let source = sources.of(&origin.to_string());
        let allowance = source.allowance_of(&definition.name);
        Ok(Self {
            wire_name: settings.wire_name(&binding, &definition.name),
            definition,
            tool,
            binding,
            origin: origin.clone(),
            measure,
            compiled: CompiledSlot::default(),
            strays: Arc::default(),
            threads: Arc::new(Semaphore::new(settings.threads_per_tool.max(1))),
            manners: Arc::default(),
            source,
            allowance,
            digest: OnceLock::new(),
        })
    }
}
