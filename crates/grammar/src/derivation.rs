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

use crate::arena::{AltId, BodyId};
use crate::ir::{Grammar, RuleId, Symbol};
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

/// What a walk over a derivation meets, in the order of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A node begins.
    Enter(usize),
    /// Bytes of the input.
    Bytes(&'a [u8]),
    /// A node ends.
    Leave(usize),
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
            Event::Enter(node) => spans[node].start = at,
            Event::Bytes(bytes) => at += bytes.len(),
            Event::Leave(node) => spans[node].end = at,
        })?;
        Ok(spans)
    }

    /// Walks over all nodes and bytes in the order of the input. Nothing
    /// panics on nodes that do not fit the grammar.
    pub fn walk(&self, grammar: &Grammar, visit: impl FnMut(Event<'_>)) -> Result<(), Misfit> {
        self.walk_from(grammar, grammar.start(), visit)
    }

    /// As [`Derivation::walk`], for a derivation that begins with `rule`.
    pub fn walk_from(
        &self,
        grammar: &Grammar,
        rule: RuleId,
        mut visit: impl FnMut(Event<'_>),
    ) -> Result<(), Misfit> {
        let tokens = grammar.has_tokens();
        let mut walk = Walk { derivation: self, grammar, tokens, at: 0, text: 0, frames: Vec::new() };
        walk.call(rule, &mut visit)?;
        while let Some(frame) = walk.frames.last_mut() {
            match frame {
                Frame::Symbols { next, end, node } if next == end => {
                    visit(Event::Leave(*node));
                    walk.frames.pop();
                }
                Frame::Symbols { next, .. } => {
                    let symbol = grammar.symbol(*next);
                    *next += 1;
                    walk.symbol(symbol, &mut visit)?;
                }
                Frame::Rounds { left: 0, node, .. } => {
                    visit(Event::Leave(*node));
                    walk.frames.pop();
                }
                Frame::Rounds { left, body, .. } => {
                    *left -= 1;
                    let body = *body;
                    walk.body(body, &mut visit)?;
                }
            }
        }
        walk.skipped(&mut visit);
        if walk.at == self.nodes.len() && walk.text == self.text.len() {
            Ok(())
        } else {
            Err(Misfit { node: walk.at })
        }
    }

    /// The same with the subtree of `at` replaced by that of `from` in
    /// `other`, which derives the same rule, group or symbol.
    pub fn replaced(&self, at: usize, other: &Derivation, from: usize) -> Derivation {
        let (end, other_end) = (self.end(at), other.end(from));
        let mut nodes = Vec::with_capacity(self.nodes.len() + (other_end - from));
        nodes.extend_from_slice(&self.nodes[..at]);
        nodes.extend_from_slice(&other.nodes[from..other_end]);
        nodes.extend_from_slice(&self.nodes[end..]);
        for above in self.above(at) {
            nodes[above].size = (u64::from(nodes[above].size) + (other_end - from) as u64 - (end - at) as u64)
                .min(u64::from(u32::MAX)) as u32;
        }
        let (cut, put) = (self.text_range(at..end), other.text_range(from..other_end));
        let text = [&self.text[..cut.start], &other.text[put], &self.text[cut.end..]].concat();
        Derivation { nodes, text }
    }

    /// The stretch of `text` that some nodes own.
    fn text_range(&self, nodes: Range<usize>) -> Range<usize> {
        let bytes = |nodes: &[Packed]| -> usize {
            let owned = |p: &Packed| match p.node() {
                Node::Token(bytes) | Node::Skipped(bytes) => bytes as usize,
                _ => 0,
            };
            nodes.iter().map(owned).sum()
        };
        let start = bytes(&self.nodes[..nodes.start]);
        start..start + bytes(&self.nodes[nodes])
    }
}

struct Walk<'a> {
    derivation: &'a Derivation,
    grammar: &'a Grammar,
    tokens: bool,
    /// The next node.
    at: usize,
    /// The next byte of `text`.
    text: usize,
    frames: Vec<Frame>,
}

