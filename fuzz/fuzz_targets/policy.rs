//! Hands what libFuzzer finds to `policy`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| toolsmith_fuzz::policy::check(bytes));
