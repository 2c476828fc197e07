//! Completions of a rule at the depth limit, numbered in the order of the
//! grammar.

use crate::program::Program;
use wug_grammar::facts::Closing;
use wug_grammar::{AltId, BodyId, Grammar, Symbol};

/// A closed rule with at most this many completions is closed by one draw.
pub const POOL: u64 = 256;

/// Completions of an alternative.
pub(crate) fn ways_of(grammar: &Grammar, closing: &Closing, alt: AltId) -> u64 {
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
    pub(crate) fn ways_of(&self, alt: AltId) -> u64 {
        self.ways[alt.index()]
    }

    /// Completions of a symbol.
    pub(crate) fn ways_of_symbol(&self, symbol: Symbol) -> u64 {
        ways_of_symbol(&self.grammar, &self.closing, symbol)
    }
}

/// For each completion of a body, in order: `2^32` times the probability of
/// it or an earlier one.
pub fn thresholds(program: &Program, body: BodyId) -> Box<[u64]> {
    let mut sum = 0.0;
    let mut table: Vec<u64> = (0..program.closing.completions(body))
        .map(|rank| {
            sum += probability(program, body, rank);
            (sum * 2f64.powi(32)).round() as u64
        })
        .collect();
    if let Some(last) = table.last_mut() {
        *last = 1 << 32;
    }
    table.into()
}

/// The probability that choosing one by one gives the completion `rank`.
fn probability(program: &Program, body: BodyId, rank: u64) -> f64 {
    let grammar = &program.grammar;
    let mut product = 1.0;
    let mut work = vec![(body, rank)];
    while let Some((body, mut rank)) = work.pop() {
        let ways = program.closing.completions(body);
        if ways == 1 || program.closing.only_empty(body) {
            // All of its completions are the same text: share it out evenly
            // and do not look for it, which could take exponentially long.
            product /= ways.max(1) as f64;
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
        product *= f64::from(grammar.alternative(alt).weight) / total as f64;
        let mut rest = program.ways_of(alt);
        for symbol in grammar.symbols(alt) {
            rest /= program.ways_of_symbol(*symbol);
            let own = rank / rest;
            rank %= rest;
            match *symbol {
                Symbol::Bytes(_) => {}
                Symbol::Class(class) => product /= f64::from(grammar.class(class).count()),
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
