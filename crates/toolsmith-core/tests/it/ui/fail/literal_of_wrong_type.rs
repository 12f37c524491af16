#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool]
fn show(#[arg(literal = "YES")] sure: bool) {}

fn main() {}
