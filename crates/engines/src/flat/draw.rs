//! From 32 random bits to one of several.

use wug_grammar::BodyId;
use wug_produce::program::Offers;

/// A class of at most this many members becomes a table.
pub(crate) const FEW: u32 = 256;

/// How 32 bits choose.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Draw {
    /// Among so many.
    pub count: u32,
    /// Number k means the next one from bits `thresholds[k]` on; `None` if
    /// all are equally likely, that is `bits * count >> 32`.
    pub thresholds: Option<Box<[u32]>>,
}

impl Draw {
    /// All equally likely.
    pub fn even(count: u32) -> Draw {
        Draw { count, thresholds: None }
    }

    /// By the weights of the alternatives that a body offers.
    pub fn weighted(offers: &Offers, body: BodyId) -> Draw {
        let total = u128::from(offers.weight(body));
        // (bits * total >> 32) >= sum, solved for bits.
        let from = |&sum: &u64| ((u128::from(sum) << 32).div_ceil(total)) as u64;
        Draw::by(offers.sums(body).iter().map(from))
    }

    /// By thresholds, the last of which is `2^32`.
    pub fn by(thresholds: impl Iterator<Item = u64>) -> Draw {
        // What begins at 2^32 never comes.
        let table: Vec<u32> = thresholds.map_while(|t| u32::try_from(t).ok()).collect();
        let count = table.len() as u64 + 1;
        let even = (1u64..).zip(&table).all(|(k, &t)| (k << 32).div_ceil(count) == u64::from(t));
        Draw { count: count as u32, thresholds: (!even).then(|| table.into()) }
    }

    /// How to find uneven ones without a branch.
    pub fn guide(&self) -> Option<Guide> {
        let thresholds = self.thresholds.as_deref()?;
        // The table that leaves the fewest rounds, of those the smallest.
        let guides = (1..=MAX_GUIDE).map(|bits| Guide::of(thresholds, 32 - bits));
        guides.min_by_key(|guide| guide.rounds)
    }
}

/// A guide has at most `2^10` entries.
const MAX_GUIDE: u32 = 10;

/// Finds an uneven choice: an entry for the upper bits says where to begin,
/// and `rounds` compares do the rest.
#[derive(Clone, Debug)]
pub(crate) struct Guide {
    /// How far bits are shifted to the right to find an entry.
    pub shift: u32,
    /// What the least bits of each entry mean.
    pub begins: Box<[u32]>,
    /// The most thresholds within the bits of one entry.
    pub rounds: u32,
    /// The greatest bits that mean each choice or an earlier one.
    pub lasts: Box<[u32]>,
}

impl Guide {
    fn of(thresholds: &[u32], shift: u32) -> Guide {
        let index = |bits: u32| thresholds.partition_point(|&t| t <= bits) as u32;
        let begin = |entry: u32| index(entry << shift);
        let end = |entry: u32| index(entry << shift | ((1 << shift) - 1));
        let entries = 1 << (32 - shift);
        // What begins at 0 is never the choice before it, nor looked at.
        let lasts = thresholds.iter().map(|t| t.wrapping_sub(1)).chain([u32::MAX]);
        Guide {
            shift,
            begins: (0..entries).map(begin).collect(),
            rounds: (0..entries).map(|entry| end(entry) - begin(entry)).max().unwrap_or(0),
            lasts: lasts.collect(),
        }
    }

    /// Which one `bits` mean.
    pub fn index(&self, bits: u32) -> usize {
        let mut at = self.begins[(bits >> self.shift) as usize] as usize;
        for _ in 0..self.rounds {
            at += usize::from(bits > self.lasts[at]);
        }
        at
    }
}
