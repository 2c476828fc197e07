//! Grammar automata: a grammar as a finite automaton, inputs as walks.
//!
//! In:  a grammar without tokens ([`wug_grammar::transform::lower`]).
//! Out: an [`Automaton`] whose every walk is an input of the grammar.
//!
//! ```text
//! Grammar --form--> Form (a pushdown automaton) --build--> Automaton
//! ```
//!
//! The crate knows of no processes, and draws no random numbers itself: it
//! asks a function for 64 random bits.
//!
//! # The way of a walk
//!
//! 1. `form/mod.rs` makes a lowered grammar a pushdown automaton of one
//!    state, in which every transition reads something: alternatives share
//!    their beginnings (`form/tries.rs`), left recursion is found
//!    (`form/corners.rs`) and turned around where the transitions are written
//!    (`form/expand.rs`).
//! 2. `automaton/build.rs` makes states of its stacks, all within a limit or
//!    the likely ones. What transitions read is shared (`labels.rs`); files
//!    hold all of it (`automaton/file.rs`).
//! 3. `walk.rs` draws walks, by rows laid out for that (`table/mod.rs`);
//!    `replay.rs` goes from a walk back to bytes. `derive.rs` tells the
//!    derivation of a walk, `read.rs` the walk of an input.
//! 4. To be mutated, a walk gets a trace of its states and bytes
//!    (`trace.rs`); then `mutate.rs` changes it by copying (for a single
//!    mutation it replays what stays instead), and splices from `pool.rs`.
//! 5. `uniform.rs` counts derivations by size, on the pushdown automaton, and
//!    draws among them.

mod automaton;
mod derive;
mod form;
mod labels;
mod mutate;
mod pool;
mod read;
mod replay;
pub mod shapes;
mod table;
mod trace;
pub mod uniform;
mod walk;

pub use automaton::{
    Automaton, Built, Limits, MAX_CLASS, Misread, State, Step, Transition, Unwritable, Written,
};
pub use derive::Underived;
pub use form::{Form, Sharing};
pub use labels::{Label, Labels, Leaf, Slot, Word};
pub use mutate::{MAX_REPEATS, Mutant, Untraced};
pub use pool::Pool;
pub use read::{Reader, Unread};
pub use trace::{Trace, Tracer};
pub use walk::{TooShort, Walker, Weight};

use std::fmt;
use wug_grammar::Diagnostic;

/// Why a grammar has no automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The start rule derives nothing.
    Endless(Box<Diagnostic>),
    /// The beginnings of a rule are too many.
    Transitions {
        /// The rule.
        rule: String,
    },
    /// The rules that begin with each other are too many.
    LeftRecursion {
        /// One of them.
        rule: String,
    },
    /// A choice among characters is too wide to be numbered.
    Members {
        /// The rule.
        rule: String,
    },
    /// A repetition must come too often.
    Rounds {
        /// The rule that has it.
        rule: String,
        /// Its least count.
        least: u32,
    },
    /// There are too many states.
    States {
        /// The rule that most of them are in.
        rule: String,
        /// The stack limit, if there was one.
        limit: Option<u32>,
        /// A lower one to try.
        lower: Option<u32>,
    },
    /// No input has so low a stack.
    StackLimit {
        /// The limit.
        limit: u32,
        /// The least one that an input can have.
        least: u32,
    },
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::Endless(diagnostic) => f.write_str(&diagnostic.message),
            Unfit::Transitions { rule } => write!(
                f,
                "the automaton is too large: rule `{rule}` can begin in too many ways; let alternatives \
                 that begin with the same symbols share them in one alternative"
            ),
            Unfit::LeftRecursion { rule } => write!(
                f,
                "the automaton is too large: rule `{rule}` and too many others begin with each other; \
                 write lists as repetitions"
            ),
            Unfit::Members { rule } => write!(
                f,
                "rule `{rule}` chooses among more than 2^32 characters at once; join its classes to one"
            ),
            Unfit::Rounds { rule, least } => {
                write!(f, "rule `{rule}` repeats something {least} times; an automaton counts up to 4096")
            }
            Unfit::States { rule, limit, lower } => {
                f.write_str("the automaton has too many states")?;
                if let Some(limit) = limit {
                    write!(f, " with a stack limit of {limit}")?;
                }
                write!(f, ", most of them in rule `{rule}`; ")?;
                match lower {
                    Some(lower) => write!(f, "try --stack-limit {lower}, or leave it out"),
                    None => f.write_str("write that rule with fewer or smaller counts"),
                }
            }
            Unfit::StackLimit { limit, least } => {
                write!(f, "no input can be derived with a stack limit of {limit}; it takes {least}")
            }
        }
    }
}

impl std::error::Error for Unfit {}
