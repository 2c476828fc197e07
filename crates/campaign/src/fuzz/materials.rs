//! Materials: what mutators make inputs of, besides the entry itself.
//!
//! The grammar's structure, the dictionary, what was learned from entries, the
//! random generator, and the share of inputs that may leave the language.

use super::lessons::Lessons;
use super::{Mutators, Options};
use crate::havoc::Havoc;
use crate::structure::Structure;
use wug_produce::mutate::Tree;
use wug_random::Rng;

/// What all mutators of a campaign share.
pub(crate) struct Materials<'a> {
    /// The source of all random choices.
    pub rng: Rng,
    /// By the grammar, if there is one.
    pub structure: Option<Structure<'a>>,
    /// Changes bytes, and holds the dictionary.
    pub havoc: Havoc,
    /// Structure learned from entries, if it is to be.
    pub lessons: Option<Lessons>,
    /// Which inputs may leave the language.
    pub share: Share,
    /// Which structural mutators are used.
    pub mutators: Mutators,
    /// No input is longer than this many bytes.
    pub max_size: usize,
}

impl<'a> Materials<'a> {
    pub fn new(options: &Options, structure: Option<Structure<'a>>) -> Materials<'a> {
        let by_grammar = structure.is_some();
        Materials {
            rng: Rng::new(options.seed, 0),
            share: Share::new(if by_grammar { options.invalid } else { 1.0 }),
            lessons: options.generalise.then(|| Lessons::new(by_grammar)),
            structure,
            havoc: Havoc::default(),
            mutators: options.mutators,
            max_size: options.max_size,
        }
    }

    /// Adds a token to the dictionary.
    pub fn learn_token(&mut self, token: &[u8]) {
        if self.havoc.add_token(token)
            && let Some(structure) = &mut self.structure
        {
            structure.mutator.learn_text(token, &mut self.rng);
        }
    }

    /// Replaces `out` by a generated input; whether there is one that is not
    /// too long.
    pub fn generate(&mut self, out: &mut Vec<u8>) -> bool {
        let Some(structure) = &mut self.structure else { return false };
        structure.generate(&mut self.rng, out) && out.len() <= self.max_size
    }

    /// The tree of an entry that is about to be kept. Its subtrees can be
    /// spliced into others from now on.
    pub fn learn_tree(&mut self, input: &[u8]) -> Option<Tree> {
        let structure = self.structure.as_mut()?;
        let tree = structure.parse(input).ok()?;
        structure.mutator.learn(&tree, &mut self.rng);
        Some(tree)
    }
}

/// The share of inputs that may have left the language, among those made of
/// entries that the grammar derives.
#[derive(Debug)]
pub(crate) struct Share {
    most: f64,
    left: u64,
    all: u64,
}

impl Share {
    /// At most this share.
    pub fn new(most: f64) -> Share {
        Share { most, left: 0, all: 0 }
    }

    /// Whether an input of an entry, which parses or not, may leave the
    /// language.
    pub fn permits(&self, parses: bool) -> bool {
        !parses || (self.left as f64) < self.most * (self.all + 1) as f64
    }

    /// Counts an input of an entry that parses.
    pub fn count(&mut self, stays: bool) {
        self.all += 1;
        self.left += u64::from(!stays);
    }
}
