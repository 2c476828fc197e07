//! Another alternative in the place of one, with the children that fit.

use super::draw::Bounds;
use super::edit::{Edit, With};
use super::{FRESH_DEPTH, FRESH_NODES, MAX_NODES, Mutator, Tree};
use wug_grammar::derivation::{Derivation, Forwards, Node};
use wug_grammar::{AltId, BodyId, Symbol};
use wug_random::Rng;

/// Nodes that are looked at for one that fits.
const LOOKED_AT: usize = 512;

impl Mutator {
    pub(super) fn exchange(&mut self, tree: &Tree, rng: &mut Rng) -> Option<Edit> {
        let derivation = tree.derivation();
        // A body with one alternative has no other.
        for _ in 0..4 {
            let (body, at) = tree.pick(rng)?;
            let Node::Alternative(old) = derivation.node(at) else { return None };
            let Some(new) = self.other(body, old, rng) else { continue };
            self.build(derivation, at, new, rng)?;
            return Some(Edit::subtree(tree, at, With::Part(body)));
        }
        None
    }

    /// Some alternative of a body but this one.
    fn other(&self, body: BodyId, old: AltId, rng: &mut Rng) -> Option<AltId> {
        let offered = self.shape.offered(body);
        let others = offered.len().checked_sub(usize::from(offered.contains(&old)))?;
        let drawn = (others > 0).then(|| rng.below(others as u32) as usize)?;
        offered.iter().filter(|&&alt| alt != old).nth(drawn).copied()
    }

    /// Writes the alternative `new` to `part`, with what fits of the node.
    fn build(&mut self, derivation: &Derivation, at: usize, new: AltId, rng: &mut Rng) -> Option<()> {
        let Mutator { shape, lexemes, draw, part, .. } = self;
        let bounds = Bounds { depth: rng.below(FRESH_DEPTH), nodes: 1 + rng.below(FRESH_NODES / 4) as usize };
        let end = derivation.end(at).min(at + LOOKED_AT);
        // Each child is used at most once, in order.
        let mut from = at + 1;
        let mut build = Forwards::new(part);
        let mark = build.open(Node::Alternative(new));
        for symbol in shape.grammar().symbols(new) {
            let wanted = match *symbol {
                Symbol::Rule(rule) if !shape.grammar().rule(rule).is_token() => {
                    Some(shape.grammar().rule(rule).body)
                }
                _ => None,
            };
            let fits = |&node: &usize| match derivation.node(node) {
                Node::Alternative(alt) => Some(shape.body_of(alt)) == wanted,
                _ => false,
            };
            let found = wanted.and_then(|_| (from..end).find(fits));
            match found {
                Some(child) => {
                    build.graft(derivation, child..derivation.end(child));
                    from = derivation.end(child).min(end);
                }
                None => draw.symbol((&*shape, &mut *lexemes), *symbol, bounds, rng, &mut build)?,
            }
            if build.len() > MAX_NODES {
                return None;
            }
        }
        build.close(mark);
        Some(())
    }
}
