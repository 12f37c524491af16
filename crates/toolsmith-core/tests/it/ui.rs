//! What the attribute accepts and refuses, as whole programs: `ui/pass` compiles
//! and runs, `ui/fail` gives exactly the errors in the `.stderr` files. Set
//! `TRYBUILD=overwrite` to write those anew, and read the difference.

#[test]
fn programs() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/it/ui/pass/*.rs");
    cases.compile_fail("tests/it/ui/fail/*.rs");
}
