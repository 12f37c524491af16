#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool(confirm = "sometimes")]
fn show() {}

fn main() {}
