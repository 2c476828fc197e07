//! The reference engine: the recursive producer of "Developing Grammar
//! Fuzzers", with the choice semantics that all engines share.
//!
//! In:  a [`Program`], a seed and an index.
//! Out: the bytes of one input, appended to a buffer.
//!
//! The recursion's frames live on the heap: depth is the user's to choose,
//! and the native stack is not.
//!
//! Semantics, in the order in which a choice is made:
//! 1. A symbol that can only derive the empty text draws nothing.
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
//! 5. After [`Program::max_draws`] draws, the shortest way is taken without
//!    drawing, and what can be empty is.
//!
//! [`Closing`]: wug_grammar::facts::Closing

use crate::pool::{POOL, thresholds};
use crate::program::Program;
use crate::rng::Rng;
use wug_grammar::lexical::TokenId;
use wug_grammar::{AltId, BodyId, RuleId, Symbol, count};

/// An input is drawn again at most this often when it does not lex as meant.
const MAX_REDRAWS: u32 = 1_000;

/// What one producer writes to; reused from input to input.
#[derive(Debug, Default)]
pub struct Scratch {
    frames: Vec<Frame>,
    ranks: Vec<Ranked>,
    /// Which alternatives were ever used, by number.
    pub used: Vec<bool>,
    /// Inputs that were drawn again because they did not lex as meant.
    pub redrawn: u64,
    pools: Vec<Option<Box<[u64]>>>,
    /// The tokens of the last input with their offsets, where they are
    /// checked.
    pub tokens: Vec<(TokenId, usize)>,
}

/// Work that is left.
#[derive(Clone, Copy, Debug)]
enum Frame {
    /// Symbols from `next` to `end`, with `left` levels below them.
    Symbols { next: u32, end: u32, left: u32, closed: bool },
    /// A body that comes `times` more.
    Repeat { body: BodyId, times: u32, left: u32, closed: bool },
}

#[derive(Clone, Copy, Debug)]
struct Ranked {
    next: u32,
    end: u32,
    rank: u64,
    ways: u64,
}

/// Appends input `index` of `seed` to `out`. `None` if no input that lexes
/// as meant was found in a thousand tries.
pub fn produce(
    program: &Program,
    seed: u64,
    index: u64,
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) -> Option<()> {
    let mut rng = Rng::new(seed, index);
    scratch.used.resize(program.grammar.alternative_count(), false);
    scratch.pools.resize(program.grammar.rules().len(), None);
    let start = out.len();
    for _ in 0..MAX_REDRAWS {
        Run::new(program, &mut rng, scratch, out).run();
        match &program.relex {
            Some(relex) if !relex.accepts(&out[start..], &scratch.tokens) => {
                scratch.redrawn += 1;
                out.truncate(start);
            }
            _ => return Some(()),
        }
    }
    None
}

struct Run<'a> {
    program: &'a Program,
    rng: &'a mut Rng,
    scratch: &'a mut Scratch,
    out: &'a mut Vec<u8>,
    start: usize,
    /// Least length of all that is not yet emitted.
    open: u64,
    draws: u64,
}

