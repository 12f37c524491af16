#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool(title)]
fn show() {}

fn main() {
    let tools: [toolsmith::AnyTool; 1] = [show::tool()];
    let name = show::definition().name;
}
