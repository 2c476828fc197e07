//! Any bytes as edits of a program file, and as a stack.
//!
//! `cargo +nightly fuzz run stacks`; what it checks is in
//! `wug_target::fuzzing`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wug_target::fuzzing::crashes;

fuzz_target!(|bytes: &[u8]| {
    crashes::check_stack(bytes);
});
