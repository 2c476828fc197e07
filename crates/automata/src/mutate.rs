//! Mutations of walks: large ones, and every result is an input.
//!
//! In:  the [`Trace`] of a walk, random bits, and for splicing a [`Pool`] of
//!      other walks.
//! Out: another walk and its bytes.
//!
//! | mutation | what it does |
//! | --- | --- |
//! | [`Walker::random`] | leaves the walk at some point and draws the rest anew |
//! | [`Walker::splice`] | goes on with the rest of another walk that comes through the same state |
//! | [`Walker::recurse`] | repeats a part that begins and ends in the same state, up to five times |
//!
//! A walk that is left in a state can go on from it in any way that leads
//! from there: the state is the stack, so nothing else need be known. What
//! stays of a walk is copied, steps and bytes, never written anew. Once its
//! buffers have grown, a mutation allocates nothing.

use crate::automaton::Step;
use crate::pool::Pool;
use crate::trace::{NONE, Point, Trace};
use crate::walk::{Walker, below};
use std::ops::Range;

/// A part of a walk is repeated at most this often.
pub const MAX_REPEATS: u32 = 5;
/// So many points are tried before a splice is given up.
const TRIES: u32 = 8;

/// What comes out: a walk, and its bytes.
#[derive(Clone, Debug, Default)]
pub struct Mutant {
    /// The walk.
    pub steps: Vec<Step>,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl Mutant {
    fn clear(&mut self) {
        self.steps.clear();
        self.bytes.clear();
    }

    fn append(&mut self, steps: &[Step], bytes: &[u8]) {
        self.steps.extend_from_slice(steps);
        self.bytes.extend_from_slice(bytes);
    }
}

impl Trace {
    /// The steps between two points, and their bytes.
    fn part(&self, points: Range<usize>) -> (&[Step], &[u8]) {
        let bytes = self.points[points.start].offset as usize..self.points[points.end].offset as usize;
        (&self.steps[points], &self.bytes[bytes])
    }
}

/// What walks go on over.
pub(crate) trait Ground {
    /// The fewest bytes that lead from a state to the end.
    fn least(&self, state: u32) -> u32;

    /// Goes on from a state to an end, within `left` bytes more, which must
    /// be at least the least that it takes.
    fn go_on(
        &mut self,
        state: u32,
        random: &mut impl FnMut() -> u64,
        left: u32,
        walk: &mut Vec<Step>,
        out: &mut Vec<u8>,
    );
}

impl Ground for &Walker<'_> {
    fn least(&self, state: u32) -> u32 {
        self.automaton().states()[state as usize].least
    }

    fn go_on(
        &mut self,
        state: u32,
        random: &mut impl FnMut() -> u64,
        left: u32,
        walk: &mut Vec<Step>,
        out: &mut Vec<u8>,
    ) {
        Walker::go_on(self, state, random, left, walk, out);
    }
}

// Each mutation takes a trace, random bits, the most bytes of a result, and
// what to put the result into; it says whether there is one. An empty trace has
// none.
impl Walker<'_> {
    /// Leaves a walk at some point and draws the rest. No result if none of
    /// at most `max` bytes begins as the walk does.
    pub fn random(&self, of: &Trace, random: &mut impl FnMut() -> u64, max: u32, into: &mut Mutant) -> bool {
        diverge(&mut { self }, of, random, max, into)
    }

    /// Goes on with the rest of another walk. No result if none with at most
    /// `max` bytes was found.
    pub fn splice(
        &self,
        of: &Trace,
        pool: &Pool,
        random: &mut impl FnMut() -> u64,
        max: u32,
        into: &mut Mutant,
    ) -> bool {
        splice(of, pool, random, max, into)
    }

    /// Repeats a part of a walk. No result if no state comes twice in it, or
    /// if it would have more than `max` bytes.
    pub fn recurse(&self, of: &Trace, random: &mut impl FnMut() -> u64, max: u32, into: &mut Mutant) -> bool {
        repeat(of, random, max, into)
    }
}

#[inline]
pub(crate) fn diverge(
    ground: &mut impl Ground,
    of: &Trace,
    random: &mut impl FnMut() -> u64,
    max: u32,
    into: &mut Mutant,
) -> bool {
    let at = below(random(), of.steps.len() as u32 + 1) as usize;
    let Some(&Point { state, offset, .. }) = of.points.get(at) else { return false };
    let least = ground.least(state);
    let Some(left) = max.checked_sub(offset).filter(|&left| left >= least) else { return false };
    into.clear();
    let (steps, bytes) = of.part(0..at);
    into.append(steps, bytes);
    ground.go_on(state, random, left, &mut into.steps, &mut into.bytes);
    true
}

#[inline]
pub(crate) fn splice(
    of: &Trace,
    pool: &Pool,
    random: &mut impl FnMut() -> u64,
    max: u32,
    into: &mut Mutant,
) -> bool {
    for _ in 0..TRIES {
        let at = below(random(), of.steps.len() as u32 + 1) as usize;
        let Some(&Point { state, offset, .. }) = of.points.get(at) else { return false };
        let Some((steps, bytes)) = pool.rest(state, random()) else { continue };
        let fits = offset as usize + bytes.len() <= max as usize;
        if !fits || *steps == of.steps[at..] {
            continue;
        }
        into.clear();
        let (kept, kept_bytes) = of.part(0..at);
        into.append(kept, kept_bytes);
        into.append(steps, bytes);
        return true;
    }
    false
}

#[inline]
pub(crate) fn repeat(of: &Trace, random: &mut impl FnMut() -> u64, max: u32, into: &mut Mutant) -> bool {
    let Some(&to) = of.again.get(below(random(), of.again.len() as u32) as usize) else { return false };
    let to = to as usize;
    // Some point before it in the same state: mostly a near one.
    let mut from = of.points[to].before as usize;
    while of.points[from].before != NONE && random() & 1 == 0 {
        from = of.points[from].before as usize;
    }
    let (part, part_bytes) = of.part(from..to);
    let room = (max as usize).saturating_sub(of.bytes.len()) / part_bytes.len().max(1);
    let times = (1 + below(random(), MAX_REPEATS)).min(room.min(MAX_REPEATS as usize) as u32);
    if times == 0 {
        return false;
    }
    into.clear();
    let (kept, kept_bytes) = of.part(0..to);
    into.append(kept, kept_bytes);
    for _ in 0..times {
        into.append(part, part_bytes);
    }
    let (rest, rest_bytes) = of.part(to..of.steps.len());
    into.append(rest, rest_bytes);
    true
}
