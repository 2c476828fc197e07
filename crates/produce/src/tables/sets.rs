//! Sets of bytes of which one is drawn uniformly, and tables of tuples that
//! draw several at once.
//!
//! In:  classes, and alternatives that are single bytes of the same weight.
//! Out: numbers of sets, and for each number of bytes a table of all tuples.
//!      A draw from it is one multiplication.

use std::collections::HashMap;
use wug_grammar::Class;
use wug_grammar::class::Unit;

/// Most words of one table of tuples: pairs of printable characters fit.
const MAX_TUPLES: usize = 100 * 100;
/// Most bytes of a tuple.
pub const MAX_TUPLE: usize = 4;

/// All sets that were met, and their tuples.
#[derive(Clone, Debug, Default)]
pub struct Sets {
    numbers: HashMap<Box<[u8]>, u32>,
    members: Vec<Box<[u8]>>,
    tuples: HashMap<Box<[u32]>, Box<[Tuple]>>,
    /// How many there are in all tables.
    all: usize,
}

/// Bytes that are drawn together.
pub type Tuple = [u8; MAX_TUPLE];

/// A table of tuples: how many there are, and where the first is.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tuples {
    pub count: u64,
    first: *const Tuple,
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
        Tuples { count: 0, first: &NO_TUPLE }
    }
}

impl Tuples {
    /// The tuple that random bits pick.
    #[inline(always)]
    pub fn pick(&self, random: u64) -> *const Tuple {
        let number = (u128::from(random) * u128::from(self.count)) >> 64;
        self.first.wrapping_add(number as usize)
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
        for set in sets {
            count += 1;
            tuples = tuples.saturating_mul(self.members(set).len());
        }
        count <= MAX_TUPLE && tuples <= MAX_TUPLES
    }

    /// How many tuples there are in all tables.
    pub fn tuple_count(&self) -> usize {
        self.all
    }

    /// The table of tuples of these sets, at most [`MAX_TUPLE`]. It is there
    /// until all are forgotten.
    pub fn tuples(&mut self, sets: &[u32]) -> Tuples {
        let Sets { members, tuples, all, .. } = self;
        let table = tuples.entry(sets.into()).or_insert_with(|| {
            let count: usize = sets.iter().map(|&set| members[set as usize].len()).product();
            *all += count;
            let tuple = |number| {
                let (mut rest, mut bytes): (usize, Tuple) = (number, [0; MAX_TUPLE]);
                for (byte, &set) in bytes.iter_mut().zip(sets) {
                    let members = &members[set as usize];
                    *byte = members[rest % members.len()];
                    rest /= members.len();
                }
                bytes
            };
            (0..count).map(tuple).collect()
        });
        Tuples { count: table.len() as u64, first: table.as_ptr() }
    }
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
