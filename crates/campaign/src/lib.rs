//! From a program and inputs to observations.
//!
//! [`executor`] runs a program on inputs, one after the other: fast by a
//! fork server or a persistent harness where the program has one, plainly
//! where it has none, and always confined.

#[cfg(not(target_os = "linux"))]
compile_error!("targets are confined by means of Linux");

pub mod executor;
