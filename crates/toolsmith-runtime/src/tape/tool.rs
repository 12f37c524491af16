//! A tool of a tape: what it is and what it answers was recorded, and nothing runs.

use std::sync::Arc;

use toolsmith_core::{Arguments, Binding, Outcome, Plan, Tool, ToolContext, ToolDef, ToolError};

use super::Replay;
use super::form::{Told, ToolLine};

/// A tool that plays what was recorded of it.
pub(super) struct Played {
    definition: Arc<ToolDef>,
    binding: Binding,
    replay: Arc<Replay>,
}

impl Played {
    pub(super) fn new(line: &ToolLine, replay: Arc<Replay>) -> Self {
        Self {
            definition: Arc::new(line.definition.clone()),
            binding: line.binding.clone(),
            replay,
        }
    }
}

impl Tool for Played {
    fn definition(&self) -> Arc<ToolDef> {
        Arc::clone(&self.definition)
    }

    fn binding(&self) -> Binding {
        self.binding.clone()
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, ToolError> {
        self.replay.plan(&self.definition.name, arguments)
    }

    async fn call(&self, arguments: Arguments, context: ToolContext) -> Outcome {
        let recorded = match self.replay.answer(&self.definition.name, &arguments) {
            Ok(recorded) => recorded,
            Err(error) => return error.into(),
        };
        for told in recorded.updates {
            match told {
                Told::Progress(progress) => context.progress(progress),
                Told::Output(text) => context.output(text),
                Told::Log(entry) => context.relay_log(entry),
            }
        }
        recorded.outcome.into()
    }
}
