//! How a subtree can stand where another body is asked for.
//!
//! In:  a body.
//! Out: for each body below it, the way to derive that one from it with the
//!      fewest bytes around it.
//!
//! So `while c do f() end`, a statement, can give way to `f()`, which is a
//! call: the way is `statement = call`. The way from a body to itself serves
//! where what is needed is one inside another, and the outer one is large.

use super::shortest::Shortest;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use wug_grammar::derivation::{Forwards, Node};
use wug_grammar::{AltId, BodyId, Derivation, Grammar, Symbol};

/// At most so many levels.
const LEVELS: u32 = 16;

/// The ways from one body to all others, by body, and the way to itself.
#[derive(Debug)]
pub(super) struct Wraps {
    steps: Vec<Option<Step>>,
    round: Option<Step>,
}

/// The alternatives of a way and the symbols in them, the outermost first.
pub(super) type Way = Vec<(AltId, u32)>;

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
        let mut round: Option<Step> = None;
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
                    if to == body && round.as_ref().is_none_or(better) {
                        round = Some(step);
                    }
                    if steps[to.index()].as_ref().is_none_or(better) {
                        steps[to.index()] = Some(step);
                        queue.push(Reverse((step.cost, step.levels, to)));
                    }
                }
            }
        }
        Wraps { steps, round }
    }

    /// Bytes around `body`; nothing if there is no way.
    pub fn cost(&self, body: BodyId) -> Option<u64> {
        self.steps[body.index()].map(|step| step.cost)
    }

    /// Bytes around the body itself inside another of it.
    pub fn round_cost(&self) -> Option<u64> {
        self.round.map(|step| step.cost)
    }

    /// The way to `body`.
    pub fn way(&self, body: BodyId) -> Option<Way> {
        self.way_by(self.steps[body.index()]?)
    }

    /// The way from the body to itself, one round.
    pub fn round(&self) -> Option<Way> {
        self.way_by(self.round?)
    }

    fn way_by(&self, last: Step) -> Option<Way> {
        let mut way = Vec::new();
        let mut step = last;
        while let Some((from, alt, symbol)) = step.from {
            way.push((alt, symbol));
            step = self.steps[from.index()]?;
        }
        way.reverse();
        Some(way)
    }
}

/// Writes a way, with the subtree of `at` at its end.
pub(super) fn write(
    grammar: &Grammar,
    shortest: &Shortest<'_>,
    way: &Way,
    (derivation, at): (&Derivation, usize),
    out: &mut Forwards<'_>,
    most: usize,
) -> Option<()> {
    let mut open = Vec::new();
    for &(alt, slot) in way {
        let mark = out.open(Node::Alternative(alt));
        for symbol in grammar.alternative(alt).first..slot {
            shortest.symbol(grammar.symbol(symbol), out, most)?;
        }
        let list = matches!(grammar.symbol(slot), Symbol::Repeat(_));
        open.push((mark, list.then(|| out.open(Node::Repeat(1)))));
    }
    out.graft(derivation, at..derivation.end(at));
    for (&(alt, slot), (mark, list)) in way.iter().zip(open).rev() {
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
