//! Derivations and walks of the same inputs.

use super::{BUCKET, BUCKETS, Values};
use crate::cpu;
use std::hint::black_box;
use wug_automata::{Built, Mutant, Pool, Step, Trace, Tracer, Walker};
use wug_grammar::Grammar;
use wug_grammar::derivation::{Derivation, Event};
use wug_produce::lexemes::{Layout, Printer};
use wug_produce::mutate::{Mutator, Op, Patches, Tree};
use wug_random::Rng;

/// A kind of mutation that both have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Random,
    Splice,
    Recursion,
}

/// So many inputs are drawn to fill the buckets.
const DRAWS: u64 = 50_000;
/// No walk that is drawn, or made by a mutation, has more bytes.
const MAX: u32 = 2_000;
/// What a fresh derivation may have before it is brought to an end.
const DEPTH: u32 = 16;
const NODES: usize = 1 << 10;

/// An input as both.
struct Input {
    walk: Vec<Step>,
    derivation: Derivation,
}

pub struct Contest<'b> {
    grammar: &'b Grammar,
    walker: &'b Walker<'b>,
    tracer: Tracer<'b>,
    pool: Pool,
    mutator: Mutator,
    printer: Printer<'b>,
    inputs: [Vec<Input>; BUCKETS],
    /// Seeds of inputs that were drawn as walks, and as derivations.
    seeds: [[Vec<u64>; BUCKETS]; 2],
    rounds: usize,
    trace: Trace,
    mutant: Mutant,
    patches: Patches,
    layout: Layout,
    out: Vec<u8>,
}

