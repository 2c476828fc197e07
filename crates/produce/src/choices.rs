//! The choice semantics that all engines share.
//!
//! An engine walks the grammar; at each choice it asks here. So engines
//! differ in how they walk, never in what they produce. In the order in
//! which they apply:
//!
//! 1. A symbol that can only derive the empty text draws nothing, nor does
//!    one that at the depth limit can only be completed to it.
//! 2. Free choice: an alternative by weight, a repetition's count by
//!    [`wug_grammar::count`], a member of a class uniformly; one draw each,
//!    none where there is one possibility.
//! 3. A rule called when no depth is left is closed, with all below it: its
//!    alternatives are those of [`Closing`], repetitions take their least
//!    count. If a closed rule has at most 256 completions, one draw picks
//!    one of them by its probability.
//! 4. Size: bytes emitted and the least length of all that is open never
//!    pass the limit; what was drawn and would break this is replaced by
//!    the alternative of least length, the least count, the first member.
//! 5. After [`Program::max_draws`] draws or [`Program::max_steps`] steps, the
//!    shortest way is taken without drawing, and what can be empty is.
//!
//! A draw takes an index from a replayed program while that lasts, then
//! random bits; indices can be recorded. See [`crate::replay`].
//!
//! What is drawn goes to a [`Sink`]: bytes, or the nodes of a derivation. A
//! sink may say that it is full, from when on all is closed as at the depth
//! limit, and take tokens as leaves, with lexemes of its own. Fuzzing
//! campaigns draw so, by [`Options::printable`] with members of large classes
//! that are mostly printable; in all else they draw as said here.
//!
//! [`Closing`]: wug_grammar::facts::Closing
//! [`Options::printable`]: crate::Options::printable

use crate::pool::{POOL, Piece, Unrank, thresholds};
use crate::program::{Offers, Program};
use crate::replay::Tape;
use crate::sink::Sink;
use std::ops::Range;
use wug_grammar::derivation::Node;
use wug_grammar::lexical::TokenId;
use wug_grammar::{AltId, BodyId, Class, Repeat, RuleId, Symbol, count};
use wug_random::Rng;

/// What one producer writes to; reused from input to input.
#[derive(Debug, Default)]
pub struct Scratch {
    /// What the reference engine has still to walk.
    pub frames: Vec<crate::recursive::Frame>,
    pub(crate) steps: crate::iterative::Steps,
    unrank: Unrank,
    /// Which alternatives were ever used, by number.
    pub used: Vec<bool>,
    /// Inputs that were drawn again because they did not lex as meant.
    pub redrawn: u64,
    /// Inputs that a fast engine left to the exact one, near a limit.
    pub remade: u64,
    pools: Vec<Option<Box<[u64]>>>,
    /// The tokens of the last input with their offsets, where they are
    /// checked.
    pub tokens: Vec<(TokenId, usize)>,
}

/// The choices of one input.
pub struct Choices<'a, S: Sink = Vec<u8>> {
    /// What is walked.
    pub program: &'a Program,
    /// What is written to beside the input.
    pub scratch: &'a mut Scratch,
    rng: &'a mut Rng,
    tape: &'a mut Tape,
    /// What is written to.
    pub out: &'a mut S,
    start: usize,
    /// Least length of all that is not yet emitted.
    open: u64,
    draws: u64,
    steps: u64,
}

