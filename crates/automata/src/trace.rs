//! A walk with all that its mutations ask for.
//!
//! In:  a walk over the automaton of a [`Walker`]; nothing of it is taken on
//!      trust.
//! Out: [`Trace`]: its bytes, the state and the place in the bytes before
//!      each step, and which states come again.
//!
//! A walk itself is four bytes a step; a trace is made of the one that is
//! to be mutated, and then each of its mutations is a few copies.

use crate::automaton::Step;
use crate::walk::Walker;

pub(crate) const NONE: u32 = u32::MAX;

/// A walk, and what is known of it.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    pub(crate) steps: Vec<Step>,
    /// Before each step, and behind the last.
    pub(crate) points: Vec<Point>,
    pub(crate) bytes: Vec<u8>,
    /// Points whose state came before.
    pub(crate) again: Vec<u32>,
}

/// A point of a walk.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Point {
    pub state: u32,
    /// Bytes before it.
    pub offset: u32,
    /// The last point before it in the same state.
    pub before: u32,
}

impl Trace {
    /// The walk.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn clear(&mut self) {
        self.steps.clear();
        self.points.clear();
        self.bytes.clear();
        self.again.clear();
    }
}

/// Makes traces; owns what it looks up.
#[derive(Debug)]
pub struct Tracer<'a> {
    walker: &'a Walker<'a>,
    /// For each state, the last point of the walk that is in it, and the
    /// turn in which that was noted.
    last: Vec<(u32, u32)>,
    turn: u32,
}

impl<'a> Tracer<'a> {
    /// Prepares to trace walks.
    pub fn new(walker: &'a Walker<'a>) -> Tracer<'a> {
        Tracer { walker, last: vec![(0, 0); walker.automaton().states().len()], turn: 0 }
    }

    /// Traces a walk, in place of what was in `trace`; whether it is one of
    /// an input. If not, the trace is empty, and has no mutations.
    pub fn trace(&mut self, walk: &[Step], trace: &mut Trace) -> bool {
        self.turn = self.turn.wrapping_add(1);
        if self.turn == 0 {
            self.last.fill((0, 0));
            self.turn = 1;
        }
        trace.clear();
        let done = self.fill(walk, trace).is_some();
        if !done {
            trace.clear();
        }
        done
    }

    fn fill(&mut self, walk: &[Step], trace: &mut Trace) -> Option<()> {
        let (automaton, turn) = (self.walker.automaton(), self.turn);
        let Trace { steps, points, bytes, again } = trace;
        points.resize(walk.len() + 1, Point::default());
        again.resize(walk.len() + 1, 0);
        let (mut place, mut repeated) = (0, 0);
        let mut note = |state: u32, offset: usize| {
            let now = (place as u32, turn);
            let (last, noted) = std::mem::replace(&mut self.last[state as usize], now);
            let seen = noted == turn;
            points[place] = Point { state, offset: offset as u32, before: if seen { last } else { NONE } };
            // Written always, kept if it counts: no branch to foretell.
            again[repeated] = place as u32;
            repeated += usize::from(seen);
            place += 1;
        };
        let end = self.walker.table.replay(automaton.start(), walk, bytes, &mut note)?;
        note(end, bytes.len());
        again.truncate(repeated);
        steps.extend_from_slice(walk);
        // Then all offsets were numbers of 32 bits.
        u32::try_from(bytes.len()).ok()?;
        automaton.states()[end as usize].accepting.then_some(())
    }
}
