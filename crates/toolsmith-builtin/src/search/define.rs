//! What the definitions and plans of the tools that search have in common.

use std::time::Duration;

use toolsmith_core::Plan;

use crate::built_in;
use crate::refusal::Refusal;
use crate::workspace::Workspace;

/// How long a search may take before what was found so far is the answer.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// What a call may take beyond that, to tell its answer.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// The plan of a call that only reads what an argument names.
pub(crate) fn reading(
    workspace: &Workspace,
    argument: &str,
    path: &str,
    what: &str,
) -> Result<Plan, Refusal> {
    built_in::reading(workspace, argument, path, |shown| {
        format!("{what} in {shown}")
    })
}

/// The plan of a call that goes through everything beneath what an argument names.
pub(crate) fn walking(
    workspace: &Workspace,
    argument: &str,
    path: &str,
    what: &str,
) -> Result<Plan, Refusal> {
    let mut plan = reading(workspace, argument, path, what)?;
    for touch in &mut plan.touches {
        touch.recursive = true;
    }
    Ok(plan)
}

/// The workspace itself, where no path is given.
pub(crate) fn here() -> String {
    ".".to_owned()
}

/// How many results are returned unless said.
pub(crate) fn hundred() -> usize {
    100
}

/// What is on unless said.
pub(crate) fn yes() -> bool {
    true
}
