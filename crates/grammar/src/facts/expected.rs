//! The mean length of what a producer emits at a depth limit, exactly: a
//! sum over choices, level by level.

use super::Facts;
use super::closing::Closing;
use crate::arena::BodyId;
use crate::count;
use crate::ir::{Grammar, RuleId, Symbol};

/// Mean bytes derived from the start rule with free choice while depth is
/// below `depth`; infinite when it does not fit.
pub fn expected_length(grammar: &Grammar, facts: &Facts, closing: &Closing, depth: u32) -> f64 {
    expected_lengths(grammar, facts, closing, depth)[grammar.start().index()]
}

/// Mean bytes of every rule when `depth` levels are left at its call.
pub fn expected_lengths(grammar: &Grammar, facts: &Facts, closing: &Closing, depth: u32) -> Vec<f64> {
    let n = grammar.rules().len();
    let mut means = vec![0.0; n];
    for &rule in &closing.order {
        means[rule.index()] = Level { grammar, facts, closing: Some(closing), upper: &means, same: &means }
            .body(grammar.rule(rule).body);
    }
    let order = same_level_order(grammar);
    let mut below = means;
    for level in 1..=depth {
        let mut means = below.clone();
        for group in &order {
            // Rules that cost no depth may call each other in circles: go
            // round until nothing changes. One that is alone needs one turn.
            for _ in 0..if group.circular { MAX_TURNS } else { 1 } {
                let mut change = 0.0f64;
                for &rule in &group.rules {
                    let limit = grammar.rule(rule).depth_limit;
                    if limit.is_some_and(|limit| level > limit) {
                        continue;
                    }
                    let mean = Level { grammar, facts, closing: None, upper: &below, same: &means }
                        .body(grammar.rule(rule).body);
                    change = change.max((mean - means[rule.index()]).abs() / mean.max(1.0));
                    means[rule.index()] = mean;
                }
                if change < 1e-13 {
                    break;
                }
            }
        }
        // A further level changes nothing once one did not.
        let settled = means == below;
        below = means;
        if settled && level > 1 && grammar.rules.iter().all(|r| r.depth_limit.is_none_or(|l| l < level)) {
            break;
        }
    }
    below
}

const MAX_TURNS: usize = 100_000;

/// Rules in the order in which one level is evaluated.
struct Group {
    rules: Vec<RuleId>,
    circular: bool,
}

/// Calls that cost no depth are evaluated at the same level, so what they
/// call comes first.
fn same_level_order(grammar: &Grammar) -> Vec<Group> {
    let mut first = vec![0u32];
    let mut calls: Vec<RuleId> = Vec::new();
    for rule in grammar.rules() {
        grammar.body_calls(grammar.rule(rule).body, &mut |called| {
            if !grammar.rule(called).costs_depth() {
                calls.push(called);
            }
        });
        first.push(calls.len() as u32);
    }
    let (_, groups) = super::components_of(&first, &calls);
    let circular = |rules: &[RuleId]| {
        let rule = rules[0];
        let own = &calls[first[rule.index()] as usize..first[rule.index() + 1] as usize];
        rules.len() > 1 || own.contains(&rule)
    };
    groups.into_iter().map(|rules| Group { circular: circular(&rules), rules }).collect()
}

struct Level<'a> {
    grammar: &'a Grammar,
    facts: &'a Facts,
    /// At the limit: what may be used.
    closing: Option<&'a Closing>,
    /// Means one level below this one.
    upper: &'a [f64],
    /// Means at this level, for calls that cost no depth.
    same: &'a [f64],
}

impl Level<'_> {
    fn body(&self, body: BodyId) -> f64 {
        let (mut sum, mut weights) = (0.0, 0.0);
        for alt in self.grammar.alternatives(body) {
            let usable = match self.closing {
                Some(closing) => closing.allows(alt),
                None => self.facts.alternative_productive(alt),
            };
            if usable {
                let weight = f64::from(self.grammar.alternative(alt).weight);
                weights += weight;
                sum += weight * self.grammar.symbols(alt).iter().map(|s| self.symbol(*s)).sum::<f64>();
            }
        }
        if weights == 0.0 { 0.0 } else { sum / weights }
    }

    fn symbol(&self, symbol: Symbol) -> f64 {
        match symbol {
            Symbol::Bytes(bytes) => f64::from(bytes.len),
            Symbol::Class(class) => self.grammar.class(class).mean_len(),
            Symbol::Group(body) => self.body(body),
            Symbol::Rule(rule) if self.grammar.rule(rule).costs_depth() => self.upper[rule.index()],
            Symbol::Rule(rule) => self.same[rule.index()],
            Symbol::Repeat(repeat) => {
                let repeat = self.grammar.repeat(repeat);
                let possible = self.facts.depth.of_body(repeat.body).is_some();
                let extra = if self.closing.is_some() || !possible { 0.0 } else { count::mean_extra(repeat.min, repeat.max) };
                let times = f64::from(repeat.min) + extra;
                // A count of nothing, not nothing times an endless text.
                if times == 0.0 { 0.0 } else { times * self.body(repeat.body) }
            }
        }
    }
}
