#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool(consent_reason = "It is gone then.")]
fn show() {}

fn main() {}
