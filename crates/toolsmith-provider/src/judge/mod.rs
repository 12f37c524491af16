//! Judge: whether declarations keep to a provider's rules, whoever wrote them.
//!
//! It shares the table of rules with lowering and nothing else, so that a mistake of the
//! one is found by the other. It says what is known to be refused; what it lets pass may
//! still be refused for reasons nobody has written down.

mod requests;
mod schemas;

use serde_json::Value;

use crate::provider::Provider;
use crate::rules;

/// Something a provider would refuse.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Fault {
    /// The tool, by its declared name.
    pub tool: String,
    /// Where in its schema, as a JSON pointer.
    pub path: String,
    /// What is broken.
    pub rule: String,
    /// Where the rule is known from.
    pub source: &'static str,
}

/// The most faults that are told.
const MOST: usize = 1_000;

/// Judges the tools field of a request, or a whole request.
///
/// ```
/// use serde_json::json;
/// use toolsmith_provider::{Provider, judge};
///
/// let tools = json!([{ "name": "a.b", "input_schema": { "type": "object" } }]);
/// let faults = judge::judge(Provider::Anthropic, &tools);
/// assert_eq!(faults[0].rule, "a name that is not accepted");
/// ```
pub fn judge(provider: Provider, declared: &Value) -> Vec<Fault> {
    let mut faults = Vec::new();
    requests::judge(provider, rules::of(provider), declared, &mut faults);
    faults.truncate(MOST);
    faults
}
