//! Bodies of fuzz targets for what others write: the shared memory of a target,
//! its output, and its files when it crashed.
//!
//! In:  any bytes, which tell how something valid is changed.
//! Out: nothing: no panic, and bounds that hold.
//!
//! The same functions run for a second under `cargo test`
//! (`tests/fuzz_bodies.rs`) and for as long as one likes under `cargo fuzz`
//! (`fuzz/`).

pub mod board;
pub mod crashes;
pub(crate) mod elf;

use wug_random::Draw;
