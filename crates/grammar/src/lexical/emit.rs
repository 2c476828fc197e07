//! An automaton as rules: one for each state.

use super::alphabet::Alphabet;
use super::dfa::{DEAD, Dfa};
use crate::arena::{BodyId, Builder};
use crate::class::{Class, Unit};
use crate::ir::{RuleId, Symbol};
use crate::source::Span;
use std::collections::VecDeque;

/// Rules that derive the words of an automaton.
pub struct Emitted {
    /// Derives all words.
    pub start: BodyId,
    /// The bodies of the rules that were declared.
    pub bodies: Vec<(RuleId, BodyId)>,
}

/// Writes bodies to `builder`; `declare` makes a rule for a state. A state
/// goes on or ends as a repetition does: where it can end, it does so with
/// probability 1/4; elsewhere it comes nearer to an end with probability
/// 1/4 at least. Among the bytes of each kind all are equally likely.
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
    let distance = distances(dfa);
    let mut start = None;
    let mut bodies = Vec::new();
    for state in states.filter(|&s| s == dfa.start || rules[s as usize].is_some()) {
        let body = body(dfa, state, alphabet, &distance, &rules, builder, span);
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
    distance: &[u32],
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
    // Bytes that come nearer to an end, and those that do not.
    let nearer = |to: u32| distance[to as usize] < distance[state as usize];
    let near: u32 = edges.iter().filter(|(to, _)| nearer(*to)).map(|(_, class)| class.count()).sum();
    let far = total - near;
    let steer = first && near * 3 < far;
    let alone = first && edges.len() == 1;
    let weigh = |to: u32, count: u32| match (steer, nearer(to)) {
        _ if alone => 1,
        (true, true) => count * far,
        (true, false) => count * near * 3,
        (false, _) => count,
    };
    for (to, class) in edges {
        if !first {
            builder.next_alternative(span);
        }
        first = false;
        builder.weight(weigh(to, class.count()));
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

/// Bytes from each state to the nearest that accepts.
fn distances(dfa: &Dfa) -> Vec<u32> {
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); dfa.len()];
    for state in 1..dfa.len() as u32 {
        for &to in dfa.steps(state).iter().filter(|&&to| to != DEAD) {
            before[to as usize].push(state);
        }
    }
    let mut distance = vec![u32::MAX; dfa.len()];
    let mut queue: VecDeque<u32> =
        (1..dfa.len() as u32).filter(|&s| dfa.labels[s as usize].is_some()).collect();
    queue.iter().for_each(|&s| distance[s as usize] = 0);
    while let Some(state) = queue.pop_front() {
        for &from in &before[state as usize] {
            if distance[from as usize] == u32::MAX {
                distance[from as usize] = distance[state as usize] + 1;
                queue.push_back(from);
            }
        }
    }
    distance
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
