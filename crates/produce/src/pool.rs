//! Completions of a rule at the depth limit, numbered in the order of the
//! grammar.

use crate::program::Program;
use wug_grammar::derivation::Node;
use wug_grammar::facts::Closing;
use wug_grammar::{AltId, BodyId, Class, Grammar, RuleId, Symbol};

/// A closed rule with at most this many completions is closed by one draw.
pub const POOL: u64 = 256;

/// Completions of an alternative.
pub fn ways_of(grammar: &Grammar, closing: &Closing, alt: AltId) -> u64 {
    let symbols = grammar.symbols(alt).iter();
    symbols.fold(1u64, |ways, s| ways.saturating_mul(ways_of_symbol(grammar, closing, *s)))
}

/// Completions of a symbol.
fn ways_of_symbol(grammar: &Grammar, closing: &Closing, symbol: Symbol) -> u64 {
    match symbol {
        Symbol::Bytes(_) => 1,
        Symbol::Class(class) => u64::from(grammar.class(class).count()),
        Symbol::Rule(rule) => closing.completions(grammar.rule(rule).body),
        Symbol::Group(body) => closing.completions(body),
        Symbol::Repeat(repeat) => {
            let repeat = grammar.repeat(repeat);
            closing.completions(repeat.body).saturating_pow(repeat.min)
        }
    }
}

impl Program {
    /// Completions of an alternative.
    pub fn ways_of(&self, alt: AltId) -> u64 {
        self.ways[alt.index()]
    }

    /// Completions of a symbol.
    pub fn ways_of_symbol(&self, symbol: Symbol) -> u64 {
        ways_of_symbol(&self.grammar, &self.closing, symbol)
    }
}

/// For each completion of a body, in order: `2^32` times the probability of
/// it or an earlier one, rounded up. So where a rule's alternatives are plain
/// texts, 32 bits mean the same text by a draw among its completions as by a
/// draw among its alternatives.
pub fn thresholds(program: &Program, body: BodyId) -> Box<[u64]> {
    let mut sum = 0;
    let mut table: Vec<u64> = (0..program.closing.completions(body))
        .map(|rank| {
            sum += share(program, body, rank);
            ((sum + u128::from(u64::MAX)) >> 64) as u64
        })
        .collect();
    if let Some(last) = table.last_mut() {
        *last = 1 << 32;
    }
    table.into()
}

/// The probability that choosing one by one gives the completion `rank`, in
/// units of `2^-96`, rounded down at each choice: far below what 32 bits can
/// tell, and the same on every machine.
fn share(program: &Program, body: BodyId, rank: u64) -> u128 {
    let grammar = &program.grammar;
    let mut product: u128 = 1 << 96;
    let mut work = vec![(body, rank)];
    while let Some((body, mut rank)) = work.pop() {
        let ways = program.closing.completions(body);
        if ways == 1 || program.closing.only_empty(body) {
            // All of its completions are the same text: share it out evenly
            // and do not look for it, which could take exponentially long.
            product /= u128::from(ways.max(1));
            continue;
        }
        let total = program.closed.weight(body);
        let chosen = program.closed.alternatives(body).iter().copied().find(|&alt| {
            let ways = program.ways_of(alt);
            let here = rank < ways;
            rank -= if here { 0 } else { ways };
            here
        });
        let Some(alt) = chosen else { continue };
        product = product * u128::from(grammar.alternative(alt).weight) / u128::from(total);
        let mut rest = program.ways_of(alt);
        for symbol in grammar.symbols(alt) {
            rest /= program.ways_of_symbol(*symbol);
            let own = rank / rest;
            rank %= rest;
            match *symbol {
                Symbol::Bytes(_) => {}
                Symbol::Class(class) => product /= u128::from(grammar.class(class).count()),
                Symbol::Rule(rule) => work.push((grammar.rule(rule).body, own)),
                Symbol::Group(body) => work.push((body, own)),
                Symbol::Repeat(repeat) => {
                    let repeat = grammar.repeat(repeat);
                    let each = program.closing.completions(repeat.body);
                    if each == 1 {
                        continue;
                    }
                    let mut own = own;
                    for _ in 0..repeat.min {
                        work.push((repeat.body, own % each));
                        own /= each;
                    }
                }
            }
        }
    }
    product
}

