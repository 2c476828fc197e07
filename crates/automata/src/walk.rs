//! Walks: inputs as the steps of an automaton.
//!
//! In:  an [`Automaton`], how transitions are weighed, and random bits.
//! Out: a walk from the start to an end, and its bytes. Every walk is one:
//!      there is nothing to reject.
//!
//! At each state one transition is drawn, all equally likely: a word counts
//! as one, and a class as one or as its number of members; where an input
//! may end, ending counts as one. A draw takes one look into a table
//! (Walker's alias method), exact up to rounding at 2^-32.
//!
//! A walk keeps to a number of bytes: what is written and the least that
//! must follow never exceed it. Where a draw would, the shortest way to the
//! end is taken.

use crate::automaton::{Automaton, Step};
use crate::labels::{Label, Leaf};

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

/// Draws walks over an automaton. Immutable, shared between threads.
#[derive(Debug)]
pub struct Walker<'a> {
    automaton: &'a Automaton,
    weight: Weight,
    /// The columns of each state: one for each transition, and one for the
    /// end where there may be one.
    columns: Vec<Column>,
    first: Vec<u32>,
}

/// A column of an alias table: itself below the threshold, else another.
#[derive(Clone, Copy, Debug)]
struct Column {
    threshold: u32,
    other: u32,
}

/// No walk is so short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooShort {
    /// Bytes of the shortest input.
    pub least: u32,
}

impl Automaton {
    /// Appends the bytes of a walk that begins in `state`. The state that it
    /// leads to; none if some step is not one.
    pub fn replay_from(&self, mut state: u32, walk: &[Step], out: &mut Vec<u8>) -> Option<u32> {
        for &step in walk {
            state = self.take(state, step, out)?;
        }
        Some(state)
    }

    /// Takes one step, and appends its bytes.
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
        let end = self.replay_from(self.start, walk, out);
        end.is_some_and(|state| self.states[state as usize].accepting)
    }

    /// Appends the states that a walk comes through, the first and the last
    /// included; whether it is one of an input.
    pub fn states_of(&self, walk: &[Step], states: &mut Vec<u32>) -> bool {
        let mut state = self.start;
        states.push(state);
        for &step in walk {
            let Some((transition, _)) = self.decode(state, step) else { return false };
            state = self.row(state)[transition as usize].target;
            states.push(state);
        }
        self.states[state as usize].accepting
    }
}

impl<'a> Walker<'a> {
    /// Prepares to draw walks.
    pub fn new(automaton: &'a Automaton, weight: Weight) -> Walker<'a> {
        let mut walker = Walker { automaton, weight, columns: Vec::new(), first: vec![0] };
        let mut weights = Vec::new();
        for (at, state) in automaton.states.iter().enumerate() {
            weights.clear();
            weights.extend(automaton.row(at as u32).iter().map(|transition| {
                let label = automaton.labels.labels[transition.label as usize];
                f64::from(match weight {
                    Weight::One => label.units,
                    Weight::Members => label.members,
                })
            }));
            weights.extend(state.accepting.then_some(1.0));
            alias(&mut weights, &mut walker.columns);
            walker.first.push(walker.columns.len() as u32);
        }
        walker
    }

    /// The automaton.
    pub fn automaton(&self) -> &'a Automaton {
        self.automaton
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
        mut state: u32,
        random: &mut impl FnMut() -> u64,
        mut left: u32,
        walk: &mut Vec<Step>,
        out: &mut Vec<u8>,
    ) {
        let automaton = self.automaton;
        let (labels, states) = (&*automaton.labels, &automaton.states[..]);
        loop {
            let from = self.first[state as usize];
            let columns = self.first[state as usize + 1] - from;
            let now = &states[state as usize];
            let bits = random();
            let place = ((bits >> 32) * u64::from(columns)) >> 32;
            let column = self.columns[from as usize + place as usize];
            let place = if (bits as u32) < column.threshold { place as u32 } else { column.other };
            if place >= now.count {
                return;
            }
            let mut place = place;
            let mut transition = automaton.transitions[(now.first + place) as usize];
            let label = &labels.labels[transition.label as usize];
            let (mut slot, mut member) = self.member(label, random);
            let start = out.len();
            labels.emit(labels.slots[slot as usize].leaf, member, out);
            let mut bytes = (out.len() - start) as u32;
            if u64::from(bytes) + u64::from(states[transition.target as usize].least) > u64::from(left) {
                out.truncate(start);
                if now.accepting {
                    return;
                }
                (place, slot, member) = automaton.shortest(state);
                transition = automaton.transitions[(now.first + place) as usize];
                labels.emit(labels.slots[slot as usize].leaf, member, out);
                bytes = (out.len() - start) as u32;
            }
            left -= bytes;
            walk.push(place << now.shift | (labels.slots[slot as usize].member + member));
            state = transition.target;
        }
    }

