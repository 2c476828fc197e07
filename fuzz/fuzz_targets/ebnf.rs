//! Any bytes as a grammar in the notation `ebnf`.
//!
//! `cargo +nightly fuzz run ebnf`; what it checks is
//! in `wug_grammar::fuzzing`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wug_grammar::{Notation, fuzzing};

fuzz_target!(|bytes: &[u8]| {
    fuzzing::check_all(Notation::Ebnf, bytes);
});
