//! Every ceiling of a toolbox, in one place.

use std::time::Duration;

/// The ceilings of a toolbox.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// How many calls of one batch run at once.
    pub parallel: usize,
    /// The time limit of a call where neither plan, caller nor binding sets one.
    pub timeout: Duration,
    /// The longest time limit anything may ask for.
    pub longest: Duration,
    /// How long a tool that was cancelled may take to stop by itself.
    pub grace: Duration,
    /// How long planning and each guard may take; who takes longer denies.
    pub judging: Duration,
    /// How long people may take to answer, all questions of a call together.
    pub approval: Duration,
    /// How many bytes of arguments a call may have.
    pub argument_bytes: usize,
    /// How many bytes of text a model gets from one call.
    pub output_bytes: usize,
    /// How many bytes a tool may have room for that bounds its output itself, as its
    /// caller asked (`Outcome::room`).
    pub most_output_bytes: usize,
    /// How many bytes of images, sounds and blobs, in base64, one call may return.
    pub blob_bytes: usize,
    /// How many bytes of output one call may stream while it runs.
    pub streamed_bytes: usize,
    /// How many bytes of arguments and result a log line holds.
    pub log_bytes: usize,
    /// How many schemas are kept compiled.
    pub compiled_schemas: usize,
    /// How many threads blocking tools share.
    pub blocking_threads: usize,
    /// How many bytes of answers are kept for calls to come, over all tools.
    pub cache_bytes: usize,
    /// How many answers are.
    pub cache_entries: usize,
    /// How many calls of one blocking tool may go on after they were given up,
    /// before the tool is refused.
    pub strays_per_tool: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            parallel: 64,
            timeout: toolsmith_core::binding::DEFAULT_TIMEOUT,
            longest: Duration::from_secs(3600),
            grace: Duration::from_millis(500),
            judging: Duration::from_secs(10),
            approval: Duration::from_secs(300),
            argument_bytes: 16 << 20,
            output_bytes: 50 << 10,
            most_output_bytes: 4 << 20,
            blob_bytes: 8 << 20,
            streamed_bytes: 1 << 20,
            log_bytes: 2 << 10,
            compiled_schemas: 2048,
            blocking_threads: 64,
            cache_bytes: 16 << 20,
            cache_entries: 4096,
            strays_per_tool: 8,
        }
    }
}

impl Limits {
    /// The limits of an outcome whose tool asked for room.
    pub(crate) fn with_room(&self, asked: Option<usize>) -> Self {
        let mut limits = self.clone();
        let asked = asked.unwrap_or(0).min(self.most_output_bytes);
        limits.output_bytes = self.output_bytes.max(asked);
        limits
    }
}
