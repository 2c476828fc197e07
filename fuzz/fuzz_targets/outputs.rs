//! Any bytes as what a target wrote when it crashed.
//!
//! `cargo +nightly fuzz run outputs`; what it checks is in
//! `wug_target::fuzzing`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wug_target::fuzzing::crashes;

fuzz_target!(|bytes: &[u8]| {
    crashes::check_output(bytes);
});
