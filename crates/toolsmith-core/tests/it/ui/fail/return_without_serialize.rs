#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

struct Secret(u8);

#[tool]
fn show() -> Secret {
    Secret(1)
}

#[tool]
async fn result() -> Result<Secret, String> {
    Ok(Secret(1))
}

fn main() {}
