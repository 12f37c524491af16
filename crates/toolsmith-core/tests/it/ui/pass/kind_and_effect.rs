//! Kinds and effects that go together.
extern crate toolsmith_core as toolsmith;

use toolsmith::{Effect, tool};

#[tool(kind = "move", effect = "write")]
fn same() {}

#[tool(kind = "search", effect = "network")]
fn far_away() {}

#[tool(kind = "external", effect = "read")]
fn external() {}

#[tool(kind = "other", effect = "execute")]
fn other() {}

fn main() {
    let effects = [
        same::definition().effect,
        far_away::definition().effect,
        external::definition().effect,
        other::definition().effect,
    ];
    assert_eq!(effects, [Effect::Write, Effect::Network, Effect::Read, Effect::Execute]);
}
