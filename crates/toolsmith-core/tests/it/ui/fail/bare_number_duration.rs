#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool(timeout = 5)]
fn show() {}

fn main() {}
