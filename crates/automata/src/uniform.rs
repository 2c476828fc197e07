//! Derivations of a size, all equally likely.
//!
//! In:  a [`Form`] and a range of sizes in bytes.
//! Out: [`Uniform`]: how many derivations there are of each size, and draws
//!      among them. No limit on a stack is involved.
//!
//! For each item and each size the derivations are counted, from small sizes
//! to large: what a transition reads, times what its items can read of the
//! rest. A draw goes the other way, each choice in proportion to the counts.
//! Every transition reads something, so the counts are finite though a
//! grammar may derive the empty text, or itself, in ever more ways: of such
//! circles the form keeps the shortest way.
//!
//! Counts soon exceed what a float can hold, so each is a mantissa and an
//! exponent of its own ([`Count`]); probabilities are exact up to rounding
//! of the mantissa, 53 bits.
//!
//! A class counts as its number of members, so that each is a derivation of
//! its own ([`Weight::Members`]); or as one for each length of a member in
//! bytes ([`Weight::One`]), so that derivations are equally likely up to the
//! characters that classes take. The latter is for grammars with wide classes:
//! most texts of JSON of a size are one string.
//!
//! Equally likely derivations are not equally likely texts: of an ambiguous
//! grammar, a text is drawn in proportion to its number of derivations.

mod count;

pub use count::Count;

use crate::form::{Form, NONE};
use crate::labels::{Labels, Leaf};
use crate::walk::{Weight, below};

/// At most so many products are summed up while counting.
pub const MAX_WORK: u64 = 1 << 32;

/// Counts of derivations, by size.
#[derive(Debug)]
pub struct Uniform<'f> {
    form: &'f Form,
    /// Sizes that are counted: from 0 to less than this.
    sizes: usize,
    /// For each item, by size.
    items: Vec<Count>,
    /// For each list of pushed items, by size.
    pushes: Vec<Count>,
    /// For each label, how many members have each length, from 1 on.
    lengths: Vec<[u32; 4]>,
    /// Lengths of labels with longer words than four bytes.
    long: Vec<Vec<(u32, u32)>>,
    weight: Weight,
    /// What sizes are drawn from.
    range: std::ops::RangeInclusive<usize>,
}

/// Why nothing can be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undrawn {
    /// No input has a size in the range.
    None,
    /// Counting up to this size takes too long.
    TooLarge {
        /// A size up to which it does not.
        fits: usize,
    },
}

/// One choice of a drawn derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The item on top is left empty.
    Empty,
    /// It takes a slot, by a member.
    Slot(u32, u32),
}

