#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool]
fn show(#[arg(default = true)] number: u8) {}

fn main() {}
