//! A program that is a helper and nothing else, for tests, whose `main` is not their own.

fn main() {
    toolsmith_process::helper();
}
