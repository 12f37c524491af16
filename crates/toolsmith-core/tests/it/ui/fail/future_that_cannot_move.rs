#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

#[tool]
async fn show() -> u8 {
    let kept = std::rc::Rc::new(1);
    std::future::ready(()).await;
    *kept
}

fn main() {}
