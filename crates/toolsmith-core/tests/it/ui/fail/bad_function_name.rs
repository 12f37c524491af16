#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool]
#[allow(non_snake_case)]
fn showIt() {}

fn main() {}
