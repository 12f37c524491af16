#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool]
fn show(kind: String, #[arg(name = "kind")] other: String) {}

fn main() {}
