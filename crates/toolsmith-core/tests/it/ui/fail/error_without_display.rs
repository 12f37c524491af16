#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

struct Broken;

#[tool]
fn show() -> Result<u8, Broken> {
    Err(Broken)
}

fn main() {}