    /// Draws a slot of a label, and a member of it.
    #[inline]
    fn member(&self, label: &Label, random: &mut impl FnMut() -> u64) -> (u32, u32) {
        let slots = &self.automaton.labels.slots;
        let number = match self.weight {
            Weight::One => label.units,
            Weight::Members => label.members,
        };
        let drawn = if number > 1 { below(random(), number) } else { 0 };
        let mut slot = label.first;
        let mut member = drawn;
        if label.slots > 1 {
            let range = &slots[label.first as usize..(label.first + label.slots) as usize];
            let number = |slot: &crate::Slot| match self.weight {
                Weight::One => slot.unit,
                Weight::Members => slot.member,
            };
            let at = range.partition_point(|slot| number(slot) <= drawn).saturating_sub(1);
            member = drawn - number(&range[at]);
            slot += at as u32;
        }
        if let (Weight::One, Leaf::Class(class)) = (self.weight, slots[slot as usize].leaf) {
            member = below(random(), self.automaton.labels.classes[class.index()].count());
        }
        (slot, member)
    }
}

impl Automaton {
    /// The first step of a shortest way to the end: a transition, a slot of
    /// its label and a member of that.
    pub(crate) fn shortest(&self, state: u32) -> (u32, u32, u32) {
        let labels = &*self.labels;
        let bytes = |t: &crate::Transition| {
            let least = labels.labels[t.label as usize].least;
            least.saturating_add(self.states[t.target as usize].least)
        };
        let row = self.row(state).iter().enumerate();
        let best = row.min_by_key(|(_, transition)| bytes(transition));
        let (place, transition) = best.map_or((0, self.transitions[0]), |(place, t)| (place, *t));
        let label = labels.labels[transition.label as usize];
        for slot in label.first..label.first + label.slots {
            match labels.slots[slot as usize].leaf {
                Leaf::Words { first, count } => {
                    for member in 0..count {
                        if labels.words[(first + member) as usize].len == label.least {
                            return (place as u32, slot, member);
                        }
                    }
                }
                // The first member of a class is the shortest.
                Leaf::Class(class) if labels.classes[class.index()].min_len() == label.least => {
                    return (place as u32, slot, 0);
                }
                Leaf::Class(_) => {}
            }
        }
        (place as u32, label.first, 0)
    }
}

/// A number below `n`.
#[inline]
pub(crate) fn below(bits: u64, n: u32) -> u32 {
    (((bits >> 32) * u64::from(n)) >> 32) as u32
}

/// Appends the alias table of some weights, which are used up.
fn alias(weights: &mut [f64], columns: &mut Vec<Column>) {
    let from = columns.len();
    let count = weights.len();
    let total: f64 = weights.iter().sum();
    // In units in which a column is full at 1.
    weights.iter_mut().for_each(|w| *w *= count as f64 / total.max(1.0));
    columns.extend((0..count).map(|i| Column { threshold: u32::MAX, other: i as u32 }));
    let (mut small, mut large) = (Vec::new(), Vec::new());
    (0..count).for_each(|i| if weights[i] < 1.0 { small.push(i) } else { large.push(i) });
    while let (Some(few), Some(&much)) = (small.pop(), large.last()) {
        let threshold = (weights[few] * 4294967296.0) as u32;
        columns[from + few] = Column { threshold, other: much as u32 };
        weights[much] -= 1.0 - weights[few];
        if weights[much] < 1.0 {
            large.pop();
            small.push(much);
        }
    }
}
