//! The list of mutators with the bandit that chooses among them.

use super::{Made, Making, Mutator, Subject};
use crate::fuzz::batch::Mutated;
use crate::fuzz::evaluate::{Evaluator, Worth};
use crate::fuzz::source::Source;
use crate::fuzz::statistics::Spent;
use crate::fuzz::{Error, Mutators};
use crate::schedule::Bandit;
use wug_folder::report::{MutatorReport, Report};
use wug_produce::mutate::Tree;
use wug_random::hash;

/// The cost of an input that is not run, in executions: it was run a short
/// while ago, or there is none.
const UNRUN: f64 = 0.1;

/// All mutators of a campaign, one for each arm of the bandit.
pub(crate) struct MutatorList<'a> {
    mutators: Vec<Box<dyn Mutator + 'a>>,
    bandit: Bandit,
    uniform: bool,
    /// Which fit the entry whose turn it is.
    fits: Vec<bool>,
    recent: Recent,
    /// What each took.
    spent: Vec<Spent>,
}

/// What came of the attempt to make an input.
pub(crate) enum Attempt {
    Input(Mutated),
    /// No input that is worth a run.
    Nothing,
    /// No mutator fits the entry.
    NoneFits,
}

impl<'a> MutatorList<'a> {
    pub fn new(mutators: Vec<Box<dyn Mutator + 'a>>, uniform: bool) -> MutatorList<'a> {
        let bandit = Bandit::new(mutators.iter().map(|mutator| mutator.name()), uniform);
        let spent = vec![Spent::default(); mutators.len()];
        MutatorList { mutators, bandit, uniform, fits: Vec::new(), recent: Recent::default(), spent }
    }

    /// Adds a mutator, before anything was learned.
    pub fn add(&mut self, mutator: Box<dyn Mutator + 'a>) {
        self.mutators.push(mutator);
        self.spent.push(Spent::default());
        self.bandit = Bandit::new(self.mutators.iter().map(|mutator| mutator.name()), self.uniform);
    }

    /// Makes the next input of an entry by a mutator that fits it, in `out`.
    pub fn next(
        &mut self,
        (entry, bytes, tree): (usize, &[u8], Option<&Tree>),
        evaluator: &mut Evaluator<'a>,
        out: &mut Vec<u8>,
    ) -> Result<Attempt, Error> {
        let Evaluator { materials, corpus, feedback, runner, .. } = evaluator;
        // What was recombined may not have been run, if it had been lately.
        if let Some(lessons) = &mut materials.lessons {
            lessons.clear_bench();
        }
        let may_leave = materials.share.permits(tree.is_some());
        let subject = Subject { entry, bytes, tree, may_leave };
        let mut making = Making { materials, corpus, feedback, runner, bandit: &self.bandit, cost: 0.0, out };
        let alone = making.materials.mutators == Mutators::Aggressive && making.materials.structure.is_some();
        self.fits.clear();
        let fits = |mutator: &mut Box<dyn Mutator + 'a>| {
            (!alone || mutator.is_gramatrons()) && mutator.fits(&subject, &making)
        };
        self.fits.extend(self.mutators.iter_mut().map(fits));
        let Some(arm) = self.bandit.draw(|arm| self.fits[arm], making.rng()) else {
            return Ok(Attempt::NoneFits);
        };
        let begin = making.runner.now();
        let made = self.mutators[arm].make(&subject, &mut making)?;
        let (time, execs) = making.runner.since(begin);
        self.spent[arm].add(execs, time);
        let made = made.filter(|_| making.out.len() <= making.max_size());
        if let Some(made) = made
            && tree.is_some()
            && !made.fresh
        {
            making.materials.share.count(made.valid);
        }
        let cost = making.cost;
        let Some(made) = made.filter(|_| self.recent.is_new(out)) else {
            self.bandit.learn(arm, cost + if runner.is_repeatable() { UNRUN } else { 1.0 }, 0.0);
            return Ok(Attempt::Nothing);
        };
        let Made { operations: rep, other, fresh, .. } = made;
        let source = Source::Mutation { from: (!fresh).then_some(entry), other, op: self.name(arm), rep };
        Ok(Attempt::Input(Mutated { arm, cost, source }))
    }

    /// Learns what came of an input.
    pub fn learn(&mut self, made: &Mutated, worth: Worth) {
        self.spent[made.arm].add(worth.execs, worth.time);
        self.bandit.learn(made.arm, made.cost + worth.cost, worth.gain);
    }

    /// Whether an input was made of what was learned from entries.
    pub fn is_learned(&self, made: &Mutated) -> bool {
        matches!(self.name(made.arm), "extend" | "fill" | "nest" | "rename")
    }

    /// The name of a mutator.
    fn name(&self, arm: usize) -> &'static str {
        self.bandit.arms()[arm].name
    }

    /// Fills in what mutators did.
    pub fn report(&self, report: &mut Report) {
        let arm = |(arm, spent): (&crate::schedule::Arm, &Spent)| MutatorReport {
            name: arm.name.into(),
            tries: arm.tries,
            finds: arm.finds,
            yield_now: arm.rate(),
            ..spent.report()
        };
        report.mutators = self.bandit.arms().iter().zip(&self.spent).map(arm).collect();
        self.mutators.iter().for_each(|mutator| mutator.report(report));
    }
}

/// Hashes of inputs that were run a short while ago: the same again would
/// tell nothing.
#[derive(Debug, Default)]
struct Recent {
    hashes: Vec<u64>,
}

impl Recent {
    const PLACES: usize = 1 << 16;

    fn is_new(&mut self, input: &[u8]) -> bool {
        if self.hashes.is_empty() {
            self.hashes.resize(Self::PLACES, 0);
        }
        let hash = hash(input) | 1;
        let place = &mut self.hashes[hash as usize / 2 % Self::PLACES];
        std::mem::replace(place, hash) != hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_follow_the_list_and_names_differ() {
        let list = MutatorList::new(super::super::all(None), false);
        let names: Vec<_> = list.mutators.iter().map(|mutator| mutator.name()).collect();
        let arms: Vec<_> = (0..names.len()).map(|arm| list.name(arm)).collect();
        assert_eq!(names, arms);
        let different: std::collections::HashSet<_> = names.iter().collect();
        assert_eq!(different.len(), names.len());
    }

    #[test]
    fn the_same_input_again_is_not_new() {
        let mut recent = Recent::default();
        assert!(recent.is_new(b"a") && recent.is_new(b"b") && !recent.is_new(b"a"));
    }
}