impl<'a, S: Sink> Choices<'a, S> {
    /// Before the first choice of an input.
    pub fn new(
        program: &'a Program,
        rng: &'a mut Rng,
        tape: &'a mut Tape,
        scratch: &'a mut Scratch,
        out: &'a mut S,
    ) -> Choices<'a, S> {
        scratch.used.resize(program.grammar.alternative_count(), false);
        scratch.pools.resize(program.grammar.rules().len(), None);
        scratch.tokens.clear();
        let open = program.least[program.grammar.rule(program.grammar.start()).body.index()];
        Choices { start: out.len(), program, scratch, rng, tape, out, open, draws: 0, steps: 0 }
    }

    /// In the middle of an input that began at `start` and has `open` bytes
    /// at least before it; with no draws left if it is `exhausted`.
    #[allow(clippy::too_many_arguments)]
    pub fn resume(
        program: &'a Program,
        rng: &'a mut Rng,
        tape: &'a mut Tape,
        scratch: &'a mut Scratch,
        out: &'a mut S,
        start: usize,
        open: u64,
        exhausted: bool,
    ) -> Choices<'a, S> {
        let draws = if exhausted { u64::MAX / 2 } else { 0 };
        Choices { start, open, draws, ..Choices::new(program, rng, tape, scratch, out) }
    }

    /// Levels left inside a rule that is called with `left` levels below
    /// its caller; `None` if it is closed.
    fn levels(&self, rule: RuleId, left: Option<u32>) -> Option<u32> {
        if self.out.full() {
            return None;
        }
        let rule = self.program.grammar.rule(rule);
        let left = if rule.costs_depth() { left?.checked_sub(1)? } else { left? };
        self.within(rule.depth_limit, left)
    }

    /// Levels left inside the start rule, of so many in all.
    pub fn start_levels(&self, depth: u32) -> Option<u32> {
        let rule = self.program.grammar.rule(self.program.grammar.start());
        self.within(rule.depth_limit, depth)
    }

    fn within(&self, limit: Option<u32>, left: u32) -> Option<u32> {
        Some(left.min(limit.unwrap_or(u32::MAX))).filter(|&left| left > 0)
    }

    /// Alternatives taken and rules completed so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Whether a body derives nothing but the empty text, or must.
    pub fn skips(&self, body: BodyId, closed: bool) -> bool {
        self.only_empty(body, closed) || (self.exhausted() && self.program.least[body.index()] == 0)
    }

    fn only_empty(&self, body: BodyId, closed: bool) -> bool {
        self.program.only_empty(body) || (closed && self.program.closing.only_empty(body))
    }

    /// Derives one symbol with `left` levels below it, or says what is to
    /// be walked for it.
    pub fn symbol(&mut self, symbol: Symbol, left: Option<u32>) -> Next {
        let grammar = &self.program.grammar;
        let closed = left.is_none();
        match symbol {
            Symbol::Bytes(bytes) => self.bytes(grammar.bytes(bytes)),
            Symbol::Class(class) => self.class(grammar.class(class)),
            Symbol::Group(body) if !self.skips(body, closed) => return Next::Choose(body),
            Symbol::Rule(rule) if S::NODES && self.out.token(rule, self.rng) => {
                let least = self.program.least[grammar.rule(rule).body.index()];
                self.open = self.open.saturating_sub(least);
            }
            Symbol::Rule(rule) if !self.skips(grammar.rule(rule).body, closed) => {
                return Next::Call(rule, self.levels(rule, left));
            }
            Symbol::Repeat(repeat) => {
                let repeat = grammar.repeat(repeat);
                if self.only_empty(repeat.body, closed || self.out.full()) {
                    self.open_node(Node::Repeat(repeat.min));
                    self.empty(repeat.body, repeat.min);
                } else {
                    let times = self.times(repeat, closed);
                    self.open_node(Node::Repeat(times));
                    if times > 0 {
                        return Next::Repeat(repeat.body, times);
                    }
                }
                self.close_node();
            }
            Symbol::Group(body) => self.empty(body, 1),
            Symbol::Rule(rule) => self.empty(grammar.rule(rule).body, 1),
        }
        Next::Nothing
    }

    /// A node begins.
    pub fn open_node(&mut self, node: Node) {
        if S::NODES {
            self.out.open(node);
        }
    }

    /// The node that began last ends.
    pub fn close_node(&mut self) {
        if S::NODES {
            self.out.close();
        }
    }

    /// A body derives the empty text, so many times: bytes need nothing for
    /// it, a derivation has nodes.
    pub fn empty(&mut self, body: BodyId, times: u32) {
        if !S::NODES || times == 0 {
            return;
        }
        let program = self.program;
        let mut work = vec![Work::Body(body, times)];
        while let Some(next) = work.pop() {
            if self.out.failed() {
                return;
            }
            match next {
                Work::Close => self.out.close(),
                Work::Body(_, 0) => {}
                Work::Body(body, times) => {
                    work.push(Work::Body(body, times - 1));
                    let alt = program.shortest[body.index()];
                    self.out.open(Node::Alternative(alt));
                    work.push(Work::Close);
                    work.extend(
                        program.grammar.symbols(alt).iter().rev().map(|&symbol| Work::Symbol(symbol)),
                    );
                }
                // One that is not empty has no place here.
                Work::Symbol(Symbol::Bytes(bytes)) => self.out.literal(program.grammar.bytes(bytes)),
                Work::Symbol(Symbol::Class(_)) => {}
                Work::Symbol(Symbol::Rule(rule)) => {
                    if !self.out.token(rule, self.rng) {
                        work.push(Work::Body(program.grammar.rule(rule).body, 1));
                    }
                }
                Work::Symbol(Symbol::Group(body)) => work.push(Work::Body(body, 1)),
                Work::Symbol(Symbol::Repeat(repeat)) => {
                    let repeat = program.grammar.repeat(repeat);
                    self.out.open(Node::Repeat(repeat.min));
                    work.push(Work::Close);
                    work.push(Work::Body(repeat.body, repeat.min));
                }
            }
        }
    }

    /// Emits literal bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.open = self.open.saturating_sub(bytes.len() as u64);
        self.out.literal(bytes);
    }

    /// Emits a member of a class.
    fn class(&mut self, class: &Class) {
        let mut index = 0;
        if class.count() > 1 {
            let printable = self.program.options.printable;
            index = self.draw(class.count(), |bits| match printable {
                true => printable_first(class, bits),
                false => below(bits, class.count()),
            });
        }
        let least = u64::from(class.min_len());
        if !self.fits(u64::from(class.len_of(class.member(index))).saturating_sub(least)) {
            index = 0;
        }
        self.open = self.open.saturating_sub(least);
        self.out.member(class, index);
    }

    /// Emits one of some bytes.
    pub fn member(&mut self, members: &[u8]) {
        let count = members.len() as u32;
        let index = if count > 1 { self.draw(count, |bits| below(bits, count)) } else { 0 };
        self.open = self.open.saturating_sub(1);
        self.out.literal(&members[index as usize..=index as usize]);
    }

    /// How often more a repetition comes: as long as it does not stop, by
    /// the probability for that after so many, where it may go on.
    pub fn more(&mut self, repeat: &Repeat, stops: impl Fn(u32) -> Option<f64>) -> u32 {
        let mut more = 0;
        while let Some(stops) = stops(more) {
            let threshold = (stops * 2f64.powi(32)) as u64;
            if self.draw(2, |bits| u32::from(u64::from(bits) >= threshold)) == 0 {
                break;
            }
            more += 1;
        }
        let least = self.program.least[repeat.body.index()];
        if !self.fits(u64::from(more).saturating_mul(least)) {
            more = 0;
        }
        self.open = self.open.saturating_add(u64::from(more).saturating_mul(least));
        more
    }

    /// How often a repetition comes.
    fn times(&mut self, repeat: &Repeat, closed: bool) -> u32 {
        let least = self.program.least[repeat.body.index()];
        let choices = count::choices(repeat.min, repeat.max);
        let mut extra = 0;
        if !closed && !self.out.full() && choices > 1 {
            extra = self.draw(choices, |bits| count::extra(bits, repeat.min, repeat.max));
            if !self.fits(u64::from(extra).saturating_mul(least)) {
                extra = 0;
            }
        }
        self.open = self.open.saturating_add(u64::from(extra).saturating_mul(least));
        repeat.min.saturating_add(extra)
    }

    /// Chooses an alternative of a body.
    pub fn alternative(&mut self, body: BodyId, closed: bool) -> AltId {
        let program = self.program;
        let closed = closed || self.out.full();
        let offers = if closed { &program.closed } else { &program.free };
        let alt = match offers.alternatives(body) {
            [] => program.shortest[body.index()],
            [one] => *one,
            _ => self.draw_alternative(body, offers),
        };
        self.settle_for(body, alt)
    }

    /// Chooses among some of the alternatives that a body offers, not none.
    pub fn alternative_among(&mut self, body: BodyId, places: Range<usize>, closed: bool) -> AltId {
        let program = self.program;
        let offered = if closed { &program.closed } else { &program.free }.alternatives(body);
        let weight = |alt: AltId| u64::from(program.grammar.alternative(alt).weight);
        let total: u64 = offered[places.clone()].iter().map(|&alt| weight(alt)).sum();
        let place = self.draw(places.len() as u32, |bits| {
            let mut drawn = ((u128::from(bits) * u128::from(total)) >> 32) as u64;
            let chosen = offered[places.clone()].iter().position(|&alt| {
                let here = drawn < weight(alt);
                drawn = drawn.saturating_sub(weight(alt));
                here
            });
            chosen.unwrap_or(0) as u32
        });
        self.settle_for(body, offered[places.start + place as usize])
    }

    /// An alternative that was drawn, or the shortest if it does not fit.
    fn settle_for(&mut self, body: BodyId, mut alt: AltId) -> AltId {
        let program = self.program;
        let shortest = program.shortest[body.index()];
        self.steps += 1;
        let least = program.least[body.index()];
        if self.exhausted() || !self.fits(program.least_of(alt).saturating_sub(least)) {
            alt = shortest;
        }
        self.open = self.open.saturating_sub(least).saturating_add(program.least_of(alt));
        self.scratch.used[alt.index()] = true;
        alt
    }

    /// Draws one of several alternatives. What is replayed and recorded is
    /// the place among all alternatives of the body.
    fn draw_alternative(&mut self, body: BodyId, offers: &Offers) -> AltId {
        let mut all = self.program.grammar.alternatives(body);
        let (count, first) = (all.len() as u32, all.next().map_or(0, |a| a.0));
        let place = self.draw(count, |bits| {
            let drawn = (u128::from(bits) * u128::from(offers.weight(body))) >> 32;
            offers.at(body, drawn as u64).0 - first
        });
        let alt = AltId(first + place);
        let offered = offers.alternatives(body);
        // Both are in order.
        match offered.binary_search(&alt) {
            Ok(_) => alt,
            Err(_) => offered[place as usize % offered.len()],
        }
    }

    /// Completes a closed rule by one draw, if it has few completions.
    pub fn complete(&mut self, rule: RuleId) -> Completion {
        let program = self.program;
        let body = program.grammar.rule(rule).body;
        self.steps += 1;
        if program.closing.only_empty(body) {
            self.empty(body, 1);
            return Completion::Done;
        }
        let ways = program.closing.completions(body);
        if ways > POOL || self.exhausted() || program.leaves {
            return Completion::Choose;
        }
        let mut rank = 0;
        if ways > 1 {
            let pools = &mut self.scratch.pools[rule.index()];
            let pool = pools.take().unwrap_or_else(|| thresholds(program, body));
            rank = self.draw(ways as u32, |bits| pool.partition_point(|&t| t <= u64::from(bits)) as u32);
            self.scratch.pools[rule.index()] = Some(pool);
        }
        self.open = self.open.saturating_sub(program.least[body.index()]);
        let (bytes, nodes, tokens) = (self.out.len(), self.out.nodes(), self.scratch.tokens.len());
        if self.unrank(body, u64::from(rank).min(ways - 1)) {
            return Completion::Done;
        }
        self.out.truncate(bytes, nodes);
        self.scratch.tokens.truncate(tokens);
        self.open = self.open.saturating_add(program.least[body.index()]);
        let shortest = program.shortest[body.index()];
        self.scratch.used[shortest.index()] = true;
        Completion::Take(shortest)
    }

    /// Appends the completion of a body with number `rank`. `false` as soon
    /// as it passes the size limit.
    fn unrank(&mut self, body: BodyId, rank: u64) -> bool {
        let program = self.program;
        self.scratch.unrank.begin(body, rank);
        while let Some(piece) = self.scratch.unrank.next(program) {
            match piece {
                Piece::Bytes(bytes) => self.out.literal(bytes),
                Piece::Member(class, index) => self.out.member(class, index),
                Piece::Open(node) => {
                    if let Node::Alternative(alt) = node {
                        self.scratch.used[alt.index()] = true;
                    }
                    self.open_node(node);
                }
                Piece::Close => self.close_node(),
                Piece::Empty(body, times) => self.empty(body, times),
                Piece::Call(rule) => self.note_token(rule),
            }
            if !self.fits(0) {
                return false;
            }
        }
        true
    }

    /// Remembers that a token begins, where tokens are checked.
    pub fn note_token(&mut self, rule: RuleId) {
        if let Some(&Some(token)) = self.program.token_of.get(rule.index()) {
            self.scratch.tokens.push((token, self.out.len() - self.start));
        }
    }

    /// Whether no draws or steps are left.
    pub fn exhausted(&self) -> bool {
        self.draws > self.program.max_draws() || self.steps > self.program.max_steps()
    }

    /// Whether `more` bytes beyond the least of what is open keep the limit.
    fn fits(&self, more: u64) -> bool {
        let emitted = (self.out.len() - self.start) as u64;
        emitted.saturating_add(self.open).saturating_add(more) <= self.program.options.max_size
    }

    /// An index below `n`: replayed, or made from random bits, or 0 when no
    /// draws are left.
    fn draw(&mut self, n: u32, from_bits: impl FnOnce(u32) -> u32) -> u32 {
        self.draws += 1;
        if self.exhausted() {
            return 0;
        }
        let index = match self.tape.next(n) {
            Some(index) => index,
            None => from_bits(self.rng.bits()).min(n - 1),
        };
        self.tape.record(index, n);
        index
    }
}

