//! A registered tool, with all that is kept beside it.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use toolsmith_core::{AnyTool, Binding, ToolDef};

use super::measure::Measure;
use super::{RegistryError, Settings, check};
use crate::offer::wire_name;
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
    pub(crate) origin: Arc<str>,
    /// How costly the input schema is to apply.
    pub(crate) measure: Measure,
    /// The compiled input schema, once it was needed.
    pub(crate) compiled: CompiledSlot,
    /// Blocking calls that were given up on and still run.
    pub(crate) strays: Arc<AtomicUsize>,
}

impl Entry {
    pub(super) fn new(
        tool: AnyTool,
        origin: &str,
        settings: &Settings,
    ) -> Result<Self, RegistryError> {
        let definition = tool.definition();
        let measure = check::definition(&definition)?;
        let mut binding = tool.binding();
        for overlay in &settings.bindings {
            if overlay.pattern.is_match(definition.name.as_str()) {
                binding = overlay.binding.clone().over(binding);
            }
        }
        let prefix = binding.prefix.as_deref().unwrap_or(&settings.prefix);
        Ok(Self {
            wire_name: wire_name(prefix, &definition.name),
            definition,
            tool,
            binding,
            origin: origin.into(),
            measure,
            compiled: CompiledSlot::default(),
            strays: Arc::default(),
        })
    }
}
