#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool]
unsafe extern "C" fn show(number: u8, rest: ...) {}

fn main() {}
