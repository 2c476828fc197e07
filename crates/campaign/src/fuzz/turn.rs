//! An entry's turn: inputs made of it.

use super::execute::Making;
use super::learn::Learned;
use super::ways::Way;
use super::{Campaign, Error, Mutators};
use crate::structure::Structure;
use wug_produce::mutate::{Op, Tree};
use wug_random::hash;

/// Inputs made in a turn. GRIMOIRE makes 512 to 1,024; with 768, three
/// campaigns on expat without a grammar reached 1,365 to 1,614 edges in 250,000
/// runs, with 128 they reached 1,577 to 1,621.
const INPUTS: usize = 128;
/// What it costs to make an input that is not run, in runs.
const UNRUN: f64 = 0.1;
/// Operations on one tree, each as likely as it stands here.
const STACKS: [u32; 4] = [1, 1, 2, 4];

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

/// How many of the inputs made of entries that parse may have left the
/// language.
#[derive(Debug)]
pub(super) struct Share {
    /// At most.
    most: f64,
    careless: u64,
    all: u64,
}

impl Share {
    pub fn new(most: f64) -> Share {
        Share { most, careless: 0, all: 0 }
    }

    /// Whether an input of an entry may leave the language.
    pub fn permits(&self, parses: bool) -> bool {
        !parses || (self.careless as f64) < self.most * (self.all + 1) as f64
    }

    /// Counts an input of an entry that parses.
    pub fn count(&mut self, keeps: bool) {
        self.all += 1;
        self.careless += u64::from(!keeps);
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
        if let Some(structure) = &mut self.structure {
            structure.begin_walk(&origin);
        }
        let outcome = self.inputs_of(at, &origin, tree.as_ref());
        self.corpus.put_tree(at, tree);
        outcome
    }

    fn inputs_of(&mut self, at: usize, origin: &[u8], tree: Option<&Tree>) -> Result<(), Error> {
        for _ in 0..INPUTS {
            if self.is_over() {
                break;
            }
            let Some(arm) = self.draw_way(at, origin, tree.is_some()) else { break };
            let made = self.make(Way::of(arm), at, origin, tree)?;
            let making_cost = std::mem::take(&mut self.making_cost);
            let Some(making) = made.filter(|_| self.recent.is_new(&self.input)) else {
                let cost = if self.options.repeatable { UNRUN } else { 1.0 };
                self.bandit.learn(arm, making_cost + cost, 0.0);
                continue;
            };
            self.submit(arm, making_cost, making)?;
        }
        self.run_waiting()
    }

    /// Draws a way to make an input of an entry.
    fn draw_way(&mut self, at: usize, origin: &[u8], parses: bool) -> Option<usize> {
        let (grammar, tokens) = (self.structure.is_some(), !self.havoc.tokens().is_empty());
        let has_tokens = self.structure.as_ref().is_some_and(Structure::has_tokens);
        let (careless, operands) = (self.share.permits(parses), self.has_operands(at, origin));
        let (form, links, strings) = self.lessons(at, origin);
        let nests = self.learned.as_ref().is_some_and(Learned::nests);
        let walks = parses && self.structure.as_ref().is_some_and(Structure::has_walk);
        let (spot, aggressive) = match self.options.mutators {
            Mutators::Both => (true, true),
            Mutators::Spot => (true, false),
            // An entry that has no walk is mutated all the same.
            Mutators::Aggressive => (!walks, true),
        };
        let usable = |arm: usize| match Way::of(arm) {
            Way::Extend | Way::Fill => careless && form,
            Way::Nest => careless && form && nests,
            Way::Strings => careless && strings,
            Way::Rename => careless && links,
            Way::Tree(_) => parses && spot,
            Way::Walk(_) => walks && aggressive,
            Way::Leaf => parses && (careless || has_tokens),
            Way::Operand => operands,
            Way::Havoc => careless,
            Way::Token => careless && tokens,
            Way::Generate => grammar,
        };
        self.bandit.draw(usable, &mut self.rng)
    }

    /// Makes an input in one way.
    fn make(
        &mut self,
        way: Way,
        at: usize,
        origin: &[u8],
        tree: Option<&Tree>,
    ) -> Result<Option<Making>, Error> {
        let longest = self.options.max_size;
        let (mut other, mut keeps) = (None, false);
        let rep = match way {
            Way::Havoc => {
                self.input.clear();
                self.input.extend_from_slice(origin);
                let second = self.rng.below(self.corpus.len() as u32) as usize;
                other = Some(second);
                let bytes = self.corpus.known(second);
                Some(self.havoc.bytes(&mut self.input, bytes, &mut self.rng, longest))
            }
            Way::Token => {
                self.input.clear();
                self.input.extend_from_slice(origin);
                self.havoc.token(&mut self.input, &mut self.rng, longest).map(|()| 1)
            }
            Way::Extend => self.extend(at),
            Way::Fill => self.fill(at),
            Way::Nest => self.nest(at),
            Way::Strings => self.replace_string(origin),
            Way::Rename => self.rename(at),
            Way::Generate => {
                let making = Making::Mutation { from: None, other: None, op: way.name(), rep: 1 };
                return Ok(self.make_fresh().then_some(making));
            }
            Way::Tree(op) => {
                keeps = true;
                tree.and_then(|tree| self.mutate(op, tree))
            }
            Way::Walk(op) => {
                keeps = true;
                let structure = self.structure.as_mut().filter(|_| tree.is_some());
                structure.and_then(|one| one.walk(op, &mut self.rng, longest, &mut self.input).then_some(1))
            }
            Way::Leaf => tree.and_then(|tree| self.change_leaf(origin, tree)).map(|valid| {
                keeps = valid;
                1
            }),
            Way::Operand => self.put_operand(at, origin, tree)?.map(|valid| {
                keeps = valid;
                1
            }),
        };
        let Some(rep) = rep.filter(|_| self.input.len() <= longest) else { return Ok(None) };
        if tree.is_some() {
            self.share.count(keeps);
        }
        Ok(Some(Making::Mutation { from: Some(at), other, op: way.name(), rep }))
    }

    /// Mutates a tree by some operations, the first of which is given; how
    /// many.
    fn mutate(&mut self, op: Op, tree: &Tree) -> Option<u32> {
        let mut op = op;
        let stack = STACKS[self.rng.below(STACKS.len() as u32) as usize];
        let structure = self.structure.as_mut()?;
        if !structure.can_patch() {
            structure.mutator.mutate(op, tree, &mut self.rng, &mut self.made)?;
            return structure.print(&self.made, &mut self.input).then_some(1);
        }
        for done in 1..=stack {
            structure.patch(op, tree, &mut self.rng);
            if done < stack {
                let is_op = |arm: usize| matches!(Way::of(arm), Way::Tree(_));
                let Way::Tree(next) = Way::of(self.bandit.draw(is_op, &mut self.rng)?) else { break };
                op = next;
            }
        }
        structure.patched(tree, &mut self.input)
    }
}
