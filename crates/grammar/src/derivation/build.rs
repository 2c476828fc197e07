//! Building derivations.

use super::{Derivation, Node, Packed};

/// Builds a [`Derivation`] backwards: last node first, each node after all
/// that is below it. So the size of every subtree is known when its node
/// is written, and nothing needs to be moved.
#[derive(Debug, Default)]
pub struct Backwards {
    nodes: Vec<Packed>,
    text: Vec<u8>,
}

impl Backwards {
    /// How many nodes there are so far: the mark to close a subtree with.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is none yet.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Writes a leaf without bytes of its own.
    #[inline]
    pub fn member(&mut self, value: u32) {
        self.nodes.push(Packed::new(Node::Member(value), 1));
    }

    /// Writes a token or what is skipped before one.
    pub fn leaf(&mut self, text: &[u8], skipped: bool) {
        let bytes = text.len() as u32;
        self.nodes.push(Packed::new(if skipped { Node::Skipped(bytes) } else { Node::Token(bytes) }, 1));
        self.text.extend(text.iter().rev());
    }

    /// Writes a node above all that was written since `mark`.
    #[inline]
    pub fn close(&mut self, node: Node, mark: usize) {
        let size = (self.nodes.len() - mark + 1) as u32;
        self.nodes.push(Packed::new(node, size));
    }

    /// The derivation.
    pub fn finish(mut self) -> Derivation {
        self.nodes.reverse();
        self.text.reverse();
        Derivation { nodes: self.nodes, text: self.text }
    }
}

/// Builds a [`Derivation`] forwards, into one that is used again.
#[derive(Debug)]
pub struct Forwards<'a> {
    into: &'a mut Derivation,
}

impl<'a> Forwards<'a> {
    /// Begins anew in `into`.
    pub fn new(into: &'a mut Derivation) -> Forwards<'a> {
        into.nodes.clear();
        into.text.clear();
        Forwards { into }
    }

    /// How many nodes there are so far.
    pub fn len(&self) -> usize {
        self.into.nodes.len()
    }

    /// Whether there is none yet.
    pub fn is_empty(&self) -> bool {
        self.into.nodes.is_empty()
    }

    /// Begins a node; the mark to close it with.
    #[inline]
    pub fn open(&mut self, node: Node) -> usize {
        self.into.nodes.push(Packed::new(node, 1));
        self.into.nodes.len() - 1
    }

    /// Ends the node that began at `mark`: all that came since is below it.
    #[inline]
    pub fn close(&mut self, mark: usize) {
        self.into.nodes[mark].size = (self.into.nodes.len() - mark) as u32;
    }

    /// Writes a member of a class.
    #[inline]
    pub fn member(&mut self, value: u32) {
        self.into.nodes.push(Packed::new(Node::Member(value), 1));
    }

    /// Writes a token or what is skipped before one.
    pub fn leaf(&mut self, text: &[u8], skipped: bool) {
        let bytes = text.len() as u32;
        self.into.nodes.push(Packed::new(if skipped { Node::Skipped(bytes) } else { Node::Token(bytes) }, 1));
        self.into.text.extend_from_slice(text);
    }

    /// Says how often a repetition that began comes.
    pub fn set_count(&mut self, at: usize, count: u32) {
        self.into.set_count(at, count);
    }

    /// Takes back all but the first so many nodes, none of which is a leaf
    /// with a text.
    pub fn truncate(&mut self, nodes: usize) {
        self.into.nodes.truncate(nodes);
    }

    /// Writes whole subtrees of another derivation.
    pub fn graft(&mut self, other: &Derivation, nodes: std::ops::Range<usize>) {
        let text = other.text_range(nodes.clone());
        self.into.nodes.extend_from_slice(&other.nodes[nodes]);
        self.into.text.extend_from_slice(&other.text[text]);
    }
}
