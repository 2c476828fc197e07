//! All short strings of a grammar: the judge of the transforms.
//!
//! In:  a grammar, a length and a cap.
//! Out: every string of at most that many bytes that the start derives.
//!      Tokens are plain rules here: nothing is put between them and
//!      nothing is lexed.
//!
//! The plainest method there is, the least fixed point over sets of
//! strings, one set for each body. It shares no code with the transforms
//! or the facts, so that a mistake in them cannot hide in it. For small
//! grammars only: time grows with the square of the cap.

use crate::arena::{AltId, BodyId, Repeat};
use crate::class::{Class, Unit};
use crate::ir::{Grammar, Symbol};
use std::collections::BTreeSet;

/// A finite language.
pub type Strings = BTreeSet<Vec<u8>>;

/// The strings of at most `longest` bytes; `None` when some part of the
/// grammar that the start reaches derives more than `cap` of them.
pub fn enumerate(grammar: &Grammar, longest: usize, cap: usize) -> Option<Strings> {
    let start = grammar.rule(grammar.start()).body;
    let bodies = reached(grammar, start);
    let mut judge = Judge { grammar, longest, cap, sets: vec![Strings::new(); grammar.body_count()] };
    loop {
        let mut grew = false;
        // What is met last is called by what was met before it: going
        // backwards, most sets are complete in the first round.
        for &body in bodies.iter().rev() {
            let set = judge.body(body)?;
            let old = &mut judge.sets[body.index()];
            grew |= set.len() > old.len();
            *old = set;
        }
        if !grew {
            return Some(std::mem::take(&mut judge.sets[start.index()]));
        }
    }
}

/// All bodies that a derivation from `start` can come to.
fn reached(grammar: &Grammar, start: BodyId) -> Vec<BodyId> {
    let mut seen = vec![false; grammar.body_count()];
    let mut open = vec![start];
    let mut bodies = Vec::new();
    while let Some(body) = open.pop() {
        if std::mem::replace(&mut seen[body.index()], true) {
            continue;
        }
        bodies.push(body);
        for alt in grammar.alternatives(body) {
            for &symbol in grammar.symbols(alt) {
                match symbol {
                    Symbol::Bytes(_) | Symbol::Class(_) => {}
                    Symbol::Rule(rule) => open.push(grammar.rule(rule).body),
                    Symbol::Group(inner) => open.push(inner),
                    Symbol::Repeat(repeat) => open.push(grammar.repeat(repeat).body),
                }
            }
        }
    }
    bodies
}

struct Judge<'g> {
    grammar: &'g Grammar,
    longest: usize,
    cap: usize,
    /// What each body is known to derive so far.
    sets: Vec<Strings>,
}

impl Judge<'_> {
    fn body(&self, body: BodyId) -> Option<Strings> {
        let mut all = Strings::new();
        for alt in self.grammar.alternatives(body) {
            all.append(&mut self.alternative(alt)?);
            self.check(&all)?;
        }
        Some(all)
    }

    fn alternative(&self, alt: AltId) -> Option<Strings> {
        let mut all = Strings::from([Vec::new()]);
        for &symbol in self.grammar.symbols(alt) {
            all = match symbol {
                Symbol::Bytes(bytes) => {
                    self.join(&all, &Strings::from([self.grammar.bytes(bytes).to_vec()]))?
                }
                Symbol::Class(class) => self.join(&all, &self.class(self.grammar.class(class))?)?,
                Symbol::Rule(rule) => self.join(&all, &self.sets[self.grammar.rule(rule).body.index()])?,
                Symbol::Group(body) => self.join(&all, &self.sets[body.index()])?,
                Symbol::Repeat(repeat) => self.join(&all, &self.repeat(self.grammar.repeat(repeat))?)?,
            };
            if all.is_empty() {
                break;
            }
        }
        Some(all)
    }

    /// Each of the first set followed by each of the second.
    fn join(&self, first: &Strings, second: &Strings) -> Option<Strings> {
        let mut all = Strings::new();
        for left in first {
            for right in second {
                if left.len() + right.len() <= self.longest {
                    all.insert([&left[..], right].concat());
                    self.check(&all)?;
                }
            }
        }
        Some(all)
    }

    fn class(&self, class: &Class) -> Option<Strings> {
        let mut all = Strings::new();
        for value in class.ranges().iter().flat_map(|&(low, high)| low..=high) {
            let bytes = match class.unit() {
                Unit::Byte => vec![value as u8],
                Unit::Char => char::from_u32(value)?.to_string().into_bytes(),
            };
            if bytes.len() > self.longest {
                // Members come in order of length.
                break;
            }
            all.insert(bytes);
            self.check(&all)?;
        }
        Some(all)
    }

    fn repeat(&self, repeat: &Repeat) -> Option<Strings> {
        let once = &self.sets[repeat.body.index()];
        let mut all = Strings::new();
        let mut power = Strings::from([Vec::new()]);
        let mut count = 0;
        loop {
            if count >= repeat.min {
                all.extend(power.iter().cloned());
                self.check(&all)?;
            }
            if repeat.max == Some(count) {
                return Some(all);
            }
            let next = self.join(&power, once)?;
            if next == power {
                // It stays so for all greater counts, the least one too.
                all.extend(next);
                return Some(all);
            }
            power = next;
            count += 1;
        }
    }

    fn check(&self, all: &Strings) -> Option<()> {
        (all.len() <= self.cap).then_some(())
    }
}
