//! Derivations with parts replaced.

use super::{Backwards, Derivation, Node, Packed};
use std::ops::Range;

/// Whole subtrees of a derivation, side by side.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// The derivation.
    pub of: &'a Derivation,
    /// Their nodes.
    pub nodes: Range<usize>,
}

impl<'a> Part<'a> {
    /// The subtree of one node.
    pub fn subtree(of: &'a Derivation, at: usize) -> Part<'a> {
        Part { of, nodes: at..of.end(at) }
    }
}

impl Derivation {
    /// The same with the subtree of `at` replaced by that of `from` in
    /// `other`, which derives the same rule, group or symbol.
    pub fn replaced(&self, at: usize, other: &Derivation, from: usize) -> Derivation {
        let mut out = Derivation::default();
        self.rebuild(self.parent(at), at..self.end(at), &[Part::subtree(other, from)], &mut out);
        out
    }

    /// The node right above `at`.
    pub fn parent(&self, at: usize) -> Option<usize> {
        let mut parent = None;
        let mut from = 0;
        while from < at {
            if self.end(from) > at {
                parent = Some(from);
                from += 1;
            } else {
                from = self.end(from);
            }
        }
        parent
    }

    /// Writes to `out` the same with `cut`, whole subtrees side by side below
    /// `parent`, replaced by `parts`. The counts of repetitions stay as they
    /// are; see [`Derivation::set_count`].
    pub fn rebuild(
        &self,
        parent: Option<usize>,
        cut: Range<usize>,
        parts: &[Part<'_>],
        out: &mut Derivation,
    ) {
        out.nodes.clear();
        out.nodes.extend_from_slice(&self.nodes[..cut.start]);
        let owned = self.text_range(cut.clone());
        out.text.clear();
        out.text.extend_from_slice(&self.text[..owned.start]);
        for part in parts {
            out.nodes.extend_from_slice(&part.of.nodes[part.nodes.clone()]);
            out.text.extend_from_slice(&part.of.text[part.of.text_range(part.nodes.clone())]);
        }
        let put = out.nodes.len() - cut.start;
        out.nodes.extend_from_slice(&self.nodes[cut.end..]);
        out.text.extend_from_slice(&self.text[owned.end..]);
        let Some(parent) = parent else { return };
        let mut from = 0;
        while from <= parent {
            let end = self.end(from);
            if end > parent {
                out.nodes[from].size = (end - from + put - cut.len()) as u32;
                from += 1;
            } else {
                from = end;
            }
        }
    }

    /// The same with other bytes skipped: `gap` gives those before each
    /// token, by its place among them, and last those at the end.
    pub fn respaced<'a>(&self, gap: impl Fn(usize) -> &'a [u8]) -> Derivation {
        let count = |nodes: &[Packed]| nodes.iter().filter(|p| matches!(p.node(), Node::Token(_))).count();
        let (mut token, mut text) = (count(&self.nodes), self.text.len());
        let mut out = Backwards::default();
        let skip = |out: &mut Backwards, token| {
            let bytes = gap(token);
            if !bytes.is_empty() {
                out.leaf(bytes, true);
            }
        };
        skip(&mut out, token);
        // How many nodes were written when all from this one on were.
        let mut written = vec![out.len(); self.nodes.len() + 1];
        for at in (0..self.nodes.len()).rev() {
            match self.nodes[at].node() {
                Node::Skipped(bytes) => text -= bytes as usize,
                Node::Token(bytes) => {
                    out.leaf(&self.text[text - bytes as usize..text], false);
                    text -= bytes as usize;
                    token -= 1;
                    skip(&mut out, token);
                }
                Node::Member(value) => out.member(value),
                node => out.close(node, written[self.end(at)]),
            }
            written[at] = out.len();
        }
        out.finish()
    }

