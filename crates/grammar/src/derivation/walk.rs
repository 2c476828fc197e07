//! Walking over a derivation, with the grammar beside it.

use super::{Derivation, Misfit, Node};
use crate::arena::{BodyId, Bytes, ClassId, RepeatId};
use crate::ir::{Grammar, RuleId, Symbol};

/// What a walk over a derivation meets, in the order of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A node begins.
    Enter(usize, Place),
    /// Bytes of the input.
    Bytes(&'a [u8]),
    /// A node ends.
    Leave(usize),
}

/// What a node derives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The body of a rule, of a group, or of a round of a repetition.
    Body(BodyId),
    /// A repetition.
    Repeat(RepeatId),
    /// A member of a class.
    Class(ClassId),
    /// A token of a rule.
    Token(RuleId),
    /// A literal, in a grammar with tokens.
    Literal(Bytes),
    /// What is skipped.
    Skipped,
}

impl Derivation {
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
            Symbol::Bytes(bytes) if self.tokens => self.token(Place::Literal(bytes), visit),
            Symbol::Bytes(bytes) => {
                visit(Event::Bytes(self.grammar.bytes(bytes)));
                Ok(())
            }
            Symbol::Class(class) => match self.node()? {
                Node::Member(value) if self.grammar.class(class).contains(value) => {
                    let (mut text, node) = (Vec::with_capacity(4), self.at);
                    self.grammar.class(class).emit_value(value, &mut text);
                    self.leaf(node, Place::Class(class), &text, visit);
                    Ok(())
                }
                _ => self.misfit(),
            },
            Symbol::Rule(rule) => self.call(rule, visit),
            Symbol::Group(body) => self.body(body, visit),
            Symbol::Repeat(id) => match self.node()? {
                Node::Repeat(count) => {
                    let repeat = *self.grammar.repeat(id);
                    if count < repeat.min || repeat.max.is_some_and(|max| count > max) {
                        return self.misfit();
                    }
                    visit(Event::Enter(self.at, Place::Repeat(id)));
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
            return self.token(Place::Token(rule), visit);
        }
        self.body(self.grammar.rule(rule).body, visit)
    }

    fn body(&mut self, body: BodyId, visit: &mut impl FnMut(Event<'_>)) -> Result<(), Misfit> {
        match self.node()? {
            Node::Alternative(alt) if self.grammar.body_has(body, alt) => {
                visit(Event::Enter(self.at, Place::Body(body)));
                let alternative = self.grammar.alternative(alt);
                let (next, end) = (alternative.first, alternative.end);
                self.frames.push(Frame::Symbols { next, end, node: self.at });
                self.at += 1;
                Ok(())
            }
            _ => self.misfit(),
        }
    }

    fn token(&mut self, place: Place, visit: &mut impl FnMut(Event<'_>)) -> Result<(), Misfit> {
        self.skipped(visit);
        match self.node()? {
            Node::Token(bytes) => self.own(bytes, place, visit),
            _ => self.misfit(),
        }
    }

    /// What is skipped here, if there is something.
    fn skipped(&mut self, visit: &mut impl FnMut(Event<'_>)) {
        if let Ok(Node::Skipped(bytes)) = self.node() {
            let _ = self.own(bytes, Place::Skipped, visit);
        }
    }

    fn own(&mut self, bytes: u32, place: Place, visit: &mut impl FnMut(Event<'_>)) -> Result<(), Misfit> {
        let (text, node) = (&self.derivation.text, self.at);
        let Some(bytes) = text.get(self.text..self.text + bytes as usize) else { return self.misfit() };
        self.text += bytes.len();
        self.leaf(node, place, bytes, visit);
        Ok(())
    }

    fn leaf(&mut self, node: usize, place: Place, bytes: &[u8], visit: &mut impl FnMut(Event<'_>)) {
        visit(Event::Enter(node, place));
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
