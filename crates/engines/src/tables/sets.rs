//! Sets of bytes of which one is drawn uniformly, and tables of tuples that
//! draw several at once.
//!
//! In:  classes, and alternatives that are single bytes of the same weight.
//! Out: numbers of sets, and tables of all tuples of some of them. A draw from
//!      one is a multiplication.
//!
//! Tables should stay in the cache with all else. All tuples of one set are a
//! circle of bytes in which each stands once, overlapping with others (de
//! Bruijn's): a byte for each. Tuples of several sets take four bytes each, and
//! there must not be many.

use hashbrown::HashMap;
use wug_grammar::Class;
use wug_grammar::class::Unit;

/// Most tuples of one set: pairs of printable characters fit.
const MOST_OF_ONE: usize = 100 * 100;
/// Most tuples of several sets.
const MOST_OF_SEVERAL: usize = 1000;
/// Most bytes of a tuple.
pub const MAX_TUPLE: usize = 4;

/// All sets that were met, and their tuples.
#[derive(Clone, Debug, Default)]
pub struct Sets {
    numbers: HashMap<Box<[u8]>, u32>,
    members: Vec<Box<[u8]>>,
    tuples: HashMap<Box<[u32]>, Box<[u8]>>,
    /// How many there are in all tables.
    all: usize,
}

/// Bytes that are drawn together.
pub type Tuple = [u8; MAX_TUPLE];

/// A table of tuples: how many bytes there are to begin at, where the first
/// is, and which bits of a number count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tuples {
    pub count: u64,
    pub first: *const u8,
    pub mask: u64,
}

// SAFETY: what it points to is never written to, and lives as long as the
// sets that it is of, of which a `Store` is the owner, as it is of `Tuples`.
unsafe impl Send for Tuples {}
// SAFETY: as above.
unsafe impl Sync for Tuples {}

/// What a draw from no table gives.
static NO_TUPLE: Tuple = [0; MAX_TUPLE];

impl Default for Tuples {
    /// None.
    fn default() -> Tuples {
        Tuples { count: 0, first: NO_TUPLE.as_ptr(), mask: u64::MAX }
    }
}

impl Tuples {
    /// The tuple that random bits pick.
    #[inline(always)]
    pub fn pick(&self, random: u64) -> *const Tuple {
        let number = (u128::from(random) * u128::from(self.count)) >> 64;
        self.first.wrapping_add((number as u64 & self.mask) as usize).cast()
    }
}

impl Sets {
    /// Forgets all tables of tuples; sets keep their numbers.
    pub fn clear(&mut self) {
        self.tuples.clear();
        self.all = 0;
    }

    /// The same sets with the same numbers.
    pub fn numbered(mut self) -> Sets {
        self.clear();
        self
    }

    /// The number of a set.
    pub fn number(&mut self, members: &[u8]) -> u32 {
        if let Some(&number) = self.numbers.get(members) {
            return number;
        }
        let number = self.members.len() as u32;
        self.numbers.insert(members.into(), number);
        self.members.push(members.into());
        number
    }

    /// The bytes of a set, in order.
    pub fn members(&self, set: u32) -> &[u8] {
        &self.members[set as usize]
    }

    /// Whether one draw can give a byte of each of these sets.
    pub fn fit(&self, sets: impl Iterator<Item = u32>) -> bool {
        let (mut count, mut tuples) = (0, 1usize);
        let (mut first, mut most) = (None, MOST_OF_ONE);
        for set in sets {
            count += 1;
            tuples = tuples.saturating_mul(self.members(set).len());
            if *first.get_or_insert(set) != set {
                most = MOST_OF_SEVERAL;
            }
        }
        count <= MAX_TUPLE && tuples <= most
    }

    /// How many tuples there are in all tables.
    pub fn tuple_count(&self) -> usize {
        self.all
    }

