//! What the definitions and plans of the tools that search have in common.

use std::time::Duration;

use serde_json::Value;
use toolsmith_core::{Example, Hints, Meta, Plan, Touch};

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
    let place = workspace.place(path)?;
    let summary = format!("{what} in {}", workspace.shown(&place));
    let touch = Touch::read(workspace.whole(&place)).from_argument(argument);
    Ok(Plan::new(summary).touching(touch))
}

/// Hints of a tool that only looks.
pub(crate) fn idempotent() -> Hints {
    let mut hints = Hints::default();
    hints.idempotent = Some(true);
    hints.open_world = Some(false);
    hints
}

/// Identity and grouping of a tool.
pub(crate) fn meta(name: &str, category: &str, tags: &[&str]) -> Meta {
    let mut meta = Meta::new(name);
    meta.category = Some(category.to_owned());
    meta.tags = tags.iter().map(|&tag| tag.to_owned()).collect();
    meta
}

/// An example from an object.
pub(crate) fn example(comment: &str, arguments: Value) -> Example {
    let arguments = match arguments {
        Value::Object(arguments) => arguments,
        _ => serde_json::Map::new(),
    };
    Example::new(arguments).with_comment(comment)
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
