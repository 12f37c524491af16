#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool]
fn show(value: &str) -> String {
    value.to_owned()
}

fn main() {
    show::tool();
}
