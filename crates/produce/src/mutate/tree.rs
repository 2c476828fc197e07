//! A derivation with what mutators look for in it.

use super::shape::Shape;
use std::ops::Range;
use wug_grammar::derivation::{Derivation, Event, Misfit, Place};
use wug_grammar::{BodyId, ClassId, RepeatId, RuleId};
use wug_random::Rng;

/// A derivation, and where in it something can be changed.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    derivation: Derivation,
    /// What it derives.
    text: Vec<u8>,
    /// Where in it each node begins and ends.
    spans: Vec<(u32, u32)>,
    /// Nodes whose body derives more than one text, by body.
    nodes: Vec<u32>,
    /// Where the nodes of each body begin; a last one behind all.
    groups: Vec<(BodyId, u32)>,
    /// Nodes with a node of the same body below them.
    recursive: Vec<u32>,
    repeats: Vec<(u32, RepeatId)>,
    leaves: Vec<(u32, Leaf)>,
}

/// A leaf that could be another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaf {
    /// A token of a rule.
    Token(RuleId),
    /// A member of a class of several.
    Member(ClassId),
}

impl Tree {
    /// Looks at a derivation of the shape's grammar.
    pub fn of(shape: &Shape, derivation: Derivation) -> Result<Tree, Misfit> {
        // The body in the upper half, the node in the lower: one number sorts fast.
        let mut found: Vec<u64> = Vec::new();
        let mut tree = Tree { spans: vec![(0, 0); derivation.len()], ..Tree::default() };
        // The innermost open node of each body, and what it hides.
        let mut open: Vec<Option<u32>> = vec![None; shape.grammar().body_count()];
        let mut hidden: Vec<(BodyId, Option<u32>)> = Vec::new();
        let mut is_body = Vec::with_capacity(64);
        let mut recursive = vec![false; derivation.len()];
        derivation.walk(shape.grammar(), |event| match event {
            Event::Enter(node, place) => {
                let node = node as u32;
                tree.spans[node as usize].0 = tree.text.len() as u32;
                is_body.push(matches!(place, Place::Body(_)));
                match place {
                    Place::Body(body) => {
                        if let Some(above) = open[body.index()] {
                            recursive[above as usize] = true;
                        }
                        hidden.push((body, open[body.index()].replace(node)));
                        if shape.is_varied(body) {
                            found.push(u64::from(body.0) << 32 | u64::from(node));
                        }
                    }
                    Place::Repeat(repeat) => tree.repeats.push((node, repeat)),
                    Place::Token(rule) => tree.leaves.push((node, Leaf::Token(rule))),
                    Place::Class(class) if shape.grammar().class(class).count() > 1 => {
                        tree.leaves.push((node, Leaf::Member(class)));
                    }
                    Place::Class(_) | Place::Literal(_) | Place::Skipped => {}
                }
            }
            Event::Bytes(bytes) => tree.text.extend_from_slice(bytes),
            Event::Leave(node) => {
                tree.spans[node].1 = tree.text.len() as u32;
                if let (Some(true), Some((body, before))) = (is_body.pop(), hidden.last().copied()) {
                    open[body.index()] = before;
                    hidden.pop();
                }
            }
        })?;
        found.sort_unstable();
        for (at, pair) in found.iter().enumerate() {
            let body = BodyId((pair >> 32) as u32);
            if tree.groups.last().is_none_or(|(last, _)| *last != body) {
                tree.groups.push((body, at as u32));
            }
        }
        tree.groups.push((BodyId(u32::MAX), found.len() as u32));
        tree.nodes = found.into_iter().map(|pair| pair as u32).collect();
        tree.recursive = (0..derivation.len() as u32).filter(|&node| recursive[node as usize]).collect();
        tree.derivation = derivation;
        Ok(tree)
    }

    /// The derivation.
    pub fn derivation(&self) -> &Derivation {
        &self.derivation
    }

    /// The input.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Where in the input some nodes, whole subtrees side by side, stand. The
    /// place of none is that before the node, or behind the one before it.
    pub(super) fn span(&self, nodes: &Range<usize>) -> Range<usize> {
        let (from, to) = match nodes.is_empty() {
            false => (self.spans[nodes.start].0, self.last_end(nodes)),
            true => match self.spans.get(nodes.start) {
                Some(span) => (span.0, span.0),
                None => (self.text.len() as u32, self.text.len() as u32),
            },
        };
        from as usize..to as usize
    }

