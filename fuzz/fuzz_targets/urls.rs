//! Hands what libFuzzer finds to `urls`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| toolsmith_fuzz::urls::check(bytes));
