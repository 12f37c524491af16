//! Hands what libFuzzer finds to `arguments`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| toolsmith_fuzz::arguments::check(bytes));
