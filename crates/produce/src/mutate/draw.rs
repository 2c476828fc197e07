//! Fresh derivations: what is drawn, as nodes.
//!
//! In:  a body or symbol of the grammar as written, or a derivation that is to
//!      be left at some leaf.
//! Out: nodes, with lexemes from pools as tokens.
//!
//! What is drawn is the business of [`crate::choices`], as for all producers.

use super::lexemes::Lexemes;
use super::shape::Shape;
use crate::choices::{Choices, Scratch};
use crate::recursive::{self, Frame};
use crate::replay::Tape;
use crate::sink::Sink;
use wug_grammar::derivation::{Forwards, Node};
use wug_grammar::{BodyId, Class, RuleId, Symbol};
use wug_random::Rng;

/// How far choice is free.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Levels of rules below the symbol.
    pub depth: u32,
    /// Nodes of the whole.
    pub nodes: usize,
}

/// Draws derivations; room for what is still to be derived.
#[derive(Debug, Default)]
pub(super) struct Draw {
    scratch: Scratch,
    open: Vec<usize>,
}

impl Draw {
    /// Draws a derivation of the start rule.
    pub fn start(
        &mut self,
        (shape, lexemes): (&Shape, &mut Lexemes),
        bounds: Bounds,
        rng: &mut Rng,
        out: &mut Forwards<'_>,
    ) -> Option<()> {
        self.open.clear();
        self.run((shape, lexemes), bounds, rng, out, |choices, _| recursive::start(choices, bounds.depth))
    }

    /// Draws a derivation of a body. None if it has none, a token has no
    /// lexeme, or it grows too large.
    pub fn body(
        &mut self,
        (shape, lexemes): (&Shape, &mut Lexemes),
        body: BodyId,
        bounds: Bounds,
        rng: &mut Rng,
        out: &mut Forwards<'_>,
    ) -> Option<()> {
        self.open.clear();
        if shape.offered(body).is_empty() {
            return None;
        }
        self.run((shape, lexemes), bounds, rng, out, |choices, left| recursive::choose(choices, body, left))
    }

    /// Draws a derivation of a symbol.
    pub fn symbol(
        &mut self,
        (shape, lexemes): (&Shape, &mut Lexemes),
        symbol: Symbol,
        bounds: Bounds,
        rng: &mut Rng,
        out: &mut Forwards<'_>,
    ) -> Option<()> {
        self.open.clear();
        self.run((shape, lexemes), bounds, rng, out, |choices, left| recursive::symbol(choices, symbol, left))
    }

    /// Draws what `frames` hold, behind nodes of which `open` did not end.
    pub fn rest(
        &mut self,
        (shape, lexemes): (&Shape, &mut Lexemes),
        open: impl Iterator<Item = usize>,
        frames: Vec<Frame>,
        bounds: Bounds,
        rng: &mut Rng,
        out: &mut Forwards<'_>,
    ) -> Option<()> {
        self.open.clear();
        self.open.extend(open);
        self.run((shape, lexemes), bounds, rng, out, |choices, _| choices.scratch.frames.extend(frames))
    }

    fn run(
        &mut self,
        (shape, lexemes): (&Shape, &mut Lexemes),
        bounds: Bounds,
        rng: &mut Rng,
        out: &mut Forwards<'_>,
        begin: impl FnOnce(&mut Choices<'_, Nodes<'_, '_>>, Option<u32>),
    ) -> Option<()> {
        let mut tape = Tape::default();
        let enough = out.len().saturating_add(bounds.nodes);
        let mut nodes = Nodes { out, shape, lexemes, open: &mut self.open, enough, bytes: 0, failed: false };
        self.scratch.frames.clear();
        let mut choices = Choices::new(&shape.program, rng, &mut tape, &mut self.scratch, &mut nodes);
        begin(&mut choices, Some(bounds.depth).filter(|&depth| depth > 0));
        recursive::drain(&mut choices);
        (!nodes.failed).then_some(())
    }
}

/// No derivation has more nodes than this: completions can be long, and a
/// repetition can ask for millions.
const MOST_NODES: usize = 1 << 20;

/// Takes an input as its derivation by the grammar as written, with tokens as
/// leaves.
struct Nodes<'a, 'd> {
    out: &'a mut Forwards<'d>,
    shape: &'a Shape,
    lexemes: &'a mut Lexemes,
    /// Nodes that began and did not end.
    open: &'a mut Vec<usize>,
    /// Choice is free below so many nodes.
    enough: usize,
    bytes: usize,
    failed: bool,
}

impl Nodes<'_, '_> {
    fn grew(&mut self) {
        self.failed |= self.out.len() > MOST_NODES;
    }
}

impl Sink for Nodes<'_, '_> {
    const NODES: bool = true;

    fn len(&self) -> usize {
        self.bytes
    }

    fn literal(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
        if self.shape.program.leaves {
            self.out.leaf(bytes, false);
            self.grew();
        }
    }

    fn member(&mut self, class: &Class, index: u32) {
        let value = class.member(index);
        self.bytes += class.len_of(value) as usize;
        self.out.member(value);
        self.grew();
    }

    fn token(&mut self, rule: RuleId, rng: &mut Rng) -> bool {
        if !self.shape.grammar().rule(rule).is_token() {
            return false;
        }
        match self.lexemes.draw(self.shape, rule, rng) {
            Some(text) => {
                self.bytes += text.len();
                self.out.leaf(text, false);
            }
            // No input comes of a token without a lexeme.
            None => self.failed = true,
        }
        self.grew();
        true
    }

    fn open(&mut self, node: Node) {
        self.open.push(self.out.open(node));
        self.grew();
    }

    fn close(&mut self) {
        if let Some(mark) = self.open.pop() {
            self.out.close(mark);
        }
    }

    fn truncate(&mut self, bytes: usize, nodes: usize) {
        // Only completions are taken back, and where tokens are leaves none
        // are drawn as a whole, so no text of a leaf is in them.
        self.bytes = bytes;
        self.out.truncate(nodes);
        while self.open.last().is_some_and(|&mark| mark >= nodes) {
            self.open.pop();
        }
    }

    fn nodes(&self) -> usize {
        self.out.len()
    }

    fn full(&self) -> bool {
        self.out.len() >= self.enough
    }

    fn failed(&self) -> bool {
        self.failed
    }
}
