#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool]
fn show((a, b): (u8, u8)) -> u8 {
    a + b
}

fn main() {}
