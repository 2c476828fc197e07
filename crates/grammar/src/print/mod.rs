//! From a grammar back to text.

pub mod wug;
