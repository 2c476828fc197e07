//! Walks: inputs as the steps of an automaton.
//!
//! In:  an [`Automaton`], how transitions are weighed, and random bits.
//! Out: a walk from the start to an end, and its bytes. Every walk is one:
//!      there is nothing to reject.
//!
//! At each state one transition is drawn, all equally likely: a word counts
//! as one, and a class as one or as its number of members; where an input
//! may end, ending counts as one. A step takes 64 random bits, half of them
//! for the transition and half for the member, so it is exact up to rounding
//! at 2^-32.
//!
//! A walk keeps to a number of bytes: what is written and the least that
//! must follow never exceed it. Where a draw would, the shortest way to the
//! end is taken. Far from the limit nothing is checked (`stride`).

use crate::automaton::{Automaton, Step};
use crate::table::{BLOCK, Place, Stop, Table};

/// What a class counts as, when a transition is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weight {
    /// One, as a word does.
    #[default]
    One,
    /// Its number of members: each is a transition of its own in the paper
    /// on Gramatron.
    Members,
}

/// Draws walks over an automaton, and changes them. Immutable, shared
/// between threads.
#[derive(Debug)]
pub struct Walker<'a> {
    automaton: &'a Automaton,
    pub(crate) table: Table,
}

/// No walk is so short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooShort {
    /// Bytes of the shortest input.
    pub least: u32,
}

/// Steps for which room is made at once: few at first, since room is cleared,
/// then twice as many each time.
const FIRST_STRIDE: usize = 16;
const LAST_STRIDE: usize = 256;

impl<'a> Walker<'a> {
    /// Prepares to draw walks.
    pub fn new(automaton: &'a Automaton, weight: Weight) -> Walker<'a> {
        Walker { automaton, table: Table::new(automaton, weight) }
    }

    /// The automaton.
    pub fn automaton(&self) -> &'a Automaton {
        self.automaton
    }

    /// Bytes that it takes, the automaton apart.
    pub fn bytes(&self) -> usize {
        self.table.bytes()
    }

    /// Draws a walk of at most `max` bytes, in place of what was in `walk`;
    /// its bytes are appended to `out`.
    pub fn walk(
        &self,
        random: &mut impl FnMut() -> u64,
        max: u32,
        walk: &mut Vec<Step>,
        out: &mut Vec<u8>,
    ) -> Result<(), TooShort> {
        let least = self.automaton.states[self.automaton.start as usize].least;
        if least > max {
            return Err(TooShort { least });
        }
        walk.clear();
        self.go_on(self.automaton.start, random, max, walk, out);
        Ok(())
    }

    /// Goes on from a state to an end, within `left` bytes more, which must
    /// be at least the least that it takes.
    pub fn go_on(
        &self,
        state: u32,
        random: &mut impl FnMut() -> u64,
        left: u32,
        walk: &mut Vec<Step>,
        out: &mut Vec<u8>,
    ) {
        let limit = out.len() as u64 + u64::from(left);
        if let Some(state) = self.stride(state, random, limit, walk, out) {
            self.careful(state, random, limit, walk, out);
        }
    }

    /// Goes on while no step can lead beyond the limit; the state where one
    /// could, none if the walk has ended.
    fn stride(
        &self,
        mut state: u32,
        random: &mut impl FnMut() -> u64,
        limit: u64,
        walk: &mut Vec<Step>,
        out: &mut Vec<u8>,
    ) -> Option<u32> {
        let table = &self.table;
        let Some(last) = limit.checked_sub(table.reach) else { return Some(state) };
        let mut place =
            Place { row: table.row(state), choice: usize::MAX, bytes: out.len(), steps: walk.len() };
        let mut stride = FIRST_STRIDE;
        let ended = loop {
            // So many steps surely begin before that.
            let Some(left) = last.checked_sub(place.bytes as u64) else { break false };
            let count = stride.min(1 + left as usize / table.longest);
            let (bytes, steps) = (place.bytes + stride * BLOCK, place.steps + stride);
            out.resize(bytes.max(out.len()), 0);
            walk.resize(steps.max(walk.len()), 0);
            stride = LAST_STRIDE.min(stride * 2);
            match table.run(&mut place, random, count, out, walk) {
                Stop::Room => {}
                Stop::End => break true,
                Stop::Long(word) => place.bytes = table.put_long(word, out, place.bytes),
            }
        };
        out.truncate(place.bytes);
        walk.truncate(place.steps);
        if place.choice != usize::MAX {
            state = table.choice(place.choice).target;
        }
        (!ended).then_some(state)
    }

