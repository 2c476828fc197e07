//! What a step does, as the machine reads it: an [`Entry`] for the stack and
//! an [`Emission`] for the output.
//!
//! A step waits for its entry before the next can begin, but nothing waits
//! for what is emitted. So entries are small, and many of one cache line's
//! worth stay near the processor; what they emit lies elsewhere, once for
//! all entries that emit the same.

use super::build::PUSHES;
use super::item::{HORIZON, Row};
use super::sets::{MAX_TUPLE, Tuples};

/// Most bytes that one entry emits.
pub const TEXT: usize = 28;
/// Drawn bytes are among this many first ones.
pub const DRAWN: usize = 16;
/// Bytes that are written for every emission.
pub const STORE: usize = 32;

/// What a step pushes: 16 bytes.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default)]
pub struct Entry {
    /// For each symbol to push the levels to take off, and the symbol's
    /// number as what is subtracted from 65,535: leftmost last.
    pub pushes: [[u8; 3]; PUSHES],
    /// The number of what is emitted.
    pub emission: u16,
    /// How many symbols are pushed.
    pub height: u8,
    /// Nothing: all bytes are read at once.
    pub spare: u8,
}

/// What a step emits: a cache line.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Emission {
    /// The bytes, 0 where one is drawn.
    pub text: [u8; TEXT],
    /// How many bytes are emitted.
    pub len: u8,
    /// Nothing: all bytes are read at once.
    pub spare: [u8; 3],
    /// For each place the byte of a tuple that is drawn, or 128.
    pub places: [u8; DRAWN],
    /// What it is drawn from.
    pub tuples: Tuples,
}

impl Entry {
    /// Sets push number `at`, counted from the rightmost.
    pub fn set_push(&mut self, at: usize, symbol: u16, less: u16, row: Row) {
        // In other rows there are not so many levels; at the horizon, only
        // where they mean nothing.
        debug_assert!(row < HORIZON || less < 255 || less == u16::MAX);
        let [low, high] = (u16::MAX - symbol).to_le_bytes();
        self.pushes[at] = [less.min(255) as u8, low, high];
    }

    /// The symbols that are pushed and the levels that each has less,
    /// rightmost first.
    pub fn pushed(&self) -> impl Iterator<Item = (u16, u16)> + use<'_> {
        let pushes = self.pushes.iter().take(self.height.into());
        pushes.map(|&[less, low, high]| (u16::MAX - u16::from_le_bytes([low, high]), less.into()))
    }
}

impl Default for Emission {
    /// Nothing.
    fn default() -> Emission {
        Emission { text: [0; TEXT], len: 0, spare: [0; 3], places: [128; DRAWN], tuples: Tuples::default() }
    }
}

impl Emission {
    /// The number of the tuple that random bits pick.
    #[inline(always)]
    pub fn pick(&self, random: u64) -> usize {
        // The upper half picks the entry.
        let Tuples { count, base } = self.tuples;
        base as usize + ((u128::from(random.rotate_left(32)) * u128::from(count)) >> 64) as usize
    }

    /// The bytes, with a tuple in its places.
    #[inline(always)]
    pub fn with(&self, tuple: [u8; MAX_TUPLE]) -> [u8; TEXT] {
        let mut text = self.text;
        for (byte, place) in text.iter_mut().zip(self.places) {
            *byte |= tuple.get(usize::from(place)).copied().unwrap_or(0);
        }
        text
    }
}
