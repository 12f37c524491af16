#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool(consent = " ")]
fn show() {}

fn main() {}
