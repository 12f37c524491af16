#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool]
fn show(one: &toolsmith::ToolContext, two: toolsmith::ToolContext) {}

fn main() {}
