#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| homenode_fuzz::check("monwrite", bytes));
