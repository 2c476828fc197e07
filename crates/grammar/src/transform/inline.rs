//! Puts rules of one alternative where they are called.
//!
//! In:  any grammar.
//! Out: the same language. No call is left of a rule with exactly one
//!      alternative, but of
//!      - the start, recursive rules, and tokens and their parts;
//!      - rules with a depth limit or remarks, which would be lost;
//!      - rules that some call with remarks names;
//!      - rules that would make the grammar larger than
//!        `4 × symbols + 1,000`, or groups nest too deep.
//!
//! Rules that nothing calls any more are gone.
//!
//! A rule is inlined everywhere or nowhere, callees first; so the size
//! after each step is known before it is taken.

use super::calls::Calls;
use super::copy::{Edit, Rewrite, drop_uncalled};
use crate::arena::{BodyId, MAX_NESTING, SymbolId};
use crate::ir::{Grammar, RuleId, Symbol};

/// The grammar with calls of single-alternative rules replaced.
pub fn inline(grammar: &Grammar) -> Grammar {
    let grammar = drop_uncalled(grammar);
    let inlined = choose(&grammar);
    // All calls of them are gone, and what they call is now called by
    // others: nothing else has become useless.
    Rewrite::new(&grammar, |rule| !inlined[rule.index()]).all(&mut Inline { inlined: &inlined })
}

/// Which rules to inline.
fn choose(grammar: &Grammar) -> Vec<bool> {
    let mut shapes: Vec<Shape> = Vec::with_capacity(grammar.rules.len());
    let mut sites: Vec<Vec<Site>> = vec![Vec::new(); grammar.rules.len()];
    let mut pinned = vec![false; grammar.rules.len()];
    for caller in grammar.rules() {
        let mut shape = Shape::default();
        let mut visit = |call: SymbolId, callee: RuleId, depth| {
            pinned[callee.index()] |= grammar.notes(call).next().is_some();
            sites[callee.index()].push(Site { caller, depth });
        };
        measure(grammar, grammar.rule(caller).body, 0, &mut shape, &mut visit);
        shapes.push(shape);
    }
    let mut total: u64 = shapes.iter().map(|s| s.symbols).sum();
    let budget = 4 * total + 1_000;
    let order = Calls::of(grammar).order();
    let mut inlined = vec![false; grammar.rules.len()];
    for &id in &order.callees_first {
        let rule = grammar.rule(id);
        let candidate = id != grammar.start
            && !order.recursive[id.index()]
            && !pinned[id.index()]
            && !rule.is_lexical()
            && rule.depth_limit.is_none()
            && rule.notes.is_empty()
            && grammar.alternatives(rule.body).len() == 1;
        if !candidate {
            continue;
        }
        // Callers come later in the order, so that they still look as
        // they did at first, and these are all calls there are.
        let sites = &sites[id.index()];
        let shape = shapes[id.index()];
        let grown = total + shape.symbols * (sites.len() as u64).saturating_sub(1);
        let deepest = sites.iter().map(|s| s.depth).max().unwrap_or(0) + shape.depth;
        if grown > budget || deepest >= MAX_NESTING {
            continue;
        }
        total = grown;
        inlined[id.index()] = true;
        for site in sites {
            let caller = &mut shapes[site.caller.index()];
            caller.symbols += shape.symbols;
            caller.depth = caller.depth.max(site.depth + shape.depth);
        }
    }
    inlined
}

/// The size of a rule with all that is inlined into it.
#[derive(Clone, Copy, Default)]
struct Shape {
    /// Symbols, with each call that was replaced: the steps that writing
    /// it takes, even where only empty rules are called.
    symbols: u64,
    /// Groups inside each other.
    depth: usize,
}

/// A call.
#[derive(Clone, Copy)]
struct Site {
    caller: RuleId,
    /// Groups around it.
    depth: usize,
}

fn measure(
    grammar: &Grammar,
    body: BodyId,
    depth: usize,
    shape: &mut Shape,
    site: &mut dyn FnMut(SymbolId, RuleId, usize),
) {
    shape.depth = shape.depth.max(depth);
    for alt in grammar.alternatives(body) {
        for (id, symbol) in grammar.numbered(alt) {
            shape.symbols += 1;
            match *symbol {
                Symbol::Rule(rule) => site(id, rule, depth),
                Symbol::Group(inner) => measure(grammar, inner, depth + 1, shape, site),
                Symbol::Repeat(repeat) => {
                    measure(grammar, grammar.repeat(repeat).body, depth + 1, shape, site);
                }
                _ => {}
            }
        }
    }
}

struct Inline<'a> {
    inlined: &'a [bool],
}

impl Inline<'_> {
    /// The symbols to write in place of a call, if it is to be replaced.
    fn inside(&self, grammar: &Grammar, id: SymbolId) -> Option<std::ops::Range<u32>> {
        let Symbol::Rule(rule) = grammar.symbols[id.index()] else { return None };
        let alt =
            grammar.alternatives(grammar.rule(rule).body).next().filter(|_| self.inlined[rule.index()])?;
        let only = grammar.alternative(alt);
        Some(only.first..only.end)
    }
}

impl Edit for Inline<'_> {
    fn replace(&mut self, out: &mut Rewrite<'_>, id: SymbolId) -> bool {
        let Some(inside) = self.inside(out.from, id) else { return false };
        out.at(out.from.span(id), |out| {
            // A stack of our own: rules may call rules without bound.
            let mut open = vec![inside];
            while let Some(range) = open.last_mut() {
                match range.next().map(SymbolId) {
                    None => drop(open.pop()),
                    Some(id) => match self.inside(out.from, id) {
                        Some(inside) => open.push(inside),
                        None => out.symbol(id, self),
                    },
                }
            }
        });
        true
    }
}
