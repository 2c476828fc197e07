//! The leaves of a derivation, found by a walk over grammar and nodes.

use super::{Layout, NONE, Tokens};
use wug_grammar::derivation::Node;
use wug_grammar::{BodyId, Derivation, Grammar, Symbol};

/// A token, and what is skipped before it; or the end of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leaf {
    /// The token that is asked for; [`NONE`] at the end.
    pub token: u32,
    /// Where the skipped bytes begin, in the text of the derivation.
    pub start: usize,
    /// How many are skipped.
    pub gap: usize,
    /// How many the token has, behind them.
    pub len: usize,
}

/// What is left to be walked.
#[derive(Clone, Copy, Debug)]
pub(super) enum Frame {
    Symbols { next: u32, end: u32 },
    Rounds { body: BodyId, left: u32 },
}

/// Fills `layout.leaves`, the end last.
pub(super) fn collect(
    grammar: &Grammar,
    tokens: &Tokens,
    root: Symbol,
    derivation: &Derivation,
    layout: &mut Layout,
) -> Option<()> {
    let Layout { frames, leaves, .. } = layout;
    frames.clear();
    leaves.clear();
    let (mut walk, mut text) = (Walk { grammar, derivation, at: 0, frames }, 0);
    let mut leaf = |walk: &mut Walk<'_>, token: u32| -> Option<()> {
        let (start, gap) = (text, walk.skipped());
        let len = match walk.next() {
            _ if token == NONE => 0,
            Some(Node::Token(bytes)) => bytes as usize,
            _ => return None,
        };
        text += gap + len;
        leaves.push(Leaf { token, start, gap, len });
        Some(())
    };
    match root {
        Symbol::Rule(rule) if grammar.rule(rule).is_token() => {
            leaf(&mut walk, tokens.of_rule(grammar, rule))?;
        }
        root => walk.enter(root)?,
    }
    while let Some(number) = walk.symbol()? {
        match tokens.of_symbol[number as usize] {
            NONE => walk.enter(grammar.symbol(number))?,
            token => leaf(&mut walk, token)?,
        }
    }
    leaf(&mut walk, NONE)?;
    (walk.at >= derivation.len() && text == derivation.texts().len()).then_some(())
}

/// Appends the input of a derivation of a grammar without tokens.
pub(super) fn print(
    grammar: &Grammar,
    root: Symbol,
    derivation: &Derivation,
    frames: &mut Vec<Frame>,
    out: &mut Vec<u8>,
) -> Option<()> {
    frames.clear();
    let mut walk = Walk { grammar, derivation, at: 0, frames };
    walk.enter(root)?;
    while let Some(number) = walk.symbol()? {
        match grammar.symbol(number) {
            Symbol::Bytes(bytes) => out.extend_from_slice(grammar.bytes(bytes)),
            Symbol::Class(class) => match walk.next()? {
                Node::Member(value) if grammar.class(class).contains(value) => {
                    grammar.class(class).emit_value(value, out);
                }
                _ => return None,
            },
            symbol => walk.enter(symbol)?,
        }
    }
    (walk.at == derivation.len()).then_some(())
}

struct Walk<'a> {
    grammar: &'a Grammar,
    derivation: &'a Derivation,
    /// The next node.
    at: usize,
    frames: &'a mut Vec<Frame>,
}

impl Walk<'_> {
    /// The next symbol; `Some(None)` at the end.
    #[allow(clippy::option_option)]
    fn symbol(&mut self) -> Option<Option<u32>> {
        while let Some(frame) = self.frames.last_mut() {
            match frame {
                Frame::Symbols { next, end } if *next < *end => {
                    *next += 1;
                    return Some(Some(*next - 1));
                }
                Frame::Rounds { body, left } if *left > 0 => {
                    *left -= 1;
                    let body = *body;
                    self.body(body)?;
                }
                _ => {
                    self.frames.pop();
                }
            }
        }
        Some(None)
    }

    fn enter(&mut self, symbol: Symbol) -> Option<()> {
        match symbol {
            Symbol::Rule(rule) => self.body(self.grammar.rule(rule).body),
            Symbol::Group(body) => self.body(body),
            Symbol::Repeat(repeat) => {
                let repeat = *self.grammar.repeat(repeat);
                let Node::Repeat(count) = self.next()? else { return None };
                if count < repeat.min || repeat.max.is_some_and(|max| count > max) {
                    return None;
                }
                self.frames.push(Frame::Rounds { body: repeat.body, left: count });
                Some(())
            }
            Symbol::Bytes(_) | Symbol::Class(_) => None,
        }
    }

    fn body(&mut self, body: BodyId) -> Option<()> {
        match self.next()? {
            Node::Alternative(alt) if self.grammar.body_has(body, alt) => {
                let alternative = self.grammar.alternative(alt);
                self.frames.push(Frame::Symbols { next: alternative.first, end: alternative.end });
                Some(())
            }
            _ => None,
        }
    }

    /// How many bytes are skipped here.
    fn skipped(&mut self) -> usize {
        match self.derivation.get(self.at) {
            Some(Node::Skipped(bytes)) => {
                self.at += 1;
                bytes as usize
            }
            _ => 0,
        }
    }

    fn next(&mut self) -> Option<Node> {
        let node = self.derivation.get(self.at);
        self.at += usize::from(node.is_some());
        node
    }
}
