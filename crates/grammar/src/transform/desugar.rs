//! Rewrites groups and repetitions into plain rules.
//!
//! In:  any grammar.
//! Out: the same language with no `Group` and no `Repeat`. New rules are
//!      marked as made, stand behind the old ones and keep the span of
//!      what they came from; a part of a token is a fragment.
//!
//! `x*` becomes right recursion, not a balanced tree: a tree would make
//! long lists shallow, but a mutator could no longer drop one list item.
//! It goes on with probability one half. Bounded repetitions draw their
//! count evenly; beyond eight they count in binary, so that `x{0,n}`
//! costs O(log n) rules and still has exactly one derivation per count.
//!
//! Whether a repetition in a token is greedy is lost, which the language
//! of a single token does not show but a lexer would: lower first.

use super::copy::{AsIs, Edit, Rewrite};
use crate::arena::{AltId, BodyId, MAX_WEIGHT, Repeat, SymbolId};
use crate::ir::{Grammar, Rule, RuleId, Symbol};
use crate::source::Span;

/// Up to this many copies are written out one by one.
const PLAIN: u32 = 8;

/// The grammar without groups and repetitions.
pub fn desugar(grammar: &Grammar) -> Grammar {
    desugar_some(grammar, |_| true)
}

/// As [`desugar`], for some of the rules.
pub(crate) fn desugar_some(grammar: &Grammar, wanted: impl Fn(&Rule) -> bool) -> Grammar {
    let mut out = Rewrite::new(grammar, |_| true);
    for (old, new) in out.kept() {
        let rule = grammar.rule(old);
        let body = if wanted(rule) {
            out.body(rule.body, &mut Desugar { of: new })
        } else {
            out.body(rule.body, &mut AsIs)
        };
        out.set_body(new, body);
    }
    out.finish()
}

struct Desugar {
    /// The rule that is being rewritten, which lends its name.
    of: RuleId,
}

impl Edit for Desugar {
    fn replace(&mut self, out: &mut Rewrite<'_>, id: SymbolId) -> bool {
        match out.from.symbols[id.index()] {
            Symbol::Group(body) => {
                let rule = self.item(out, body, out.from.span(id));
                out.call(rule, id);
            }
            Symbol::Repeat(repeat) => {
                let (repeat, span) = (*out.from.repeat(repeat), out.from.span(id));
                if out.noted(id) {
                    // The remarks need one symbol to stand on.
                    let whole = out.make_numbered(self.of, span);
                    out.to.open_body(span);
                    Unfold::new(self, out, repeat, span).write();
                    let body = out.to.close_body();
                    out.set_body(whole, body);
                    out.call(whole, id);
                } else {
                    Unfold::new(self, out, repeat, span).write();
                }
            }
            _ => return false,
        }
        true
    }
}

impl Desugar {
    /// A rule with the alternatives of a body.
    fn item(&mut self, out: &mut Rewrite<'_>, body: BodyId, span: Span) -> RuleId {
        let rule = out.make_numbered(self.of, span);
        let body = out.body(body, self);
        out.set_body(rule, body);
        rule
    }
}

/// One repetition on its way to rules.
struct Unfold<'a, 'g> {
    pass: &'a mut Desugar,
    out: &'a mut Rewrite<'g>,
    repeat: Repeat,
    span: Span,
    /// What derives 1, 2, 4, … copies, as far as needed.
    powers: Vec<Part>,
    /// Rules that derive 0 to 1, 0 to 3, 0 to 7, … copies.
    below: Vec<RuleId>,
}

/// Something that can be written any number of times.
#[derive(Clone, Copy)]
enum Part {
    Symbol(SymbolId),
    Call(RuleId),
    /// The symbols of an alternative: only where they are written once.
    Inside(AltId),
}

impl<'a, 'g> Unfold<'a, 'g> {
    fn new(pass: &'a mut Desugar, out: &'a mut Rewrite<'g>, repeat: Repeat, span: Span) -> Self {
        Unfold { pass, out, repeat, span, powers: Vec::new(), below: Vec::new() }
    }

    /// Appends to the open alternative what derives the repetition.
    fn write(&mut self) {
        let Repeat { min, max, .. } = self.repeat;
        if max == Some(0) || self.only_empty() {
            return;
        }
        self.exactly(min);
        match max.map(|max| max.saturating_sub(min)) {
            None => self.any_count(),
            Some(0) => {}
            Some(more) if more <= PLAIN => self.up_to_few(more),
            Some(more) => self.up_to_many(more),
        }
    }

    /// Whether the repeated body is the empty alternative alone, of which
    /// any number is nothing.
    fn only_empty(&self) -> bool {
        let mut alternatives = self.out.from.alternatives(self.repeat.body);
        matches!((alternatives.next(), alternatives.next()), (Some(alt), None)
            if self.out.from.symbols(alt).is_empty())
    }

    fn exactly(&mut self, count: u32) {
        if count <= PLAIN {
            (0..count).for_each(|_| self.power(0));
        } else {
            (0..32).rev().filter(|bit| count >> bit & 1 == 1).for_each(|bit| self.power(bit));
        }
    }

