//! Hands what libFuzzer finds to `json_rpc`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| toolsmith_fuzz::json_rpc::check(bytes));
