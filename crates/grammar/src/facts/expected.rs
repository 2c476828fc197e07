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
use hashbrown::HashMap;

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
    let limit = |rule: RuleId| grammar.rule(rule).depth_limit.unwrap_or(u32::MAX);
    let turns = same_level(&free, |rule| limit(rule) < u32::MAX);
    let last_limit = grammar.rules().map(limit).filter(|&l| l < u32::MAX).max().unwrap_or(0);
    let circles: usize = turns.iter().filter(|turn| !turn.constant).map(|turn| turn.cost(&free)).sum();
    let affordable = MAX_WORK / (free.calls.len() + free.constants.len() + circles);
    for level in 1..=depth.min(MAX_LEVELS).min(affordable.max(16) as u32) {
        let mut means = below.clone();
        for turn in turns.iter().filter(|turn| level == 1 || !turn.constant) {
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
    /// They call each other without cost.
    circular: bool,
    /// Nothing that they call costs depth: all levels are the same.
    constant: bool,
}

/// Multiplications that may be spent on levels, and on going round once.
const MAX_WORK: usize = 200_000_000;
/// A circle of at most this many rules is solved by elimination.
const MAX_SOLVED: usize = 256;

impl Turn {
    /// What a circle costs at most at each level.
    fn cost(&self, linear: &Linear) -> usize {
        match self.rules.len() {
            _ if !self.circular => 0,
            n if n <= MAX_SOLVED => n * n * n / 3,
            _ => self.rounds(linear).saturating_mul(self.rules.len()),
        }
    }

    /// How often a circle is gone round.
    fn rounds(&self, linear: &Linear) -> usize {
        let calls: usize = self.rules.iter().map(|&r| linear.calls(r).len() + 1).sum();
        if self.circular { (MAX_WORK / 10 / calls).clamp(10, 100_000) } else { 1 }
    }

    fn run(&self, linear: &Linear, below: &[f64], means: &mut [f64], counts: impl Fn(RuleId) -> bool) {
        if self.circular && self.rules.len() <= MAX_SOLVED && self.rules.iter().all(|&r| counts(r)) {
            return self.solve(linear, below, means);
        }
        // Else it is gone round until nothing changes.
        for _ in 0..self.rounds(linear) {
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

    /// The means of a circle as a system of linear equations, by elimination.
    /// A circle that grows faster than it ends has no solution that is not
    /// negative: its mean is infinite.
    fn solve(&self, linear: &Linear, below: &[f64], means: &mut [f64]) {
        let n = self.rules.len();
        let mut place: HashMap<RuleId, usize> = HashMap::new();
        self.rules.iter().enumerate().for_each(|(i, &r)| {
            place.insert(r, i);
        });
        // Row i: rule i minus its calls, and behind that what is known.
        let mut rows = vec![vec![0.0f64; n + 1]; n];
        for (i, &rule) in self.rules.iter().enumerate() {
            let row = &mut rows[i];
            row[i] = 1.0;
            row[n] = linear.constants[rule.index()];
            for call in linear.calls(rule) {
                match place.get(&call.rule).filter(|_| !call.deeper) {
                    Some(&j) => row[j] -= call.factor,
                    None if call.deeper => row[n] += call.factor * below[call.rule.index()],
                    None => row[n] += call.factor * means[call.rule.index()],
                }
            }
        }
        // Pivots on the diagonal stay positive as long as there is a solution.
        let mut solved = rows.iter().all(|row| row[n].is_finite());
        for i in 0..n {
            solved &= rows[i][i] > 0.0;
            let (done, rest) = rows.split_at_mut(i + 1);
            let pivot = &done[i];
            for row in rest.iter_mut().filter(|row| row[i] != 0.0) {
                let factor = row[i] / pivot[i];
                row[i..].iter_mut().zip(&pivot[i..]).for_each(|(a, b)| *a -= factor * b);
            }
        }
        for i in (0..n).rev() {
            let known: f64 = (i + 1..n).map(|j| rows[i][j] * rows[j][n]).sum();
            rows[i][n] = (rows[i][n] - known) / rows[i][i];
            solved &= rows[i][n].is_finite() && rows[i][n] > -1e-9;
        }
        for (row, rule) in rows.iter().zip(&self.rules) {
            means[rule.index()] = if solved { row[n].max(0.0) } else { f64::INFINITY };
        }
    }
}

/// Calls that cost no depth are evaluated at the same level, so what they
/// call comes first; all other rules come in one turn at the end.
fn same_level(linear: &Linear, limited: impl Fn(RuleId) -> bool) -> Vec<Turn> {
    let count = linear.constants.len();
    let (mut first, mut calls) = (vec![0], Vec::new());
    for rule in (0..count as u32).map(RuleId) {
        calls.extend(linear.calls(rule).iter().filter(|c| !c.deeper).map(|c| c.rule));
        first.push(calls.len() as u32);
    }
    if calls.is_empty() {
        let rules = (0..count as u32).map(RuleId).collect();
        return vec![Turn { rules, circular: false, constant: false }];
    }
    let mut changing = vec![false; count];
    let turn = |rules: &[RuleId]| {
        let own = |rule: RuleId| &calls[first[rule.index()] as usize..first[rule.index() + 1] as usize];
        let changes = |&rule: &RuleId| {
            limited(rule) || linear.calls(rule).iter().any(|c| c.deeper || changing[c.rule.index()])
        };
        let constant = !rules.iter().any(changes);
        rules.iter().for_each(|r| changing[r.index()] = !constant);
        let circular = rules.len() > 1 || own(rules[0]).contains(&rules[0]);
        // The search that found a circle entered callers first.
        Turn { circular, constant, rules: rules.iter().rev().copied().collect() }
    };
    components_of(&first, &calls).iter().map(turn).collect()
}
