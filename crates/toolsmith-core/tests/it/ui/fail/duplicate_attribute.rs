#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool(title = "a", kind = "read", title = "b")]
fn show() {}

fn main() {}
