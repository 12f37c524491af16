#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool(crate = "not a path")]
fn show() {}

fn main() {}
