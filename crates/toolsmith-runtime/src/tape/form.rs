//! What is written on a tape: a header, then lines of a few sorts.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use toolsmith_core::context::LogEntry;
use toolsmith_core::store::Spilled;
use toolsmith_core::{Binding, Block, Outcome, Plan, Progress, ToolDef, ToolError, ToolName};

/// The form of tapes that is written, and the only one that is read.
pub(super) const VERSION: u64 = 1;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) toolsmith_tape: u64,
}

/// Every other line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Line {
    /// A source handed out a tool.
    Tool(Box<ToolLine>),
    /// A tool told what a call would do.
    Plan(Box<PlanLine>),
    /// A call reached a tool.
    Call(Box<CallLine>),
    /// A call was answered.
    Reply(ReplyLine),
    /// Something is missing from here on, or in between.
    Incomplete(Incomplete),
}

/// A tool, and whose it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ToolLine {
    pub(super) origin: String,
    /// What comes first where names collide; the smaller the number, the earlier.
    pub(super) rank: u8,
    pub(super) definition: ToolDef,
    #[serde(default)]
    pub(super) binding: Binding,
}

/// What a call would do, or why that cannot be told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PlanLine {
    pub(super) tool: ToolName,
    pub(super) arguments: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) plan: Option<Plan>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<ToolError>,
}

/// What came of a call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CallLine {
    pub(super) origin: String,
    pub(super) tool: ToolName,
    pub(super) arguments: Map<String, Value>,
    /// What it said while it ran, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) updates: Vec<Told>,
    pub(super) outcome: Kept,
    /// How long it ran.
    pub(super) ran_us: u64,
}

/// What a tool says while it runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Told {
    Progress(Progress),
    Output(String),
    Log(LogEntry),
}

/// What of a reply depends on the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ReplyLine {
    pub(super) call: String,
    pub(super) name: String,
    pub(super) duration_us: u64,
    /// How old the answer was, where it was a kept one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cached_us: Option<u64>,
    /// How often the tool was called, where that was more than once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) attempts: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) spill: Option<Spilled>,
}

/// Why a tape lacks something.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Incomplete {
    pub(super) reason: String,
}

/// An outcome as a tool gave it: with what no reply tells, and without what the runtime
/// adds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Kept {
    /// A value that is null is one.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    value: Option<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    content: Vec<Block>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    display: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instruction: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<ToolError>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    metadata: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    room: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    omitted_bytes: Option<u64>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl From<Outcome> for Kept {
    fn from(outcome: Outcome) -> Self {
        Self {
            value: outcome.value,
            content: outcome.content,
            display: outcome.display,
            message: outcome.message,
            instruction: outcome.instruction,
            error: outcome.error,
            metadata: outcome.metadata,
            room: outcome.room,
            omitted_bytes: outcome.facts.omitted_bytes,
        }
    }
}

impl From<Kept> for Outcome {
    fn from(kept: Kept) -> Self {
        let mut outcome = Self::default();
        outcome.value = kept.value;
        outcome.content = kept.content;
        outcome.display = kept.display;
        outcome.message = kept.message;
        outcome.instruction = kept.instruction;
        outcome.error = kept.error;
        outcome.metadata = kept.metadata;
        outcome.room = kept.room;
        outcome.facts.omitted_bytes = kept.omitted_bytes;
        outcome
    }
}