impl<'f> Uniform<'f> {
    /// Counts the derivations of all sizes up to the end of a range.
    pub fn new(
        form: &'f Form,
        range: std::ops::RangeInclusive<usize>,
        weight: Weight,
    ) -> Result<Uniform<'f>, Undrawn> {
        let sizes = range.end().saturating_add(1);
        let (items, pushes) = (form.items.len(), form.pushes.len());
        // Half a square of products for each list, and a line for each item.
        let work = |sizes: u64| (pushes as u64 + 1).saturating_mul(sizes.saturating_mul(sizes) / 2 + sizes);
        let memory = (items as u64 + pushes as u64).saturating_mul(sizes as u64);
        if work(sizes as u64) > MAX_WORK || memory > 1 << 26 {
            let fits = (1..sizes.min(1 << 20)).rev().find(|&s| {
                work(s as u64) <= MAX_WORK
                    && (items as u64 + pushes as u64).saturating_mul(s as u64) <= 1 << 26
            });
            return Err(Undrawn::TooLarge { fits: fits.unwrap_or(1) - 1 });
        }
        let mut uniform = Uniform {
            form,
            sizes,
            items: vec![Count::ZERO; items * sizes],
            pushes: vec![Count::ZERO; pushes * sizes],
            lengths: Vec::new(),
            long: Vec::new(),
            weight,
            range,
        };
        uniform.measure();
        for size in 0..sizes {
            uniform.count(size);
        }
        match uniform.range.clone().any(|size| !uniform.derivations(size).is_zero()) {
            true => Ok(uniform),
            false => Err(Undrawn::None),
        }
    }

    /// How many derivations of a size there are; none beyond the range's end.
    pub fn derivations(&self, size: usize) -> Count {
        if size < self.sizes { self.item(self.form.start, size) } else { Count::ZERO }
    }

    fn item(&self, item: u32, size: usize) -> Count {
        self.items[item as usize * self.sizes + size]
    }

    fn push(&self, push: u32, size: usize) -> Count {
        match push {
            NONE if size == 0 => Count::ONE,
            NONE => Count::ZERO,
            push => self.pushes[push as usize * self.sizes + size],
        }
    }

    fn measure(&mut self) {
        let labels = self.form.labels();
        for label in 0..labels.labels.len() as u32 {
            let (mut short, mut long) = ([0; 4], Vec::new());
            for slot in labels.slots(label) {
                self.by_length(slot.leaf, |length, count| match short.get_mut(length as usize - 1) {
                    Some(short) => *short += count,
                    None => long.push((length, count)),
                });
            }
            self.lengths.push(short);
            self.long.push(long);
        }
    }

    /// Calls `visit` with each length of a label's members and how many have
    /// it.
    fn lengths(&self, label: u32, mut visit: impl FnMut(usize, u32)) {
        for (length, &count) in (1..).zip(&self.lengths[label as usize]) {
            if count > 0 {
                visit(length, count);
            }
        }
        self.long[label as usize].iter().for_each(|&(length, count)| visit(length as usize, count));
    }

    /// Counts one size, when all smaller ones are counted.
    fn count(&mut self, size: usize) {
        for item in 0..self.form.items.len() as u32 {
            let mut sum =
                if size == 0 && self.form.items[item as usize].nullable { Count::ONE } else { Count::ZERO };
            for transition in self.form.transitions_of(item) {
                let push = self.form.pushes_of[transition as usize];
                self.lengths(transition, |length, count| {
                    if let Some(rest) = size.checked_sub(length) {
                        sum = sum + self.push(push, rest) * Count::from(count);
                    }
                });
            }
            self.items[item as usize * self.sizes + size] = sum;
        }
        // Shorter lists have lower numbers than those that begin with them.
        for (at, push) in self.form.pushes.iter().enumerate() {
            let sum = self.sum(push.before, push.last, size);
            self.pushes[at * self.sizes + size] = sum;
        }
    }

    /// Ways to share a size out between a list of items and one behind it.
    fn sum(&self, before: u32, last: u32, size: usize) -> Count {
        if before == NONE {
            return self.item(last, size);
        }
        let firsts = &self.pushes[before as usize * self.sizes..][..=size];
        let lasts = &self.items[last as usize * self.sizes..][..=size];
        firsts.iter().zip(lasts.iter().rev()).fold(Count::ZERO, |sum, (&a, &b)| sum + a * b)
    }

    /// Draws a derivation: its choices in the order of the text, and its
    /// bytes, which are appended to `out`.
    pub(crate) fn draw(
        &self,
        random: &mut impl FnMut() -> u64,
        out: &mut Vec<u8>,
        mut choose: impl FnMut(Choice),
    ) {
        let form = self.form;
        let total = self.range.clone().fold(Count::ZERO, |sum, size| sum + self.derivations(size));
        let mut pick = Pick::new(random(), total);
        let size = self.range.clone().find(|&size| pick.take(self.derivations(size)));
        // Rounding may leave the last one over.
        let size = size.or_else(|| self.range.clone().rev().find(|&size| !self.derivations(size).is_zero()));
        let mut open = vec![Task::Item(form.start, size.unwrap_or(0))];
        while let Some(task) = open.pop() {
            match task {
                Task::Item(_, 0) => choose(Choice::Empty),
                Task::Item(item, size) => {
                    let Some((transition, length)) = self.draw_transition(item, size, random()) else {
                        return;
                    };
                    let (slot, member) = self.draw_member(transition, length, random);
                    let labels = form.labels();
                    labels.emit(labels.slots[slot as usize].leaf, member, out);
                    choose(Choice::Slot(slot, member));
                    open.push(Task::Push(form.pushes_of[transition as usize], size - length));
                }
                Task::Push(NONE, _) => {}
                Task::Push(push, size) => {
                    let push = form.pushes[push as usize];
                    let first = self.draw_split(push.before, push.last, size, random());
                    open.push(Task::Item(push.last, size - first));
                    open.push(Task::Push(push.before, first));
                }
            }
        }
    }

    /// Draws an input; its bytes are appended to `out`.
    pub fn sample(&self, random: &mut impl FnMut() -> u64, out: &mut Vec<u8>) {
        self.draw(random, out, |_| ());
    }

    fn draw_transition(&self, item: u32, size: usize, bits: u64) -> Option<(u32, usize)> {
        let mut pick = Pick::new(bits, self.item(item, size));
        let (mut found, mut last) = (None, None);
        for transition in self.form.transitions_of(item) {
            let push = self.form.pushes_of[transition as usize];
            self.lengths(transition, |length, count| {
                let Some(rest) = size.checked_sub(length) else { return };
                let ways = self.push(push, rest) * Count::from(count);
                if found.is_none() && !ways.is_zero() {
                    last = Some((transition, length));
                    if pick.take(ways) {
                        found = last;
                    }
                }
            });
            if found.is_some() {
                break;
            }
        }
        found.or(last)
    }

    /// A slot of a label and a member of it with so many bytes.
    fn draw_member(&self, label: u32, length: usize, random: &mut impl FnMut() -> u64) -> (u32, u32) {
        let labels = self.form.labels();
        let mut all = 0;
        self.lengths(label, |len, count| all += if len == length { count } else { 0 });
        let mut left = below(random(), all);
        let first = labels.labels[label as usize].first;
        for (slot, leaf) in (first..).zip(labels.slots(label).iter().map(|slot| slot.leaf)) {
            let mut own = 0;
            self.by_length(leaf, |len, count| own += if len as usize == length { count } else { 0 });
            if left >= own {
                left -= own;
                continue;
            }
            let Leaf::Words { first, count } = leaf else {
                // Members come in order of length.
                let (mut before, mut members) = (0, 0);
                members_by_length(labels, leaf, |len, count| {
                    before += if (len as usize) < length { count } else { 0 };
                    members += if len as usize == length { count } else { 0 };
                });
                let member = if self.weight == Weight::One { below(random(), members) } else { left };
                return (slot, before + member);
            };
            let long = |&member: &u32| labels.words[(first + member) as usize].len as usize == length;
            return (slot, (0..count).filter(long).nth(left as usize).unwrap_or(0));
        }
        (first, 0)
    }

    /// As [`members_by_length`], by weight.
    fn by_length(&self, leaf: Leaf, mut visit: impl FnMut(u32, u32)) {
        members_by_length(self.form.labels(), leaf, |length, count| match (self.weight, leaf) {
            (Weight::One, Leaf::Class(_)) => visit(length, 1),
            _ => visit(length, count),
        });
    }

    fn draw_split(&self, before: u32, last: u32, size: usize, bits: u64) -> usize {
        if before == NONE {
            return 0;
        }
        let mut pick = Pick::new(bits, self.sum(before, last, size));
        let ways = |first: usize| self.push(before, first) * self.item(last, size - first);
        let found = (0..=size).find(|&first| pick.take(ways(first)));
        found.or_else(|| (0..=size).rev().find(|&first| !ways(first).is_zero())).unwrap_or(0)
    }
}

