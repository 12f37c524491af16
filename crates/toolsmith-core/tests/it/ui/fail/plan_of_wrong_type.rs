#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

fn look() -> u8 {
    1
}

#[tool(plan = look)]
fn show() {}

fn main() {}
