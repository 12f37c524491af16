#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool]
fn show(#[cfg(unix)] number: u8) {}

fn main() {}
