//! How a derivation is brought to its end at the depth limit.
//!
//! In:  a grammar with its facts, and the mode.
//! Out: [`Closing`]: the alternatives that may still be used, which form a
//!      grammar without recursion, and how many completions each body has.

use super::least::{Cost, Least};
use super::sites::Sites;
use super::{Facts, cheap};
use crate::arena::{AltId, BodyId};
use crate::ir::{Grammar, RuleId, Symbol};

/// What a rule is completed from at the depth limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClosingMode {
    /// Its alternatives of minimal depth (F1's cost).
    #[default]
    Min,
    /// The cheap sub-grammar.
    Cheap,
}

/// The grammar of completions.
#[derive(Clone, Debug)]
pub struct Closing {
    allowed: Vec<bool>,
    order: Vec<RuleId>,
    completions: Vec<u64>,
    /// Bodies that derive some text at the limit.
    nonempty: Vec<bool>,
}

impl Closing {
    /// The completions of a grammar.
    pub fn of(grammar: &Grammar, facts: &Facts, mode: ClosingMode) -> Closing {
        let sites = &facts.sites;
        let allowed = match mode {
            ClosingMode::Cheap => cheap::cheap(grammar, sites, &facts.depth, &facts.graph),
            ClosingMode::Min => (0..grammar.alternative_count())
                .map(|i| minimal(sites, &facts.depth, sites.body_of[i], AltId(i as u32)))
                .collect(),
        };
        let order = order(grammar, &allowed);
        let bodies = grammar.body_count();
        let mut closing =
            Closing { allowed, order, completions: vec![0; bodies], nonempty: vec![false; bodies] };
        // The order knows only what allowed alternatives call. The groups
        // of the others are right the second time: a size limit may make
        // one of these the way out.
        for at in (0..closing.order.len()).chain(0..closing.order.len()) {
            let rule = closing.order[at];
            closing.count(grammar, sites, sites.body_of_rule(rule));
        }
        closing
    }

    /// Whether an alternative may be used at the limit.
    pub fn allows(&self, alt: AltId) -> bool {
        self.allowed[alt.index()]
    }

    /// All rules, each behind those that it needs at the limit.
    pub fn order(&self) -> &[RuleId] {
        &self.order
    }

    /// How many derivations a body has at the limit, saturating.
    pub fn completions(&self, body: BodyId) -> u64 {
        self.completions[body.index()]
    }

    /// Whether a body derives only the empty text at the limit.
    pub fn only_empty(&self, body: BodyId) -> bool {
        !self.nonempty[body.index()]
    }

    fn count(&mut self, grammar: &Grammar, sites: &Sites, body: BodyId) -> u64 {
        let mut total = 0u64;
        let mut nonempty = false;
        let none_allowed = grammar.alternatives(body).all(|alt| !self.allowed[alt.index()]);
        for alt in grammar.alternatives(body) {
            let mut product = 1u64;
            let mut text = false;
            for symbol in grammar.symbols(alt) {
                let ways = match *symbol {
                    Symbol::Bytes(bytes) => {
                        text |= bytes.len > 0;
                        1
                    }
                    Symbol::Class(class) => {
                        text = true;
                        u64::from(grammar.class(class).count())
                    }
                    Symbol::Rule(rule) => {
                        let body = sites.body_of_rule(rule).index();
                        text |= self.nonempty[body];
                        self.completions[body]
                    }
                    Symbol::Group(inner) => {
                        let ways = self.count(grammar, sites, inner);
                        text |= self.nonempty[inner.index()];
                        ways
                    }
                    Symbol::Repeat(repeat) => {
                        let repeat = *grammar.repeat(repeat);
                        let ways = self.count(grammar, sites, repeat.body);
                        text |= repeat.min > 0 && self.nonempty[repeat.body.index()];
                        ways.saturating_pow(repeat.min)
                    }
                };
                product = product.saturating_mul(ways);
            }
            if self.allowed[alt.index()] {
                total = total.saturating_add(product);
            }
            nonempty |= text && (self.allowed[alt.index()] || none_allowed);
        }
        self.completions[body.index()] = total;
        self.nonempty[body.index()] = nonempty;
        total
    }
}

/// Whether an alternative is one of minimal cost in its body. In rules that
/// the user wrote only depth counts; inside made rules, whose calls cost no
/// depth, steps do as well, or closing might go round in circles.
pub fn minimal(sites: &Sites, depth: &Least<Cost>, body: BodyId, alt: AltId) -> bool {
    match (depth.of_body(body), depth.of_alternative(alt)) {
        (Some(least), Some(own)) if sites.made[body.index()] => own == least,
        (Some(least), Some(own)) => own.depth == least.depth,
        _ => false,
    }
}

/// Depth-first postorder over the calls of allowed alternatives.
fn order(grammar: &Grammar, allowed: &[bool]) -> Vec<RuleId> {
    let mut order = Vec::with_capacity(grammar.rules().len());
    let mut entered = vec![false; grammar.rules().len()];
    let mut stack: Vec<(RuleId, bool)> = grammar.rules().rev().map(|r| (r, false)).collect();
    while let Some((rule, done)) = stack.pop() {
        if done {
            order.push(rule);
            continue;
        }
        if std::mem::replace(&mut entered[rule.index()], true) {
            continue;
        }
        stack.push((rule, true));
        needed(grammar, grammar.rule(rule).body, allowed, &mut |called| {
            if !entered[called.index()] {
                stack.push((called, false));
            }
        });
    }
    order
}

/// The rules that allowed alternatives of a body must call.
fn needed(grammar: &Grammar, body: BodyId, allowed: &[bool], visit: &mut dyn FnMut(RuleId)) {
    for alt in grammar.alternatives(body).filter(|a| allowed[a.index()]) {
        for symbol in grammar.symbols(alt) {
            match *symbol {
                Symbol::Rule(rule) => visit(rule),
                Symbol::Group(inner) => needed(grammar, inner, allowed, visit),
                Symbol::Repeat(repeat) if grammar.repeat(repeat).min > 0 => {
                    needed(grammar, grammar.repeat(repeat).body, allowed, visit);
                }
                _ => {}
            }
        }
    }
}
