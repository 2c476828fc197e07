//! The tree that is reduced, and attempts to put a smaller one in its place.

use super::Reducer;
use super::trial::{Stop, Trial};
use super::wraps::Wraps;
use crate::lexemes::{Layout, Spacing};
use std::collections::HashMap;
use std::rc::Rc;
use wug_grammar::derivation::{Event, Node, Part, Place};
use wug_grammar::{BodyId, Derivation, Grammar, RuleId};

/// A derivation with its bytes, and facts about each node.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub derivation: Derivation,
    pub bytes: Vec<u8>,
    pub facts: Vec<Fact>,
}

/// What is known of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fact {
    pub place: Place,
    /// The node above; itself at the top.
    pub parent: u32,
    /// Where its bytes begin, and how many there are.
    pub start: u32,
    pub size: u32,
    /// The nearest node above of the same body, and the largest below whose
    /// nearest one this is; [`NONE`] without.
    pub same_above: u32,
    pub same_below: u32,
}

/// No node.
pub(super) const NONE: u32 = u32::MAX;

impl Tree {
    /// The body that a node derives, if it does.
    pub fn body(&self, at: usize) -> Option<BodyId> {
        match self.facts[at].place {
            Place::Body(body) => Some(body),
            _ => None,
        }
    }

    pub fn size(&self, at: usize) -> usize {
        self.facts[at].size as usize
    }

    /// The bytes of a node.
    pub fn text(&self, at: usize) -> &[u8] {
        &self.bytes[self.facts[at].start as usize..][..self.size(at)]
    }

    /// Sets what is known of each node.
    fn index(&mut self, grammar: &Grammar, rule: RuleId) {
        let (same_above, same_below) = (NONE, NONE);
        let none = Fact { place: Place::Skipped, parent: 0, start: 0, size: 0, same_above, same_below };
        self.facts.clear();
        self.facts.resize(self.derivation.len(), none);
        let (facts, mut at, mut above) = (&mut self.facts, 0, Vec::new());
        // The innermost node of each body that is open.
        let mut open = vec![NONE; grammar.body_count()];
        // It was printed, so it fits.
        let _ = self.derivation.walk_from(grammar, rule, |event| match event {
            Event::Enter(node, place) => {
                let parent = above.last().copied().unwrap_or(node as u32);
                facts[node] = Fact { place, parent, start: at, ..none };
                above.push(node as u32);
                if let Place::Body(body) = place {
                    facts[node].same_above = std::mem::replace(&mut open[body.index()], node as u32);
                }
            }
            Event::Bytes(bytes) => at += bytes.len() as u32,
            Event::Leave(node) => {
                facts[node].size = at - facts[node].start;
                above.pop();
                if let Place::Body(body) = facts[node].place {
                    let outer = facts[node].same_above;
                    open[body.index()] = outer;
                    if outer != NONE {
                        let largest = facts[outer as usize].same_below;
                        if largest == NONE || facts[largest as usize].size < facts[node].size {
                            facts[outer as usize].same_below = node as u32;
                        }
                    }
                }
            }
        });
    }
}

/// A search for smaller trees.
pub(super) struct Search<'a, 'g, 't> {
    pub reducer: &'a Reducer<'g>,
    pub trial: &'a mut Trial<'t>,
    pub rule: RuleId,
    pub tree: Tree,
    pub wraps: HashMap<BodyId, Rc<Wraps>>,
    layout: Layout,
    out: Vec<u8>,
    /// Space for candidates.
    pub candidate: Derivation,
    pub part: Derivation,
}

impl<'a, 'g, 't> Search<'a, 'g, 't> {
    /// `None` if the derivation is none of the rule.
    pub fn new(
        reducer: &'a Reducer<'g>,
        trial: &'a mut Trial<'t>,
        rule: RuleId,
        derivation: Derivation,
    ) -> Option<Search<'a, 'g, 't>> {
        let (layout, out) = (Layout::default(), Vec::new());
        let mut tree = Tree { derivation, ..Tree::default() };
        tree.derivation.print_from(reducer.grammar(), rule, &mut tree.bytes).ok()?;
        tree.index(reducer.grammar(), rule);
        let (candidate, part) = (Derivation::default(), Derivation::default());
        Some(Search { reducer, trial, rule, tree, wraps: HashMap::new(), layout, out, candidate, part })
    }

    /// Tries a derivation; if it is shorter and of interest, it is the tree.
    pub fn attempt(&mut self, candidate: &Derivation, spacing: Spacing) -> Result<bool, Stop> {
        let printer = &self.reducer.printer;
        self.trial.spend(candidate.len() + self.tree.bytes.len())?;
        self.out.clear();
        let printed = printer.print_from(self.rule, candidate, spacing, &mut self.layout, &mut self.out);
        if printed.is_none() || self.out.len() >= self.tree.bytes.len() || !self.trial.test(&self.out)? {
            return Ok(false);
        }
        self.tree.derivation = printer.respaced(candidate, &self.layout);
        std::mem::swap(&mut self.tree.bytes, &mut self.out);
        self.tree.index(printer.grammar(), self.rule);
        Ok(true)
    }

    /// Tries the tree with the subtree of `at` replaced by `self.part`.
    pub fn attempt_part(&mut self, at: usize) -> Result<bool, Stop> {
        let mut candidate = std::mem::take(&mut self.candidate);
        let tree = &self.tree;
        let parent = Some(tree.facts[at].parent as usize).filter(|&parent| parent != at);
        let whole = Part { of: &self.part, nodes: 0..self.part.len() };
        tree.derivation.rebuild(parent, at..tree.derivation.end(at), &[whole], &mut candidate);
        let done = self.attempt(&candidate, Spacing::Keep);
        self.candidate = candidate;
        done
    }

    /// How many nodes a replacement may have.
    pub fn most(&self) -> usize {
        4 * self.tree.derivation.len() + 1_000
    }

    /// Alternatives and repetitions with bytes, the largest first.
    pub fn order(&self) -> Vec<u32> {
        let inner = |&at: &u32| {
            let node = self.tree.derivation.node(at as usize);
            matches!(node, Node::Alternative(_) | Node::Repeat(_)) && self.tree.size(at as usize) > 0
        };
        let mut order: Vec<u32> = (0..self.tree.derivation.len() as u32).filter(inner).collect();
        order.sort_by_key(|&at| (std::cmp::Reverse(self.tree.size(at as usize)), at));
        order
    }
}
