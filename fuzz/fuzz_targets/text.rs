//! Hands what libFuzzer finds to `text`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| toolsmith_fuzz::text::check(bytes));