    /// `r = | x r`
    fn any_count(&mut self) {
        let rule = self.make();
        self.out.to.open_body(self.span);
        self.out.to.next_alternative(self.span);
        self.power(0);
        self.call(rule);
        self.close(rule);
        self.call(rule);
    }

    /// `r = | @3 x r_2 ; r_2 = | @2 x r_3 ; r_3 = | x`
    fn up_to_few(&mut self, more: u32) {
        let rules: Vec<RuleId> = (0..more).map(|_| self.make()).collect();
        for (i, &rule) in rules.iter().enumerate() {
            self.out.to.open_body(self.span);
            self.out.to.next_alternative(self.span);
            self.out.to.weight(more - i as u32);
            self.power(0);
            if let Some(&next) = rules.get(i + 1) {
                self.call(next);
            }
            self.close(rule);
        }
        self.call(rules[0]);
    }

    /// 0 to `more` copies are either fewer than the greatest power of two
    /// in it, or that many and up to `more - power` further ones.
    fn up_to_many(&mut self, mut more: u32) {
        let mut holder = None;
        loop {
            if more == 0 {
                // The last power stands alone.
            } else if more & more.wrapping_add(1) == 0 {
                self.call_below(more.trailing_ones());
            } else {
                let bit = more.ilog2();
                let (fewer, rest) = (1u32 << bit, more - (1 << bit));
                let rule = self.make();
                self.call(rule);
                if let Some(holder) = holder.replace(rule) {
                    self.close(holder);
                }
                let (fewer_weight, more_weight) = even(fewer, rest + 1);
                self.out.to.open_body(self.span);
                self.out.to.weight(fewer_weight);
                self.call_below(bit);
                self.out.to.next_alternative(self.span);
                self.out.to.weight(more_weight);
                self.power(bit);
                more = rest;
                continue;
            }
            if let Some(holder) = holder {
                self.close(holder);
            }
            return;
        }
    }

    /// Appends what derives 0 to `2^bits - 1` copies; `bits` is positive.
    fn call_below(&mut self, bits: u32) {
        while self.below.len() < bits as usize {
            let bit = self.below.len() as u32;
            let less = self.below.last().copied();
            let rule = self.make();
            self.out.to.open_body(self.span);
            less.into_iter().for_each(|less| self.call(less));
            self.out.to.next_alternative(self.span);
            self.power(bit);
            less.into_iter().for_each(|less| self.call(less));
            self.close(rule);
            self.below.push(rule);
        }
        if let Some(&rule) = self.below.get((bits as usize).wrapping_sub(1)) {
            self.call(rule);
        }
    }

    /// Appends what derives `2^bit` copies.
    fn power(&mut self, bit: u32) {
        if self.powers.is_empty() {
            let item = self.item();
            self.powers.push(item);
        }
        while self.powers.len() <= bit as usize {
            let half = self.powers[self.powers.len() - 1];
            let rule = self.make();
            self.out.to.open_body(self.span);
            self.part(half);
            self.part(half);
            self.close(rule);
            self.powers.push(Part::Call(rule));
        }
        self.part(self.powers[bit as usize]);
    }

    /// One copy, as short as it can be written.
    fn item(&mut self) -> Part {
        let from = self.out.from;
        let Repeat { body, min, max, .. } = self.repeat;
        let mut alternatives = from.alternatives(body);
        if let (Some(alt), None) = (alternatives.next(), alternatives.next()) {
            let once = matches!((min, max), (0, None | Some(1)) | (1, Some(1)));
            let mut symbols = from.numbered(alt);
            let plain = |symbol: &Symbol| !matches!(symbol, Symbol::Group(_) | Symbol::Repeat(_));
            match (symbols.next(), symbols.next()) {
                (Some((id, symbol)), None) if plain(symbol) => return Part::Symbol(id),
                _ if once => return Part::Inside(alt),
                _ => {}
            }
        }
        Part::Call(self.pass.item(self.out, body, self.span))
    }

    fn part(&mut self, part: Part) {
        match part {
            Part::Symbol(id) => self.out.symbol(id, self.pass),
            Part::Call(rule) => self.call(rule),
            Part::Inside(alt) => self.out.symbols(alt, self.pass),
        }
    }

    fn make(&mut self) -> RuleId {
        self.out.make_numbered(self.pass.of, self.span)
    }

    fn call(&mut self, rule: RuleId) {
        self.out.to.symbol(Symbol::Rule(rule), self.span);
    }

    fn close(&mut self, rule: RuleId) {
        let body = self.out.to.close_body();
        self.out.set_body(rule, body);
    }
}

/// Weights in the ratio of two numbers of counts.
fn even(mut a: u32, mut b: u32) -> (u32, u32) {
    let shift = a.trailing_zeros().min(b.trailing_zeros());
    (a, b) = (a >> shift, b >> shift);
    while a.max(b) > MAX_WEIGHT {
        (a, b) = ((a >> 1).max(1), (b >> 1).max(1));
    }
    (a, b)
}