enum Frame {
    /// Symbols from `next` to `end` are left of an alternative.
    Symbols { next: u32, end: u32, node: usize },
    /// A body comes `left` more times.
    Rounds { body: BodyId, left: u32, node: usize },
}

impl Walk<'_> {
    fn symbol(&mut self, symbol: Symbol, visit: &mut impl FnMut(Event<'_>)) -> Result<(), Misfit> {
        match symbol {
            Symbol::Bytes(_) if self.tokens => self.token(visit),
            Symbol::Bytes(bytes) => {
                visit(Event::Bytes(self.grammar.bytes(bytes)));
                Ok(())
            }
            Symbol::Class(class) => match self.node()? {
                Node::Member(value) if self.grammar.class(class).contains(value) => {
                    let (mut text, node) = (Vec::with_capacity(4), self.at);
                    self.grammar.class(class).emit_value(value, &mut text);
                    self.leaf(node, &text, visit);
                    Ok(())
                }
                _ => self.misfit(),
            },
            Symbol::Rule(rule) => self.call(rule, visit),
            Symbol::Group(body) => self.body(body, visit),
            Symbol::Repeat(repeat) => match self.node()? {
                Node::Repeat(count) => {
                    let repeat = *self.grammar.repeat(repeat);
                    if count < repeat.min || repeat.max.is_some_and(|max| count > max) {
                        return self.misfit();
                    }
                    visit(Event::Enter(self.at));
                    self.frames.push(Frame::Rounds { body: repeat.body, left: count, node: self.at });
                    self.at += 1;
                    Ok(())
                }
                _ => self.misfit(),
            },
        }
    }

    fn call(&mut self, rule: RuleId, visit: &mut impl FnMut(Event<'_>)) -> Result<(), Misfit> {
        if self.grammar.rule(rule).is_token() {
            return self.token(visit);
        }
        self.body(self.grammar.rule(rule).body, visit)
    }

    fn body(&mut self, body: BodyId, visit: &mut impl FnMut(Event<'_>)) -> Result<(), Misfit> {
        match self.node()? {
            Node::Alternative(alt) if self.grammar.body_has(body, alt) => {
                visit(Event::Enter(self.at));
                let alternative = self.grammar.alternative(alt);
                let (next, end) = (alternative.first, alternative.end);
                self.frames.push(Frame::Symbols { next, end, node: self.at });
                self.at += 1;
                Ok(())
            }
            _ => self.misfit(),
        }
    }

    fn token(&mut self, visit: &mut impl FnMut(Event<'_>)) -> Result<(), Misfit> {
        self.skipped(visit);
        match self.node()? {
            Node::Token(bytes) => self.own(bytes, visit),
            _ => self.misfit(),
        }
    }

    /// What is skipped here, if there is something.
    fn skipped(&mut self, visit: &mut impl FnMut(Event<'_>)) {
        if let Ok(Node::Skipped(bytes)) = self.node() {
            let _ = self.own(bytes, visit);
        }
    }

    fn own(&mut self, bytes: u32, visit: &mut impl FnMut(Event<'_>)) -> Result<(), Misfit> {
        let (text, node) = (&self.derivation.text, self.at);
        let Some(bytes) = text.get(self.text..self.text + bytes as usize) else { return self.misfit() };
        self.text += bytes.len();
        self.leaf(node, bytes, visit);
        Ok(())
    }

    fn leaf(&mut self, node: usize, bytes: &[u8], visit: &mut impl FnMut(Event<'_>)) {
        visit(Event::Enter(node));
        visit(Event::Bytes(bytes));
        visit(Event::Leave(node));
        self.at += 1;
    }

    fn node(&self) -> Result<Node, Misfit> {
        match self.derivation.nodes.get(self.at) {
            Some(packed) => Ok(packed.node()),
            None => self.misfit(),
        }
    }

    fn misfit<T>(&self) -> Result<T, Misfit> {
        Err(Misfit { node: self.at })
    }
}

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
