#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool]
fn show(value: std::borrow::Cow<'_, str>) -> String {
    value.into_owned()
}

fn main() {}
