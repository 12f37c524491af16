#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool]
fn a_name_of_a_function_that_goes_on_and_on_until_no_provider_would_take_it() {}

fn main() {}
