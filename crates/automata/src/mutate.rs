//! Mutations of walks: large ones, and every result is an input.
//!
//! In:  the [`Trace`] of a walk, random bits, and for splicing a [`Pool`] of
//!      other walks.
//! Out: another walk and its bytes.
//!
//! | mutation | what it does |
//! | --- | --- |
//! | [`Walker::random`] | leaves the walk at some point and draws the rest anew |
//! | [`Trace::splice`] | goes on with the rest of another walk that comes through the same state |
//! | [`Trace::recurse`] | repeats a part that begins and ends in the same state, up to five times |
//!
//! A walk that is left in a state can go on from it in any way that leads
//! from there: the state is the stack, so nothing else need be known. What
//! stays of a walk is copied, steps and bytes, never written anew. Once its
//! buffers have grown, a mutation allocates nothing.
//!
//! A trace pays where a walk is mutated more than once. For a single mutation,
//! [`Untraced`] replays what comes before the point where the walk is left, and
//! no more; what is repeated must be looked for, and takes a trace.

use crate::automaton::Step;
use crate::pool::Pool;
use crate::trace::{NONE, Trace};
use crate::walk::{Walker, below};
use std::ops::Range;

/// A part of a walk is repeated at most this often.
pub const MAX_REPEATS: u32 = 5;
/// So many points are tried before a splice is given up.
const TRIES: u32 = 8;
/// So many walks that come through such a point: to come there costs more.
const TAILS: u32 = 3;

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

/// A walk whose beginning can be had.
pub(crate) trait Begun {
    fn steps(&self) -> &[Step];

    /// Puts what comes before a point in place of what was in `into`; the
    /// state there. None if there is no such point.
    fn begin(&self, at: usize, into: &mut Mutant) -> Option<u32>;
}

impl Begun for Trace {
    fn steps(&self) -> &[Step] {
        &self.steps
    }

    #[inline]
    fn begin(&self, at: usize, into: &mut Mutant) -> Option<u32> {
        let state = self.points.get(at)?.state;
        into.clear();
        let (steps, bytes) = self.part(0..at);
        into.append(steps, bytes);
        Some(state)
    }
}

/// A walk of which nothing is known but its steps.
#[derive(Clone, Copy, Debug)]
pub struct Untraced<'a> {
    walker: &'a Walker<'a>,
    steps: &'a [Step],
}

impl Begun for Untraced<'_> {
    fn steps(&self) -> &[Step] {
        self.steps
    }

    #[inline]
    fn begin(&self, at: usize, into: &mut Mutant) -> Option<u32> {
        let steps = self.steps.get(..at)?;
        into.clear();
        into.steps.extend_from_slice(steps);
        self.walker.table.replay(self.walker.automaton().start(), steps, &mut into.bytes, |_, _| {})
    }
}

// Each mutation takes a walk, random bits, the most bytes of a result, and
// what to put the result into; it says whether there is one. If not, what is in
// there means nothing. An empty trace has none.
impl Walker<'_> {
    /// Leaves a walk at some point and draws the rest. No result if none of
    /// at most `max` bytes begins as the walk does.
    pub fn random(&self, of: &Trace, random: &mut impl FnMut() -> u64, max: u32, into: &mut Mutant) -> bool {
        diverge(self, of, random, max, into)
    }

    /// A walk over this automaton, to be mutated without a trace. What comes
    /// behind the point where it is left is not looked at.
    pub fn untraced<'w>(&'w self, steps: &'w [Step]) -> Untraced<'w> {
        Untraced { walker: self, steps }
    }
}

impl Untraced<'_> {
    /// [`Walker::random`].
    pub fn random(self, random: &mut impl FnMut() -> u64, max: u32, into: &mut Mutant) -> bool {
        diverge(self.walker, &self, random, max, into)
    }

    /// [`Trace::splice`].
    pub fn splice(self, pool: &Pool, random: &mut impl FnMut() -> u64, max: u32, into: &mut Mutant) -> bool {
        splice(&self, pool, random, max, into)
    }
}

#[inline]
fn diverge(
    walker: &Walker<'_>,
    of: &impl Begun,
    random: &mut impl FnMut() -> u64,
    max: u32,
    into: &mut Mutant,
) -> bool {
    let at = below(random(), of.steps().len() as u32 + 1) as usize;
    let Some(state) = of.begin(at, into) else { return false };
    let Some(left) = (max as usize).checked_sub(into.bytes.len()) else { return false };
    if left < walker.automaton().states()[state as usize].least as usize {
        return false;
    }
    walker.go_on(state, random, left as u32, &mut into.steps, &mut into.bytes);
    true
}

#[inline]
fn splice(
    of: &impl Begun,
    pool: &Pool,
    random: &mut impl FnMut() -> u64,
    max: u32,
    into: &mut Mutant,
) -> bool {
    for _ in 0..TRIES {
        let at = below(random(), of.steps().len() as u32 + 1) as usize;
        let Some(state) = of.begin(at, into) else { return false };
        for _ in 0..TAILS {
            let Some((steps, bytes)) = pool.rest(state, random()) else { break };
            let fits = into.bytes.len() + bytes.len() <= max as usize;
            if fits && *steps != of.steps()[at..] {
                into.append(steps, bytes);
                return true;
            }
        }
    }
    false
}

impl Trace {
    /// Goes on with the rest of another walk; the pool has walks over what
    /// this one goes over. No result if none with at most `max` bytes was
    /// found.
    pub fn splice(&self, pool: &Pool, random: &mut impl FnMut() -> u64, max: u32, into: &mut Mutant) -> bool {
        splice(self, pool, random, max, into)
    }

    /// Repeats a part of a walk. No result if no state comes twice in it, or
    /// if it would have more than `max` bytes.
    pub fn recurse(&self, random: &mut impl FnMut() -> u64, max: u32, into: &mut Mutant) -> bool {
        let again = below(random(), self.again.len() as u32);
        let Some(&to) = self.again.get(again as usize) else { return false };
        let to = to as usize;
        // Some point before it in the same state: mostly a near one.
        let mut from = self.points[to].before as usize;
        while self.points[from].before != NONE && random() & 1 == 0 {
            from = self.points[from].before as usize;
        }
        let (part, part_bytes) = self.part(from..to);
        let room = (max as usize).saturating_sub(self.bytes.len()) / part_bytes.len().max(1);
        let times = (1 + below(random(), MAX_REPEATS)).min(room.min(MAX_REPEATS as usize) as u32);
        if times == 0 {
            return false;
        }
        into.clear();
        let (kept, kept_bytes) = self.part(0..to);
        into.append(kept, kept_bytes);
        for _ in 0..times {
            into.append(part, part_bytes);
        }
        let (rest, rest_bytes) = self.part(to..self.steps.len());
        into.append(rest, rest_bytes);
        true
    }
}
