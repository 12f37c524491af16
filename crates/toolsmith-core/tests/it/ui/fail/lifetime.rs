#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool]
fn show<'a>(value: std::borrow::Cow<'a, str>) -> String {
    value.into_owned()
}

fn main() {}