/// What a symbol leaves to be walked.
pub enum Next {
    /// Nothing: it is emitted.
    Nothing,
    /// An alternative of this body.
    Choose(BodyId),
    /// A rule, with this many levels for its own choices and those below.
    Call(RuleId, Option<u32>),
    /// A body, this often.
    Repeat(BodyId, u32),
}

/// What became of a closed rule.
pub enum Completion {
    /// It is emitted.
    Done,
    /// Too many completions: go on choice by choice.
    Choose,
    /// The drawn one was too long: go on with this alternative.
    Take(AltId),
}

/// What the empty derivation of a body still needs.
enum Work {
    Body(BodyId, u32),
    Symbol(Symbol),
    Close,
}

/// The number of a member of a class: of a large one mostly printable, since
/// few characters are, and text is what most programs look at first.
pub fn printable_first(class: &Class, bits: u32) -> u32 {
    let count = class.count();
    if count <= 256 {
        return below(bits, count);
    }
    // Three bits say whether, the others which.
    let rest = bits << 3;
    let printable = (bits >> 29 != 0).then(|| class.index(0x20 + below(rest, 0x5F))).flatten();
    printable.unwrap_or_else(|| below(rest, count))
}

/// `n` equally likely numbers from 32 bits.
fn below(bits: u32, n: u32) -> u32 {
    ((u64::from(bits) * u64::from(n)) >> 32) as u32
}
