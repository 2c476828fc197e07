//! How a subtree can stand where another body is asked for.
//!
//! In:  a body.
//! Out: for each body below it, the way to derive that one from it with the
//!      fewest bytes around it.
//!
//! So `while c do f() end`, a statement, can give way to `f()`, which is a
//! call: the way is `statement = call`.

use super::shortest::Shortest;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use wug_grammar::derivation::{Forwards, Node};
use wug_grammar::{AltId, BodyId, Derivation, Grammar, Symbol};

/// At most so many levels.
const LEVELS: u32 = 16;

/// The ways from one body to all others, by body.
#[derive(Debug)]
pub(super) struct Wraps {
    steps: Vec<Option<Step>>,
}

/// The last step of a way.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// Bytes around, all in all.
    cost: u64,
    levels: u32,
    /// The alternative of the body before, and the symbol in it that derives
    /// this body; none at the beginning.
    from: Option<(BodyId, AltId, u32)>,
}

impl Wraps {
    pub fn of(grammar: &Grammar, shortest: &Shortest<'_>, body: BodyId) -> Wraps {
        let mut steps: Vec<Option<Step>> = vec![None; grammar.body_count()];
        let mut queue = BinaryHeap::from([Reverse((0u64, 0u32, body))]);
        steps[body.index()] = Some(Step { cost: 0, levels: 0, from: None });
        while let Some(Reverse((cost, levels, from))) = queue.pop() {
            let known = steps[from.index()].is_some_and(|s| (s.cost, s.levels) == (cost, levels));
            if !known || levels == LEVELS {
                continue;
            }
            for alt in grammar.alternatives(from) {
                let Some(whole) = shortest.facts.length.of_alternative(alt) else { continue };
                for (id, &symbol) in grammar.numbered(alt) {
                    let Some((to, counted)) = slot(grammar, symbol) else { continue };
                    let Some(length) = shortest.length(to) else { continue };
                    let around = if counted { whole.length.saturating_sub(length) } else { whole.length };
                    let cost = cost.saturating_add(around);
                    let step = Step { cost, levels: levels + 1, from: Some((from, alt, id.0)) };
                    let better = |s: &Step| (step.cost, step.levels) < (s.cost, s.levels);
                    if steps[to.index()].as_ref().is_none_or(better) {
                        steps[to.index()] = Some(step);
                        queue.push(Reverse((step.cost, step.levels, to)));
                    }
                }
            }
        }
        Wraps { steps }
    }

    /// Bytes around `body`; nothing if there is no way.
    pub fn cost(&self, body: BodyId) -> Option<u64> {
        self.steps[body.index()].map(|step| step.cost)
    }

    /// Writes the way to `body`, with the subtree of `at` as that.
    pub fn write(
        &self,
        grammar: &Grammar,
        shortest: &Shortest<'_>,
        (body, derivation, at): (BodyId, &Derivation, usize),
        out: &mut Forwards<'_>,
        most: usize,
    ) -> Option<()> {
        let mut way = Vec::new();
        let mut to = body;
        while let Some((from, alt, symbol)) = self.steps[to.index()]?.from {
            way.push((alt, symbol));
            to = from;
        }
        let mut open = Vec::new();
        for &(alt, slot) in way.iter().rev() {
            let mark = out.open(Node::Alternative(alt));
            for symbol in grammar.alternative(alt).first..slot {
                shortest.symbol(grammar.symbol(symbol), out, most)?;
            }
            let list = matches!(grammar.symbol(slot), Symbol::Repeat(_));
            open.push((mark, list.then(|| out.open(Node::Repeat(1)))));
        }
        out.graft(derivation, at..derivation.end(at));
        for (&(alt, slot), (mark, list)) in way.iter().zip(open.into_iter().rev()) {
            if let Some(list) = list {
                out.close(list);
            }
            for symbol in slot + 1..grammar.alternative(alt).end {
                shortest.symbol(grammar.symbol(symbol), out, most)?;
            }
            out.close(mark);
        }
        Some(())
    }
}

/// The body that a symbol derives once, and whether the least length of its
/// alternative counts it.
fn slot(grammar: &Grammar, symbol: Symbol) -> Option<(BodyId, bool)> {
    match symbol {
        Symbol::Rule(rule) if !grammar.rule(rule).is_token() => Some((grammar.rule(rule).body, true)),
        Symbol::Group(body) => Some((body, true)),
        Symbol::Repeat(repeat) => {
            let repeat = grammar.repeat(repeat);
            let once = repeat.min <= 1 && repeat.max.is_none_or(|max| max > 0);
            once.then_some((repeat.body, repeat.min == 1))
        }
        _ => None,
    }
}
