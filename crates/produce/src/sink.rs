//! Where an input goes while it is drawn: its bytes, or its derivation.
//!
//! In:  literals, members of classes, tokens, and where nodes begin and end,
//!      in the order of the input.
//! Out: bytes in a `Vec<u8>`; nodes of a derivation, for mutators.
//!
//! Drawing is the same for both ([`crate::choices`]): the same random bits give
//! the bytes and the derivation of the same input. What nodes need and bytes do
//! not is left out at compile time ([`Sink::NODES`]).

use wug_grammar::derivation::Node;
use wug_grammar::{Class, RuleId};
use wug_random::Rng;

/// Takes what is drawn.
pub trait Sink {
    /// Whether it is told where nodes begin and end, and what is empty.
    const NODES: bool;

    /// Bytes so far.
    fn len(&self) -> usize;

    /// Whether nothing came yet.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A literal.
    fn literal(&mut self, bytes: &[u8]);

    /// The member of a class with this number.
    fn member(&mut self, class: &Class, index: u32);

    /// A token of a rule, if it is a leaf here; whether it is. Else its rule is
    /// walked as any other.
    fn token(&mut self, _: RuleId, _: &mut Rng) -> bool {
        false
    }

    /// A node begins.
    fn open(&mut self, _: Node) {}

    /// The node that began last ends.
    fn close(&mut self) {}

    /// Takes back all but the first so many bytes, and what belongs to them:
    /// the number of nodes was `nodes` then, all of which are open.
    fn truncate(&mut self, bytes: usize, nodes: usize);

    /// Nodes so far.
    fn nodes(&self) -> usize {
        0
    }

    /// Whether it is large enough: from here on nothing is chosen freely.
    fn full(&self) -> bool {
        false
    }

    /// Whether no input comes of it.
    fn failed(&self) -> bool {
        false
    }
}

impl Sink for Vec<u8> {
    const NODES: bool = false;

    fn len(&self) -> usize {
        self.len()
    }

    fn literal(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    fn member(&mut self, class: &Class, index: u32) {
        class.emit(index, self);
    }

    fn truncate(&mut self, bytes: usize, _: usize) {
        self.truncate(bytes);
    }
}
