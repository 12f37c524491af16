//! What tests of Toolsmith share: tools that behave on command, and ears and
//! mouths for everything a host would plug in.
//!
//! Nothing here needs a network beyond this machine; files are there only to be measured.
//! Helpers panic where a test would: with a message that says what was expected.

pub mod alarms;
pub mod approver;
pub mod bench;
#[cfg(feature = "builtin")]
pub mod built_ins;
pub mod check;
#[cfg(feature = "mcp")]
pub mod conformance;
pub mod gate;
pub mod model;
#[cfg(feature = "model-server")]
pub mod model_server;
pub mod random;
pub mod recorder;
pub mod spill;
pub mod tools;

pub use approver::ScriptedApprover;
pub use check::{call, explain, failure, value};
pub use gate::{BlockingGate, Gate};
pub use model::ScriptedModel;
pub use recorder::Recording;
pub use spill::MemoryStore;
