//! From a stack to the end of an input.
//!
//! At each stack one unit of its row is drawn, all equally likely; where an
//! input may end, ending counts as one. A draw that would lead beyond the most
//! bytes is replaced by the shortest way. A built automaton bounds how deep
//! walks nest by its states; here a bound is drawn for each walk, somewhat
//! above the stack that it begins with: without one, grammars whose rules call
//! more than they end would go on until the bytes are used up, always.

use super::{Known, Stacks};
use crate::automaton::Step;
use crate::labels::{Labels, Leaf};
use crate::mutate::Ground;
use crate::walk::below;

/// A walk's stack may grow above the one that it begins with by at most this.
const HIGHER: u32 = 12;
/// Draws that lead too high, before the lowest way is taken.
const TRIES: u32 = 4;

/// The stack of a walk that is being drawn, bottom first.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    items: Vec<u32>,
    /// Bytes that it takes at least to empty the stack up to each item.
    least: Vec<u32>,
}

/// A step that may be taken: from the top or from below what can be left empty.
struct Taken {
    /// Items that stay.
    below: usize,
    transition: u32,
    /// Its place in the row.
    place: u32,
    member: u32,
}

impl Ground for Stacks<'_> {
    fn least(&self, state: u32) -> u32 {
        self.stacks[state as usize].least
    }

    fn go_on(
        &mut self,
        state: u32,
        random: &mut impl FnMut() -> u64,
        left: u32,
        walk: &mut Vec<Step>,
        out: &mut Vec<u8>,
    ) {
        let mut drawing = std::mem::take(&mut self.drawing);
        drawing.begin(self, state);
        let from = self.stacks[state as usize];
        let higher = from.height + 1 + below(random(), HIGHER);
        let limit = out.len() as u64 + u64::from(left);
        self.draw(&mut drawing, random, limit, higher.max(from.need), walk, out);
        self.drawing = drawing;
    }
}

impl Drawing {
    fn begin(&mut self, stacks: &Stacks, state: u32) {
        self.items.clear();
        self.least.clear();
        let mut at = stacks.stacks[state as usize];
        while at.height > 0 {
            self.items.push(at.item);
            self.least.push(at.least);
            at = stacks.stacks[at.below as usize];
        }
        self.items.reverse();
        self.least.reverse();
    }

    fn least(&self, height: usize) -> u32 {
        height.checked_sub(1).map_or(0, |top| self.least[top])
    }
}

