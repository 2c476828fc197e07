//! Large mutations: entries as walks over the grammar's automaton.
//!
//! In:  an automaton of the grammar, and the bytes of entries.
//! Out: inputs that go another way from some point on, or repeat a part.
//!
//! A walk is worked out from the bytes when an entry has its turn, and put
//! into the pool that others are spliced from.

use crate::hash::hash;
use std::collections::HashSet;
use wug_automata::{Mutant, Pool, Reader, Trace, Tracer, Walker};
use wug_produce::rng::Rng;

/// Longer entries are left to other mutations.
const LONGEST: usize = 2_048;
/// Bytes of walks to splice from; then the pool is begun anew.
const POOL: usize = 64 << 20;

/// A mutation of walks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkOp {
    /// Leaves the walk at some point and draws the rest.
    Random,
    /// Goes on with the rest of another walk.
    Splice,
    /// Repeats a part that begins and ends in the same state.
    Recursion,
}

impl WalkOp {
    /// All of them.
    pub const ALL: [WalkOp; 3] = [WalkOp::Random, WalkOp::Splice, WalkOp::Recursion];

    /// As in the names of entries.
    pub fn name(self) -> &'static str {
        match self {
            WalkOp::Random => "walk-random",
            WalkOp::Splice => "walk-splice",
            WalkOp::Recursion => "walk-recursion",
        }
    }
}

/// Mutates entries as walks.
pub struct Walks<'a> {
    walker: &'a Walker<'a>,
    reader: Reader<'a>,
    tracer: Tracer<'a>,
    pool: Pool,
    /// Hashes of the inputs in the pool.
    pooled: HashSet<u64>,
    /// The walk of the entry whose turn it is.
    trace: Trace,
    /// Whether it has one.
    ready: bool,
    mutant: Mutant,
}

impl<'a> Walks<'a> {
    /// Over the automaton of `walker`.
    pub fn new(walker: &'a Walker<'a>) -> Walks<'a> {
        Walks {
            walker,
            reader: Reader::new(walker.automaton()),
            tracer: Tracer::new(walker),
            pool: Pool::default(),
            pooled: HashSet::new(),
            trace: Trace::default(),
            ready: false,
            mutant: Mutant::default(),
        }
    }

    /// An entry has its turn: works out its walk.
    pub fn begin(&mut self, input: &[u8]) {
        let walk = if input.len() <= LONGEST { self.reader.read(input).ok() } else { None };
        self.ready = walk.is_some_and(|walk| self.tracer.trace(&walk, &mut self.trace));
        if !self.ready {
            return;
        }
        if self.pool.bytes() > POOL {
            self.pool = Pool::default();
            self.pooled.clear();
        }
        if self.pooled.insert(hash(input)) {
            self.pool.add(&self.trace);
        }
    }

    /// Whether the entry whose turn it is has a walk.
    pub fn ready(&self) -> bool {
        self.ready
    }

    /// Replaces `out` by a mutation of that entry; whether there is one of at
    /// most `longest` bytes.
    pub fn mutate(&mut self, op: WalkOp, rng: &mut Rng, longest: usize, out: &mut Vec<u8>) -> bool {
        if !self.ready {
            return false;
        }
        let (walker, of, into) = (self.walker, &self.trace, &mut self.mutant);
        let (random, max) = (&mut || rng.wide(), longest.min(LONGEST * 4) as u32);
        let made = match op {
            WalkOp::Random => walker.random(of, random, max, into),
            WalkOp::Splice => walker.splice(of, &self.pool, random, max, into),
            WalkOp::Recursion => walker.recurse(of, random, max, into),
        };
        if made {
            std::mem::swap(out, &mut into.bytes);
        }
        made
    }
}
