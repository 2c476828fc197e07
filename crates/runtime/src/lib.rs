//! What is linked into a target, and how a fuzzer talks to it.
//!
//! [`abi`] is the agreement between the two. The runtime itself is C, in
//! `c/`, embedded as text ([`source`]) and compiled by the user's compiler:
//! [`compile`] stands in for that compiler, adds the flags that make it
//! instrument, and links the runtime into what it builds. [`rust`] does the
//! same for rustc.

pub mod abi;
pub mod compile;
pub mod rust;
pub mod source;
