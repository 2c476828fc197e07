//! What a stack could read, found by trying on it.
//!
//! In:  a state on top of a stack, or several stacks, and a letter.
//! Out: whether the letter can be read at last, and in which states. The
//!      stacks stay as they are: states that are only tried are kept apart.

use crate::action::Do;
use crate::engine::{Engine, Input};
use crate::several::TRIED;

/// So many states are tried before a question is left open.
const TRIES: usize = 256;

impl<I: Input> Engine<'_, I> {
    /// Forgets the states that were tried.
    pub fn forget_tried(&mut self) {
        self.scratch.graph.tried.clear();
    }

    /// Whether `letter` can be read at last when `state` is put above
    /// `below`. What would take too long to tell counts as yes.
    pub fn leads_on(&mut self, state: u32, below: u32, letter: u32) -> bool {
        self.scratch.graph.tried.clear();
        self.scratch.graph.tried.push((state, below));
        let mut found = false;
        let open = self.explore(&[TRIED], letter, TRIES, &mut |_, _| {
            found = true;
            false
        });
        found || open
    }

    /// Goes through all states in which `letter` can be read when stacks
    /// end with `tops`; `visit` says whether to go on. Whether some were
    /// left out because there are more than `most`.
    pub fn explore(
        &mut self,
        tops: &[u32],
        letter: u32,
        most: usize,
        visit: &mut dyn FnMut(&mut Self, u32) -> bool,
    ) -> bool {
        let mut open = std::mem::take(&mut self.scratch.graph.open);
        let mut reductions = std::mem::take(&mut self.scratch.graph.reductions);
        let mut paths: Vec<(u32, u32)> = Vec::new();
        open.clear();
        open.extend_from_slice(tops);
        let mut left_out = false;
        'all: while let Some(top) = open.pop() {
            let state = self.state_of(top);
            let what = self.automaton.action(self.form, self.follow, state, letter);
            let reads = what == Do::Accept || self.automaton.offers(what).0.is_some();
            if reads && !visit(self, top) {
                break;
            }
            self.offered(state, letter, &mut reductions);
            for &production in &reductions {
                let p = *self.form.production(production);
                paths.clear();
                paths.push((top, p.len));
                let mut walked = 0;
                while let Some((at, left)) = paths.pop() {
                    walked += 1;
                    if walked > most.max(2 * p.len as usize) {
                        left_out = true;
                        break 'all;
                    }
                    if left > 0 {
                        self.each_edge(at, |_, to, _| paths.push((to, left - 1)));
                        continue;
                    }
                    let below = self.state_of(at);
                    let entry = (self.automaton.goto(self.form, below, p.lhs), at);
                    let tried = &mut self.scratch.graph.tried;
                    if tried.contains(&entry) {
                        continue;
                    }
                    if tried.len() >= most {
                        left_out = true;
                        break 'all;
                    }
                    tried.push(entry);
                    open.push(TRIED | (tried.len() as u32 - 1));
                }
            }
        }
        self.scratch.graph.reductions = reductions;
        self.scratch.graph.open = open;
        left_out
    }
}
