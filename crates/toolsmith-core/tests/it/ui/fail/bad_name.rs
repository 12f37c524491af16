#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool(name = "Show-It")]
fn show() {}

fn main() {}
