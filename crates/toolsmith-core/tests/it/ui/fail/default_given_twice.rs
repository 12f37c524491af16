#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool]
fn show(#[arg(default = 1, default = 2)] number: u8) {}

fn main() {}
