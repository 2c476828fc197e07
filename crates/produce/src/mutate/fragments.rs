//! Subtrees of other inputs, by what they derive.

use super::shape::Shape;
use super::tree::Tree;
use wug_grammar::BodyId;
use wug_grammar::derivation::{Derivation, Forwards};
use wug_random::Rng;

/// Fragments of a body that are kept; beyond, a new one takes the place of
/// some other.
const KEPT: usize = 128;
/// Fragments taken from one body of one input.
const TAKEN: usize = 4;
/// Nodes of a fragment at most.
const LARGEST: usize = 2048;
/// Bytes of all fragments at most; beyond, only the places of others are
/// taken.
const BYTES: usize = 64 << 20;

/// What can be put in the place of a node.
#[derive(Debug)]
pub(super) struct Fragments {
    of_body: Vec<Vec<Fragment>>,
    bytes: usize,
}

/// A subtree, and what it derives.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fragment {
    pub derivation: Derivation,
    pub text: Box<[u8]>,
}

impl Fragment {
    fn bytes(&self) -> usize {
        self.derivation.bytes() + self.text.len()
    }
}

impl Fragments {
    pub fn new(shape: &Shape) -> Fragments {
        Fragments { of_body: vec![Vec::new(); shape.grammar().body_count()], bytes: 0 }
    }

    /// Some fragment of a body.
    pub fn draw(&self, body: BodyId, rng: &mut Rng) -> Option<usize> {
        let known = &self.of_body[body.index()];
        (!known.is_empty()).then(|| rng.below(known.len() as u32) as usize)
    }

    /// The one that was drawn.
    pub fn get(&self, body: BodyId, at: usize) -> &Fragment {
        &self.of_body[body.index()][at]
    }

    /// Keeps some of the subtrees of an input.
    pub fn learn(&mut self, tree: &Tree, rng: &mut Rng) {
        let derivation = tree.derivation();
        for (body, nodes) in tree.groups() {
            for _ in 0..TAKEN.min(nodes.len()) {
                let at = nodes[rng.below(nodes.len() as u32) as usize] as usize;
                let end = derivation.end(at);
                if end - at > LARGEST {
                    continue;
                }
                let mut part = Derivation::default();
                Forwards::new(&mut part).graft(derivation, at..end);
                let text = tree.text()[tree.span(&(at..end))].into();
                self.keep(body, Fragment { derivation: part, text }, rng);
            }
        }
    }

    fn keep(&mut self, body: BodyId, fragment: Fragment, rng: &mut Rng) {
        let known = &mut self.of_body[body.index()];
        if known.contains(&fragment) {
            return;
        }
        if known.len() < KEPT && self.bytes + fragment.bytes() <= BYTES {
            self.bytes += fragment.bytes();
            known.push(fragment);
        } else if !known.is_empty() {
            let place = rng.below(known.len() as u32) as usize;
            let after = self.bytes - known[place].bytes() + fragment.bytes();
            if after <= BYTES {
                self.bytes = after;
                known[place] = fragment;
            }
        }
    }
}
