#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool(tags = "a, b")]
fn show() {}

fn main() {}
