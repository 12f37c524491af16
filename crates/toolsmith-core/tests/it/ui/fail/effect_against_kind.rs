#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool(kind = "delete", effect = "read")]
fn understated() {}

#[tool(effect = "write", kind = "search")]
fn overstated() {}

#[tool(kind = "network", effect = "execute")]
fn elsewhere() {}

fn main() {}