impl Stacks<'_> {
    fn draw(
        &self,
        drawing: &mut Drawing,
        random: &mut impl FnMut() -> u64,
        limit: u64,
        highest: u32,
        walk: &mut Vec<Step>,
        out: &mut Vec<u8>,
    ) {
        while let Some(row) = self.row(&drawing.items) {
            let Some(taken) = self.choose(&row, drawing, random, limit, highest, out) else { return };
            walk.push(taken.place << row.shift | taken.member);
            drawing.items.truncate(taken.below);
            drawing.least.truncate(taken.below);
            for item in self.form.pushed(taken.transition) {
                let least = drawing.least(drawing.items.len());
                drawing.items.push(item);
                drawing.least.push(least.saturating_add(self.known[item as usize].least));
            }
        }
    }

    /// The next step, whose bytes are appended; none if the input ends.
    fn choose(
        &self,
        row: &Row,
        drawing: &Drawing,
        random: &mut impl FnMut() -> u64,
        limit: u64,
        highest: u32,
        out: &mut Vec<u8>,
    ) -> Option<Taken> {
        let fits = |taken: &Taken, out: &[u8]| {
            out.len() as u64 + u64::from(self.least_behind(drawing, taken)) <= limit
        };
        let start = out.len();
        for _ in 0..TRIES {
            let taken = self.drawn(row, &drawing.items, random)?;
            emit(&self.form.labels, taken.transition, taken.member, out);
            let short = fits(&taken, out);
            if short && self.need_behind(&taken) <= highest {
                return Some(taken);
            }
            out.truncate(start);
            if !short {
                return self.forced(row, drawing, |known| known.shortest, out);
            }
        }
        let lowest = self.forced(row, drawing, |known| known.lowest, out)?;
        if fits(&lowest, out) {
            return Some(lowest);
        }
        // The lowest way may be a long one.
        out.truncate(start);
        self.forced(row, drawing, |known| known.shortest, out)
    }

    /// What can be drawn from a stack; none if it is empty.
    fn row(&self, items: &[u32]) -> Option<Row> {
        let mut row = Row { units: 0, shift: 0, bottom: items.len(), accepting: false };
        for (at, &item) in items.iter().enumerate().rev() {
            let known = self.known[item as usize];
            row.units += u64::from(known.units);
            row.shift = row.shift.max(known.shift);
            row.bottom = at;
            if !self.form.items[item as usize].nullable {
                return Some(row);
            }
        }
        row.accepting = true;
        (!items.is_empty()).then_some(row)
    }

    /// Draws a step; none if the input ends.
    fn drawn(&self, row: &Row, items: &[u32], random: &mut impl FnMut() -> u64) -> Option<Taken> {
        let total = row.units + u64::from(row.accepting);
        let bits = random();
        let mut unit = ((u128::from(bits) * u128::from(total)) >> 64) as u64;
        let mut place = 0;
        for (at, &item) in items.iter().enumerate().skip(row.bottom).rev() {
            let all = self.form.transitions_of(item);
            let own = u64::from(self.known[item as usize].units);
            if unit < own {
                let sum = self.units[all.start as usize] + unit;
                let range = &self.units[all.start as usize..=all.end as usize];
                let index = range.partition_point(|&before| before <= sum) as u32 - 1;
                let transition = all.start + index;
                let member =
                    member(&self.form.labels, transition, (sum - range[index as usize]) as u32, random);
                return Some(Taken { below: at, transition, place: place + index, member });
            }
            unit -= own;
            place += all.len() as u32;
        }
        None
    }

    /// A step that must be taken, by what is known of the topmost item that
    /// cannot be left empty; none if the input can end.
    fn forced(
        &self,
        row: &Row,
        drawing: &Drawing,
        way: impl Fn(&Known) -> u32,
        out: &mut Vec<u8>,
    ) -> Option<Taken> {
        if row.accepting {
            return None;
        }
        let above = &drawing.items[row.bottom + 1..];
        let place: u32 = above.iter().map(|&item| self.form.items[item as usize].count).sum();
        let item = drawing.items[row.bottom];
        let transition = way(&self.known[item as usize]);
        let place = place + transition - self.form.transitions_of(item).start;
        let member = self.form.labels.shortest(transition);
        emit(&self.form.labels, transition, member, out);
        Some(Taken { below: row.bottom, transition, place, member })
    }

    fn least_behind(&self, drawing: &Drawing, taken: &Taken) -> u32 {
        let pushed = self.form.pushed(taken.transition).map(|item| self.known[item as usize].least);
        pushed.fold(drawing.least(taken.below), u32::saturating_add)
    }

    /// How high the stack must be allowed to grow behind a step.
    fn need_behind(&self, taken: &Taken) -> u32 {
        (taken.below as u32).saturating_add(self.form.height_by(taken.transition))
    }
}

/// What can be drawn from a stack.
struct Row {
    units: u64,
    shift: u8,
    /// The lowest item that can be reached.
    bottom: usize,
    accepting: bool,
}

/// A member of a label by one of its units.
fn member(labels: &Labels, label: u32, unit: u32, random: &mut impl FnMut() -> u64) -> u32 {
    let slots = labels.slots(label);
    let slot = slots[slots.partition_point(|slot| slot.unit <= unit) - 1];
    slot.member
        + match slot.leaf {
            Leaf::Words { .. } => unit - slot.unit,
            Leaf::Class(_) => below(random(), labels.members(slot.leaf)),
        }
}

/// Appends the bytes of a member of a label.
pub(super) fn emit(labels: &Labels, label: u32, member: u32, out: &mut Vec<u8>) {
    if let Some((slot, member)) = labels.find(label, member) {
        labels.emit(labels.slots(label)[slot].leaf, member, out);
    }
}
