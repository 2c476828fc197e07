//! From bytes to a walk, and from a walk to its trace.
//!
//! All stacks that some walk can have are followed at once, each from the
//! first walk that came to it. Where a grammar is ambiguous, one of the walks
//! is taken.

use super::Stacks;
use super::draw::emit;
use crate::automaton::Step;
use crate::labels::Leaf;
use crate::read::{Reached, Unread, first, walk, word_of};
use crate::trace::{NONE, Point, Trace};
use hashbrown::{HashMap, HashSet};

/// Followed at most, for each byte of an input.
const MOST_FOLLOWED: usize = 64;

/// A slot of a transition's label.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    transition: u32,
    /// Its place among those of its item.
    place: u32,
    /// The first of its members that can begin so, and how many there are.
    member: u32,
    leaf: Leaf,
}

/// A step that reads the beginning of what is left of an input.
struct Found {
    transition: u32,
    place: u32,
    member: u32,
    bytes: usize,
}

impl Stacks<'_> {
    /// A walk with these bytes.
    pub fn read(&mut self, input: &[u8]) -> Result<Vec<Step>, Unread> {
        let start = self.start().ok_or(Unread::TooMuch)?;
        let mut reached = vec![Reached { state: start, from: 0, step: 0 }];
        // What is reached at each place, by its number.
        let mut places: Vec<Vec<u32>> = vec![Vec::new(); input.len() + 1];
        places[0].push(0);
        let mut seen: HashSet<(u32, u32)> = HashSet::new();
        let mut found = Vec::new();
        let most = MOST_FOLLOWED * (input.len() + 1);
        let mut furthest = 0;
        for place in 0..=input.len() {
            for number in std::mem::take(&mut places[place]) {
                let state = reached[number as usize].state;
                furthest = place;
                if place == input.len() {
                    if self.stacks[state as usize].accepting {
                        return Ok(walk(&reached, number));
                    }
                    continue;
                }
                let shift = self.stacks[state as usize].shift;
                let (mut before, mut at) = (0, Some(state));
                while let Some(here) = at.filter(|&here| self.stacks[here as usize].height > 0) {
                    let item = self.stacks[here as usize].item;
                    self.follow(item, &input[place..], &mut found);
                    for one in found.drain(..) {
                        let target = self.target(here, one.transition).ok_or(Unread::TooMuch)?;
                        if seen.insert((target, (place + one.bytes) as u32)) {
                            places[place + one.bytes].push(reached.len() as u32);
                            let step = (before + one.place) << shift | one.member;
                            reached.push(Reached { state: target, from: number, step });
                        }
                    }
                    before += self.form.items[item as usize].count;
                    at = self.through(here);
                }
                if reached.len() > most {
                    return Err(Unread::TooMuch);
                }
            }
        }
        Err(Unread::Beyond(furthest))
    }

    /// All steps by transitions of an item that read a beginning of `input`,
    /// which is not empty.
    fn follow(&mut self, item: u32, input: &[u8], found: &mut Vec<Found>) {
        let Some(&byte) = input.first() else { return };
        let labels = &*self.form.labels;
        let form = self.form;
        let slots = self.beginnings.entry((item, byte)).or_insert_with(|| beginnings(form, item, byte));
        for slot in slots.iter() {
            let mut add = |member: u32, bytes: usize| {
                let (transition, place) = (slot.transition, slot.place);
                found.push(Found { transition, place, member: slot.member + member, bytes });
            };
            match slot.leaf {
                Leaf::Words { first, .. } => {
                    let word = word_of(labels, first);
                    if input.starts_with(word) {
                        add(0, word.len());
                    }
                }
                Leaf::Class(class) => {
                    let class = &labels.classes[class.index()];
                    if let Some((value, bytes)) = first(class, input)
                        && let Some(member) = class.index(value)
                    {
                        add(member, bytes);
                    }
                }
            }
        }
    }

    /// Traces a walk, in place of what was in `trace`; whether it is one of an
    /// input. If not, the trace is empty, and has no mutations.
    pub fn trace(&mut self, walk: &[Step], trace: &mut Trace) -> bool {
        trace.clear();
        let done = self.fill(walk, trace).is_some();
        if !done {
            trace.clear();
        }
        done
    }

    fn fill(&mut self, walk: &[Step], trace: &mut Trace) -> Option<()> {
        let mut state = self.start()?;
        let mut last: HashMap<u32, u32> = HashMap::new();
        for place in 0..=walk.len() {
            let before = last.insert(state, place as u32);
            let offset = u32::try_from(trace.bytes.len()).ok()?;
            trace.points.push(Point { state, offset, before: before.unwrap_or(NONE) });
            trace.again.extend(before.map(|_| place as u32));
            let Some(&step) = walk.get(place) else { break };
            let (transition, member, here) = self.decode(state, step)?;
            emit(&self.form.labels, transition, member, &mut trace.bytes);
            state = self.target(here, transition)?;
        }
        trace.steps.extend_from_slice(walk);
        self.stacks[state as usize].accepting.then_some(())
    }
}

/// Slots of an item's transitions that can begin with a byte; a list of words
/// is a slot for each of them.
fn beginnings(form: &crate::Form, item: u32, byte: u8) -> Box<[Slot]> {
    let labels = &*form.labels;
    let mut slots = Vec::new();
    for (place, transition) in (0..).zip(form.transitions_of(item)) {
        for slot in labels.slots(transition) {
            match slot.leaf {
                Leaf::Words { first, count } => {
                    let begin = |&word: &u32| word_of(labels, first + word).first() == Some(&byte);
                    slots.extend((0..count).filter(begin).map(|word| Slot {
                        transition,
                        place,
                        member: slot.member + word,
                        leaf: Leaf::Words { first: first + word, count: 1 },
                    }));
                }
                // A character of many bytes is looked at when it is met.
                Leaf::Class(class) => {
                    let can = byte >= 0x80 || labels.classes[class.index()].index(u32::from(byte)).is_some();
                    if can {
                        slots.push(Slot { transition, place, member: slot.member, leaf: slot.leaf });
                    }
                }
            }
        }
    }
    slots.into()
}
