#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[derive(serde::Deserialize)]
struct Secret(u8);

#[tool]
fn show(number: u8, secret: Secret) {}

fn main() {}
