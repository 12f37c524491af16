//! From the arguments of a task to an agent that can begin, on terms no wider than its
//! caller's.

use std::sync::Arc;
use std::time::Duration;

use toolsmith_core::{CancellationToken, ErrorKind, ToolContext, ToolError};
use toolsmith_runtime::{Caller, Selection};

use super::tool_task::{Arguments, LONGEST, SHORTEST};
use super::{DEEPEST, TOOLS, Tasks};
use crate::agent::Agent;
use crate::conversation::Conversation;

/// A task that can begin.
pub(super) struct Order {
    pub(super) id: String,
    pub(super) agent: Agent,
    pub(super) caller: Caller,
    /// What ends whoever gave it.
    pub(super) giver: CancellationToken,
    pub(super) conversation: Conversation,
    pub(super) prompt: String,
}

impl Order {
    pub(super) fn of(
        arguments: &Arguments,
        tasks: &Tasks,
        context: &ToolContext,
    ) -> Result<Self, ToolError> {
        let parent = Caller::of(context).ok_or_else(|| {
            ToolError::internal("on whose terms the task would run is not known, so it does not")
        })?;
        if parent.depth() >= DEEPEST {
            let message = format!("tasks are given on at most {DEEPEST} deep");
            return Err(ToolError::new(ErrorKind::PermissionDenied, message));
        }
        let name = arguments.subagent_type.as_deref();
        let worker = tasks
            .workers()?
            .worker(name, arguments.model.as_deref(), &parent)?;
        let conversation = match &arguments.resume_from {
            Some(id) => tasks.find(context.caller(), id)?.conversation()?,
            None => Conversation::new(),
        };
        let id = tasks.next_id();
        let toolbox = worker.agent.toolbox();
        let mut offer = toolbox.offer(&worker.selection);
        if let Some(tools) = &arguments.tools {
            let mut asked = toolbox.offer(&Selection::everything().with_tools(tools));
            if let Some(bounds) = parent.offer() {
                asked = asked.within(bounds);
            }
            // Misspelt, they would leave it without tools, and nobody would know why.
            if asked.tools().is_empty() && !tools.is_empty() {
                let message = format!("you have none of these tools: {}", tools.join(", "));
                return Err(ToolError::invalid(message));
            }
            offer = offer.within(&asked);
        }
        let caller = parent.delegate(&id, worker.name.as_deref());
        if caller.depth() >= DEEPEST {
            offer = offer.without(&TOOLS);
        }
        // In front, the call is waited for, and its end is the task's; in the background
        // the task ends with whoever gave it.
        let token = match arguments.run_in_background {
            true => parent.cancellation().child_token(),
            false => context.cancellation().child_token(),
        };
        let caller = caller.with_offer(Arc::new(offer)).with_cancellation(token);
        let mut limits = worker.agent.limits().clone();
        if let Some(turns) = arguments.max_turns {
            limits.turns = limits.turns.min(turns);
        }
        let time = arguments.time();
        limits.time = Some(limits.time.map_or(time, |most| most.min(time)));
        let prompt = match arguments.context.as_deref().map(str::trim) {
            None | Some("") => arguments.prompt.clone(),
            Some(context) => format!("{}\n\nWhat is known so far:\n{context}", arguments.prompt),
        };
        Ok(Self {
            id,
            agent: worker.agent.with_limits(limits),
            caller,
            giver: parent.cancellation().clone(),
            conversation,
            prompt,
        })
    }
}

impl Arguments {
    /// How long the task may take.
    pub(super) fn time(&self) -> Duration {
        Duration::from_millis(self.timeout).clamp(SHORTEST, LONGEST)
    }
}
