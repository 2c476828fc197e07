//! An entry's turn: inputs made of it.

use super::execute::Making;
use super::{Campaign, Error};
use crate::hash::hash;
use crate::schedule::Bandit;
use wug_produce::mutate::{Op, Tree};

/// Inputs made in a turn.
const INPUTS: usize = 128;
/// What it costs to make an input that is not run, in runs.
const UNRUN: f64 = 0.1;
/// Operations on one derivation, each as likely as it stands here.
const STACKS: [u32; 4] = [1, 1, 2, 4];

/// Larger derivations get one operation.
const STACKED: usize = 1024;

/// Ways to make an input: those on trees, then those on bytes.
const HAVOC: usize = Op::ALL.len();
const TOKEN: usize = HAVOC + 1;
const FRESH: usize = TOKEN + 1;

/// The schedule of all ways.
pub(super) fn arms(uniform: bool) -> Bandit {
    Bandit::new(Op::ALL.into_iter().map(Op::name).chain(["havoc", "token", "generate"]), uniform)
}

/// Hashes of inputs that were run a short while ago: the same again would
/// tell nothing.
#[derive(Debug, Default)]
pub(super) struct Recent {
    hashes: Vec<u64>,
}

impl Recent {
    const PLACES: usize = 1 << 16;

    /// Whether an input was not seen lately; it is from now on.
    fn is_new(&mut self, input: &[u8]) -> bool {
        if self.hashes.is_empty() {
            self.hashes.resize(Self::PLACES, 0);
        }
        let hash = hash(input) | 1;
        let place = &mut self.hashes[hash as usize / 2 % Self::PLACES];
        std::mem::replace(place, hash) != hash
    }
}

impl Campaign<'_> {
    /// Makes inputs of an entry and runs them.
    pub(super) fn turn(&mut self, at: usize) -> Result<(), Error> {
        self.figures.report.cur_item = at as u64;
        let mut origin = Vec::new();
        self.corpus.read(at, &self.folder, &mut origin)?;
        let tree = match &mut self.structure {
            Some(structure) => self.corpus.take_tree(at, &origin, structure),
            None => None,
        };
        let outcome = self.inputs_of(at, &origin, tree.as_ref());
        self.corpus.put_tree(at, tree);
        outcome
    }

    fn inputs_of(&mut self, at: usize, origin: &[u8], tree: Option<&Tree>) -> Result<(), Error> {
        for _ in 0..INPUTS {
            if self.is_over() {
                break;
            }
            let (trees, tokens) = (tree.is_some(), !self.havoc.tokens().is_empty());
            let grammar = self.structure.is_some();
            let usable = |arm: usize| match arm {
                HAVOC => true,
                TOKEN => tokens,
                FRESH => grammar,
                _ => trees,
            };
            let Some(arm) = self.bandit.draw(usable, &mut self.rng) else { break };
            let made = self.make(arm, at, origin, tree);
            let Some(making) = made.filter(|_| self.recent.is_new(&self.input)) else {
                let cost = if self.options.repeatable { UNRUN } else { 1.0 };
                self.bandit.learn(arm, cost, 0.0);
                continue;
            };
            let worth = self.execute(&making)?;
            self.bandit.learn(arm, worth.cost, worth.gain);
        }
        Ok(())
    }

    /// Makes an input in one way.
    fn make(&mut self, arm: usize, at: usize, origin: &[u8], tree: Option<&Tree>) -> Option<Making> {
        let longest = self.options.max_size;
        let op = self.bandit.arms()[arm].name;
        let (other, rep) = match arm {
            HAVOC | TOKEN => {
                self.input.clear();
                self.input.extend_from_slice(origin);
                if arm == TOKEN {
                    self.havoc.token(&mut self.input, &mut self.rng, longest)?;
                    (None, 1)
                } else {
                    let other = self.rng.below(self.corpus.len() as u32) as usize;
                    let bytes = self.corpus.known(other);
                    (Some(other), self.havoc.bytes(&mut self.input, bytes, &mut self.rng, longest))
                }
            }
            FRESH => {
                return self.make_fresh().then_some(Making::Mutation { from: None, other: None, op, rep: 1 });
            }
            _ => (None, self.mutate(Op::ALL[arm], tree?)?),
        };
        (self.input.len() <= longest).then_some(Making::Mutation { from: Some(at), other, op, rep })
    }

    /// Mutates a tree by some operations, the first of which is given; how
    /// many.
    fn mutate(&mut self, op: Op, tree: &Tree) -> Option<u32> {
        let structure = self.structure.as_mut()?;
        let (mut op, mut done) = (op, 0);
        let mut between: Option<Tree> = None;
        let mut whole = false;
        // A second operation takes a look at the whole tree.
        let large = tree.derivation().len() > STACKED;
        let stack = if large { 1 } else { STACKS[self.rng.below(STACKS.len() as u32) as usize] };
        for left in (0..stack).rev() {
            let from = between.as_ref().unwrap_or(tree);
            // What fails may leave a part behind.
            whole = structure.mutator.mutate(op, from, &mut self.rng, &mut self.made).is_some();
            if whole {
                done += 1;
                if left > 0 {
                    between = Some(structure.mutator.tree(self.made.clone()).ok()?);
                }
            }
            op = Op::ALL[self.bandit.draw(|arm| arm < Op::ALL.len(), &mut self.rng)?];
        }
        let last = match &between {
            Some(tree) if !whole => tree.derivation(),
            None if !whole => return None,
            _ => &self.made,
        };
        structure.print(last, &mut self.input).then_some(done)
    }
}
