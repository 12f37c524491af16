//! Hands what libFuzzer finds to `paths`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| toolsmith_fuzz::paths::check(bytes));
