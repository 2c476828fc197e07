//! The greatest length of everything.

use super::graph::Graph;
use super::least::{Cost, Least};
use super::sites::{Sites, Use};
use crate::arena::BodyId;
use crate::ir::{Grammar, Symbol};

/// A finite length that does not fit is this.
const SATURATED: u64 = u64::MAX - 1;

/// Which bodies derive some text that is not empty.
pub fn nonempty(grammar: &Grammar, sites: &Sites, depth: &Least<Cost>) -> Vec<bool> {
    let mut nonempty = vec![false; grammar.body_count()];
    let mut work: Vec<BodyId> = Vec::new();
    let productive = |at: usize| depth.of_alternative(crate::arena::AltId(at as u32)).is_some();
    for body in (0..grammar.body_count() as u32).map(BodyId) {
        let text = |symbol: &Symbol| matches!(symbol, Symbol::Bytes(_) | Symbol::Class(_));
        let found = grammar
            .alternatives(body)
            .any(|alt| productive(alt.index()) && grammar.symbols(alt).iter().any(text));
        if found {
            nonempty[body.index()] = true;
            work.push(body);
        }
    }
    while let Some(body) = work.pop() {
        for site in sites.of_body(body) {
            let at = site.alternative.index();
            let user = sites.body_of[at];
            let never = matches!(site.how, Use::Repeat { max: Some(0), .. });
            if !never && productive(at) && !nonempty[user.index()] {
                nonempty[user.index()] = true;
                work.push(user);
            }
        }
    }
    nonempty
}

/// Greatest length of each body that a rule holds; `None` if there is no
/// bound. Bodies that derive nothing have 0.
pub fn longest(
    grammar: &Grammar,
    sites: &Sites,
    depth: &Least<Cost>,
    nonempty: &[bool],
    graph: &Graph,
) -> Vec<Option<u64>> {
    let mut found: Vec<Option<u64>> = vec![Some(0); grammar.body_count()];
    let eval = |body: BodyId, found: &mut Vec<Option<u64>>| {
        body_length(grammar, sites, depth, nonempty, body, found)
    };
    // Callees first.
    for rules in graph.components.iter() {
        let inner = || rules.iter().flat_map(|&r| graph.inner_calls(r)).filter(|e| e.productive);
        let bodies = || rules.iter().map(|&r| sites.body_of_rule(r));
        if inner().next().is_none() {
            bodies().for_each(|body| eval(body, &mut found));
            continue;
        }
        let length = if inner().any(|e| e.before || e.after) {
            None
        } else {
            // A circle of calls with nothing beside them passes on the
            // longest text of any of its rules.
            let mut longest = Some(0);
            for body in bodies() {
                eval(body, &mut found);
                longest = longer(longest, found[body.index()]);
                found[body.index()] = Some(0);
            }
            longest
        };
        bodies().for_each(|body| found[body.index()] = length);
        // The groups inside, now that the rules are known.
        for body in bodies() {
            eval(body, &mut found);
            found[body.index()] = length;
        }
    }
    found
}

fn longer(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    Some(a?.max(b?))
}

/// Sets the length of a body and of those inside it.
fn body_length(
    grammar: &Grammar,
    sites: &Sites,
    depth: &Least<Cost>,
    nonempty: &[bool],
    body: BodyId,
    found: &mut Vec<Option<u64>>,
) {
    let mut longest = Some(0);
    for alt in grammar.alternatives(body) {
        let mut sum = Some(0u64);
        for symbol in grammar.symbols(alt) {
            let length = match *symbol {
                Symbol::Bytes(bytes) => Some(u64::from(bytes.len)),
                Symbol::Class(class) => Some(u64::from(grammar.class(class).max_len())),
                Symbol::Rule(rule) => found[sites.body_of_rule(rule).index()],
                Symbol::Group(inner) => {
                    body_length(grammar, sites, depth, nonempty, inner, found);
                    found[inner.index()]
                }
                Symbol::Repeat(repeat) => {
                    let repeat = *grammar.repeat(repeat);
                    body_length(grammar, sites, depth, nonempty, repeat.body, found);
                    match (nonempty[repeat.body.index()], repeat.max) {
                        (false, _) => Some(0),
                        (true, None) => None,
                        (true, Some(0)) => Some(0),
                        (true, Some(max)) => found[repeat.body.index()]
                            .map(|l| l.saturating_mul(u64::from(max)).min(SATURATED)),
                    }
                }
            };
            sum = sum.zip(length).map(|(a, b)| a.saturating_add(b).min(SATURATED));
        }
        if depth.of_alternative(alt).is_some() {
            longest = longer(longest, sum);
        }
    }
    found[body.index()] = longest;
}
