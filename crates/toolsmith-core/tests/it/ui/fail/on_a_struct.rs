#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool]
#[derive(Debug)]
struct Add {
    a: u8,
}

fn main() {}
