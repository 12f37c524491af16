#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Everything {}

#[tool]
fn show(#[args(all)] everything: Everything) {}

fn main() {}
