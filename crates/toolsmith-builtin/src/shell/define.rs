//! How a tool that runs programs becomes one that registries hold.
//!
//! As `built_in`, but its work waits rather than blocks, and it makes its outcomes
//! itself: a program that fails is a failure with an output.

use std::future::Future;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use toolsmith_core::tool::FunctionTool;
use toolsmith_core::{AnyTool, Binding, Outcome, Plan, Schema, ToolContext, ToolDef};

use super::Shells;
use crate::refusal::{Reason, Refusal};

/// A tool that runs programs, or deals with those that run.
pub(crate) trait ShellTool: Send + Sync + 'static {
    /// What it is called with.
    type Arguments: DeserializeOwned + JsonSchema + Send + 'static;
    /// What it answers with.
    type Value: Serialize + JsonSchema;

    /// What it is, but for the schemas, which the types tell.
    fn define() -> ToolDef;

    /// How it is run unless configuration says otherwise.
    fn binding() -> Binding;

    /// The programs it deals with.
    fn shells(&self) -> &Shells;

    /// What a call would do.
    fn plan(&self, arguments: &Self::Arguments) -> Result<Plan, Refusal>;

    /// Does it.
    fn call(
        &self,
        arguments: Self::Arguments,
        context: &ToolContext,
    ) -> impl Future<Output = Result<Outcome, Refusal>> + Send;
}

/// The tool as registries hold it.
pub(crate) fn tool<T: ShellTool>(tool: T) -> AnyTool {
    let tool = Arc::new(tool);
    let planner = Arc::clone(&tool);
    let definition = T::define()
        .with_input(Schema::arguments_of::<T::Arguments>())
        .with_output(Schema::value_of::<T::Value>());
    FunctionTool::new(definition)
        .with_binding(T::binding())
        .with_plan(move |arguments| {
            let mut plan = planner.plan(arguments)?;
            for touch in &mut plan.touches {
                planner.shells().inner().workspace.put_into_forms(touch);
            }
            Ok(plan)
        })
        .into_async(move |arguments, context| {
            let tool = Arc::clone(&tool);
            async move {
                // A call may begin where it is made; programs belong to where tools run.
                tokio::task::yield_now().await;
                let outcome = match tool.call(arguments, &context).await {
                    Ok(outcome) => outcome,
                    Err(refusal) => Outcome::failure(refusal),
                };
                with_news(outcome, tool.shells(), &context)
            }
        })
}

/// Gets something ready that looks at files, away from whoever must not wait.
pub(crate) async fn ready<R: Send + 'static>(
    get: impl FnOnce() -> Result<R, Refusal> + Send + 'static,
) -> Result<R, Refusal> {
    let got = tokio::task::spawn_blocking(get).await;
    got.unwrap_or_else(|_| Err(Refusal::new(Reason::Failed, "the call was not made ready")))
}

/// Tells the caller which of its jobs have ended since it was last told.
fn with_news(mut outcome: Outcome, shells: &Shells, context: &ToolContext) -> Outcome {
    for news in shells.inner().jobs.news(context.caller()) {
        outcome = outcome.with_block(toolsmith_core::Block::text(format!("[{news}]")));
    }
    outcome
}