/// What is still to be derived, and with how many bytes.
enum Task {
    Item(u32, usize),
    Push(u32, usize),
}

/// A draw among counts, one after the other.
struct Pick {
    /// What is left of the drawn share of the total.
    left: f64,
    total: Count,
}

impl Pick {
    fn new(bits: u64, total: Count) -> Pick {
        Pick { left: (bits >> 11) as f64 / (1u64 << 53) as f64, total }
    }

    /// Whether the draw falls on this one.
    fn take(&mut self, ways: Count) -> bool {
        if ways.is_zero() {
            return false;
        }
        let share = ways.share_of(self.total);
        if self.left < share {
            return true;
        }
        self.left -= share;
        false
    }
}

/// Calls `visit` with each length of a leaf's members and how many have it.
fn members_by_length(labels: &Labels, leaf: Leaf, mut visit: impl FnMut(u32, u32)) {
    match leaf {
        Leaf::Words { first, count } => {
            let mut lengths: Vec<u32> =
                labels.words[first as usize..(first + count) as usize].iter().map(|word| word.len).collect();
            lengths.sort_unstable();
            lengths.chunk_by(|a, b| a == b).for_each(|same| visit(same[0], same.len() as u32));
        }
        Leaf::Class(class) => {
            let class = &labels.classes[class.index()];
            if class.unit() == wug_grammar::Unit::Byte {
                return visit(1, class.count());
            }
            let ends = [0x7F, 0x7FF, 0xFFFF, 0x10_FFFF];
            for length in 1..=4u32 {
                let low = length.checked_sub(2).map_or(0, |before| ends[before as usize] + 1);
                let count: u32 = class
                    .ranges()
                    .iter()
                    .map(|&(from, to)| (from.max(low), to.min(ends[length as usize - 1])))
                    .filter(|(from, to)| from <= to)
                    .map(|(from, to)| to - from + 1)
                    .sum();
                if count > 0 {
                    visit(length, count);
                }
            }
        }
    }
}
