//! Large mutations: entries as walks over the grammar's automaton.
//!
//! In:  the grammar's form as an automaton, and the bytes of entries.
//! Out: inputs that go another way from some point on, or repeat a part.
//!
//! A walk is worked out from the bytes when an entry has its turn, and put
//! into the pool that others are spliced from. The states are stacks that are
//! made when a walk comes to them, so that deep entries have walks, too. Where
//! the grammar has tokens, a walk goes from token to token, and what stands
//! between them does not matter.

use std::collections::HashSet;
use wug_automata::{Form, Mutant, Pool, Stacks, Trace, Unfit, Unread};
use wug_grammar::Grammar;
use wug_produce::lexemes::{Layout, Met, Printer};
use wug_produce::mutate::Mutator;
use wug_random::Rng;
use wug_random::hash;

/// Longer entries are left to other mutations.
const LONGEST: usize = 2_048;
/// Bytes of walks to splice from; then the pool is begun anew.
const POOL: usize = 64 << 20;
/// The same for lexemes.
const MET: usize = 16 << 20;
/// A walk that goes another way may have up to so many bytes more than before,
/// of its own text, in which a token takes at least five.
const ROOM: u32 = 128;

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

/// The form that walks of a grammar go over; none if it has none.
pub fn form(grammar: &Grammar) -> Option<Form> {
    Form::of(&Printer::new(grammar).ok()?.marked()?).ok()
}

/// Mutates entries as walks.
pub struct Walks<'a> {
    stacks: Stacks<'a>,
    pool: Pool,
    /// Hashes of the inputs in the pool.
    pooled: HashSet<u64>,
    met: Met,
    /// The text of the entry whose turn it is, by marks.
    marked: Vec<u8>,
    /// Its walk.
    trace: Trace,
    /// Whether it has one, once that is known.
    ready: Option<bool>,
    /// The entry, or its beginning if it is too long.
    entry: Vec<u8>,
    mutant: Mutant,
}

impl<'a> Walks<'a> {
    /// Over the [`form`] of a grammar.
    pub fn new(form: &'a Form) -> Result<Walks<'a>, Unfit> {
        Ok(Walks {
            stacks: Stacks::new(form)?,
            pool: Pool::default(),
            pooled: HashSet::new(),
            met: Met::default(),
            marked: Vec::new(),
            trace: Trace::default(),
            ready: Some(false),
            entry: Vec::new(),
            mutant: Mutant::default(),
        })
    }

    /// An entry has its turn. Its walk is worked out when it is asked for.
    pub fn begin(&mut self, input: &[u8]) {
        self.ready = None;
        self.entry.clear();
        self.entry.extend_from_slice(&input[..input.len().min(LONGEST + 1)]);
    }

    /// Works out the walk of the entry; whether it has one.
    fn work_out(&mut self, printer: &Printer) -> bool {
        if self.pool.bytes() > POOL || self.met.bytes() > MET {
            self.forget();
        }
        let input = std::mem::take(&mut self.entry);
        let ready = self.follow(&input, printer);
        if ready && self.pooled.insert(hash(&input)) {
            self.pool.add(&self.trace);
        }
        self.entry = input;
        ready
    }

    /// Traces the walk of an input; whether it has one.
    fn follow(&mut self, input: &[u8], printer: &Printer) -> bool {
        if printer.mark(input, &mut self.met, &mut self.marked).is_none() {
            return false;
        }
        let walk = self.stacks.read(&self.marked);
        if walk == Err(Unread::TooMuch) && self.stacks.is_full() {
            self.forget();
            return false;
        }
        walk.is_ok_and(|walk| self.stacks.trace(&walk, &mut self.trace))
    }

    /// Begins anew: stacks, the pool that names them, the lexemes in it.
    fn forget(&mut self) {
        self.stacks.forget();
        self.pool = Pool::default();
        self.pooled.clear();
        self.met = Met::default();
    }

    /// Whether the entry whose turn it is may have a walk.
    pub fn ready(&self) -> bool {
        self.ready.unwrap_or(self.entry.len() <= LONGEST)
    }

    /// Replaces `out` by a mutation of that entry; whether there is one of at
    /// most `longest` bytes.
    pub fn mutate(
        &mut self,
        op: WalkOp,
        (mutator, printer, layout): (&mut Mutator, &Printer, &mut Layout),
        rng: &mut Rng,
        longest: usize,
        out: &mut Vec<u8>,
    ) -> bool {
        if self.ready.is_none() && self.ready() {
            self.ready = Some(self.work_out(printer));
        }
        if self.ready != Some(true) {
            return false;
        }
        let (stacks, of, into) = (&mut self.stacks, &self.trace, &mut self.mutant);
        let max = longest.min(LONGEST * 4) as u32;
        let room = of.bytes().len() as u32 + rng.below(ROOM);
        let random = &mut || rng.wide();
        let made = match op {
            // Walks that are free to go on do so, up to any limit.
            WalkOp::Random => stacks.random(of, random, max.min(room), into),
            WalkOp::Splice => of.splice(&self.pool, random, max, into),
            WalkOp::Recursion => of.recurse(random, max, into),
        };
        let draw = &mut |rule, text: &mut Vec<u8>| mutator.append_lexeme(rule, rng, text);
        made && printer.unmark(&into.bytes, &self.met, draw, layout, out).is_some() && out.len() <= longest
    }
}
