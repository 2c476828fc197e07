//! The mean length of what a producer emits at a depth limit, exactly.
//!
//! The mean length of a rule is linear in those of the rules it calls: a
//! sum over choices of probability times length. So each level of depth is
//! one product of a sparse matrix with the means of the level below.

use super::Facts;
use super::closing::Closing;
use super::graph::components_of;
use crate::arena::BodyId;
use crate::count;
use crate::ir::{Grammar, RuleId, Symbol};

/// More levels than this are not counted: a mean that still grows there
/// grows at most linearly, and no input of a sane size is that deep.
const MAX_LEVELS: u32 = 1 << 20;

/// Mean bytes derived from the start rule with free choice while depth is
/// below `depth`; infinite when it does not fit. Depths beyond a million
/// count as that.
pub fn expected_length(grammar: &Grammar, facts: &Facts, closing: &Closing, depth: u32) -> f64 {
    expected_lengths(grammar, facts, closing, depth)[grammar.start().index()]
}

/// Mean bytes of every rule when `depth` levels are left at its call.
pub fn expected_lengths(grammar: &Grammar, facts: &Facts, closing: &Closing, depth: u32) -> Vec<f64> {
    let closed = Linear::of(grammar, facts, Some(closing));
    let mut below = vec![0.0; grammar.rules().len()];
    for &rule in closing.order() {
        below[rule.index()] = closed.value(rule, &below, &below);
    }
    if depth == 0 {
        return below;
    }
    let free = Linear::of(grammar, facts, None);
    let turns = same_level(&free);
    let limit = |rule: RuleId| grammar.rule(rule).depth_limit.unwrap_or(u32::MAX);
    let last_limit = grammar.rules().map(limit).filter(|&l| l < u32::MAX).max().unwrap_or(0);
    for level in 1..=depth.min(MAX_LEVELS) {
        let mut means = below.clone();
        for turn in &turns {
            turn.run(&free, &below, &mut means, |rule| level <= limit(rule));
        }
        // A further level changes nothing once one did not.
        let settled = means == below && level > last_limit;
        below = means;
        if settled {
            break;
        }
    }
    below
}

/// For each rule, a constant and the rules it calls with their factors.
struct Linear {
    constants: Vec<f64>,
    first: Vec<u32>,
    calls: Vec<Call>,
}

#[derive(Clone, Copy)]
struct Call {
    factor: f64,
    rule: RuleId,
    /// The call costs a level of depth.
    deeper: bool,
}

impl Linear {
    /// Free choice, or what is left at the limit.
    fn of(grammar: &Grammar, facts: &Facts, closing: Option<&Closing>) -> Linear {
        let mut terms = Terms { grammar, facts, closing, constant: 0.0, calls: Vec::new() };
        let mut constants = Vec::with_capacity(grammar.rules().len());
        let mut first = vec![0];
        for rule in grammar.rules() {
            terms.constant = 0.0;
            terms.body(grammar.rule(rule).body, 1.0);
            constants.push(terms.constant);
            first.push(terms.calls.len() as u32);
        }
        Linear { constants, first, calls: terms.calls }
    }

    fn calls(&self, rule: RuleId) -> &[Call] {
        &self.calls[self.first[rule.index()] as usize..self.first[rule.index() + 1] as usize]
    }

    /// The mean of a rule from those one level below and those of its own.
    fn value(&self, rule: RuleId, below: &[f64], same: &[f64]) -> f64 {
        let mean = |call: &Call| call.factor * if call.deeper { below } else { same }[call.rule.index()];
        self.constants[rule.index()] + self.calls(rule).iter().map(mean).sum::<f64>()
    }
}

struct Terms<'a> {
    grammar: &'a Grammar,
    facts: &'a Facts,
    closing: Option<&'a Closing>,
    constant: f64,
    calls: Vec<Call>,
}

impl Terms<'_> {
    /// Adds `factor` times a body.
    fn body(&mut self, body: BodyId, factor: f64) {
        let grammar = self.grammar;
        let (facts, closing) = (self.facts, self.closing);
        let usable = |alt| closing.map_or_else(|| facts.alternative_productive(alt), |c| c.allows(alt));
        let weight = |alt| f64::from(grammar.alternative(alt).weight);
        let usable = || grammar.alternatives(body).filter(|&alt| usable(alt));
        let total: f64 = usable().map(weight).sum();
        for alt in usable() {
            let factor = factor * weight(alt) / total;
            for symbol in grammar.symbols(alt) {
                self.symbol(*symbol, factor);
            }
        }
    }

    fn symbol(&mut self, symbol: Symbol, factor: f64) {
        match symbol {
            Symbol::Bytes(bytes) => self.constant += factor * f64::from(bytes.len),
            Symbol::Class(class) => self.constant += factor * self.grammar.class(class).mean_len(),
            Symbol::Group(body) => self.body(body, factor),
            Symbol::Rule(rule) => {
                let deeper = self.facts.sites.costs_depth(rule);
                self.calls.push(Call { factor, rule, deeper });
            }
            Symbol::Repeat(repeat) => {
                let repeat = *self.grammar.repeat(repeat);
                let grows = self.closing.is_none() && self.facts.depth.of_body(repeat.body).is_some();
                let extra = if grows { count::mean_extra(repeat.min, repeat.max) } else { 0.0 };
                let times = f64::from(repeat.min) + extra;
                if times > 0.0 {
                    self.body(repeat.body, factor * times);
                }
            }
        }
    }
}

/// Rules that are evaluated together at one level.
struct Turn {
    rules: Vec<RuleId>,
    /// They call each other without cost: go round until nothing changes.
    circular: bool,
}

const MAX_ROUNDS: usize = 100_000;

impl Turn {
    fn run(&self, linear: &Linear, below: &[f64], means: &mut [f64], counts: impl Fn(RuleId) -> bool) {
        for _ in 0..if self.circular { MAX_ROUNDS } else { 1 } {
            let mut change = 0.0f64;
            for &rule in self.rules.iter().filter(|&&r| counts(r)) {
                let mean = linear.value(rule, below, means);
                change = change.max((mean - means[rule.index()]).abs() / mean.max(1.0));
                means[rule.index()] = mean;
            }
            if change < 1e-13 {
                break;
            }
        }
    }
}

/// Calls that cost no depth are evaluated at the same level, so what they
/// call comes first; all other rules come in one turn at the end.
fn same_level(linear: &Linear) -> Vec<Turn> {
    let count = linear.constants.len();
    let (mut first, mut calls) = (vec![0], Vec::new());
    for rule in (0..count as u32).map(RuleId) {
        calls.extend(linear.calls(rule).iter().filter(|c| !c.deeper).map(|c| c.rule));
        first.push(calls.len() as u32);
    }
    if calls.is_empty() {
        return vec![Turn { rules: (0..count as u32).map(RuleId).collect(), circular: false }];
    }
    let components = components_of(&first, &calls);
    let turn = |rules: &[RuleId]| {
        let own = |rule: RuleId| &calls[first[rule.index()] as usize..first[rule.index() + 1] as usize];
        Turn { circular: rules.len() > 1 || own(rules[0]).contains(&rules[0]), rules: rules.to_vec() }
    };
    components.iter().map(turn).collect()
}
