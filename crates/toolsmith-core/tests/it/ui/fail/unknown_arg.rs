#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool]
fn show(#[arg(defualt = 1)] number: u8) {}

fn main() {}
