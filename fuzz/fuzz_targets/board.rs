//! Any changes to the memory that a target shares with the fuzzer.
//!
//! `cargo +nightly fuzz run board`; what it checks is
//! in `wug_campaign::fuzzing`.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    wug_campaign::fuzzing::check(bytes);
});