    /// The end of the last of some subtrees side by side.
    fn last_end(&self, nodes: &Range<usize>) -> u32 {
        let mut at = nodes.start;
        loop {
            let next = self.derivation.end(at);
            if next >= nodes.end {
                return self.spans[at].1;
            }
            at = next;
        }
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.derivation.bytes()
            + self.text.len()
            + size_of_val(&self.spans[..])
            + size_of_val(&self.nodes[..])
            + size_of_val(&self.groups[..])
            + size_of_val(&self.recursive[..])
            + size_of_val(&self.repeats[..])
            + size_of_val(&self.leaves[..])
    }

    /// Some node with a body: half of the time any, half of the time one of
    /// any body, so that what is rare in the input is not rarely changed.
    pub(super) fn pick(&self, rng: &mut Rng) -> Option<(BodyId, usize)> {
        if rng.below(2) == 0 {
            let at = self.index(self.nodes.len(), rng)?;
            let group = self.groups.partition_point(|(_, first)| *first as usize <= at) - 1;
            return Some((self.groups[group].0, self.nodes[at] as usize));
        }
        let (body, nodes) = self.pick_group(rng)?;
        Some((body, nodes[rng.below(nodes.len() as u32) as usize] as usize))
    }

    /// The nodes of some body.
    pub(super) fn pick_group(&self, rng: &mut Rng) -> Option<(BodyId, &[u32])> {
        let at = self.index(self.groups.len().saturating_sub(1), rng)?;
        let ((body, first), (_, end)) = (self.groups[at], self.groups[at + 1]);
        Some((body, &self.nodes[first as usize..end as usize]))
    }

    /// All groups.
    pub(super) fn groups(&self) -> impl Iterator<Item = (BodyId, &[u32])> {
        self.groups.windows(2).map(|pair| (pair[0].0, &self.nodes[pair[0].1 as usize..pair[1].1 as usize]))
    }

    /// Some node with a node of its own body below it, and one of those.
    pub(super) fn pick_recursion(&self, shape: &Shape, rng: &mut Rng) -> Option<(usize, usize)> {
        use wug_grammar::derivation::Node;
        let outer = self.recursive[self.index(self.recursive.len(), rng)?] as usize;
        let body = |at: usize| match self.derivation.node(at) {
            Node::Alternative(alt) => Some(shape.body_of(alt)),
            _ => None,
        };
        let own = body(outer)?;
        let inside = || (outer + 1..self.derivation.end(outer)).filter(|&at| body(at) == Some(own));
        let inner = inside().nth(rng.below(inside().count().max(1) as u32) as usize)?;
        Some((outer, inner))
    }

    pub(super) fn pick_repeat(&self, rng: &mut Rng) -> Option<(usize, RepeatId)> {
        let (node, repeat) = self.repeats[self.index(self.repeats.len(), rng)?];
        Some((node as usize, repeat))
    }

    pub(super) fn pick_leaf(&self, rng: &mut Rng) -> Option<(usize, Leaf)> {
        let (node, leaf) = self.leaves[self.index(self.leaves.len(), rng)?];
        Some((node as usize, leaf))
    }

    /// The leaves that could be others.
    pub fn leaves(&self) -> impl Iterator<Item = (usize, Leaf)> + '_ {
        self.leaves.iter().map(|(node, leaf)| (*node as usize, *leaf))
    }

    /// The place of some node of at most so many bytes.
    pub fn pick_span(&self, most: usize, rng: &mut Rng) -> Option<Range<usize>> {
        (0..8).find_map(|_| {
            let (start, end) = self.spans[self.index(self.spans.len(), rng)?];
            (1..=most as u32).contains(&(end - start)).then_some(start as usize..end as usize)
        })
    }

    /// What a node is, if it is a leaf that could be another.
    pub fn leaf(&self, node: usize) -> Option<Leaf> {
        let at = self.leaves.binary_search_by_key(&(node as u32), |(node, _)| *node).ok()?;
        Some(self.leaves[at].1)
    }

    fn index(&self, len: usize, rng: &mut Rng) -> Option<usize> {
        (len > 0).then(|| rng.below(len as u32) as usize)
    }
}
