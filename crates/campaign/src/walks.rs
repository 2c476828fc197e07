//! Large mutations: entries as walks over the grammar's automaton.
//!
//! In:  an automaton of the grammar, and the bytes of entries.
//! Out: inputs that go another way from some point on, or repeat a part.
//!
//! A walk is worked out from the bytes when an entry has its turn, and put
//! into the pool that others are spliced from.

use crate::hash::hash;
use std::collections::HashSet;
use wug_automata::{Mutator, Pool, Reader, Step, Walker};
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
    mutator: Mutator<'a>,
    pool: Pool,
    /// Hashes of the inputs in the pool.
    pooled: HashSet<u64>,
    /// The walk of the entry whose turn it is, if it has one.
    walk: Option<Vec<Step>>,
    into: Vec<Step>,
}

impl<'a> Walks<'a> {
    /// Over the automaton of `walker`.
    pub fn new(walker: &'a Walker<'a>) -> Walks<'a> {
        Walks {
            walker,
            reader: Reader::new(walker.automaton()),
            mutator: Mutator::new(walker),
            pool: Pool::default(),
            pooled: HashSet::new(),
            walk: None,
            into: Vec::new(),
        }
    }

    /// An entry has its turn: works out its walk.
    pub fn begin(&mut self, input: &[u8]) {
        self.walk = if input.len() <= LONGEST { self.reader.read(input).ok() } else { None };
        let Some(walk) = &self.walk else { return };
        if self.pool.bytes() > POOL {
            self.pool = Pool::default();
            self.pooled.clear();
        }
        if self.pooled.insert(hash(input)) {
            self.pool.add(self.walker.automaton(), walk);
        }
    }

    /// Whether the entry whose turn it is has a walk.
    pub fn ready(&self) -> bool {
        self.walk.is_some()
    }

    /// Replaces `out` by a mutation of that entry; whether there is one of at
    /// most `longest` bytes.
    pub fn mutate(&mut self, op: WalkOp, rng: &mut Rng, longest: usize, out: &mut Vec<u8>) -> bool {
        let Some(walk) = &self.walk else { return false };
        let (random, max) = (&mut || rng.wide(), longest.min(LONGEST * 4) as u32);
        match op {
            WalkOp::Random => self.mutator.random(walk, random, max, &mut self.into, out),
            WalkOp::Splice => self.mutator.splice(walk, &self.pool, random, max, &mut self.into, out),
            WalkOp::Recursion => self.mutator.recurse(walk, random, max, &mut self.into, out),
        }
    }
}
