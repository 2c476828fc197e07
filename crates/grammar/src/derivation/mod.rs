//! How a grammar derives an input: the tree, in one array.
//!
//! In:  nodes in preorder, from a parser or a producer.
//! Out: the exact bytes again, the span of every node, and the tree with a
//!      subtree replaced.
//!
//! A node is eight bytes: what was chosen, and how far its subtree goes.
//! Each body that is derived (of a rule, a group or one round of a
//! repetition) has a node for its alternative; a repetition has one with
//! its count, a member of a class one with its value. Literals need none:
//! the alternative says them. In a grammar with tokens each token is a
//! leaf, literals too, and what is skipped before it is a leaf of its own;
//! their bytes, which no choice determines, are kept beside the nodes.
//!
//! A tree of boxes was rejected: a derivation has a node or more for each
//! byte of an input.

mod build;
mod edit;
mod walk;

pub use build::{Backwards, Forwards};
pub use edit::Part;
pub use walk::{Event, Place};

use crate::arena::AltId;
use crate::ir::{Grammar, RuleId};
use std::ops::Range;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// An alternative of a body.
    Alternative(AltId),
    /// A repetition, with its count.
    Repeat(u32),
    /// A member of a class.
    Member(u32),
    /// A token of this many bytes.
    Token(u32),
    /// This many bytes of skipped tokens, before a token or at the end.
    Skipped(u32),
}

impl Node {
    /// Whether nothing can be below it.
    pub fn is_leaf(self) -> bool {
        !matches!(self, Node::Alternative(_) | Node::Repeat(_))
    }
}

/// Two words: a kind and its number in one, the size of the subtree or the
/// bytes of a leaf in the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packed {
    what: u32,
    size: u32,
}

const KIND: u32 = 29;
/// The largest number that a node can hold: of an alternative, a count or a
/// length.
pub const MAX_NUMBER: u32 = (1 << KIND) - 1;

impl Packed {
    fn new(node: Node, size: u32) -> Packed {
        let (kind, number, size) = match node {
            Node::Alternative(alt) => (0, alt.0, size),
            Node::Repeat(count) => (1, count, size),
            Node::Member(value) => (2, value, 1),
            Node::Token(bytes) => (3, bytes, 1),
            Node::Skipped(bytes) => (4, bytes, 1),
        };
        Packed { what: kind << KIND | number & MAX_NUMBER, size }
    }

    fn node(self) -> Node {
        let number = self.what & MAX_NUMBER;
        match self.what >> KIND {
            0 => Node::Alternative(AltId(number)),
            1 => Node::Repeat(number),
            2 => Node::Member(number),
            3 => Node::Token(number),
            _ => Node::Skipped(number),
        }
    }
}

/// A derivation of one input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Derivation {
    nodes: Vec<Packed>,
    /// The bytes of tokens and of what is skipped, in order.
    text: Vec<u8>,
}

/// The nodes are no derivation of this grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The first node that does not fit.
    pub node: usize,
}

impl Derivation {
    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node; no derivation of an input is so.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Bytes that it takes: eight for each node, and the texts of tokens.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.nodes[..]) + self.text.len()
    }

    /// A node. They are numbered in preorder; 0 is the start.
    pub fn node(&self, at: usize) -> Node {
        self.nodes[at].node()
    }

    /// A node, if there is one with this number.
    #[inline]
    pub fn get(&self, at: usize) -> Option<Node> {
        self.nodes.get(at).map(|packed| packed.node())
    }

    /// The bytes of all tokens and of what is skipped, in order.
    pub fn texts(&self) -> &[u8] {
        &self.text
    }

    /// The number behind the last node of the subtree of `at`.
    pub fn end(&self, at: usize) -> usize {
        at + self.nodes[at].size as usize
    }

    /// The nodes right below `at`, in order.
    pub fn children(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let (mut next, end) = (at + 1, self.end(at));
        std::iter::from_fn(move || {
            let child = Some(next).filter(|&next| next < end)?;
            next = self.end(child);
            Some(child)
        })
    }

    /// The nodes above `at`, outermost first.
    pub fn above(&self, at: usize) -> Vec<usize> {
        let mut path = Vec::new();
        let mut from = 0;
        while from < at {
            if self.end(from) > at {
                path.push(from);
                from += 1;
            } else {
                from = self.end(from);
            }
        }
        path
    }

    /// The input.
    pub fn print(&self, grammar: &Grammar, out: &mut Vec<u8>) -> Result<(), Misfit> {
        self.print_from(grammar, grammar.start(), out)
    }

    /// The input of a derivation that begins with `rule`.
    pub fn print_from(&self, grammar: &Grammar, rule: RuleId, out: &mut Vec<u8>) -> Result<(), Misfit> {
        self.walk_from(grammar, rule, |event| {
            if let Event::Bytes(bytes) = event {
                out.extend_from_slice(bytes);
            }
        })
    }

    /// The stretch of the input that each node derives. What is skipped
    /// before the first token of a node belongs to it.
    pub fn spans(&self, grammar: &Grammar) -> Result<Vec<Range<usize>>, Misfit> {
        let mut spans = vec![0..0; self.nodes.len()];
        let mut at = 0;
        self.walk(grammar, |event| match event {
            Event::Enter(node, _) => spans[node].start = at,
            Event::Bytes(bytes) => at += bytes.len(),
            Event::Leave(node) => spans[node].end = at,
        })?;
        Ok(spans)
    }
}
