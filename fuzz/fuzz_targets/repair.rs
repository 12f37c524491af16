//! Hands what libFuzzer finds to `repair`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| toolsmith_fuzz::repair::check(bytes));
