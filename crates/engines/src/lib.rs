//! Fast producers: engines that make what the reference engine makes, sooner.
//!
//! In:  a [`wug_produce::Program`].
//! Out: inputs. [`Vm`] and emitted source ([`mod@emit`]) give the same bytes as
//!      [`wug_produce::Engine::Recursive`], [`tables`] the same distribution
//!      from a random stream of its own.
//!
//! [`Vm`] and emitted source share one form of a program (`flat`), in which
//! all is done that needs no random bits. Near a limit, engines leave an input
//! to the reference: they differ in how, never in what they produce.
//!
//! The crate starts no process and reads neither files nor the clock.

pub mod emit;
mod flat;
pub mod tables;
mod vm;

pub use vm::{Calls, Vm};
