//! What the tests of the guards share: tools of a source elsewhere, and scripts they fail by.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use toolsmith_core::{
    AnyTool, Binding, ErrorKind, Outcome, RawCall, Source, ToolDef, ToolError, tool::FunctionTool,
};
use toolsmith_runtime::shield::{CircuitState, Protection, SourceSettings};
use toolsmith_runtime::{Caller, Toolbox};
use toolsmith_testing::tools::definition;

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// Counts how often a tool was called.
#[derive(Clone, Debug, Default)]
pub(crate) struct Count(Arc<AtomicUsize>);

impl Count {
    /// Counts one more, and returns how many came before.
    pub(crate) fn one(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst)
    }

    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// The definition of a tool on another machine that only looks.
pub(crate) fn remote(name: &str) -> ToolDef {
    definition(name).with_source(Source::Rest)
}

/// A tool that answers by how often it was called before, and counts.
pub(crate) fn scripted(
    definition: ToolDef,
    binding: Binding,
    count: &Count,
    script: impl Fn(usize) -> Outcome + Send + Sync + 'static,
) -> AnyTool {
    let count = count.clone();
    FunctionTool::new(definition)
        .with_binding(binding)
        .into_async(move |_: Value, _| std::future::ready(script(count.one())))
}

/// The failure of a kind.
pub(crate) fn fails(kind: ErrorKind) -> Outcome {
    Outcome::failure(ToolError::new(kind, "as the test wants it"))
}

/// A toolbox of one source called `far`.
pub(crate) fn far(tools: impl IntoIterator<Item = AnyTool>) -> Toolbox {
    with_settings(SourceSettings::default(), tools)
}

/// As [`far`], with settings for the source.
pub(crate) fn with_settings(
    settings: SourceSettings,
    tools: impl IntoIterator<Item = AnyTool>,
) -> Toolbox {
    let mut protection = Protection::default();
    protection.sources.push(("far".to_owned(), settings));
    let builder = Toolbox::builder().load("far", tools);
    builder.protection(protection).build().unwrap()
}

pub(crate) async fn call_as(toolbox: &Toolbox, caller: &str, tool: &str) -> Outcome {
    let call = RawCall::new(tool, json!({}));
    toolbox.run(call, &Caller::new(caller)).await.into_outcome()
}

pub(crate) async fn call(toolbox: &Toolbox, tool: &str) -> Outcome {
    call_as(toolbox, "test", tool).await
}

pub(crate) fn circuit(toolbox: &Toolbox) -> CircuitState {
    let sources = toolbox.sources();
    let far = sources.iter().find(|source| source.name == "far");
    far.unwrap().circuit
}
