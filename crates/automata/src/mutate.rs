//! Mutations of walks: large ones, and every result is an input.
//!
//! In:  a walk, random bits, and for splicing a [`Pool`] of other walks.
//! Out: another walk and its bytes.
//!
//! | mutation | what it does |
//! | --- | --- |
//! | [`Mutator::random`] | leaves the walk at some point and draws the rest anew |
//! | [`Mutator::splice`] | goes on with the rest of another walk that comes through the same state |
//! | [`Mutator::recurse`] | repeats a part that begins and ends in the same state, up to five times |
//!
//! A walk that is left in a state can go on from it in any way that leads
//! from there: the state is the stack, so nothing else need be known. Once
//! its buffers have grown, a mutation allocates nothing.

use crate::automaton::{Automaton, Step};
use crate::walk::{Walker, below};

/// A part of a walk is repeated at most this often.
pub const MAX_REPEATS: u32 = 5;
/// So many points are tried before a splice is given up.
const TRIES: u32 = 8;

/// Walks to splice from, by the states that they come through.
#[derive(Debug, Default)]
pub struct Pool {
    steps: Vec<Step>,
    /// Where each walk ends in `steps`.
    ends: Vec<u32>,
    /// For each state, the last place noted for it.
    heads: Vec<u32>,
    counts: Vec<u32>,
    places: Vec<Place>,
}

/// A walk comes through a state.
#[derive(Clone, Copy, Debug)]
struct Place {
    walk: u32,
    /// The step that it takes there, in the pool's list.
    at: u32,
    /// The place noted before for the same state.
    next: u32,
}

const NONE: u32 = u32::MAX;

impl Pool {
    /// Adds a walk of an input; `false` if it is none.
    pub fn add(&mut self, automaton: &Automaton, walk: &[Step]) -> bool {
        let mut states = Vec::with_capacity(walk.len() + 1);
        if !automaton.states_of(walk, &mut states) {
            return false;
        }
        self.heads.resize(automaton.states().len().max(self.heads.len()), NONE);
        self.counts.resize(self.heads.len(), 0);
        let (number, first) = (self.ends.len() as u32, self.steps.len() as u32);
        for (at, &state) in (first..).zip(&states) {
            let next = std::mem::replace(&mut self.heads[state as usize], self.places.len() as u32);
            self.counts[state as usize] += 1;
            self.places.push(Place { walk: number, at, next });
        }
        self.steps.extend_from_slice(walk);
        self.ends.push(self.steps.len() as u32);
        true
    }

    /// How many walks there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.steps[..]) + size_of_val(&self.places[..]) + size_of_val(&self.heads[..]) * 2
    }

    /// The rest of some walk that comes through `state`.
    fn rest(&self, state: u32, bits: u64) -> Option<&[Step]> {
        let count = *self.counts.get(state as usize)?;
        let mut place = self.places.get(*self.heads.get(state as usize)? as usize)?;
        // Lists of popular states are long: a look at the newest ones does.
        for _ in 0..below(bits, count.min(64)) {
            place = self.places.get(place.next as usize)?;
        }
        self.steps.get(place.at as usize..*self.ends.get(place.walk as usize)? as usize)
    }
}

/// Changes walks; owns what it writes to.
#[derive(Debug)]
pub struct Mutator<'a> {
    walker: &'a Walker<'a>,
    /// States of the walk at hand, one more than steps.
    states: Vec<u32>,
    /// Where each step's bytes begin; one more than steps.
    offsets: Vec<u32>,
    bytes: Vec<u8>,
    /// For each state, the last place of the walk that is in it, and the
    /// turn in which that was noted.
    last: Vec<(u32, u32)>,
    turn: u32,
    /// For each place, the one before it in the same state.
    before: Vec<u32>,
    /// Places with one before.
    again: Vec<u32>,
}

