//! The least depth and the least length of everything, by Knuth's
//! generalisation of Dijkstra's algorithm: a body is final when it is the
//! cheapest that is not, so each is looked at once.

use super::sites::{Sites, Use};
use crate::arena::{AltId, BodyId};
use crate::ir::{Grammar, Symbol};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Least depth. Calls of rules that cost no depth count as `steps`, which
/// break ties inside made rules so that closing them ends, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cost {
    /// Levels of calls of rules that the user wrote.
    pub depth: u32,
    /// Levels of other calls since the last of those.
    pub steps: u32,
}

/// Least length, and among derivations of it the least height: following
/// the least alternative always ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shortest {
    /// Bytes, saturating.
    pub length: u64,
    /// Levels of calls.
    pub height: u32,
}

/// The least measure of each body and alternative that derives anything.
#[derive(Clone, Debug)]
pub struct Least<K> {
    bodies: Vec<Option<K>>,
    alternatives: Vec<Option<K>>,
}

impl<K: Copy> Least<K> {
    /// Of a body; `None` derives nothing.
    pub fn of_body(&self, body: BodyId) -> Option<K> {
        self.bodies[body.index()]
    }

    /// Of an alternative; `None` derives nothing.
    pub fn of_alternative(&self, alt: AltId) -> Option<K> {
        self.alternatives[alt.index()]
    }
}

/// The least depth of everything.
pub fn depth(grammar: &Grammar, sites: &Sites) -> Least<Cost> {
    let zero = Cost { depth: 0, steps: 0 };
    let used = |sum: Cost, how: Use, cost: Cost| {
        sum.max(match how {
            Use::Call(rule) if sites.costs_depth(rule) => Cost { depth: cost.depth + 1, steps: 0 },
            Use::Call(_) => Cost { steps: cost.steps + 1, ..cost },
            Use::Group | Use::Repeat { .. } => cost,
        })
    };
    solve(grammar, sites, zero, |sum, _| sum, used)
}

/// The least length of everything.
pub fn length(grammar: &Grammar, sites: &Sites) -> Least<Shortest> {
    let zero = Shortest { length: 0, height: 0 };
    let leaf = |sum: Shortest, symbol: Symbol| {
        let bytes = match symbol {
            Symbol::Bytes(bytes) => u64::from(bytes.len),
            Symbol::Class(class) => u64::from(grammar.class(class).min_len()),
            _ => 0,
        };
        Shortest { length: sum.length.saturating_add(bytes), ..sum }
    };
    let used = |sum: Shortest, how: Use, of: Shortest| {
        let (times, levels) = match how {
            Use::Call(_) => (1, 1),
            Use::Group => (1, 0),
            Use::Repeat { min, .. } => (u64::from(min), 0),
        };
        Shortest {
            length: sum.length.saturating_add(of.length.saturating_mul(times)),
            height: sum.height.max(of.height + levels),
        }
    };
    solve(grammar, sites, zero, leaf, used)
}

/// `leaf` adds a literal or class to the measure of an alternative, `used`
/// adds a body; neither may make it smaller than the parts.
fn solve<K: Copy + Ord>(
    grammar: &Grammar,
    sites: &Sites,
    zero: K,
    leaf: impl Fn(K, Symbol) -> K,
    used: impl Fn(K, Use, K) -> K,
) -> Least<K> {
    let mut sums = vec![zero; grammar.alternative_count()];
    // Symbols of an alternative whose measure is not known yet.
    let mut waiting = vec![0u32; grammar.alternative_count()];
    let mut bodies: Vec<Option<K>> = vec![None; grammar.body_count()];
    // The least of each body so far, final or not: only better ones queue.
    let mut best: Vec<Option<K>> = vec![None; grammar.body_count()];
    let mut heap: BinaryHeap<Reverse<(K, BodyId)>> = BinaryHeap::new();

    for body in (0..grammar.body_count() as u32).map(BodyId) {
        let mut least: Option<K> = None;
        for alt in grammar.alternatives(body) {
            for symbol in grammar.symbols(alt) {
                if needs(grammar, *symbol) {
                    waiting[alt.index()] += 1;
                } else {
                    sums[alt.index()] = leaf(sums[alt.index()], *symbol);
                }
            }
            if waiting[alt.index()] == 0 {
                let sum = sums[alt.index()];
                least = Some(least.map_or(sum, |l| l.min(sum)));
            }
        }
        best[body.index()] = least;
        heap.extend(least.map(|l| Reverse((l, body))));
    }
    while let Some(Reverse((key, body))) = heap.pop() {
        if bodies[body.index()].is_some() {
            continue;
        }
        bodies[body.index()] = Some(key);
        for site in sites.of_body(body) {
            if matches!(site.how, Use::Repeat { min: 0, .. }) {
                continue;
            }
            let at = site.alternative.index();
            sums[at] = used(sums[at], site.how, key);
            waiting[at] -= 1;
            if waiting[at] == 0 {
                let user = sites.body_of[at];
                if best[user.index()].is_none_or(|b| sums[at] < b) {
                    best[user.index()] = Some(sums[at]);
                    heap.push(Reverse((sums[at], user)));
                }
            }
        }
    }
    let alternatives =
        sums.iter().zip(&waiting).map(|(&sum, &waiting)| (waiting == 0).then_some(sum)).collect();
    Least { bodies, alternatives }
}

/// Whether a symbol has a measure only when a body has; an empty class
/// never has one.
fn needs(grammar: &Grammar, symbol: Symbol) -> bool {
    match symbol {
        Symbol::Bytes(_) => false,
        Symbol::Class(class) => grammar.class(class).is_empty(),
        Symbol::Rule(_) | Symbol::Group(_) => true,
        Symbol::Repeat(repeat) => grammar.repeat(repeat).min > 0,
    }
}
