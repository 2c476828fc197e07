//! Pushes simple alternatives down some levels, so that they are chosen
//! less often: "Building Fast Fuzzers" (Gopinath and Zeller, 2019),
//! Figure 12.
//!
//! In:  any grammar.
//! Out: the same language. In a rule with both simple alternatives (those
//!      that derive finitely many strings: they reach no recursion and no
//!      unbounded repetition) and others, the simple ones together have
//!      the probability `1 / 2^levels`; among themselves both kinds keep
//!      their weights. Other rules stay as they are, as do lexical rules,
//!      which are leaves, and rules that a pass made, such as the rest of
//!      a list.
//!
//! ```text
//! value   = value_complex | value_2 ;
//! value_2 = value_complex | value_3 ;
//! value_3 = value_complex | value_simple ;
//! ```

use super::calls::Calls;
use super::copy::{AsIs, Rewrite};
use crate::arena::{AltId, BodyId};
use crate::ir::{Grammar, RuleId, Symbol};

/// More levels are taken as this many: a choice is drawn with 32 bits, so
/// that further levels would never be reached.
pub const MAX_LEVELS: u32 = 32;

/// The grammar with simple alternatives pushed down `levels` levels.
pub fn embed(grammar: &Grammar, levels: u32) -> Grammar {
    let infinite = infinite_rules(grammar);
    let mut out = Rewrite::new(grammar, |_| true);
    for (old, new) in out.kept() {
        let rule = grammar.rule(old);
        let (complex, simple): (Vec<AltId>, Vec<AltId>) =
            grammar.alternatives(rule.body).partition(|&alt| is_infinite(grammar, alt, &infinite));
        let skip = rule.is_lexical() || rule.made || complex.is_empty() || simple.is_empty();
        let body = if skip || levels == 0 {
            out.body(rule.body, &mut AsIs)
        } else {
            split(&mut out, new, &complex, &simple, levels.min(MAX_LEVELS))
        };
        out.set_body(new, body);
    }
    out.finish()
}

/// Writes the lower levels of a rule and gives its new body.
fn split(out: &mut Rewrite<'_>, rule: RuleId, complex: &[AltId], simple: &[AltId], levels: u32) -> BodyId {
    let span = out.span_of(rule);
    let below: Vec<RuleId> =
        (2..=levels).map(|level| out.make_named(rule, &level.to_string(), span)).collect();
    let [complex, simple] = [("complex", complex), ("simple", simple)].map(|(name, alternatives)| {
        let part = out.make_named(rule, name, span);
        let body = out.body_of(alternatives, &mut AsIs);
        out.set_body(part, body);
        part
    });
    let mut level = |next: RuleId| {
        out.to.open_body(span);
        out.to.symbol(Symbol::Rule(complex), span);
        out.to.next_alternative(span);
        out.to.symbol(Symbol::Rule(next), span);
        out.to.close_body()
    };
    let top = level(below.first().copied().unwrap_or(simple));
    let bodies: Vec<BodyId> =
        (1..=below.len()).map(|next| level(below.get(next).copied().unwrap_or(simple))).collect();
    for (rule, body) in below.into_iter().zip(bodies) {
        out.set_body(rule, body);
    }
    top
}

/// Whether each rule reaches recursion or an unbounded repetition.
fn infinite_rules(grammar: &Grammar) -> Vec<bool> {
    let order = Calls::of(grammar).order();
    let mut infinite = order.recursive;
    for rule in order.callees_first {
        if !infinite[rule.index()] {
            let mut alternatives = grammar.alternatives(grammar.rule(rule).body);
            infinite[rule.index()] = alternatives.any(|alt| is_infinite(grammar, alt, &infinite));
        }
    }
    infinite
}

fn is_infinite(grammar: &Grammar, alt: AltId, infinite: &[bool]) -> bool {
    let body = |body: BodyId| grammar.alternatives(body).any(|alt| is_infinite(grammar, alt, infinite));
    grammar.symbols(alt).iter().any(|&symbol| match symbol {
        Symbol::Bytes(_) | Symbol::Class(_) => false,
        Symbol::Rule(rule) => infinite[rule.index()],
        Symbol::Group(inner) => body(inner),
        Symbol::Repeat(repeat) => {
            let repeat = grammar.repeat(repeat);
            repeat.max.is_none() || (repeat.max != Some(0) && body(repeat.body))
        }
    })
}