impl<'b> Contest<'b> {
    /// Draws inputs, so many for each bucket.
    pub fn new(built: &'b Built, walker: &'b Walker<'b>, count: usize, rounds: usize) -> Option<Contest<'b>> {
        let grammar = &built.form.grammar;
        let mut contest = Contest {
            grammar,
            walker,
            tracer: Tracer::new(walker),
            pool: Pool::default(),
            mutator: Mutator::new(grammar).ok()?,
            printer: Printer::new(grammar).ok()?,
            inputs: Default::default(),
            seeds: Default::default(),
            rounds,
            trace: Trace::default(),
            mutant: Mutant::default(),
            patches: Patches::default(),
            layout: Layout::default(),
            out: Vec::new(),
        };
        let mut derivation = Derivation::default();
        for seed in 0..DRAWS {
            contest.generate_walk(seed);
            if let Some(bucket) = bucket(contest.mutant.steps.len())
                && contest.inputs[bucket].len() < count
            {
                let walk = contest.mutant.steps.clone();
                let derivation = built.derivation(&walk).ok()?;
                contest.learn(&walk, &derivation, seed)?;
                contest.seeds[0][bucket].push(seed);
                contest.inputs[bucket].push(Input { walk, derivation });
            }
            contest.generate_derivation(seed, &mut derivation);
            if let Some(bucket) = bucket(terminals(grammar, &derivation).len())
                && contest.seeds[1][bucket].len() < count
            {
                contest.seeds[1][bucket].push(seed);
            }
            let full = |bucket: usize| {
                contest.inputs[bucket].len() == count && contest.seeds[1][bucket].len() == count
            };
            if (0..BUCKETS).all(full) {
                break;
            }
        }
        Some(contest)
    }

    /// Keeps parts of an input for splices, on both sides.
    fn learn(&mut self, walk: &[Step], derivation: &Derivation, seed: u64) -> Option<()> {
        let traced = self.tracer.trace(walk, &mut self.trace) && self.pool.add(&self.trace);
        let tree = self.mutator.tree(derivation.clone()).ok()?;
        self.mutator.learn(&tree, &mut Rng::new(seed, 1));
        traced.then_some(())
    }

    fn generate_walk(&mut self, seed: u64) {
        let mut rng = Rng::new(seed, 0);
        let Mutant { steps, bytes } = &mut self.mutant;
        bytes.clear();
        // Inputs of a few bytes are always there.
        let _ = self.walker.walk(&mut || rng.wide(), MAX, steps, bytes);
    }

    fn generate_derivation(&mut self, seed: u64, derivation: &mut Derivation) {
        let mut rng = Rng::new(seed, 0);
        self.out.clear();
        if self.mutator.fresh(DEPTH, NODES, &mut rng, derivation).is_some() {
            let _ = self.printer.print(derivation, &mut self.layout, &mut self.out);
        }
    }

    /// Bytes in memory of both representations of each input.
    pub fn sizes(&self) -> (Values, Values) {
        let values = |size: &dyn Fn(&Input) -> usize| {
            self.inputs.each_ref().map(|inputs| inputs.iter().map(|input| size(input) as f64).collect())
        };
        (values(&|input| input.derivation.bytes()), values(&|input| size_of_val(&input.walk[..])))
    }

    /// Nanoseconds to generate inputs of each bucket, with their bytes.
    pub fn generation(&mut self) -> (Values, Values) {
        let (mut derivations, mut walks) = (Values::default(), Values::default());
        let (clock, mut derivation) = (clock_cost(), Derivation::default());
        for bucket in 0..BUCKETS {
            let seeds = [self.seeds[0][bucket].clone(), self.seeds[1][bucket].clone()];
            let mut sums = seeds.each_ref().map(|seeds| vec![0.0; seeds.len()]);
            for _ in 0..self.rounds {
                for (&seed, sum) in seeds[0].iter().zip(&mut sums[0]) {
                    *sum += timed(clock, || self.generate_walk(seed)).0;
                }
                for (&seed, sum) in seeds[1].iter().zip(&mut sums[1]) {
                    *sum += timed(clock, || self.generate_derivation(seed, &mut derivation)).0;
                }
            }
            let [walk, tree] =
                sums.map(|sums| sums.into_iter().map(|sum| sum / self.rounds as f64).collect());
            (walks[bucket], derivations[bucket]) = (walk, tree);
        }
        (derivations, walks)
    }

    /// Nanoseconds to change inputs, from what they are kept as to bytes, in
    /// buckets by what was made.
    pub fn mutation(&mut self, kind: Kind) -> (Values, Values) {
        let (mut derivations, mut walks) = (Values::default(), Values::default());
        let (clock, mut made) = (clock_cost(), Derivation::default());
        let inputs = std::mem::take(&mut self.inputs);
        for round in 0..self.rounds as u64 {
            let mut rng = Rng::new(round, 2);
            for Input { walk, derivation } in inputs.iter().flatten() {
                let (time, changed) = timed(clock, || self.change_walk(walk, kind, &mut rng));
                if let (true, Some(bucket)) = (changed, bucket(self.mutant.steps.len())) {
                    walks[bucket].push(time);
                }
                let (copy, mut same) = (derivation.clone(), rng);
                let (time, tree) = timed(clock, || self.change_derivation(copy, kind, &mut rng));
                let Some(tree) = tree else { continue };
                // The same once more, to see how much it is.
                let made_again = self.mutator.mutate(kind.op(), &tree, &mut same, &mut made).is_some();
                if let (true, Some(bucket)) = (made_again, bucket(terminals(self.grammar, &made).len())) {
                    derivations[bucket].push(time);
                }
            }
        }
        self.inputs = inputs;
        (derivations, walks)
    }

    fn change_walk(&mut self, walk: &[Step], kind: Kind, rng: &mut Rng) -> bool {
        let (walker, of, into) = (self.walker, &mut self.trace, &mut self.mutant);
        let random = &mut || rng.wide();
        match kind {
            Kind::Random => walker.untraced(walk).random(random, MAX, into),
            Kind::Splice => walker.untraced(walk).splice(&self.pool, random, MAX, into),
            Kind::Recursion => self.tracer.trace(walk, of) && of.recurse(random, MAX, into),
        }
    }

    fn change_derivation(&mut self, derivation: Derivation, kind: Kind, rng: &mut Rng) -> Option<Tree> {
        let tree = self.mutator.tree(derivation).ok()?;
        self.patches.clear();
        self.mutator.patch(kind.op(), &tree, rng, &self.printer, &mut self.patches)?;
        self.patches.apply(&tree, &self.printer, &mut self.out)?;
        Some(tree)
    }

    /// Terminals that a random mutation of each input makes.
    pub fn scale(&mut self) -> (Values, Values) {
        let (mut derivations, mut walks) = (Values::default(), Values::default());
        let inputs = std::mem::take(&mut self.inputs);
        let (mut rng, mut out) = (Rng::new(1, 3), Derivation::default());
        for (bucket, inputs) in inputs.iter().enumerate() {
            for Input { walk, derivation } in inputs {
                if self.change_walk(walk, Kind::Random, &mut rng) {
                    walks[bucket].push(changed(walk, &self.mutant.steps, false) as f64);
                }
                let Ok(tree) = self.mutator.tree(derivation.clone()) else { continue };
                if self.mutator.mutate(Op::Fresh, &tree, &mut rng, &mut out).is_some() {
                    let (old, new) = (terminals(self.grammar, derivation), terminals(self.grammar, &out));
                    derivations[bucket].push(changed(&old, &new, true) as f64);
                }
            }
        }
        self.inputs = inputs;
        (derivations, walks)
    }
}

impl Kind {
    fn op(self) -> Op {
        match self {
            Kind::Random => Op::Fresh,
            Kind::Splice => Op::Splice,
            Kind::Recursion => Op::Recurse,
        }
    }
}

/// The bucket of an input with so many terminals.
fn bucket(terminals: usize) -> Option<usize> {
    Some(terminals.checked_sub(1)? / BUCKET).filter(|&bucket| bucket < BUCKETS)
}

/// The terminals of a derivation, in order.
fn terminals(grammar: &Grammar, derivation: &Derivation) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let walked = derivation.walk(grammar, |event| {
        if let Event::Bytes(bytes) = event {
            all.push(bytes.to_vec());
        }
    });
    if walked.is_ok() { all } else { Vec::new() }
}

/// How many of the new terminals lie behind the first that differs from the
/// old ones, and where `tail` is kept, before the last that does.
fn changed<T: PartialEq>(old: &[T], new: &[T], tail: bool) -> usize {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[start..], &new[start..]);
    let same = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    new.len() - if tail { same } else { 0 }
}

/// Nanoseconds that something takes, the looks at the clock apart, and what
/// comes out.
fn timed<T>(clock: f64, what: impl FnOnce() -> T) -> (f64, T) {
    let begin = cpu();
    let result = black_box(what());
    (((cpu() - begin).as_nanos() as f64 - clock).max(0.0), result)
}

/// What a look at the clock takes.
fn clock_cost() -> f64 {
    let begin = cpu();
    for _ in 0..10_000 {
        black_box(cpu());
    }
    (cpu() - begin).as_nanos() as f64 / 10_000.0
}
