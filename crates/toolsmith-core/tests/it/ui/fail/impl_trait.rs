#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool]
fn show(value: impl std::fmt::Debug) -> String {
    format!("{value:?}")
}

fn main() {}
