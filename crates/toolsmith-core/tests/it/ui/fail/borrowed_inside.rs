#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool]
fn show(value: Option<&[u8]>) -> bool {
    value.is_some()
}

fn main() {}
