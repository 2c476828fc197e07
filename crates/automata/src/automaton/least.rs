//! How few bytes lead from each state to the end: Dijkstra's algorithm on
//! the transitions, backwards.

use super::Automaton;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

impl Automaton {
    /// Fills in the least bytes of each state; [`u32::MAX`] where no walk
    /// ends.
    pub(crate) fn find_least(&mut self) {
        // For each state, the transitions that lead to it: by counting, as
        // one list.
        let mut from = vec![0u32; self.states.len() + 1];
        self.transitions.iter().for_each(|t| from[t.target as usize + 1] += 1);
        (0..self.states.len()).for_each(|i| from[i + 1] += from[i]);
        let mut next = from.clone();
        let mut back = vec![(0u32, 0u32); self.transitions.len()];
        for (at, state) in self.states.iter().enumerate() {
            for transition in &self.transitions[state.first as usize..(state.first + state.count) as usize] {
                let place = &mut next[transition.target as usize];
                back[*place as usize] = (at as u32, self.labels.labels[transition.label as usize].least);
                *place += 1;
            }
        }
        let mut open = BinaryHeap::new();
        for (at, state) in self.states.iter_mut().enumerate() {
            state.least = u32::MAX;
            if state.accepting {
                state.least = 0;
                open.push((Reverse(0), at as u32));
            }
        }
        while let Some((Reverse(least), at)) = open.pop() {
            if least > self.states[at as usize].least {
                continue;
            }
            for &(source, bytes) in &back[from[at as usize] as usize..from[at as usize + 1] as usize] {
                // A sum that cannot be told apart from no way at all is none.
                let Some(sum) = least.checked_add(bytes) else { continue };
                if sum < self.states[source as usize].least {
                    self.states[source as usize].least = sum;
                    open.push((Reverse(sum), source));
                }
            }
        }
    }
}
