#![allow(unused)]

extern crate toolsmith_core as toolsmith;
use toolsmith::tool;

struct Counter(u8);

impl Counter {
    #[tool]
    fn count(&self) -> u8 {
        self.0
    }
}

fn main() {
    Counter(1).count();
}
