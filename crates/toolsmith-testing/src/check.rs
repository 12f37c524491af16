//! The few things every test does: make a call, and look at what came of it.

use futures_util::FutureExt;
use serde_json::Value;
use toolsmith_core::{Outcome, RawCall, ToolError};
use toolsmith_runtime::{Caller, Explanation, Toolbox};

/// Makes one call as the caller `test`.
pub async fn call(toolbox: &Toolbox, name: &str, arguments: Value) -> Outcome {
    let caller = Caller::new("test");
    let reply = toolbox.run(RawCall::new(name, arguments), &caller).await;
    reply.into_outcome()
}

/// The value of a call that must succeed.
#[track_caller]
pub fn value(outcome: &Outcome) -> Value {
    assert!(outcome.is_success(), "the call failed: {outcome:?}");
    outcome.value.clone().unwrap_or(Value::Null)
}

/// The error of a call that must fail.
#[track_caller]
pub fn failure(outcome: &Outcome) -> &ToolError {
    let error = outcome.error.as_ref();
    error.unwrap_or_else(|| panic!("the call succeeded: {outcome:?}"))
}

/// What would happen to a call, for tests without a runtime. No guard may wait.
#[track_caller]
pub fn explain(toolbox: &Toolbox, call: RawCall, caller: &Caller) -> Explanation {
    let explained = toolbox.explain(call, caller).now_or_never();
    explained.expect("nothing to wait for")
}
