//! The language of a body of lexical rules as a nondeterministic automaton.
//!
//! Calls are expanded in place; a rule that calls itself is unrolled to a
//! bound, since what it derives without bound may be beyond any automaton.

use super::{TooLarge, Work};
use crate::arena::BodyId;
use crate::class::{Class, Unit};
use crate::ir::{Grammar, RuleId, Symbol};
use regex_syntax::utf8::Utf8Sequences;

/// A rule may stand inside itself this often.
pub const UNROLLED: usize = 3;

/// Groups and calls together nest at most this deep.
const MAX_DEPTH: usize = 1_000;

/// An automaton with one start and one end.
#[derive(Clone, Debug, Default)]
pub struct Nfa {
    /// Moves on any byte of a range.
    pub moves: Vec<Vec<(u8, u8, u32)>>,
    /// Moves on nothing.
    pub silent: Vec<Vec<u32>>,
    /// Where it begins.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
    /// A rule was unrolled: some of its language is missing.
    pub unrolled: bool,
    /// A repetition asked to end as soon as it can.
    pub lazy: bool,
    /// By state: whether a lazy repetition begins or goes on here.
    pub lazy_at: Vec<bool>,
}

impl Nfa {
    /// The language of `body`, which is that of the rule `inside` if given.
    pub fn of(
        grammar: &Grammar,
        body: BodyId,
        inside: Option<RuleId>,
        work: &mut Work,
    ) -> Result<Nfa, TooLarge> {
        Nfa::unrolled(grammar, body, inside, UNROLLED, work)
    }

    /// As [`Nfa::of`]; a rule may stand inside itself `unrolled` times.
    pub fn unrolled(
        grammar: &Grammar,
        body: BodyId,
        inside: Option<RuleId>,
        unrolled: usize,
        work: &mut Work,
    ) -> Result<Nfa, TooLarge> {
        let path = inside.into_iter().collect();
        let mut builder = Build { grammar, nfa: Nfa::default(), path, unrolled, depth: 0, work };
        let start = builder.state()?;
        let end = builder.body(body, start)?;
        builder.nfa.start = start;
        builder.nfa.end = end;
        Ok(builder.nfa)
    }

    /// No text at all.
    pub fn nothing() -> Nfa {
        let lists = vec![Vec::new(); 2];
        Nfa { moves: vec![Vec::new(); 2], silent: lists, end: 1, lazy_at: vec![false; 2], ..Nfa::default() }
    }

    /// One literal.
    pub fn literal(bytes: &[u8], work: &mut Work) -> Result<Nfa, TooLarge> {
        work.spend(4 * bytes.len() + 4)?;
        let mut nfa = Nfa::default();
        for (i, &byte) in bytes.iter().enumerate() {
            nfa.moves.push(vec![(byte, byte, i as u32 + 1)]);
        }
        nfa.moves.push(Vec::new());
        nfa.silent = vec![Vec::new(); bytes.len() + 1];
        nfa.lazy_at = vec![false; bytes.len() + 1];
        nfa.end = bytes.len() as u32;
        Ok(nfa)
    }

    /// Whether the end is reached without a byte.
    pub fn accepts_empty(&self) -> bool {
        let mut seen = vec![false; self.silent.len()];
        let mut work = vec![self.start];
        while let Some(state) = work.pop() {
            if state == self.end {
                return true;
            }
            if !std::mem::replace(&mut seen[state as usize], true) {
                work.extend(&self.silent[state as usize]);
            }
        }
        false
    }

    /// All ranges of bytes that it moves on.
    pub fn ranges(&self) -> impl Iterator<Item = (u8, u8)> {
        self.moves.iter().flatten().map(|&(low, high, _)| (low, high))
    }
}

struct Build<'a> {
    grammar: &'a Grammar,
    nfa: Nfa,
    path: Vec<RuleId>,
    unrolled: usize,
    depth: usize,
    work: &'a mut Work,
}

