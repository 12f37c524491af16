#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool]
fn show(kind: String, #[serde(rename = "kind")] other: String) {}

fn main() {}
