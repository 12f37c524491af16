//! Hands what libFuzzer finds to `yaml`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| toolsmith_fuzz::yaml::check(bytes));
