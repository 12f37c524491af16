//! What would happen to a call, without making it.

use serde::Serialize;
use toolsmith_core::{Arguments, Effect, Plan, RawCall, ToolError, ToolName};

use super::Toolbox;
use crate::caller::Caller;
use crate::permit::{Decision, decide};
use crate::plan::plan;
use crate::resolve::resolve;
use crate::shape::{shown_arguments, shown_plan};
use crate::validate::validate;

/// What would happen to a call: how far it gets, and who decides.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The tool, if there is one of that name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolName>,
    /// What it does to the world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// The arguments as the tool would get them, without secrets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Arguments>,
    /// What was mended to make them fit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<String>,
    /// What the tool would do, without secrets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// What would be decided, by what rule or mode, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// Why the call does not get as far as a decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
}

impl Toolbox {
    /// Tells the plan, the decision, and which rule decided. Nothing runs, nobody
    /// is asked, and nothing is recorded.
    pub async fn explain(&self, call: RawCall, caller: &Caller) -> Explanation {
        let mut explanation = Explanation {
            tool: None,
            effect: None,
            arguments: None,
            repairs: Vec::new(),
            plan: None,
            decision: None,
            error: None,
        };
        if let Err(mut error) = self.follow(call, caller, &mut explanation).await {
            self.inner.shaper.error(&mut error, None);
            explanation.error = Some(error);
        }
        explanation
    }

    async fn follow(
        &self,
        call: RawCall,
        caller: &Caller,
        explanation: &mut Explanation,
    ) -> Result<(), ToolError> {
        let inner = &self.inner;
        let offer = caller.offer().map(|offer| &**offer);
        let call = resolve(call, &inner.registry, offer)?;
        explanation.tool = Some(call.entry.definition.name.clone());
        explanation.effect = Some(call.entry.definition.effect);
        let call = validate(call, &inner.cache, inner.limits().argument_bytes)?;
        let redactor = &inner.shaper.redactor;
        explanation.arguments = Some(shown_arguments(call.arguments(), redactor));
        explanation.repairs = call.repairs().to_vec();
        (explanation.repairs.iter_mut()).for_each(|repair| inner.shaper.small(repair));
        let mut call = plan(call, &inner.shaper, inner.limits().judging)?;
        call.put_in_words(&inner.shaper);
        explanation.plan = Some(shown_plan(call.plan(), redactor).into_owned());
        let limit = inner.limits().judging;
        let decided = decide(&call, &inner.guards, &inner.memory, caller, limit);
        let (decision, _) = decided.await;
        explanation.decision = Some(decision);
        Ok(())
    }
}
