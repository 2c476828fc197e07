//! From one grammar to another, in the order in which the passes apply.
pub mod except;
