//! Hands what libFuzzer finds to `shell_line`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| toolsmith_fuzz::shell_line::check(bytes));
