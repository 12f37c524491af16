//! Arguments that were checked cannot be changed.
extern crate toolsmith_core as toolsmith;

use toolsmith::Arguments;

fn main() {
    let mut arguments = Arguments::default();
    arguments.insert("path".to_owned(), "elsewhere".into());
}
