//! From a derivation to the choices that give it again.
//!
//! In:  a [`Derivation`] of a program's own grammar, the lowered one.
//! Out: bytes for [`Tape::replay`], with which every engine makes the same
//!      input; or why no choices do.
//!
//! Walks as the engines do and notes what each draw would have been: an
//! alternative's place, a member's number, a count, or at the depth limit
//! the number of a whole completion. What comes out is replayed and
//! compared, so a limit that is met on the way (of size, or of draws) is
//! told and never passed over.

use crate::pool::POOL;
use crate::program::{Offers, Program};
use crate::replay::{Tape, width};
use crate::{Engine, Scratch};
use std::fmt;
use wug_grammar::derivation::Node;
use wug_grammar::{AltId, BodyId, Derivation, RuleId, Symbol, count};

/// Why a derivation cannot be made by choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreachable {
    /// It is not one of the program's grammar.
    Misfit,
    /// It is deeper than the program's options or a rule's own limit allow.
    Depth,
    /// A repetition comes more often than one is ever drawn.
    Count,
    /// It is larger than the program's options allow, its tokens are derived
    /// otherwise than they are read, or a rule at its own limit of depth has
    /// but one completion, which is another.
    Otherwise,
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unreachable::Misfit => "it is derived by another grammar",
            Unreachable::Depth => "it is deeper than choices are free",
            Unreachable::Count => "a repetition in it comes more often than one is drawn",
            Unreachable::Otherwise => {
                "its choices give another input: it is too large, too deep, or lexed otherwise"
            }
        })
    }
}

impl std::error::Error for Unreachable {}

impl Program {
    /// The choices that make the input of `derivation`.
    pub fn choices_of(&self, derivation: &Derivation) -> Result<Vec<u8>, Unreachable> {
        let mut input = Vec::new();
        derivation.print(&self.grammar, &mut input).map_err(|_| Unreachable::Misfit)?;
        let mut walk = Walk { program: self, derivation, at: 0, out: Vec::new(), frames: Vec::new() };
        walk.run()?;
        let mut made = Vec::new();
        let mut tape = Tape::replay(walk.out);
        self.produce_with(Engine::Recursive, 0, 0, &mut tape, &mut Scratch::default(), &mut made)
            .filter(|()| made == input)
            .ok_or(Unreachable::Otherwise)?;
        Ok(tape.into_program())
    }
}

struct Walk<'a> {
    program: &'a Program,
    derivation: &'a Derivation,
    /// The next node.
    at: usize,
    out: Vec<u8>,
    frames: Vec<Frame>,
}

/// What is left to be walked, with so many levels below it.
enum Frame {
    Symbols { next: u32, end: u32, left: Option<u32> },
    Rounds { body: BodyId, times: u32, left: Option<u32> },
}

/// A completion whose number is being worked out.
enum Ranked {
    Symbols { next: u32, end: u32, rank: u64, before: u64 },
    Rounds { body: BodyId, times: u32, rank: u64 },
}

