//! From bytes to a walk.
//!
//! In:  an automaton and an input.
//! Out: a walk with these bytes, if the automaton has one: an input of a
//!      bounded automaton's grammar may lie beyond its limit.
//!
//! All states that some walk can be in are followed at once, each from the
//! first walk that came to it, so time is linear in the input for a given
//! automaton. Where a grammar is ambiguous, one of the walks is taken.

use crate::automaton::{Automaton, Step};
use crate::labels::{Labels, Leaf};
use hashbrown::HashMap;
use wug_grammar::{Class, Unit};

/// Followed at most, states times bytes.
const MAX_FOLLOWED: usize = 1 << 22;
/// Lists of at least so many words are searched in order.
const MANY: u32 = 8;

/// Reads inputs.
#[derive(Debug)]
pub struct Reader<'a> {
    automaton: &'a Automaton,
    /// Words of long lists, in order of their bytes.
    sorted: HashMap<Leaf, Vec<u32>>,
}

/// Why an input has no walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// No walk has more than this many of its first bytes. The grammar
    /// may derive it with a higher stack.
    Beyond(usize),
    /// Following all walks takes too much memory.
    TooMuch,
}

/// A state at a place of the input.
pub(crate) struct Reached {
    pub state: u32,
    /// Where from, and by what step.
    pub from: u32,
    pub step: Step,
}

impl<'a> Reader<'a> {
    /// Prepares to read.
    pub fn new(automaton: &'a Automaton) -> Reader<'a> {
        let labels = automaton.labels();
        let mut sorted: HashMap<Leaf, Vec<u32>> = HashMap::new();
        for slot in &labels.slots {
            if let Leaf::Words { first, count } = slot.leaf
                && count >= MANY
            {
                sorted.entry(slot.leaf).or_insert_with(|| {
                    let mut words: Vec<u32> = (0..count).collect();
                    words.sort_by_key(|&word| word_of(labels, first + word));
                    words
                });
            }
        }
        Reader { automaton, sorted }
    }

    /// A walk with these bytes.
    pub fn read(&self, input: &[u8]) -> Result<Vec<Step>, Unread> {
        let automaton = self.automaton;
        let mut reached = vec![Reached { state: automaton.start(), from: 0, step: 0 }];
        // What is reached at each place, by its number.
        let mut places: Vec<Vec<u32>> = vec![Vec::new(); input.len() + 1];
        places[0].push(0);
        let mut seen: HashMap<(u32, u32), ()> = HashMap::new();
        let mut furthest = 0;
        for place in 0..=input.len() {
            for number in std::mem::take(&mut places[place]) {
                let state = reached[number as usize].state;
                furthest = place;
                if place == input.len() {
                    if automaton.states()[state as usize].accepting {
                        return Ok(walk(&reached, number));
                    }
                    continue;
                }
                let mut full = false;
                self.follow(state, &input[place..], &mut |step, target, bytes| {
                    if seen.insert((target, (place + bytes) as u32), ()).is_none() {
                        places[place + bytes].push(reached.len() as u32);
                        reached.push(Reached { state: target, from: number, step });
                        full |= reached.len() > MAX_FOLLOWED;
                    }
                });
                if full {
                    return Err(Unread::TooMuch);
                }
            }
        }
        Err(Unread::Beyond(furthest))
    }

    /// Calls `visit` with each step from `state` that reads a beginning of
    /// `input`, where it leads, and how many bytes it reads.
    fn follow(&self, state: u32, input: &[u8], visit: &mut impl FnMut(Step, u32, usize)) {
        let labels = self.automaton.labels();
        for (place, transition) in (0..).zip(self.automaton.row(state)) {
            for slot in labels.slots(transition.label) {
                let mut found = |member: u32, bytes: usize| {
                    let step = self.automaton.step(state, place, slot.member + member);
                    visit(step, transition.target, bytes);
                };
                match slot.leaf {
                    Leaf::Class(class) => {
                        let class = &labels.classes[class.index()];
                        if let Some((value, bytes)) = first(class, input)
                            && let Some(member) = class.index(value)
                        {
                            found(member, bytes);
                        }
                    }
                    Leaf::Words { first, count } => match self.sorted.get(&slot.leaf) {
                        Some(sorted) => words(labels, first, sorted, input, &mut found),
                        None => {
                            for member in 0..count {
                                let word = word_of(labels, first + member);
                                if input.starts_with(word) {
                                    found(member, word.len());
                                }
                            }
                        }
                    },
                }
            }
        }
    }
}

/// Calls `found` with each of some sorted words that `input` begins with.
fn words(labels: &Labels, first: u32, sorted: &[u32], input: &[u8], found: &mut impl FnMut(u32, usize)) {
    let mut range = sorted;
    // All in the range begin with the first `length` bytes of the input.
    for length in 0..=input.len() {
        while let [word, rest @ ..] = range
            && word_of(labels, first + word).len() == length
        {
            found(*word, length);
            range = rest;
        }
        let Some(&next) = input.get(length) else { return };
        let byte = |word: &u32| word_of(labels, first + word)[length];
        let from = range.partition_point(|word| byte(word) < next);
        let to = range.partition_point(|word| byte(word) <= next);
        range = &range[from..to];
        if range.is_empty() {
            return;
        }
    }
}

pub(crate) fn word_of(labels: &Labels, word: u32) -> &[u8] {
    let word = labels.words[word as usize];
    &labels.text[word.start as usize..(word.start + word.len) as usize]
}

/// The value that an input begins with, as members of a class are numbered.
pub(crate) fn first(class: &Class, input: &[u8]) -> Option<(u32, usize)> {
    let &byte = input.first()?;
    if class.unit() == Unit::Byte || byte < 0x80 {
        return Some((u32::from(byte), 1));
    }
    let text = &input[..input.len().min(4)];
    let valid = match std::str::from_utf8(text) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&text[..error.valid_up_to()]).ok()?,
    };
    valid.chars().next().map(|c| (u32::from(c), c.len_utf8()))
}

/// The steps that led somewhere.
pub(crate) fn walk(reached: &[Reached], mut number: u32) -> Vec<Step> {
    let mut steps = Vec::new();
    while number != 0 {
        let Reached { from, step, .. } = reached[number as usize];
        steps.push(step);
        number = from;
    }
    steps.reverse();
    steps
}
