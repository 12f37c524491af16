//! Tells which tools are withheld, and what a person can do about it.

use std::sync::Arc;

use toolsmith_runtime::registry::pin::{Why, Withheld};

use crate::print;

/// How many are named.
const NAMED: usize = 5;

/// Tells of these tools, of a few by name.
pub(crate) fn tell(withheld: &[Arc<Withheld>]) {
    // What is wrong with the lock was told by itself, and shadowed tools are listed.
    let is_told = |why: &Why| matches!(why, Why::Unreadable { .. } | Why::Shadowing { .. });
    let withheld: Vec<_> = withheld.iter().filter(|each| !is_told(&each.why)).collect();
    let Some(first) = withheld.first() else {
        return;
    };
    let named = withheld.iter().take(NAMED);
    let named: Vec<_> = named
        .map(|each| format!("{} ({})", each.name, each.why.word()))
        .collect();
    let more = match withheld.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    print::warning(&format!(
        "withheld until approved: {}{more}\n  look with `toolsmith pins`, `toolsmith pins show {}`",
        named.join(", "),
        first.name
    ));
}
