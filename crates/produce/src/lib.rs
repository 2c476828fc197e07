//! From choices to inputs.
//!
//! In:  a [`wug_grammar::Grammar`], options, and a seed with an index.
//! Out: an input that the grammar derives.
//!
//! A [`Program`] is what is known before the first choice: immutable,
//! shared between threads. A [`Scratch`] is what one producer writes to.
//! The engines differ in how, never in what they produce: the same grammar,
//! options, seed and index give the same bytes.
//!
//! The crate starts no process and reads neither files nor the clock.

pub mod pool;
pub mod program;
pub mod recursive;
pub mod rng;

pub use program::{Options, Program, Unfit};
pub use recursive::Scratch;
