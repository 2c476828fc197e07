//! Walks to splice from, by the states that they come through.
//!
//! In:  traces of walks.
//! Out: for a state, what some walk goes on with from there: its steps and
//!      its bytes, by one draw.

use crate::automaton::Step;
use crate::trace::Trace;
use crate::walk::below;

/// Walks, and an index of them.
#[derive(Debug, Default)]
pub struct Pool {
    steps: Vec<Step>,
    bytes: Vec<u8>,
    /// Where each walk ends in `steps` and `bytes`.
    ends: Vec<(u32, u32)>,
    /// For each state, where walks come through it.
    places: Vec<Vec<Place>>,
}

/// A walk comes through a state.
#[derive(Clone, Copy, Debug)]
struct Place {
    walk: u32,
    /// What follows, in the pool's lists.
    step: u32,
    byte: u32,
}

impl Pool {
    /// Adds a walk; `false` if there is no room for it: a pool has less than
    /// 2^32 bytes.
    pub fn add(&mut self, trace: &Trace) -> bool {
        let (steps, bytes) = (self.steps.len() as u32, self.bytes.len() as u32);
        let room = |from: u32, more: usize| u32::try_from(more).is_ok_and(|n| from.checked_add(n).is_some());
        if !room(bytes, trace.bytes.len()) || !room(steps, trace.steps.len()) {
            return false;
        }
        let walk = self.ends.len() as u32;
        for (at, point) in (0..).zip(&trace.points) {
            self.places.resize_with(self.places.len().max(point.state as usize + 1), Vec::new);
            let place = Place { walk, step: steps + at, byte: bytes + point.offset };
            self.places[point.state as usize].push(place);
        }
        self.steps.extend_from_slice(&trace.steps);
        self.bytes.extend_from_slice(&trace.bytes);
        self.ends.push((self.steps.len() as u32, self.bytes.len() as u32));
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
        let places = self.steps.len() + self.ends.len();
        self.bytes.len()
            + size_of_val(&self.steps[..])
            + size_of_val(&self.places[..])
            + places * size_of::<Place>()
    }

    /// The rest of some walk that comes through `state`, all equally likely.
    pub(crate) fn rest(&self, state: u32, bits: u64) -> Option<(&[Step], &[u8])> {
        let places = self.places.get(state as usize)?;
        let place = places.get(below(bits, places.len() as u32) as usize)?;
        let (steps, bytes) = self.ends[place.walk as usize];
        let steps = &self.steps[place.step as usize..steps as usize];
        Some((steps, &self.bytes[place.byte as usize..bytes as usize]))
    }
}