impl<'a> Mutator<'a> {
    /// Prepares to change walks over the automaton of `walker`.
    pub fn new(walker: &'a Walker<'a>) -> Mutator<'a> {
        let last = vec![(0, 0); walker.automaton().states().len()];
        let (states, offsets, bytes, before, again) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Mutator { walker, states, offsets, bytes, last, turn: 0, before, again }
    }

    /// Leaves a walk at some point and draws the rest. `false` if it is no
    /// walk, or none of at most `max` bytes begins as it does. The result
    /// takes the place of what was in `into`; its bytes, of `out`.
    pub fn random(
        &mut self,
        walk: &[Step],
        random: &mut impl FnMut() -> u64,
        max: u32,
        into: &mut Vec<Step>,
        out: &mut Vec<u8>,
    ) -> bool {
        if !self.trace(walk) {
            return false;
        }
        let at = below(random(), self.states.len() as u32) as usize;
        let (state, kept) = (self.states[at], self.offsets[at]);
        let least = self.walker.automaton().states()[state as usize].least;
        let Some(left) = max.checked_sub(kept).filter(|&left| left >= least) else { return false };
        self.begin(walk, at, into, out);
        self.walker.go_on(state, random, left, into, out);
        true
    }

    /// Goes on with the rest of another walk. `false` if it is no walk, or no
    /// other with at most `max` bytes in all was found.
    pub fn splice(
        &mut self,
        walk: &[Step],
        pool: &Pool,
        random: &mut impl FnMut() -> u64,
        max: u32,
        into: &mut Vec<Step>,
        out: &mut Vec<u8>,
    ) -> bool {
        if !self.trace(walk) {
            return false;
        }
        for _ in 0..TRIES {
            let at = below(random(), self.states.len() as u32) as usize;
            let Some(rest) = pool.rest(self.states[at], random()) else { continue };
            if rest == &walk[at..] {
                continue;
            }
            self.begin(walk, at, into, out);
            into.extend_from_slice(rest);
            let end = self.walker.automaton().replay_from(self.states[at], rest, out);
            if end.is_some() && out.len() <= max as usize {
                return true;
            }
        }
        false
    }

    /// Repeats a part of a walk. `false` if it is no walk, no state comes
    /// twice in it, or the result would have more than `max` bytes.
    pub fn recurse(
        &mut self,
        walk: &[Step],
        random: &mut impl FnMut() -> u64,
        max: u32,
        into: &mut Vec<Step>,
        out: &mut Vec<u8>,
    ) -> bool {
        if !self.trace(walk) {
            return false;
        }
        self.find_again();
        if self.again.is_empty() {
            return false;
        }
        let to = self.again[below(random(), self.again.len() as u32) as usize] as usize;
        // Some place before it in the same state: mostly a near one.
        let mut from = self.before[to] as usize;
        while self.before[from] != NONE && random() & 1 == 0 {
            from = self.before[from] as usize;
        }
        let part = self.offsets[from] as usize..self.offsets[to] as usize;
        let room = (max as usize).saturating_sub(self.bytes.len()) / part.len().max(1);
        let times = (1 + below(random(), MAX_REPEATS)).min(room.min(MAX_REPEATS as usize) as u32);
        if times == 0 {
            return false;
        }
        self.begin(walk, to, into, out);
        for _ in 0..times {
            into.extend_from_slice(&walk[from..to]);
            out.extend_from_slice(&self.bytes[part.clone()]);
        }
        into.extend_from_slice(&walk[to..]);
        out.extend_from_slice(&self.bytes[part.end..]);
        true
    }

    /// Copies the walk up to a point.
    fn begin(&self, walk: &[Step], at: usize, into: &mut Vec<Step>, out: &mut Vec<u8>) {
        into.clear();
        into.extend_from_slice(&walk[..at]);
        out.clear();
        out.extend_from_slice(&self.bytes[..self.offsets[at] as usize]);
    }

    /// Works out states, bytes and places of a walk; whether it is one.
    fn trace(&mut self, walk: &[Step]) -> bool {
        let automaton = self.walker.automaton();
        let mut state = automaton.start();
        self.states.clear();
        self.offsets.clear();
        self.bytes.clear();
        self.states.push(state);
        self.offsets.push(0);
        for &step in walk {
            let Some(next) = automaton.take(state, step, &mut self.bytes) else { return false };
            state = next;
            self.states.push(state);
            self.offsets.push(self.bytes.len() as u32);
        }
        automaton.states()[state as usize].accepting
    }

    /// Finds places whose state came before.
    fn find_again(&mut self) {
        self.turn = self.turn.wrapping_add(1);
        if self.turn == 0 {
            self.last.fill((0, 0));
            self.turn = 1;
        }
        self.before.clear();
        self.again.clear();
        for (at, &state) in (0..).zip(&self.states) {
            let (place, turn) = std::mem::replace(&mut self.last[state as usize], (at, self.turn));
            if turn == self.turn {
                self.again.push(at);
                self.before.push(place);
            } else {
                self.before.push(NONE);
            }
        }
    }
}
