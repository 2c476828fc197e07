//! Replaces calls by the alternatives of the rules they call, level by
//! level: the flattening of "Building Fast Fuzzers" (Gopinath and Zeller,
//! 2019), Figure 11.
//!
//! In:  any grammar; groups and repetitions outside of tokens are
//!      desugared first.
//! Out: the same language. In each of `levels` rounds every call in every
//!      alternative was replaced by each alternative of the called rule,
//!      in all combinations. Rules that nothing calls any more are gone.
//!      Left alone are calls of tokens, which are leaves, calls of rules
//!      with a depth limit or remarks, and calls with remarks.
//!
//! Probabilities change, which is the point: with equal weights, what
//! used to share one alternative now has one each. Weights multiply; the
//! weights of a rule are divided by what they have in common and scaled
//! down together where they would be too large. Alternatives that come
//! out equal are not merged, so that their weights add up.

use super::copy::{AsIs, Rewrite, drop_uncalled};
use super::desugar::desugar_some;
use crate::arena::{AltId, MAX_WEIGHT, SymbolId};
use crate::diagnostic::Diagnostic;
use crate::ir::{Grammar, RuleId, Symbol};

/// Alternatives that all rounds together may write.
pub const MAX_ALTERNATIVES: u64 = 1_000_000;
/// Symbols that all rounds together may write.
pub const MAX_SYMBOLS: u64 = 16_000_000;

/// The grammar unrolled `levels` times; an error if that is too large.
pub fn unroll(grammar: &Grammar, levels: u32) -> Result<Grammar, Diagnostic> {
    let mut current = drop_uncalled(&desugar_some(grammar, |rule| !rule.is_lexical()));
    let mut written = Size { alternatives: 0, symbols: 0 };
    for level in 1..=levels {
        for id in current.rules().filter(|&id| !current.rule(id).is_lexical()) {
            let size = Size::of(&current, id);
            written.alternatives = written.alternatives.saturating_add(size.alternatives);
            written.symbols = written.symbols.saturating_add(size.symbols);
            if written.alternatives > MAX_ALTERNATIVES || written.symbols > MAX_SYMBOLS {
                let rule = current.rule(id);
                let message = format!("rule `{}` is too large to unroll", rule.name);
                let what = if written.alternatives > MAX_ALTERNATIVES {
                    format!("more than {MAX_ALTERNATIVES} alternatives at level {level}")
                } else {
                    format!("more than {MAX_SYMBOLS} symbols at level {level}")
                };
                return Err(Diagnostic::error(rule.span, message).label(what).help("unroll fewer levels"));
            }
        }
        let next = drop_uncalled(&round(&current));
        // Rules that only call each other in circles never grow.
        if next.same_as(&current) {
            break;
        }
        current = next;
    }
    Ok(current)
}

fn round(grammar: &Grammar) -> Grammar {
    let mut out = Rewrite::new(grammar, |_| true);
    for (old, new) in out.kept() {
        let rule = grammar.rule(old);
        let body = if rule.is_lexical() {
            out.body(rule.body, &mut AsIs)
        } else {
            unroll_rule(grammar, &mut out, old)
        };
        out.set_body(new, body);
    }
    out.finish()
}

/// Writes all combinations for all alternatives of a rule.
fn unroll_rule(grammar: &Grammar, out: &mut Rewrite<'_>, id: RuleId) -> crate::BodyId {
    let rule = grammar.rule(id);
    let mut weights: Vec<u64> = Vec::new();
    for alt in grammar.alternatives(rule.body) {
        let mut combination = Combination::first(grammar, alt);
        while let Some(chosen) = &combination {
            weights.push(chosen.weight(grammar));
            combination = combination.and_then(Combination::next);
        }
    }
    let mut weights = fit(&weights).into_iter();
    let mut any = false;
    for alt in grammar.alternatives(rule.body) {
        let span = grammar.alternative(alt).span;
        let mut combination = Combination::first(grammar, alt);
        while let Some(chosen) = combination {
            if any {
                out.to.next_alternative(span);
            } else {
                out.to.open_body(span);
            }
            any = true;
            out.to.weight(weights.next().unwrap_or(1));
            chosen.write(grammar, out);
            combination = chosen.next();
        }
    }
    if any {
        return out.to.close_body();
    }
    out.to.open_body(rule.span);
    out.to.close_body_without_last()
}

/// The rule whose alternatives replace a symbol.
fn callee(grammar: &Grammar, id: SymbolId) -> Option<RuleId> {
    let Symbol::Rule(called) = grammar.symbols[id.index()] else { return None };
    let rule = grammar.rule(called);
    let opaque = rule.is_lexical()
        || rule.depth_limit.is_some()
        || !rule.notes.is_empty()
        || grammar.notes(id).next().is_some();
    (!opaque).then_some(called)
}

/// How much a rule becomes in one round.
struct Size {
    alternatives: u64,
    symbols: u64,
}

