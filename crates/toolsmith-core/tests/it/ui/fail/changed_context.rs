#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool]
fn show(context: &mut toolsmith::ToolContext) {}

fn main() {}
