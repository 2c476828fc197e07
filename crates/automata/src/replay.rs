//! From a walk back to its bytes and states.
//!
//! In:  an automaton, and steps from anywhere: nothing is taken on trust.
//! Out: the bytes, and the states on the way; or that it is no walk.

use crate::automaton::{Automaton, Step};

impl Automaton {
    /// Takes one step, and appends its bytes; the state that it leads to,
    /// none if there is no such step.
    #[inline]
    pub(crate) fn take(&self, state: u32, step: Step, out: &mut Vec<u8>) -> Option<u32> {
        let (place, member) = self.decode(state, step)?;
        let first = self.states[state as usize].first;
        let transition = self.transitions[(first + place) as usize];
        let label = &self.labels.labels[transition.label as usize];
        if label.slots == 1 {
            self.labels.emit(self.labels.slots[label.first as usize].leaf, member, out);
        } else {
            let (slot, member) = self.labels.find(transition.label, member)?;
            self.labels.emit(self.labels.slots(transition.label)[slot].leaf, member, out);
        }
        Some(transition.target)
    }

    /// Appends the bytes of a walk; whether it is one of an input.
    pub fn replay(&self, walk: &[Step], out: &mut Vec<u8>) -> bool {
        let mut state = self.start;
        for &step in walk {
            let Some(next) = self.take(state, step, out) else { return false };
            state = next;
        }
        self.states[state as usize].accepting
    }
}
