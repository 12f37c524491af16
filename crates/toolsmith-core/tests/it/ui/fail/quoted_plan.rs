#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool(plan = "look")]
fn show() {}

fn main() {}
