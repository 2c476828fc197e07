//! The finite automaton.
//!
//! In:  a [`Form`](crate::Form) and a limit on its stack, or a file.
//! Out: [`Automaton`]: states with rows of transitions, each to one state by
//!      any member of one label. A walk from the start that ends where it
//!      may is an input.
//!
//! | file | step |
//! | --- | --- |
//! | `build` | stacks become states, as far as the limit allows |
//! | `least` | how few bytes lead from each state to the end |
//! | `merge` | which states are equivalent |
//! | `file` | automata as JSON |
//!
//! A label and its words are stored once, however many states have it.

mod build;
mod file;
mod least;
mod merge;

pub use build::{Built, Limits};
pub use file::{MAX_CLASS, Misread, Unwritable, Written};

use crate::labels::Labels;
use std::sync::Arc;

/// One step of a walk: which transition of the state's row, and which
/// member of its label.
pub type Step = u32;

/// A state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Its first transition.
    pub first: u32,
    /// How many transitions it has.
    pub count: u32,
    /// The fewest bytes that lead to the end of an input.
    pub least: u32,
    /// How many low bits of a step number the member.
    pub shift: u8,
    /// Whether an input may end here.
    pub accepting: bool,
}

/// A transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// What is read on the way.
    pub label: u32,
    /// Where it leads.
    pub target: u32,
}

/// A finite automaton.
#[derive(Clone, Debug)]
pub struct Automaton {
    pub(crate) states: Vec<State>,
    pub(crate) transitions: Vec<Transition>,
    pub(crate) labels: Arc<Labels>,
    pub(crate) start: u32,
}

/// A row is too long for its steps to be numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooWide {
    pub state: u32,
}

impl Automaton {
    /// Puts rows together. A state is given by how many transitions it has
    /// and whether an input may end there.
    pub(crate) fn new(
        rows: &[(u32, bool)],
        transitions: Vec<Transition>,
        labels: Arc<Labels>,
        start: u32,
    ) -> Result<Automaton, TooWide> {
        let mut states = Vec::with_capacity(rows.len());
        let mut first = 0;
        for (state, &(count, accepting)) in rows.iter().enumerate() {
            let row = &transitions[first as usize..(first + count) as usize];
            let members = row.iter().map(|t| labels.labels[t.label as usize].members).max().unwrap_or(1);
            let bits = |n: u32| 32 - n.saturating_sub(1).leading_zeros();
            let shift = bits(members);
            if shift > 31 || shift + bits(count) > 32 {
                return Err(TooWide { state: state as u32 });
            }
            let shift = shift as u8;
            states.push(State { first, count, least: u32::MAX, shift, accepting });
            first += count;
        }
        Ok(Automaton { states, transitions, labels, start })
    }

    /// All states.
    pub fn states(&self) -> &[State] {
        &self.states
    }

    /// The state where walks begin.
    pub fn start(&self) -> u32 {
        self.start
    }

    /// What is written on transitions.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The transitions of a state.
    #[inline]
    pub fn row(&self, state: u32) -> &[Transition] {
        let state = &self.states[state as usize];
        &self.transitions[state.first as usize..(state.first + state.count) as usize]
    }

    /// How many transitions there are when each word and each class is one.
    pub fn unit_transitions(&self) -> u64 {
        let units = |t: &Transition| u64::from(self.labels.labels[t.label as usize].units);
        self.transitions.iter().map(units).sum()
    }

    /// Bytes that it takes, its labels included.
    pub fn bytes(&self) -> usize {
        let labels = &*self.labels;
        size_of_val(&self.states[..])
            + size_of_val(&self.transitions[..])
            + size_of_val(&labels.labels[..])
            + size_of_val(&labels.slots[..])
            + size_of_val(&labels.words[..])
            + labels.text.len()
    }

    /// The step that takes a transition of a state's row, by a member.
    #[inline]
    pub fn step(&self, state: u32, transition: u32, member: u32) -> Step {
        transition << self.states[state as usize].shift | member
    }

    /// The transition that a step takes from a state, by its place in the
    /// row, and the member. None if there is no such transition.
    #[inline]
    pub fn decode(&self, state: u32, step: Step) -> Option<(u32, u32)> {
        let state = &self.states[state as usize];
        let (transition, member) = (step >> state.shift, step & ((1 << state.shift) - 1));
        if transition >= state.count {
            return None;
        }
        let label = self.transitions[(state.first + transition) as usize].label;
        (member < self.labels.labels[label as usize].members).then_some((transition, member))
    }
}