    /// The same with the bytes of some tokens replaced: `text` gives them, by
    /// the place of a token among all.
    pub fn with_tokens<'a>(&self, text: impl Fn(usize) -> Option<&'a [u8]>) -> Derivation {
        let mut out = Derivation { nodes: self.nodes.clone(), text: Vec::with_capacity(self.text.len()) };
        let (mut token, mut at) = (0, 0);
        for packed in &mut out.nodes {
            let own = &self.text[at..at + packed.owned() as usize];
            at += own.len();
            let put = if let Node::Token(_) = packed.node() {
                token += 1;
                text(token - 1)
            } else {
                None
            };
            if let Some(put) = put {
                *packed = Packed::new(Node::Token(put.len() as u32), 1);
            }
            out.text.extend_from_slice(put.unwrap_or(own));
        }
        out
    }

    /// Gives the repetition at `at` another count.
    pub fn set_count(&mut self, at: usize, count: u32) {
        self.nodes[at] = Packed::new(Node::Repeat(count), self.nodes[at].size);
    }

    /// Makes the member of a class at `at` another one.
    pub fn set_member(&mut self, at: usize, value: u32) {
        self.nodes[at] = Packed::new(Node::Member(value), 1);
    }

    /// The bytes of the token at `at`, or of what is skipped there.
    pub fn text(&self, at: usize) -> &[u8] {
        &self.text[self.text_range(at..at + 1)]
    }

    /// Where the bytes of the token at `at`, or of what is skipped there,
    /// stand among those of all tokens.
    pub fn text_place(&self, at: usize) -> Range<usize> {
        self.text_range(at..at + 1)
    }

    /// The token, or what is skipped, that a byte of the texts belongs to,
    /// with its place among them.
    pub fn owner(&self, byte: usize) -> Option<(usize, Range<usize>)> {
        let mut start = 0;
        for (at, node) in self.nodes.iter().enumerate() {
            let end = start + node.owned() as usize;
            if end > byte {
                return Some((at, start..end));
            }
            start = end;
        }
        None
    }

    /// The stretch of `text` that some nodes own.
    pub(super) fn text_range(&self, nodes: Range<usize>) -> Range<usize> {
        if self.text.is_empty() {
            return 0..0;
        }
        let bytes = |nodes: &[Packed]| -> usize { nodes.iter().map(|node| node.owned() as usize).sum() };
        let start = bytes(&self.nodes[..nodes.start]);
        start..start + bytes(&self.nodes[nodes])
    }
}

impl Packed {
    /// Bytes of `text` that it owns.
    fn owned(self) -> u32 {
        match self.node() {
            Node::Token(bytes) | Node::Skipped(bytes) => bytes,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derivation::Forwards;

    /// A tree with `children` repetitions, each with a token of its own.
    fn tree(texts: &[&[u8]]) -> Derivation {
        let mut derivation = Derivation::default();
        let mut build = Forwards::new(&mut derivation);
        let root = build.open(Node::Repeat(texts.len() as u32));
        for text in texts {
            let child = build.open(Node::Repeat(1));
            build.leaf(text, false);
            build.close(child);
        }
        build.close(root);
        derivation
    }

    #[test]
    fn parts_are_cut_and_put() {
        let (a, b) = (tree(&[b"one", b"two", b"three"]), tree(&[b"x", b"yz"]));
        let mut out = Derivation::default();
        a.rebuild(Some(0), 3..5, &[Part::subtree(&b, 3), Part::subtree(&b, 1)], &mut out);
        out.set_count(0, 4);
        assert_eq!(out, tree(&[b"one", b"yz", b"x", b"three"]));
        a.rebuild(Some(0), 1..5, &[], &mut out);
        out.set_count(0, 1);
        assert_eq!(out, tree(&[b"three"]));
        a.rebuild(Some(0), 7..7, &[Part { of: &b, nodes: 1..5 }], &mut out);
        out.set_count(0, 5);
        assert_eq!(out, tree(&[b"one", b"two", b"three", b"x", b"yz"]));
        assert_eq!(out.text(6), b"three");
        assert_eq!(out.parent(6), Some(5));
    }
}
