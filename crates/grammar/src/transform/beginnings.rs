//! Alternatives weigh as many as there are ways to begin them: the
//! distribution of Gramatron.
//!
//! In:  a grammar.
//! Out: the same with other weights.
//!
//! Gramatron draws uniformly among the rules of Greibach's normal form, in which
//! every rule begins with a terminal: a rule `stmt = expr ";"` is there once for
//! each rule of `expr`. So drawing one of those is drawing `stmt` by the number of
//! rules it became, and then one of `expr` in the same way: the normal form
//! need not be made to draw as it draws. A class counts each of its members.
//!
//! Its converter knows neither left recursion nor the empty text. Alternatives
//! that lead back to where they began get the weight of all others together (in the
//! textbook's form one more comes with probability 1/2), an empty one counts one,
//! and what stands first counts alone where it can be empty.

use crate::arena::{AltId, BodyId, MAX_WEIGHT};
use crate::ir::{Grammar, Symbol};

/// Weighs alternatives by their beginnings.
pub fn by_beginnings(grammar: &Grammar) -> Grammar {
    let mut counts = Counts {
        grammar,
        bodies: vec![State::New; grammar.body_count()],
        weights: vec![1.0; grammar.alternative_count()],
    };
    for body in (0..grammar.body_count() as u32).map(BodyId) {
        counts.count(body);
    }
    let weights = counts.whole();
    grammar.clone().with_weights(|alt| weights[alt.index()])
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    /// Being counted: what leads here is left recursive.
    Open,
    Done(f64),
}

struct Counts<'g> {
    grammar: &'g Grammar,
    bodies: Vec<State>,
    weights: Vec<f64>,
}

impl Counts<'_> {
    /// Counts a body, and first all that it can begin with.
    fn count(&mut self, body: BodyId) {
        let mut work = vec![body];
        while let Some(&body) = work.last() {
            match self.bodies[body.index()] {
                State::Done(_) => {
                    work.pop();
                    continue;
                }
                State::Open => {
                    work.pop();
                    self.finish(body);
                    continue;
                }
                State::New => self.bodies[body.index()] = State::Open,
            }
            let firsts = self.grammar.alternatives(body).filter_map(|alt| self.first_body(alt));
            work.extend(firsts.filter(|first| self.bodies[first.index()] == State::New));
        }
    }

    /// The body that an alternative begins with.
    fn first_body(&self, alt: AltId) -> Option<BodyId> {
        match *self.grammar.symbols(alt).first()? {
            Symbol::Bytes(_) | Symbol::Class(_) => None,
            Symbol::Rule(rule) => Some(self.grammar.rule(rule).body),
            Symbol::Group(body) => Some(body),
            Symbol::Repeat(repeat) => Some(self.grammar.repeat(repeat).body),
        }
    }

    /// Sums up a body of which all firsts are counted, or lead back.
    fn finish(&mut self, body: BodyId) {
        let mut sum = 0.0;
        let mut recursive = Vec::new();
        for alt in self.grammar.alternatives(body) {
            match self.of(alt) {
                Some(count) => {
                    self.weights[alt.index()] = count;
                    sum += count;
                }
                None => recursive.push(alt),
            }
        }
        let share = if sum > 0.0 { sum / recursive.len().max(1) as f64 } else { 1.0 };
        for &alt in &recursive {
            self.weights[alt.index()] = share;
            sum += share;
        }
        self.bodies[body.index()] = State::Done(sum.min(f64::MAX / 1e6));
    }

    /// How many ways to begin an alternative has; none if it leads back.
    fn of(&self, alt: AltId) -> Option<f64> {
        let Some(first) = self.grammar.symbols(alt).first() else { return Some(1.0) };
        let called = match self.first_body(alt).map(|body| self.bodies[body.index()]) {
            Some(State::Done(count)) => count,
            Some(State::Open | State::New) => return None,
            None => 1.0,
        };
        Some(match *first {
            Symbol::Class(class) => f64::from(self.grammar.class(class).count().max(1)),
            Symbol::Repeat(repeat) if self.grammar.repeat(repeat).min == 0 => called + 1.0,
            _ => called,
        })
    }

    /// The weights of each body as whole numbers, in the same relation as far as
    /// they can be told.
    fn whole(&self) -> Vec<u32> {
        let mut whole = vec![1; self.weights.len()];
        for body in (0..self.grammar.body_count() as u32).map(BodyId) {
            let weights = || self.grammar.alternatives(body).map(|alt| self.weights[alt.index()]);
            let most = weights().fold(1.0, f64::max);
            let exact = most <= f64::from(MAX_WEIGHT) && weights().all(|weight| weight.fract() == 0.0);
            let scale = if exact { 1.0 } else { f64::from(MAX_WEIGHT) / most };
            for alt in self.grammar.alternatives(body) {
                let weight = (self.weights[alt.index()] * scale).round();
                whole[alt.index()] = (weight as u32).clamp(1, MAX_WEIGHT);
            }
        }
        whole
    }
}