impl Build<'_> {
    fn state(&mut self) -> Result<u32, TooLarge> {
        // The lists of a state take the place of several entries.
        self.work.spend(4)?;
        self.nfa.moves.push(Vec::new());
        self.nfa.silent.push(Vec::new());
        self.nfa.lazy_at.push(false);
        Ok(self.nfa.moves.len() as u32 - 1)
    }

    fn silent(&mut self, from: u32, to: u32) {
        self.nfa.silent[from as usize].push(to);
    }

    /// Adds a body behind `from`; gives the state behind the body.
    fn body(&mut self, body: BodyId, from: u32) -> Result<u32, TooLarge> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(TooLarge);
        }
        let end = self.state()?;
        for alt in self.grammar.alternatives(body) {
            let mut at = self.state()?;
            self.silent(from, at);
            for symbol in self.grammar.symbols(alt) {
                at = self.symbol(*symbol, at)?;
            }
            self.silent(at, end);
        }
        self.depth -= 1;
        Ok(end)
    }

    fn symbol(&mut self, symbol: Symbol, from: u32) -> Result<u32, TooLarge> {
        match symbol {
            Symbol::Bytes(bytes) => {
                let mut at = from;
                for &byte in self.grammar.bytes(bytes) {
                    let next = self.state()?;
                    self.nfa.moves[at as usize].push((byte, byte, next));
                    at = next;
                }
                Ok(at)
            }
            Symbol::Class(class) => self.class(self.grammar.class(class), from),
            Symbol::Group(body) => self.body(body, from),
            Symbol::Rule(rule) => {
                if self.path.iter().filter(|&&r| r == rule).count() >= self.unrolled {
                    self.nfa.unrolled = true;
                    // A state that nothing leads to.
                    return self.state();
                }
                self.nfa.unrolled |= self.path.contains(&rule);
                self.path.push(rule);
                let end = self.body(self.grammar.rule(rule).body, from);
                self.path.pop();
                end
            }
            Symbol::Repeat(repeat) => {
                let repeat = *self.grammar.repeat(repeat);
                self.nfa.lazy |= !repeat.greedy;
                let mut at = from;
                for _ in 0..repeat.min {
                    at = self.body(repeat.body, at)?;
                }
                // Silent moves stand in the order in which they are preferred.
                let end = self.state()?;
                match repeat.max {
                    None => {
                        let head = self.state()?;
                        self.silent(at, head);
                        let back = self.choice(repeat, head, end)?;
                        self.silent(back, head);
                    }
                    Some(max) => {
                        for _ in repeat.min..max {
                            at = self.choice(repeat, at, end)?;
                        }
                        self.silent(at, end);
                    }
                }
                Ok(end)
            }
        }
    }

    /// From `from` either once more or to `end`; gives the state behind the
    /// body.
    fn choice(&mut self, repeat: crate::Repeat, from: u32, end: u32) -> Result<u32, TooLarge> {
        self.nfa.lazy_at[from as usize] |= !repeat.greedy;
        if !repeat.greedy {
            self.silent(from, end);
        }
        let behind = self.body(repeat.body, from)?;
        if repeat.greedy {
            self.silent(from, end);
        }
        Ok(behind)
    }

    fn class(&mut self, class: &Class, from: u32) -> Result<u32, TooLarge> {
        let end = self.state()?;
        for &(low, high) in class.ranges() {
            self.work.spend(1)?;
            if class.unit() == Unit::Byte {
                self.nfa.moves[from as usize].push((low as u8, high as u8, end));
                continue;
            }
            let char_of = |v| char::from_u32(v).unwrap_or('\u{0}');
            for sequence in Utf8Sequences::new(char_of(low), char_of(high)) {
                let ranges = sequence.as_slice();
                let mut at = from;
                for (i, range) in ranges.iter().enumerate() {
                    let next = if i + 1 == ranges.len() { end } else { self.state()? };
                    self.nfa.moves[at as usize].push((range.start, range.end, next));
                    at = next;
                }
            }
        }
        Ok(end)
    }
}
