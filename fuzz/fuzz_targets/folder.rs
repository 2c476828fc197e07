//! Any changes to the output folder of an earlier campaign.
//!
//! `cargo +nightly fuzz run folder`; what it checks is
//! in `wug_folder::fuzzing`.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    wug_folder::fuzzing::check(bytes);
});
