//! Each property of `fuzz/src`, with its seeds and with what is made of them.
//!
//! Chance repeats itself, so a run that passes once passes again. `FUZZ_ITERATIONS` makes
//! runs longer, `FUZZ_START` begins them elsewhere, and `FUZZ_INPUT` checks one input, in
//! hexadecimal.

mod chance;
mod drive;
mod mutate;

use drive::drive;

use crate::properties;

/// The tests: the name of a property, and how many inputs are checked where nobody says
/// otherwise, which takes a second or two.
macro_rules! properties {
    ($($name:ident: $usual:expr,)*) => {
        $(
            #[test]
            fn $name() {
                drive(stringify!($name), $usual, properties::$name::check);
            }
        )*
    };
}

properties! {
    arguments: 400,
    json_rpc: 300,
    patch: 80,
    paths: 200,
    policy: 250,
    repair: 6000,
    shell_line: 800,
    stream: 800,
    text: 1500,
    urls: 1500,
    yaml: 1500,
}