    /// The table of tuples of these sets, at most [`MAX_TUPLE`]. It is there
    /// until all are forgotten.
    pub fn tuples(&mut self, sets: &[u32]) -> Tuples {
        let Sets { members, tuples, all, .. } = self;
        let alike = sets.iter().all(|&set| set == sets[0]);
        let each = if alike { 1 } else { MAX_TUPLE };
        let members = |at: usize| &*members[sets[at] as usize];
        let count: usize = (0..sets.len()).map(|at| members(at).len()).product();
        let bytes = tuples.entry(sets.into()).or_insert_with(|| {
            *all += count;
            match alike {
                true => circle(members(0), sets.len()),
                false => product((0..sets.len()).map(members).collect()),
            }
        });
        Tuples { count: (count * each) as u64, first: bytes.as_ptr(), mask: !(each as u64 - 1) }
    }
}

/// Bytes in which each tuple of so many members begins at one place, from the
/// first on. By the method of Fredricksen, Kessler and Maiorana: all Lyndon
/// words in order whose length divides that of the tuples.
fn circle(members: &[u8], tuple: usize) -> Box<[u8]> {
    let mut bytes = Vec::new();
    let mut word = vec![0usize];
    while !word.is_empty() {
        if tuple.is_multiple_of(word.len()) {
            bytes.extend(word.iter().map(|&member| members[member]));
        }
        let len = word.len();
        (len..tuple).for_each(|at| word.push(word[at - len]));
        while word.last() == Some(&(members.len() - 1)) {
            word.pop();
        }
        if let Some(last) = word.last_mut() {
            *last += 1;
        }
    }
    // Round the circle, as far as is read.
    let around: Vec<u8> = (0..MAX_TUPLE).map(|at| bytes[at % bytes.len()]).collect();
    bytes.extend(around);
    bytes.into()
}

/// All tuples with a byte of each of these.
fn product(members: Vec<&[u8]>) -> Box<[u8]> {
    let count: usize = members.iter().map(|members| members.len()).product();
    let tuple = |number| {
        let (mut rest, mut bytes): (usize, Tuple) = (number, [0; MAX_TUPLE]);
        for (byte, members) in bytes.iter_mut().zip(&members) {
            *byte = members[rest % members.len()];
            rest /= members.len();
        }
        bytes
    };
    (0..count).flat_map(tuple).collect()
}

/// A class as sequences of sets of bytes, each with the number of members
/// that it stands for. Within a sequence all are equally likely.
pub fn sequences(class: &Class) -> Vec<(u64, Vec<(u8, u8)>)> {
    let mut all = Vec::new();
    for &(low, high) in class.ranges() {
        if class.unit() == Unit::Byte {
            all.push((u64::from(high - low) + 1, vec![(low as u8, high as u8)]));
            continue;
        }
        let of = |value| char::from_u32(value).unwrap_or(char::MAX);
        for sequence in regex_syntax::utf8::Utf8Sequences::new(of(low), of(high)) {
            let ranges: Vec<(u8, u8)> = sequence.as_slice().iter().map(|r| (r.start, r.end)).collect();
            let members = ranges.iter().map(|r| u64::from(r.1 - r.0) + 1).product();
            all.push((members, ranges));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_tuple_stands_once_in_its_table() {
        let mut sets = Sets::default();
        let [one, two, ten] = [b"a".as_slice(), b"xy", b"0123456789"].map(|members| sets.number(members));
        for of in [&[one][..], &[two; 4], &[ten; 3], &[ten, two], &[two, ten, one], &[one; 4]] {
            let all: usize = of.iter().map(|&set| sets.members(set).len()).product();
            let table = sets.tuples(of);
            let mut seen = HashSet::new();
            for at in 0..all as u64 {
                // Random bits in the middle of the share of one tuple.
                let random = ((2 * u128::from(at) + 1) << 64) / (2 * all as u128);
                // SAFETY: it points into the table, which has bytes to spare.
                let tuple = unsafe { table.pick(random as u64).read_unaligned() };
                let bytes = &tuple[..of.len()];
                assert!(
                    bytes.iter().zip(of).all(|(byte, &set)| sets.members(set).contains(byte)),
                    "{bytes:?}"
                );
                assert!(seen.insert(bytes.to_vec()), "{bytes:?} twice");
            }
        }
    }
}
