#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool(consent = "YES")]
fn show(consent: bool) {}

fn main() {}
