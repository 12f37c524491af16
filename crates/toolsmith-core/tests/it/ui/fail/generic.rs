#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool]
fn show<T: std::fmt::Debug>(value: T) -> String {
    format!("{value:?}")
}

fn main() {}
