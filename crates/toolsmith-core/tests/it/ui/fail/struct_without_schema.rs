#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[derive(serde::Deserialize)]
struct Everything {
    number: u8,
}

#[tool]
fn show(#[args] everything: Everything) {}

fn main() {}
