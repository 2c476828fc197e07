//! From a program and inputs to observations.
//!
//! [`executor`] runs a program on inputs, one after the other: fast by a
//! fork server or a persistent harness where the program has one, plainly
//! where it has none, and always confined. [`folder`] keeps on disk what a
//! campaign finds, as AFL++ lays it out, and imports what others find;
//! [`report`] is how it is going. [`dictionary`] reads tokens.

#[cfg(not(target_os = "linux"))]
compile_error!("targets are confined by means of Linux");

pub mod dictionary;
pub mod executor;
pub mod folder;
pub mod report;
