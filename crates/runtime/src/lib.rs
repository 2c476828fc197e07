//! How a fuzzer talks to a target: [`abi`] is the agreement between them.

pub mod abi;
