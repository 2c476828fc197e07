//! The cheap sub-grammar of "Developing Grammar Fuzzers" (6.2): what is
//! left when every alternative that closes a ring is cut.
//!
//! In:  a grammar with its least depths and components.
//! Out: the alternatives that are cheap. Their grammar has no recursion,
//!      and every rule that derives anything still does.
//!
//! An alternative is cut when it calls a rule on the current depth-first
//! path; each rule is entered once, so this is linear, where the paper's
//! walk over all paths is exponential. The paper refills a rule that this
//! leaves empty with its minimum-cost alternatives, which can close a new
//! ring (`B = A A 'x' | 'y'`, `A = B`): we refill the whole strongly
//! connected component, inside which minimum cost strictly falls.

use super::closing::minimal;
use super::graph::Graph;
use super::least::{Cost, Least};
use super::sites::Sites;
use crate::arena::{AltId, BodyId};
use crate::ir::{Grammar, RuleId, Symbol};

/// Which alternatives are cheap.
pub fn cheap(grammar: &Grammar, sites: &Sites, depth: &Least<Cost>, graph: &Graph) -> Vec<bool> {
    let mut search = Search {
        grammar,
        depth,
        cut: vec![false; grammar.alternative_count()],
        on_path: vec![false; grammar.rules().len()],
    };
    search.run();
    let mut kept: Vec<bool> = search.cut.iter().map(|&cut| !cut).collect();
    for rules in graph.components.iter() {
        let mut empty = false;
        for &rule in rules {
            let body = grammar.rule(rule).body;
            empty |= !usable(grammar, body, &mut kept) && depth.of_body(body).is_some();
        }
        if empty {
            for &rule in rules {
                grammar.bodies_within(grammar.rule(rule).body, &mut |body| {
                    for alt in grammar.alternatives(body) {
                        kept[alt.index()] = minimal(sites, depth, body, alt);
                    }
                });
            }
        }
    }
    kept
}

struct Search<'a> {
    grammar: &'a Grammar,
    depth: &'a Least<Cost>,
    cut: Vec<bool>,
    on_path: Vec<bool>,
}

impl Search<'_> {
    fn run(&mut self) {
        let mut entered = vec![false; self.grammar.rules().len()];
        let mut path: Vec<(RuleId, std::vec::IntoIter<RuleId>)> = Vec::new();
        for root in std::iter::once(self.grammar.start()).chain(self.grammar.rules()) {
            let mut next = Some(root);
            loop {
                if let Some(rule) = next.filter(|r| !entered[r.index()]) {
                    entered[rule.index()] = true;
                    self.on_path[rule.index()] = true;
                    let mut calls = Vec::new();
                    self.enter(self.grammar.rule(rule).body, &mut calls);
                    path.push((rule, calls.into_iter()));
                }
                let Some((rule, calls)) = path.last_mut() else { break };
                next = calls.next();
                if next.is_none() {
                    self.on_path[rule.index()] = false;
                    path.pop();
                }
            }
        }
    }

    /// Cuts alternatives that call a rule on the path; collects the calls
    /// of the others.
    fn enter(&mut self, body: BodyId, calls: &mut Vec<RuleId>) {
        for alt in self.grammar.alternatives(body) {
            let symbols = self.grammar.symbols(alt);
            let back = |s: &Symbol| matches!(s, Symbol::Rule(rule) if self.on_path[rule.index()]);
            if symbols.iter().any(back) || self.depth.of_alternative(alt).is_none() {
                self.cut[alt.index()] = true;
                continue;
            }
            for symbol in symbols {
                match *symbol {
                    Symbol::Rule(rule) => calls.push(rule),
                    Symbol::Group(inner) => self.enter(inner, calls),
                    // At the limit a repetition has its least count.
                    Symbol::Repeat(repeat) if self.grammar.repeat(repeat).min > 0 => {
                        self.enter(self.grammar.repeat(repeat).body, calls);
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Whether a body still has an alternative; drops those that hold a group
/// without one.
fn usable(grammar: &Grammar, body: BodyId, kept: &mut [bool]) -> bool {
    let mut any = false;
    for alt in grammar.alternatives(body) {
        let whole = kept[alt.index()] && alternative_usable(grammar, alt, kept);
        kept[alt.index()] = whole;
        any |= whole;
    }
    any
}

fn alternative_usable(grammar: &Grammar, alt: AltId, kept: &mut [bool]) -> bool {
    grammar.symbols(alt).iter().all(|symbol| match *symbol {
        Symbol::Group(body) => usable(grammar, body, kept),
        Symbol::Repeat(repeat) => {
            let repeat = grammar.repeat(repeat);
            repeat.min == 0 || usable(grammar, repeat.body, kept)
        }
        _ => true,
    })
}
