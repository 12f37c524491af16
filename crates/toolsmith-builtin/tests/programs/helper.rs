//! A program that sets up sandboxes and does nothing else, for this crate's tests and
//! benches, whose `main` is not their own.

fn main() {
    toolsmith_process::helper();
}
