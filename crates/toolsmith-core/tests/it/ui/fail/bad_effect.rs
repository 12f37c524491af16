#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool(effect = "delete")]
fn show() {}

fn main() {}
