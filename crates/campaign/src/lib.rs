//! From a program to what it does that it should not.
//!
//! [`executor`] runs a program on inputs, one after the other: fast by a
//! fork server or a persistent harness where the program has one, plainly
//! where it has none, and always confined. [`fuzz`] is the campaign: it makes
//! inputs ([`structure`] by a grammar, [`havoc`] of bytes, [`operands`] of what
//! the program compares), runs them, and keeps those that reach something new ([`feedback`]); [`schedule`] says
//! whose turn it is. [`folder`] keeps on disk what a campaign finds, as AFL++
//! lays it out, and imports what others find; [`report`] is how it is going.
//! [`dictionary`] reads tokens. [`explore`] makes valid inputs from nothing but
//! a traced build of the parser.

#[cfg(not(target_os = "linux"))]
compile_error!("targets are confined by means of Linux");

pub mod dictionary;
pub mod executor;
pub mod explore;
pub mod feedback;
pub mod folder;
pub mod fuzz;
pub mod fuzzing;
pub mod generalise;
mod hash;
pub mod havoc;
pub mod operands;
pub mod report;
pub mod schedule;
pub mod structure;
pub mod walks;