    /// Goes on, with a look at the limit before each step.
    fn careful(
        &self,
        mut state: u32,
        random: &mut impl FnMut() -> u64,
        limit: u64,
        walk: &mut Vec<Step>,
        out: &mut Vec<u8>,
    ) {
        let (table, states) = (&self.table, &self.automaton.states[..]);
        loop {
            let bits = random();
            let (number, next) = table.draw(table.row(state), bits);
            if next.is_end() {
                return;
            }
            let choice = table.choice(number);
            let member = choice.member(bits);
            let start = out.len();
            table.emit(choice, member, out);
            if out.len() as u64 + u64::from(states[choice.target as usize].least) <= limit {
                walk.push(choice.step(member));
                state = choice.target;
                continue;
            }
            out.truncate(start);
            if states[state as usize].accepting {
                return;
            }
            let step = self.automaton.shortest(state);
            walk.push(step);
            let Some(target) = self.automaton.take(state, step, out) else { return };
            state = target;
        }
    }
}

impl Automaton {
    /// The first step of a shortest way to the end.
    fn shortest(&self, state: u32) -> Step {
        let labels = &*self.labels;
        let bytes = |t: &crate::Transition| {
            let least = labels.labels[t.label as usize].least;
            least.saturating_add(self.states[t.target as usize].least)
        };
        let row = self.row(state).iter().enumerate();
        let best = row.min_by_key(|(_, transition)| bytes(transition));
        let (place, transition) = best.map_or((0, self.transitions[0]), |(place, t)| (place, *t));
        self.step(state, place as u32, labels.shortest(transition.label))
    }
}

/// A number below `n`.
#[inline]
pub(crate) fn below(bits: u64, n: u32) -> u32 {
    (((bits >> 32) * u64::from(n)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Built, Form, Limits};
    use wug_grammar::testing::productive_grammar;
    use wug_grammar::transform::lower;
    use wug_random::Rng;

    /// Far from the limit, strides and careful steps draw the same walk.
    #[test]
    fn strides_and_careful_steps_agree() {
        let mut agreed = 0;
        wug_property::check(|u| {
            let grammar = lower::lower(&productive_grammar(u)?).grammar;
            let limits = Limits { stack: Some(u.int_in_range(1..=9)?), states: 2_000, transitions: 20_000 };
            let built = Form::of(&grammar).and_then(|form| Built::new(form, limits));
            let Ok(Built { automaton, .. }) = built else { return Ok(()) };
            for weight in [Weight::One, Weight::Members] {
                let walker = Walker::new(&automaton, weight);
                for index in 0..4 {
                    let (mut steps, mut bytes) = ([Vec::new(), Vec::new()], [b"x".to_vec(), b"x".to_vec()]);
                    let limit = 4_000 + walker.table.reach;
                    let mut rng = Rng::new(1, index);
                    let rest = walker.stride(
                        automaton.start,
                        &mut || rng.wide(),
                        limit,
                        &mut steps[0],
                        &mut bytes[0],
                    );
                    if rest.is_none() {
                        let mut rng = Rng::new(1, index);
                        let random = &mut || rng.wide();
                        walker.careful(automaton.start, random, limit, &mut steps[1], &mut bytes[1]);
                        assert_eq!((&steps[0], &bytes[0]), (&steps[1], &bytes[1]));
                        agreed += 1;
                    }
                }
            }
            Ok(())
        })
        .for_cases(2_000);
        assert!(agreed > 100, "{agreed}");
    }
}
