//! Any grammar and any input of it.
//!
//! `cargo +nightly fuzz run parse`; what it checks is in
//! `crates/parse/tests/fuzz/body.rs`.

#![no_main]

#[path = "../../crates/parse/tests/fuzz/body.rs"]
mod body;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = body::check(&mut arbitrary::Unstructured::new(bytes), &mut body::Tally::default());
});