/// What a completion is made of.
pub enum Piece<'p> {
    /// Literal bytes.
    Bytes(&'p [u8]),
    /// A member of a class.
    Member(&'p Class, u32),
    /// A node begins: an alternative, or a repetition.
    Open(Node),
    /// A body that derives nothing but the empty text here, so many times.
    Empty(BodyId, u32),
    /// The node that began last ends.
    Close,
    /// A rule was called.
    Call(RuleId),
}

/// The completion of a body with a given number, piece by piece, in the order
/// of the grammar: earlier alternatives first, then earlier symbols slower.
#[derive(Debug, Default)]
pub struct Unrank {
    stack: Vec<Ranked>,
}

/// A part of a completion that is still to come.
#[derive(Clone, Copy, Debug)]
enum Ranked {
    /// The completion `rank` of a body.
    Body { body: BodyId, rank: u64 },
    /// Symbols from `next` to `end`, whose completion is `rank` of `ways`.
    Symbols { next: u32, end: u32, rank: u64, ways: u64 },
    /// The one completion of a body, `times` more.
    Repeat { body: BodyId, times: u32 },
    /// A body that derives the empty text, `times` more.
    Empty { body: BodyId, times: u32 },
    /// The end of a node.
    Close,
}

impl Unrank {
    /// Begins with the completion `rank` of a body.
    pub fn begin(&mut self, body: BodyId, rank: u64) {
        self.stack.clear();
        self.stack.push(Ranked::Body { body, rank });
    }

    /// The next piece; `None` at the end.
    pub fn next<'p>(&mut self, program: &'p Program) -> Option<Piece<'p>> {
        loop {
            let piece = match self.stack.pop()? {
                Ranked::Body { body, rank } => self.body(program, body, rank),
                Ranked::Symbols { next, end, rank, ways } if next < end => {
                    self.symbol(program, next, end, rank, ways)
                }
                Ranked::Symbols { .. } => None,
                Ranked::Close => Some(Piece::Close),
                Ranked::Empty { body, times } => Some(Piece::Empty(body, times)),
                Ranked::Repeat { body, times } => {
                    if times > 1 {
                        self.stack.push(Ranked::Repeat { body, times: times - 1 });
                    }
                    self.stack.push(Ranked::Body { body, rank: 0 });
                    None
                }
            };
            if piece.is_some() {
                return piece;
            }
        }
    }

    /// Leaves the alternative of a body that holds the completion `rank`.
    fn body<'p>(&mut self, program: &Program, body: BodyId, mut rank: u64) -> Option<Piece<'p>> {
        if program.closing.only_empty(body) {
            return Some(Piece::Empty(body, 1));
        }
        for &alt in program.closed.alternatives(body) {
            let ways = program.ways_of(alt);
            if rank < ways {
                let alternative = program.grammar.alternative(alt);
                let (next, end) = (alternative.first, alternative.end);
                self.stack.push(Ranked::Close);
                self.stack.push(Ranked::Symbols { next, end, rank, ways });
                return Some(Piece::Open(Node::Alternative(alt)));
            }
            rank -= ways;
        }
        None
    }

    fn symbol<'p>(
        &mut self,
        program: &'p Program,
        next: u32,
        end: u32,
        rank: u64,
        ways: u64,
    ) -> Option<Piece<'p>> {
        let grammar = &program.grammar;
        let symbol = grammar.symbol(next);
        let ways = (ways / program.ways_of_symbol(symbol).max(1)).max(1);
        if next + 1 < end {
            self.stack.push(Ranked::Symbols { next: next + 1, end, rank: rank % ways, ways });
        }
        let mut rank = rank / ways;
        match symbol {
            Symbol::Bytes(bytes) => return Some(Piece::Bytes(grammar.bytes(bytes))),
            Symbol::Class(class) => return Some(Piece::Member(grammar.class(class), rank as u32)),
            Symbol::Group(body) => self.stack.push(Ranked::Body { body, rank }),
            Symbol::Rule(rule) => {
                self.stack.push(Ranked::Body { body: grammar.rule(rule).body, rank });
                return Some(Piece::Call(rule));
            }
            Symbol::Repeat(repeat) => {
                let repeat = *grammar.repeat(repeat);
                let body = repeat.body;
                let each = program.closing.completions(body);
                self.stack.push(Ranked::Close);
                if repeat.min == 0 {
                } else if program.closing.only_empty(body) {
                    self.stack.push(Ranked::Empty { body, times: repeat.min });
                } else if each == 1 {
                    self.stack.push(Ranked::Repeat { body, times: repeat.min });
                } else {
                    // What is entered last comes out first.
                    for _ in 0..repeat.min {
                        self.stack.push(Ranked::Body { body, rank: rank % each });
                        rank /= each;
                    }
                }
                return Some(Piece::Open(Node::Repeat(repeat.min)));
            }
        }
        None
    }
}

/// The text of the completion `rank` of a body; `None` if it is longer than
/// `limit`, or takes more than `steps`, of which those that it takes are used
/// up.
pub fn completion(
    program: &Program,
    body: BodyId,
    rank: u64,
    limit: usize,
    steps: &mut u64,
) -> Option<Vec<u8>> {
    let (mut unrank, mut text) = (Unrank::default(), Vec::new());
    unrank.begin(body, rank);
    while let Some(piece) = unrank.next(program) {
        match piece {
            Piece::Bytes(bytes) => text.extend_from_slice(bytes),
            Piece::Member(class, index) => class.emit(index, &mut text),
            Piece::Open(Node::Alternative(_)) | Piece::Call(_) => {}
            Piece::Open(_) | Piece::Close | Piece::Empty(..) => continue,
        }
        *steps = steps.checked_sub(1)?;
        if text.len() > limit {
            return None;
        }
    }
    Some(text)
}
