#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orthant_fuzz::points(bytes));
