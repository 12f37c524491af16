//! Hands what libFuzzer finds to `patch`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| toolsmith_fuzz::patch::check(bytes));
