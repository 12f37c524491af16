//! Tools that were declared with `#[tool(declare)]`, collected at link time.
//!
//! The explicit list is the front door; this is for programs whose tools are
//! spread over many modules. A crate that nothing refers to is not linked, and
//! its tools are then silently not here.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::tool::AnyTool;

/// One declared tool; made by `#[tool(declare)]` only.
#[doc(hidden)]
#[derive(Debug)]
pub struct Declared {
    pub make: fn() -> AnyTool,
}

inventory::collect!(Declared);

static TAKEN: AtomicBool = AtomicBool::new(false);

/// Hands out every declared tool, sorted by name: once. Whoever asks again, from
/// whatever thread, gets none, so nothing is registered twice.
pub fn take() -> Vec<AnyTool> {
    if TAKEN.swap(true, Ordering::SeqCst) {
        return Vec::new();
    }
    let mut tools: Vec<AnyTool> = inventory::iter::<Declared>
        .into_iter()
        .map(|declared| (declared.make)())
        .collect();
    tools.sort_by_cached_key(|tool| tool.definition().name.clone());
    tools
}
