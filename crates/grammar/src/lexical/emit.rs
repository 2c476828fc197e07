//! An automaton as rules: one for each state.

use super::alphabet::Alphabet;
use super::dfa::{DEAD, Dfa};
use crate::arena::{BodyId, Builder};
use crate::class::{Class, Unit};
use crate::ir::{RuleId, Symbol};
use crate::source::Span;

/// Rules that derive the words of an automaton.
pub struct Emitted {
    /// Derives all words.
    pub start: BodyId,
    /// The bodies of the rules that were declared.
    pub bodies: Vec<(RuleId, BodyId)>,
}

/// Writes bodies to `builder`; `declare` makes a rule for a state. A state
/// goes on or ends as a repetition does: it ends, where it can, with
/// probability 1/4, and goes on with equally likely bytes.
pub fn emit(
    dfa: &Dfa,
    alphabet: &Alphabet,
    builder: &mut Builder<Symbol>,
    span: Span,
    declare: &mut dyn FnMut(u32) -> RuleId,
) -> Emitted {
    // The start is the body that is given; it is a rule as well only if
    // some state leads back to it.
    let states = 1..dfa.len() as u32;
    let entered = states.clone().any(|s| dfa.steps(s).contains(&dfa.start));
    let goes_on = |s: u32| dfa.steps(s).iter().any(|&to| to != DEAD);
    let mut rules: Vec<Option<RuleId>> = vec![None; dfa.len()];
    for state in states.clone().filter(|&s| if s == dfa.start { entered } else { goes_on(s) }) {
        rules[state as usize] = Some(declare(state));
    }
    let mut start = None;
    let mut bodies = Vec::new();
    for state in states.filter(|&s| s == dfa.start || rules[s as usize].is_some()) {
        let body = body(dfa, state, alphabet, &rules, builder, span);
        bodies.extend(rules[state as usize].map(|rule| (rule, body)));
        if state == dfa.start {
            start = Some(body);
        }
    }
    let start = start.unwrap_or_else(|| {
        builder.open_body(span);
        builder.close_body_without_last()
    });
    Emitted { start, bodies }
}

fn body(
    dfa: &Dfa,
    state: u32,
    alphabet: &Alphabet,
    rules: &[Option<RuleId>],
    builder: &mut Builder<Symbol>,
    span: Span,
) -> BodyId {
    let edges = edges(dfa, state, alphabet);
    let total: u32 = edges.iter().map(|(_, class)| class.count()).sum();
    builder.open_body(span);
    let mut first = true;
    if dfa.labels[state as usize].is_some() {
        builder.weight(total.div_ceil(3).max(1));
        first = false;
    }
    let alone = first && edges.len() == 1;
    for (to, class) in edges {
        if !first {
            builder.next_alternative(span);
        }
        first = false;
        builder.weight(if alone { 1 } else { class.count() });
        let symbol = if class.count() == 1 {
            let mut bytes = Vec::new();
            class.emit(0, &mut bytes);
            Symbol::Bytes(builder.bytes(&bytes))
        } else {
            Symbol::Class(builder.class(class))
        };
        builder.symbol(symbol, span);
        if let Some(rule) = rules[to as usize] {
            builder.symbol(Symbol::Rule(rule), span);
        }
    }
    if first { builder.close_body_without_last() } else { builder.close_body() }
}

/// The states after one byte, each with the bytes that lead there.
fn edges(dfa: &Dfa, state: u32, alphabet: &Alphabet) -> Vec<(u32, Class)> {
    let mut ranges: Vec<(u32, Vec<(u32, u32)>)> = Vec::new();
    for (letter, &to) in dfa.steps(state).iter().enumerate().filter(|(_, to)| **to != DEAD) {
        let (low, high) = alphabet.bytes(letter);
        let range = (u32::from(low), u32::from(high));
        match ranges.iter_mut().find(|(t, _)| *t == to) {
            Some((_, list)) => list.push(range),
            None => ranges.push((to, vec![range])),
        }
    }
    ranges.into_iter().map(|(to, list)| (to, Class::new(Unit::Byte, list))).collect()
}
