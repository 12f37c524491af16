//! What is asked of a server, and what may be said to it.

use serde_json::{Value, json};
use toolsmith_testing::random::Random;

/// A sort of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sort {
    Echo,
    Read,
    List,
    Shell,
    Slow,
    Large,
    Leaves,
    Cancelled,
    Wrong,
    Unknown,
    Upstream,
    Batch,
    Session,
}

impl Sort {
    /// What comes, each as often as it stands here.
    const MIX: [Self; 24] = [
        Self::Echo,
        Self::Echo,
        Self::Echo,
        Self::Echo,
        Self::Echo,
        Self::Echo,
        Self::Echo,
        Self::Echo,
        Self::Read,
        Self::Read,
        Self::Read,
        Self::List,
        Self::Shell,
        Self::Slow,
        Self::Large,
        Self::Leaves,
        Self::Cancelled,
        Self::Wrong,
        Self::Unknown,
        Self::Upstream,
        Self::Upstream,
        Self::Upstream,
        Self::Batch,
        Self::Session,
    ];

    /// The next one.
    pub(crate) fn drawn(chance: &mut Random) -> Self {
        Self::MIX[chance.below(Self::MIX.len())]
    }

    /// Whether nothing but the machine may hold it up.
    pub(crate) fn is_healthy(self) -> bool {
        matches!(self, Self::Echo | Self::Read)
    }

    /// The method and its parameters.
    pub(crate) fn request(self, chance: &mut Random) -> (&'static str, Value) {
        let call = |name: &str, arguments: Value| {
            (
                "tools/call",
                json!({ "name": name, "arguments": arguments }),
            )
        };
        match self {
            Self::Read => call("read", json!({ "file_path": "small.txt" })),
            Self::List => ("tools/list", json!({})),
            Self::Shell => call("bash", json!({ "command": "echo one && pwd" })),
            Self::Slow => call("bash", json!({ "command": "sleep 0.2; echo slow" })),
            Self::Large if chance.below(2) == 0 => {
                call("read", json!({ "file_path": "large.txt" }))
            }
            Self::Large => call("bash", json!({ "command": "head -c 400000 large.txt" })),
            // What it leaves behind must not live on.
            Self::Leaves => call(
                "bash",
                json!({ "command": "(setsid sleep 600 &); sleep 600 & echo left" }),
            ),
            Self::Cancelled => call("bash", json!({ "command": "sleep 30" })),
            Self::Wrong => call("read", json!({ "file_path": 7.5, "limit": "many" })),
            Self::Unknown => call("no_such_tool", json!({})),
            Self::Upstream => {
                let habit = crate::upstream::HABITS[chance.below(3)];
                call(&format!("mcp__{habit}__work"), json!({ "text": "x" }))
            }
            Self::Echo | Self::Batch | Self::Session => call(
                "example_echo",
                json!({ "text": "a sentence of ordinary length" }),
            ),
        }
    }

    /// Whether an answer is one that may come.
    pub(crate) fn accepts(self, answer: &str) -> bool {
        let has_result = answer.contains("\"result\"");
        match self {
            Self::Echo => has_result && answer.contains("a sentence of ordinary length"),
            Self::Read => has_result && answer.contains("a line"),
            Self::List => has_result && answer.contains("\"inputSchema\""),
            Self::Shell => has_result && answer.contains("one"),
            Self::Slow => has_result && answer.contains("slow"),
            Self::Leaves => has_result && answer.contains("left"),
            Self::Large => has_result && answer.len() > 1000,
            Self::Wrong => answer.contains("invalid_parameters") || answer.contains("do not fit"),
            Self::Unknown | Self::Batch => answer.contains("error") || answer.contains("isError"),
            Self::Cancelled | Self::Upstream | Self::Session => true,
        }
    }
}