impl<'a> Run<'a> {
    fn new(
        program: &'a Program,
        rng: &'a mut Rng,
        scratch: &'a mut Scratch,
        out: &'a mut Vec<u8>,
    ) -> Run<'a> {
        let start = out.len();
        scratch.frames.clear();
        scratch.tokens.clear();
        Run { program, rng, scratch, out, start, open: 0, draws: 0 }
    }

    fn run(&mut self) {
        let start = self.program.grammar.start();
        self.open = self.program.least[self.program.grammar.rule(start).body.index()];
        self.call(start, self.program.options.max_depth);
        while let Some(frame) = self.scratch.frames.pop() {
            match frame {
                Frame::Symbols { next, end, left, closed } => {
                    if next + 1 < end {
                        self.scratch.frames.push(Frame::Symbols { next: next + 1, end, left, closed });
                    }
                    if next < end {
                        self.symbol(self.program.grammar.symbol(next), left, closed);
                    }
                }
                Frame::Repeat { body, times, left, closed } => {
                    if self.exhausted() && self.program.least[body.index()] == 0 {
                        continue;
                    }
                    if times > 1 {
                        self.scratch.frames.push(Frame::Repeat { body, times: times - 1, left, closed });
                    }
                    self.choose(body, left, closed);
                }
            }
        }
    }

    /// Derives one symbol of an alternative with `left` levels below it.
    fn symbol(&mut self, symbol: Symbol, left: u32, closed: bool) {
        let grammar = &self.program.grammar;
        match symbol {
            Symbol::Bytes(bytes) => {
                self.open -= u64::from(bytes.len);
                self.out.extend_from_slice(grammar.bytes(bytes));
            }
            Symbol::Class(class) => {
                let class = grammar.class(class);
                let mut index = if class.count() > 1 { self.draw(class.count()) } else { 0 };
                let least = u64::from(class.min_len());
                if !self.fits(u64::from(class.len_of(class.member(index))) - least) {
                    index = 0;
                }
                self.open -= least;
                class.emit(index, self.out);
            }
            Symbol::Group(body) => {
                if !self.skips(body) {
                    self.choose(body, left, closed);
                }
            }
            Symbol::Rule(rule) => {
                if self.skips(grammar.rule(rule).body) {
                    return;
                }
                let left = match grammar.rule(rule).costs_depth() {
                    // Closed, or the last level above.
                    true => left.checked_sub(1).filter(|_| !closed),
                    false => (!closed).then_some(left),
                };
                match left {
                    Some(left) => self.call(rule, left),
                    None => self.close(rule),
                }
            }
            Symbol::Repeat(repeat) => {
                let repeat = *grammar.repeat(repeat);
                if self.program.only_empty(repeat.body) {
                    return;
                }
                let least = self.program.least[repeat.body.index()];
                let mut extra = 0;
                if !closed && count::choices(repeat.min, repeat.max) > 1 {
                    let bits = self.bits();
                    extra = bits.map_or(0, |bits| count::extra(bits, repeat.min, repeat.max));
                    if !self.fits(u64::from(extra).saturating_mul(least)) {
                        extra = 0;
                    }
                }
                self.open += u64::from(extra) * least;
                let times = repeat.min + extra;
                if times > 0 {
                    self.scratch.frames.push(Frame::Repeat { body: repeat.body, times, left, closed });
                }
            }
        }
    }

    /// Whether a body derives nothing but the empty text, or must.
    fn skips(&self, body: BodyId) -> bool {
        self.program.only_empty(body) || (self.exhausted() && self.program.least[body.index()] == 0)
    }

    /// Enters a rule with `left` levels for its own choices and those below.
    fn call(&mut self, rule: RuleId, left: u32) {
        let grammar = &self.program.grammar;
        let limit = grammar.rule(rule).depth_limit.unwrap_or(u32::MAX);
        let left = left.min(limit);
        if left == 0 {
            return self.close(rule);
        }
        self.note_token(rule);
        self.choose(grammar.rule(rule).body, left, false);
    }

    /// Enters a rule that has no level left.
    fn close(&mut self, rule: RuleId) {
        let program = self.program;
        self.note_token(rule);
        let body = program.grammar.rule(rule).body;
        let ways = program.closing.completions(body);
        if ways > POOL || self.exhausted() {
            return self.choose(body, 0, true);
        }
        let mut rank = 0;
        if ways > 1 {
            let bits = self.bits().unwrap_or(0);
            let pool = self.scratch.pools[rule.index()].get_or_insert_with(|| thresholds(program, body));
            rank = pool.partition_point(|&t| t <= u64::from(bits)) as u64;
        }
        self.open -= program.least[body.index()];
        let (bytes, tokens) = (self.out.len(), self.scratch.tokens.len());
        if !self.unrank(body, rank.min(ways - 1)) {
            self.out.truncate(bytes);
            self.scratch.tokens.truncate(tokens);
            self.open += program.least[body.index()];
            self.take(program.shortest[body.index()], 0, true);
        }
    }

    /// Chooses an alternative of a body and leaves its symbols as work.
    fn choose(&mut self, body: BodyId, left: u32, closed: bool) {
        let program = self.program;
        let shortest = program.shortest[body.index()];
        let mut alt = shortest;
        let choice = if closed { &program.closed } else { &program.free }[body.index()];
        if choice.ways == 1 {
            alt = choice.first;
        } else if choice.ways > 1 {
            let mut drawn = self.draw(choice.weight);
            let allowed =
                program.grammar.alternatives(body).filter(|&a| !closed || program.closing.allows(a));
            for candidate in allowed {
                let weight = program.grammar.alternative(candidate).weight;
                alt = candidate;
                if drawn < weight {
                    break;
                }
                drawn -= weight;
            }
        }
        let least = program.least[body.index()];
        if self.exhausted() || !self.fits(program.least_of(alt).saturating_sub(least)) {
            alt = shortest;
        }
        self.open = self.open - least + program.least_of(alt);
        self.take(alt, left, closed);
    }

    /// Leaves the symbols of an alternative as work.
    fn take(&mut self, alt: AltId, left: u32, closed: bool) {
        self.scratch.used[alt.index()] = true;
        let alternative = self.program.grammar.alternative(alt);
        let (next, end) = (alternative.first, alternative.end);
        self.scratch.frames.push(Frame::Symbols { next, end, left, closed });
    }

    /// Appends the completion of a body with number `rank`, in the order of
    /// the grammar: earlier alternatives first, then earlier symbols slower.
    /// `false` as soon as it passes the size limit.
    fn unrank(&mut self, body: BodyId, rank: u64) -> bool {
        let program = self.program;
        let grammar = &program.grammar;
        self.scratch.ranks.clear();
        self.enter(body, rank);
        while let Some(mut top) = self.scratch.ranks.pop() {
            if top.next == top.end {
                continue;
            }
            let symbol = grammar.symbol(top.next);
            top.ways /= program.ways_of_symbol(symbol);
            let rank = top.rank / top.ways;
            top.rank %= top.ways;
            top.next += 1;
            self.scratch.ranks.push(top);
            match symbol {
                Symbol::Bytes(bytes) => self.out.extend_from_slice(grammar.bytes(bytes)),
                Symbol::Class(class) => grammar.class(class).emit(rank as u32, self.out),
                Symbol::Group(body) => self.enter(body, rank),
                Symbol::Rule(rule) => {
                    self.note_token(rule);
                    self.enter(grammar.rule(rule).body, rank);
                }
                Symbol::Repeat(repeat) => {
                    let repeat = *grammar.repeat(repeat);
                    if program.only_empty(repeat.body) {
                        continue;
                    }
                    // What is entered last comes out first.
                    let each = program.closing.completions(repeat.body);
                    let mut rank = rank;
                    for _ in 0..repeat.min {
                        self.enter(repeat.body, rank % each);
                        rank /= each;
                    }
                }
            }
            if !self.fits(0) {
                return false;
            }
        }
        true
    }

    /// Leaves the alternative of a body that holds the completion `rank`.
    fn enter(&mut self, body: BodyId, mut rank: u64) {
        let program = self.program;
        if program.only_empty(body) {
            return;
        }
        for alt in program.grammar.alternatives(body).filter(|&a| program.closing.allows(a)) {
            let ways = program.ways_of(alt);
            if rank < ways {
                self.scratch.used[alt.index()] = true;
                let alternative = program.grammar.alternative(alt);
                let (next, end) = (alternative.first, alternative.end);
                self.scratch.ranks.push(Ranked { next, end, rank, ways });
                return;
            }
            rank -= ways;
        }
    }

    /// Whether `more` bytes beyond the least of what is open keep the limit.
    fn fits(&self, more: u64) -> bool {
        let emitted = (self.out.len() - self.start) as u64;
        emitted.saturating_add(self.open).saturating_add(more) <= self.program.options.max_size
    }

    fn exhausted(&self) -> bool {
        self.draws > self.program.max_draws()
    }

    /// Fresh bits, if draws are left.
    fn bits(&mut self) -> Option<u32> {
        self.draws += 1;
        (!self.exhausted()).then(|| self.rng.bits())
    }

    /// A number below `n`; 0 when no draws are left.
    fn draw(&mut self, n: u32) -> u32 {
        self.bits().map_or(0, |bits| ((u64::from(bits) * u64::from(n)) >> 32) as u32)
    }

    fn note_token(&mut self, rule: RuleId) {
        if let Some(&Some(token)) = self.program.token_of.get(rule.index()) {
            self.scratch.tokens.push((token, self.out.len() - self.start));
        }
    }
}