impl Size {
    fn of(grammar: &Grammar, id: RuleId) -> Size {
        let mut all = Size { alternatives: 0, symbols: 0 };
        for alt in grammar.alternatives(grammar.rule(id).body) {
            let mut size = Size { alternatives: 1, symbols: 0 };
            for (id, _) in grammar.numbered(alt) {
                let (ways, inside) = match callee(grammar, id) {
                    None => (1, 1),
                    Some(rule) => {
                        let alternatives = grammar.alternatives(grammar.rule(rule).body);
                        let ways = alternatives.len() as u64;
                        (ways, alternatives.map(|a| grammar.symbols(a).len() as u64).sum())
                    }
                };
                let inside = size.alternatives.saturating_mul(inside);
                size.symbols = size.symbols.saturating_mul(ways).saturating_add(inside);
                size.alternatives = size.alternatives.saturating_mul(ways);
            }
            all.alternatives = all.alternatives.saturating_add(size.alternatives);
            all.symbols = all.symbols.saturating_add(size.symbols);
        }
        all
    }
}

/// A choice of one alternative for each call of an alternative.
struct Combination {
    alt: AltId,
    /// For each call: the alternatives there are, and which is chosen.
    chosen: Vec<(std::ops::Range<u32>, u32)>,
}

impl Combination {
    /// The first choice everywhere; `None` if some rule has none.
    fn first(grammar: &Grammar, alt: AltId) -> Option<Combination> {
        let mut chosen = Vec::new();
        for (id, _) in grammar.numbered(alt) {
            if let Some(rule) = callee(grammar, id) {
                let mut alternatives = grammar.alternatives(grammar.rule(rule).body);
                let count = alternatives.len() as u32;
                let first = alternatives.next()?.0;
                chosen.push((first..first + count, first));
            }
        }
        Some(Combination { alt, chosen })
    }

    /// The next choice, the last call turning fastest.
    fn next(mut self) -> Option<Combination> {
        for (range, chosen) in self.chosen.iter_mut().rev() {
            *chosen += 1;
            if *chosen < range.end {
                return Some(self);
            }
            *chosen = range.start;
        }
        None
    }

    fn weight(&self, grammar: &Grammar) -> u64 {
        let own = u64::from(grammar.alternative(self.alt).weight);
        self.chosen.iter().fold(own, |product, &(_, chosen)| {
            product.saturating_mul(u64::from(grammar.alternative(AltId(chosen)).weight))
        })
    }

    fn write(&self, grammar: &Grammar, out: &mut Rewrite<'_>) {
        let mut chosen = self.chosen.iter();
        for (id, _) in grammar.numbered(self.alt) {
            match callee(grammar, id).and_then(|_| chosen.next()) {
                None => out.symbol(id, &mut AsIs),
                Some(&(_, alt)) => out.at(grammar.span(id), |out| out.symbols(AltId(alt), &mut AsIs)),
            }
        }
    }
}

/// Weights in the same ratio, none above [`MAX_WEIGHT`] and their sum
/// below 2^32; only where they differ by more than that, the smallest
/// become 1.
fn fit(weights: &[u64]) -> Vec<u32> {
    let (max, sum) = (
        |w: &[u64]| w.iter().copied().max().unwrap_or(1),
        |w: &[u64]| w.iter().map(|&w| u128::from(w)).sum::<u128>(),
    );
    let top = u128::from(MAX_WEIGHT);
    let fits = |w: &[u64]| u128::from(max(w)) <= top && sum(w) <= u128::from(u32::MAX);
    if fits(weights) {
        return weights.iter().map(|&w| w as u32).collect();
    }
    let common = weights.iter().copied().fold(0, gcd).max(1);
    let reduced: Vec<u64> = weights.iter().map(|&w| w / common).collect();
    if fits(&reduced) {
        return reduced.iter().map(|&w| w as u32).collect();
    }
    // Each may be rounded up to 1, hence the count is set aside.
    let room = u128::from(u32::MAX) - weights.len() as u128;
    let (max, sum) = (u128::from(max(&reduced)), sum(&reduced));
    let (times, by) = if top * sum <= room * max { (top, max) } else { (room, sum) };
    reduced.iter().map(|&w| ((u128::from(w) * times / by) as u32).max(1)).collect()
}

fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_keep_their_ratio_as_long_as_they_can() {
        assert_eq!(fit(&[1, 2, 3]), [1, 2, 3]);
        assert_eq!(fit(&[3_000_000, 6_000_000]), [1, 2]);
        assert_eq!(fit(&[1_000_000_000_000, 500_000_000_000, 7]), [1_000_000, 500_000, 1]);
        assert_eq!(fit(&[]), [0; 0]);
        let many = fit(&[1_000_000; 10_000]);
        assert!(many.iter().all(|&w| w == 1));
        let mixed: Vec<u64> = (0..10_000).map(|i| 999_999 - i % 2).collect();
        assert!(fit(&mixed).iter().map(|&w| u64::from(w)).sum::<u64>() <= u64::from(u32::MAX));
    }
}
