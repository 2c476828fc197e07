//! Inputs that wait to be executed together: nearly all tell nothing, and a
//! target that can tell that by itself is asked once for many.
//!
//! What is made of an entry does not depend on how the inputs just before did,
//! but for the choice of mutators, which learns a little later.

use super::source::Source;
use wug_target::Batch;

/// Inputs that are executed together at most, and their bytes: messages to the
/// target against the schedule's delay.
const INPUTS: usize = 32;
const BYTES: usize = 1 << 17;

/// Inputs that wait.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    pub inputs: Batch,
    /// Where each comes from.
    pub made: Vec<Mutated>,
    /// The one that is evaluated.
    pub input: Vec<u8>,
}

/// How a mutator made an input.
#[derive(Debug)]
pub(crate) struct Mutated {
    /// The mutator's arm of the bandit.
    pub arm: usize,
    /// What it cost to make it, beyond what every input does.
    pub cost: f64,
    pub source: Source,
}

impl Pending {
    /// Adds an input; whether they are to be executed now, of which `left` may
    /// be.
    pub fn push(&mut self, input: &[u8], made: Mutated, left: u64) -> bool {
        self.inputs.push(input);
        self.made.push(made);
        let count = self.inputs.len();
        count >= INPUTS || self.inputs.size() >= BYTES || count as u64 >= left
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.inputs.clear();
        self.made.clear();
    }
}
