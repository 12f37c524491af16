//! Tool sets and agents: who gets which tools.
//!
//! A set is a file in `configs/tool_sets`, an agent one in `agents`. A member of a set is
//! a tool, a glob, or another set. An agent gets the tools of its sets, in order, and then
//! its single tools; what comes twice stays where it came first. [`Catalogue`] knows all
//! of them and puts the lists together.
//!
//! ```yaml
//! name: data_analysis
//! description: For looking at tables.
//! tools: [sql_query, "excel_*", plotting]   # plotting is another set
//! ```

mod catalogue;
mod member;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

pub use catalogue::{Agent, Catalogue, SetError, ToolSet};
pub use member::{Member, SetName};

use toolsmith_provider::OutputStrategy;

use crate::config::{AskConfig, HostedTools, PolicyConfig};

/// The folder with one set a file.
pub const SETS_FOLDER: &str = "configs/tool_sets";
/// The folder with one agent a file.
pub const AGENTS_FOLDER: &str = "agents";

/// A file with a set.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SetForm {
    pub(crate) name: Option<SetName>,
    pub(crate) description: Option<String>,
    #[serde(deserialize_with = "list")]
    pub(crate) tools: Vec<Member>,
    #[serde(alias = "sets", deserialize_with = "list")]
    pub(crate) tool_sets: Vec<SetName>,
}

/// A file with an agent.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AgentForm {
    pub(crate) name: Option<SetName>,
    pub(crate) description: Option<String>,
    #[serde(deserialize_with = "list")]
    pub(crate) tools: Vec<Member>,
    #[serde(deserialize_with = "list")]
    pub(crate) tool_sets: Vec<SetName>,
    pub(crate) output_strategy: Option<OutputStrategy>,
    pub(crate) policy: PolicyConfig,
    pub(crate) model: Option<String>,
    pub(crate) hosted_tools: HostedTools,
    pub(crate) ask: AskConfig,
}

/// How many members a list may have.
const MOST: usize = 10_000;

/// A list that may be left empty.
fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let list = Option::<Vec<T>>::deserialize(deserializer)?.unwrap_or_default();
    if list.len() > MOST {
        let message = format!("more than {MOST} members are not accepted");
        return Err(D::Error::custom(message));
    }
    Ok(list)
}
