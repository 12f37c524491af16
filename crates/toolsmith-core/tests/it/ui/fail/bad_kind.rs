#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool(kind = "write")]
fn show() {}

fn main() {}
