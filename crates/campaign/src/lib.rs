//! Coverage-guided fuzzing campaigns, with and without a grammar.
//!
//! In:  a target ([`wug_target::Executor`]), seeds, perhaps a grammar.
//! Out: an output folder ([`wug_folder::Folder`]) with a corpus, crashes,
//!      hangs and statistics.
//!
//! [`fuzz`] is the campaign: it makes inputs ([`structure`] by a grammar,
//! [`havoc`] of bytes, [`operands`] of what the target compares,
//! [`generalise`] of what was learned), runs them, and keeps those that reach
//! something new ([`feedback`]); [`schedule`] shares the time out. [`explore`]
//! makes valid inputs from nothing but a traced build of the parser.

pub mod explore;
pub mod feedback;
pub mod fuzz;
pub mod fuzzing;
pub mod generalise;
pub mod havoc;
pub mod operands;
pub mod schedule;
pub mod structure;
