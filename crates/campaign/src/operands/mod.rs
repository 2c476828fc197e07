//! Input-to-state: what a program compares its input with, put where it came
//! from.
//!
//! In:  an input, and what a traced build compared while it read it; the
//!      same for a coloured copy of the input.
//! Out: changes to the input, each of which may turn a comparison round.
//!
//! | file | what |
//! | --- | --- |
//! | `colour` | a copy with other bytes that takes the same way |
//! | `form` | how a value can stand in an input |
//! | `pairs` | what was compared with what |
//!
//! An operand that stands in the input in one of these forms probably came
//! from there (REDQUEEN). A short one stands in many places, so it must also
//! be found in the copy, at the same place, with the copy's value. Taint
//! tracking would say the same at a hundred times the cost.

mod colour;
mod form;
mod pairs;

pub use colour::coloured;

use form::Form;
use pairs::{Operand, Pair};
use std::collections::HashSet;
use wug_random::hash;
use wug_runtime::abi::Event;

/// Changes to one input at most.
const MOST: usize = 1024;
/// Places of one operand in one form at most.
const PLACES: usize = 8;
/// Longer inputs are not looked at.
pub const LONGEST: usize = 16 << 10;

/// Some bytes of an input by others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Change {
    /// Where.
    pub at: usize,
    /// How many bytes go.
    pub len: usize,
    /// What comes.
    pub to: Box<[u8]>,
}

impl Change {
    /// Writes the changed input.
    pub fn apply(&self, input: &[u8], out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&input[..self.at]);
        out.extend_from_slice(&self.to);
        out.extend_from_slice(&input[self.at + self.len..]);
    }
}

/// An input, and what was compared on it.
#[derive(Clone, Copy)]
pub struct TracedRun<'a> {
    /// The input.
    pub input: &'a [u8],
    /// In the order of time.
    pub events: &'a [Event],
}

/// Remembers what was proposed, so that what is new comes first.
#[derive(Debug, Default)]
pub struct Operands {
    /// How often each value was proposed for each comparison, by hash.
    proposed: Vec<u8>,
}

const SLOTS: usize = 1 << 16;

impl Operands {
    /// All changes that the comparisons suggest, the most promising first:
    /// what was proposed least for its comparison, each comparison in turn.
    pub fn changes(&mut self, first: TracedRun<'_>, second: TracedRun<'_>) -> Vec<Change> {
        self.proposed.resize(SLOTS, 0);
        let mut found = ChangeSet::default();
        let inputs = Inputs::of(first.input, second.input);
        for pair in pairs::of(first.events, second.events) {
            let slot = slot_of(&pair);
            let rank = (self.proposed[slot], pair.round);
            let before = found.ranked.len();
            places(&pair, &inputs, &mut |change| found.add(rank, change));
            if found.ranked.len() > before {
                self.proposed[slot] = self.proposed[slot].saturating_add(1);
            }
        }
        // A stable sort: by time among equals.
        found.ranked.sort_by_key(|(rank, _)| *rank);
        found.ranked.truncate(MOST);
        found.ranked.into_iter().map(|(_, change)| change).collect()
    }

    /// Texts that were compared with anything, for a dictionary.
    pub fn texts(events: &[Event]) -> Vec<Vec<u8>> {
        let mut seen = HashSet::new();
        let mut texts = Vec::new();
        for text in events.iter().flat_map(pairs::constants) {
            if seen.insert(text.clone()) {
                texts.push(text);
            }
        }
        texts
    }
}

#[derive(Default)]
struct ChangeSet {
    ranked: Vec<((u8, u32), Change)>,
    seen: HashSet<Change>,
}

impl ChangeSet {
    fn add(&mut self, rank: (u8, u32), change: Change) {
        if self.seen.len() < 8 * MOST && self.seen.insert(change.clone()) {
            self.ranked.push((rank, change));
        }
    }
}

fn slot_of(pair: &Pair<'_>) -> usize {
    let mut key = pair.site.to_le_bytes().to_vec();
    match pair.to {
        Operand::Number { value, .. } => key.extend(value.to_le_bytes()),
        Operand::Text(text) => key.extend_from_slice(text),
    }
    hash(&key) as usize % SLOTS
}

/// All places where the operand of a pair stands, with what to put there.
fn places(pair: &Pair<'_>, inputs: &Inputs<'_>, add: &mut dyn FnMut(Change)) {
    match (pair.from, pair.from_coloured, pair.to) {
        (Operand::Text(from), Operand::Text(other), Operand::Text(to)) => {
            let mut put = |from: &[u8], other: &[u8]| {
                if from != to {
                    for at in inputs.find(from, other, false).take(PLACES) {
                        add(Change { at, len: from.len(), to: to.into() });
                    }
                }
            };
            put(from, other);
            // The rest of the input, perhaps, of which only the beginning counts.
            if from.len() > to.len() {
                put(&from[..to.len()], &other[..to.len().min(other.len())]);
            }
        }
        (
            Operand::Number { value, size },
            Operand::Number { value: other, .. },
            Operand::Number { value: to, .. },
        ) => {
            let (mut from, mut from_coloured) = (Vec::new(), Vec::new());
            for form in Form::all(size) {
                if !form.write(value, size, &mut from) || !form.write(other, size, &mut from_coloured) {
                    continue;
                }
                let whole = form.is_digits();
                for at in inputs.find(&from, &from_coloured, whole).take(PLACES) {
                    // Less and greater are not told apart: both neighbours.
                    for wanted in [to, to.wrapping_add(1), to.wrapping_sub(1)] {
                        let mut bytes = Vec::new();
                        if form.write(wanted & form::mask(size), size, &mut bytes) && bytes != from {
                            add(Change { at, len: from.len(), to: bytes.into() });
                        }
                    }
                }
            }
        }
        _ => {}
    }
}

/// An input and its copy, with where each byte stands in the input: most
/// operands stand nowhere, which must not cost a look at all of it.
struct Inputs<'a> {
    input: &'a [u8],
    coloured: &'a [u8],
    /// Places, by the byte that stands there, and where those of each begin.
    places: Vec<u32>,
    first: [u32; 257],
}

impl<'a> Inputs<'a> {
    fn of(input: &'a [u8], coloured: &'a [u8]) -> Inputs<'a> {
        let mut first = [0; 257];
        input.iter().for_each(|&byte| first[usize::from(byte) + 1] += 1);
        (0..256).for_each(|byte| first[byte + 1] += first[byte]);
        let (mut next, mut places) = (first, vec![0; input.len()]);
        for (at, &byte) in (0..).zip(input) {
            places[next[usize::from(byte)] as usize] = at;
            next[usize::from(byte)] += 1;
        }
        Inputs { input, coloured, places, first }
    }

    /// Where `pattern` stands in the input and `other` in its copy. Digits must
    /// not be a part of more digits.
    fn find(&self, pattern: &[u8], other: &[u8], whole: bool) -> impl Iterator<Item = usize> {
        let places = pattern.first().map_or(&[][..], |&byte| {
            let range = self.first[usize::from(byte)]..self.first[usize::from(byte) + 1];
            &self.places[range.start as usize..range.end as usize]
        });
        let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        places.iter().map(|&at| at as usize).filter(move |&at| {
            self.input[at..].starts_with(pattern)
                && self.coloured.get(at..).is_some_and(|rest| rest.starts_with(other))
                && !(whole
                    && (digit(at.checked_sub(1).and_then(|at| self.input.get(at)))
                        || digit(self.input.get(at + pattern.len()))))
        })
    }
}

#[cfg(test)]
mod tests;
