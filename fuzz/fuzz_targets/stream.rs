//! Hands what libFuzzer finds to `stream`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| toolsmith_fuzz::stream::check(bytes));
