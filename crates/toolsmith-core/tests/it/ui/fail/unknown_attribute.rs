#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool(time_out = "5s")]
fn show() {}

fn main() {}
