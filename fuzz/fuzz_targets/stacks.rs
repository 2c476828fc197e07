//! Any bytes as edits of a program file, and as a stack.
//!
//! `cargo +nightly fuzz run stacks`; what it checks is in
//! `wug_campaign::fuzzing`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wug_campaign::fuzzing::crashes;

fuzz_target!(|bytes: &[u8]| {
    crashes::check_stack(bytes);
});
