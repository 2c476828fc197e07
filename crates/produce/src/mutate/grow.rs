//! Fresh derivations of a symbol.
//!
//! Choice is free for some levels and some nodes; from there on the
//! shortest way to an end is taken, as producers do at their depth limit.

use super::lexemes::Lexemes;
use super::shape::Shape;
use wug_grammar::derivation::{Forwards, Node};
use wug_grammar::{BodyId, ClassId, Symbol, count};
use wug_random::Rng;

/// How far choice is free.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Levels of rules below the symbol.
    pub depth: u32,
    /// Nodes of the whole.
    pub nodes: usize,
}

/// No derivation has more nodes than this: completions can be long, and
/// a repetition can ask for millions.
const MAX_NODES: usize = 1 << 20;

/// Room for what is still to be derived.
#[derive(Debug, Default)]
pub(super) struct Grow {
    frames: Vec<Frame>,
}

#[derive(Clone, Copy, Debug)]
enum Frame {
    Symbols { next: u32, end: u32, left: u32 },
    Rounds { body: BodyId, times: u32, left: u32 },
    Close { mark: usize },
}

impl Grow {
    /// Derives a body. None if a token has no lexeme, or it grows too large.
    pub fn body(
        &mut self,
        shape: &Shape,
        lexemes: &mut Lexemes,
        body: BodyId,
        bounds: Bounds,
        rng: &mut Rng,
        out: &mut Forwards<'_>,
    ) -> Option<()> {
        self.frames.clear();
        self.choose(shape, body, bounds.depth, bounds.nodes + out.len(), rng, out)?;
        self.run(shape, lexemes, bounds, rng, out)
    }

    /// Derives a symbol.
    pub fn symbol(
        &mut self,
        shape: &Shape,
        lexemes: &mut Lexemes,
        symbol: Symbol,
        bounds: Bounds,
        rng: &mut Rng,
        out: &mut Forwards<'_>,
    ) -> Option<()> {
        self.frames.clear();
        let limit = bounds.nodes + out.len();
        self.one(shape, lexemes, symbol, bounds.depth, limit, rng, out)?;
        self.run(shape, lexemes, bounds, rng, out)
    }

    fn run(
        &mut self,
        shape: &Shape,
        lexemes: &mut Lexemes,
        bounds: Bounds,
        rng: &mut Rng,
        out: &mut Forwards<'_>,
    ) -> Option<()> {
        let limit = bounds.nodes + out.len();
        while let Some(frame) = self.frames.pop() {
            match frame {
                Frame::Close { mark } => out.close(mark),
                Frame::Symbols { next, end, left } if next < end => {
                    self.frames.push(Frame::Symbols { next: next + 1, end, left });
                    self.one(shape, lexemes, shape.grammar.symbol(next), left, limit, rng, out)?;
                }
                Frame::Rounds { body, times, left } if times > 0 => {
                    self.frames.push(Frame::Rounds { body, times: times - 1, left });
                    self.choose(shape, body, left, limit, rng, out)?;
                }
                Frame::Symbols { .. } | Frame::Rounds { .. } => {}
            }
        }
        Some(())
    }

    #[allow(clippy::too_many_arguments)] // the state of one walk
    fn one(
        &mut self,
        shape: &Shape,
        lexemes: &mut Lexemes,
        symbol: Symbol,
        left: u32,
        limit: usize,
        rng: &mut Rng,
        out: &mut Forwards<'_>,
    ) -> Option<()> {
        let grammar = &shape.grammar;
        match symbol {
            Symbol::Bytes(bytes) if shape.lexicon.is_some() => out.leaf(grammar.bytes(bytes), false),
            Symbol::Bytes(_) => {}
            Symbol::Class(class) => out.member(member(shape, class, rng)),
            Symbol::Rule(rule) if grammar.rule(rule).is_token() => {
                out.leaf(lexemes.draw(shape, rule, rng)?, false);
            }
            Symbol::Rule(id) => {
                let rule = grammar.rule(id);
                let left = left.saturating_sub(u32::from(rule.costs_depth()));
                let left = rule.depth_limit.map_or(left, |most| left.min(most));
                self.choose(shape, rule.body, left, limit, rng, out)?;
            }
            Symbol::Group(body) => self.choose(shape, body, left, limit, rng, out)?,
            Symbol::Repeat(id) => {
                let repeat = *grammar.repeat(id);
                let free = left > 0 && out.len() < limit;
                let extra = if free { count::extra(rng.bits(), repeat.min, repeat.max) } else { 0 };
                let times = repeat.min.saturating_add(extra);
                let mark = out.open(Node::Repeat(times));
                self.frames.push(Frame::Close { mark });
                self.frames.push(Frame::Rounds { body: repeat.body, times, left });
            }
        }
        Some(())
    }

    fn choose(
        &mut self,
        shape: &Shape,
        body: BodyId,
        left: u32,
        limit: usize,
        rng: &mut Rng,
        out: &mut Forwards<'_>,
    ) -> Option<()> {
        if out.len() >= MAX_NODES {
            return None;
        }
        let alt = if left > 0 && out.len() < limit {
            shape.by_weight(body, rng.bits())?
        } else {
            let closing = || shape.offered(body).iter().filter(|&&alt| shape.closes(alt));
            *closing().nth(rng.below(closing().count().max(1) as u32) as usize)?
        };
        let mark = out.open(Node::Alternative(alt));
        let alternative = shape.grammar.alternative(alt);
        self.frames.push(Frame::Close { mark });
        self.frames.push(Frame::Symbols { next: alternative.first, end: alternative.end, left });
        Some(())
    }
}

/// Some member of a class: mostly a printable one, if there are any, since
/// of all characters few are.
pub(super) fn member(shape: &Shape, class: ClassId, rng: &mut Rng) -> u32 {
    let class = shape.grammar.class(class);
    let count = class.count().max(1);
    if count > 256 && rng.below(8) != 0 {
        let value = 0x20 + rng.below(0x5F);
        if class.contains(value) {
            return value;
        }
    }
    class.member(rng.below(count))
}