impl Walk<'_> {
    fn run(&mut self) -> Result<(), Unreachable> {
        let start = self.program.grammar.start();
        let rule = self.program.grammar.rule(start);
        let left = within(rule.depth_limit, self.program.options.max_depth);
        self.call(start, left)?;
        while let Some(frame) = self.frames.pop() {
            match frame {
                Frame::Symbols { next, end, left } if next < end => {
                    self.frames.push(Frame::Symbols { next: next + 1, end, left });
                    self.symbol(self.program.grammar.symbol(next), left)?;
                }
                Frame::Symbols { .. } => {}
                Frame::Rounds { body, times, left } => {
                    if times > 1 {
                        self.frames.push(Frame::Rounds { body, times: times - 1, left });
                    }
                    self.choose(body, left)?;
                }
            }
        }
        Ok(())
    }

    fn symbol(&mut self, symbol: Symbol, left: Option<u32>) -> Result<(), Unreachable> {
        let grammar = &self.program.grammar;
        let closed = left.is_none();
        match symbol {
            Symbol::Bytes(_) => {}
            Symbol::Class(class) => {
                let index = self.member(symbol)?;
                let count = grammar.class(class).count();
                if count > 1 {
                    self.note(index, count);
                }
            }
            Symbol::Group(body) if self.only_empty(body, closed) => self.skip(),
            Symbol::Group(body) => self.choose(body, left)?,
            Symbol::Rule(rule) if self.only_empty(grammar.rule(rule).body, closed) => self.skip(),
            Symbol::Rule(rule) => {
                let called = grammar.rule(rule);
                let left = if called.costs_depth() { left.and_then(|l| l.checked_sub(1)) } else { left };
                self.call(rule, left.and_then(|left| within(called.depth_limit, left)))?;
            }
            Symbol::Repeat(repeat) => {
                let repeat = *grammar.repeat(repeat);
                if self.only_empty(repeat.body, closed) {
                    self.skip();
                    return Ok(());
                }
                let Node::Repeat(times) = self.node()? else { return Err(Unreachable::Misfit) };
                self.at += 1;
                let extra = times.checked_sub(repeat.min).ok_or(Unreachable::Misfit)?;
                let choices = count::choices(repeat.min, repeat.max);
                if extra >= choices {
                    return Err(Unreachable::Count);
                }
                if closed && extra > 0 {
                    return Err(Unreachable::Depth);
                }
                if !closed && choices > 1 {
                    self.note(extra, choices);
                }
                if times > 0 {
                    self.frames.push(Frame::Rounds { body: repeat.body, times, left });
                }
            }
        }
        Ok(())
    }

    fn call(&mut self, rule: RuleId, left: Option<u32>) -> Result<(), Unreachable> {
        let body = self.program.grammar.rule(rule).body;
        if left.is_none() {
            if self.program.closing.only_empty(body) {
                self.skip();
                return Ok(());
            }
            let ways = self.program.closing.completions(body);
            if ways <= POOL {
                let rank = if ways > 1 { self.rank(body)? } else { 0 };
                if ways > 1 {
                    self.note(rank as u32, ways as u32);
                } else {
                    self.skip();
                }
                return Ok(());
            }
        }
        self.choose(body, left)
    }

    fn choose(&mut self, body: BodyId, left: Option<u32>) -> Result<(), Unreachable> {
        let alt = self.alternative(body)?;
        let offered = self.offers(left.is_none()).alternatives(body);
        if !offered.contains(&alt) {
            return Err(if left.is_none() { Unreachable::Depth } else { Unreachable::Misfit });
        }
        if offered.len() > 1 {
            let mut all = self.program.grammar.alternatives(body);
            let (count, first) = (all.len() as u32, all.next().map_or(0, |a| a.0));
            self.note(alt.0 - first, count);
        }
        let alternative = self.program.grammar.alternative(alt);
        self.frames.push(Frame::Symbols { next: alternative.first, end: alternative.end, left });
        Ok(())
    }

    /// The number of the completion that comes next: the reverse of what
    /// [`crate::choices`] does to write one.
    fn rank(&mut self, body: BodyId) -> Result<u64, Unreachable> {
        let mut frames = Vec::new();
        let mut value = self.enter(body, &mut frames)?;
        while let Some(frame) = frames.last_mut() {
            match frame {
                Ranked::Symbols { next, end, rank, before } => {
                    if let Some(value) = value.take() {
                        let ways = self.program.ways_of_symbol(self.program.grammar.symbol(*next - 1));
                        *rank = rank.saturating_mul(ways).saturating_add(value);
                    }
                    if next == end {
                        value = Some(before.saturating_add(*rank));
                        frames.pop();
                        continue;
                    }
                    let symbol = self.program.grammar.symbol(*next);
                    *next += 1;
                    value = self.ranked(symbol, &mut frames)?;
                }
                Ranked::Rounds { body, times, rank } => {
                    if let Some(value) = value.take() {
                        let each = self.program.closing.completions(*body);
                        *rank = rank.saturating_mul(each).saturating_add(value);
                    }
                    if *times == 0 {
                        value = Some(*rank);
                        frames.pop();
                        continue;
                    }
                    *times -= 1;
                    let body = *body;
                    value = self.enter(body, &mut frames)?;
                }
            }
        }
        value.ok_or(Unreachable::Misfit)
    }

    /// The number of a symbol's completion, if it is known at once.
    fn ranked(&mut self, symbol: Symbol, frames: &mut Vec<Ranked>) -> Result<Option<u64>, Unreachable> {
        let grammar = &self.program.grammar;
        match symbol {
            Symbol::Bytes(_) => Ok(Some(0)),
            Symbol::Class(_) => Ok(Some(u64::from(self.member(symbol)?))),
            Symbol::Group(body) => self.enter(body, frames),
            Symbol::Rule(rule) => self.enter(grammar.rule(rule).body, frames),
            Symbol::Repeat(repeat) => {
                let repeat = *grammar.repeat(repeat);
                if repeat.min == 0 || self.program.closing.only_empty(repeat.body) {
                    self.skip();
                    return Ok(Some(0));
                }
                match self.node()? {
                    Node::Repeat(times) if times == repeat.min => {
                        self.at += 1;
                        frames.push(Ranked::Rounds { body: repeat.body, times, rank: 0 });
                        Ok(None)
                    }
                    _ => Err(Unreachable::Depth),
                }
            }
        }
    }

    fn enter(&mut self, body: BodyId, frames: &mut Vec<Ranked>) -> Result<Option<u64>, Unreachable> {
        if self.program.closing.only_empty(body) {
            self.skip();
            return Ok(Some(0));
        }
        let alt = self.alternative(body)?;
        let mut before = 0u64;
        for &other in self.program.closed.alternatives(body) {
            if other == alt {
                let alternative = self.program.grammar.alternative(alt);
                let (next, end) = (alternative.first, alternative.end);
                frames.push(Ranked::Symbols { next, end, rank: 0, before });
                return Ok(None);
            }
            before = before.saturating_add(self.program.ways_of(other));
        }
        Err(Unreachable::Depth)
    }

    fn offers(&self, closed: bool) -> &Offers {
        if closed { &self.program.closed } else { &self.program.free }
    }

    fn only_empty(&self, body: BodyId, closed: bool) -> bool {
        self.program.only_empty(body) || (closed && self.program.closing.only_empty(body))
    }

    fn node(&self) -> Result<Node, Unreachable> {
        if self.at < self.derivation.len() {
            Ok(self.derivation.node(self.at))
        } else {
            Err(Unreachable::Misfit)
        }
    }

    fn alternative(&mut self, body: BodyId) -> Result<AltId, Unreachable> {
        match self.node()? {
            Node::Alternative(alt) if self.program.grammar.body_has(body, alt) => {
                self.at += 1;
                Ok(alt)
            }
            _ => Err(Unreachable::Misfit),
        }
    }

    /// The number of the member of a class that comes next.
    fn member(&mut self, symbol: Symbol) -> Result<u32, Unreachable> {
        match (symbol, self.node()?) {
            (Symbol::Class(class), Node::Member(value)) => {
                self.at += 1;
                self.program.grammar.class(class).index(value).ok_or(Unreachable::Misfit)
            }
            _ => Err(Unreachable::Misfit),
        }
    }

    /// Passes over a subtree.
    fn skip(&mut self) {
        if self.at < self.derivation.len() {
            self.at = self.derivation.end(self.at);
        }
    }

    fn note(&mut self, index: u32, n: u32) {
        self.out.extend_from_slice(&index.to_le_bytes()[..width(n)]);
    }
}

/// Levels left inside a rule with this limit.
fn within(limit: Option<u32>, left: u32) -> Option<u32> {
    Some(left.min(limit.unwrap_or(u32::MAX))).filter(|&left| left > 0)
}
