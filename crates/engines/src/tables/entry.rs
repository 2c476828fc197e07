//! What a step does, as the machine reads it: an [`Entry`] for the stack, and
//! the record of what it emits in [`Emissions`].
//!
//! A step waits for its entry before the next can begin, but nothing waits
//! for what is emitted. So entries are small, and many of one cache line's
//! worth stay near the processor; what they emit lies elsewhere, once for
//! all entries that emit the same, in records as long as needed.

use super::build::PUSHES;
use super::item::{HORIZON, Row};
use super::sets::{Tuple, Tuples};
use hashbrown::HashMap;

/// Most bytes that one entry emits.
pub const TEXT: usize = 28;
/// Drawn bytes are among this many first ones.
pub const DRAWN: usize = 16;
/// Bytes that are written for every emission.
pub const STORE: usize = 32;

/// Slots in the room of an entry.
pub const SLOTS: usize = 16;
/// Numbers of emissions count words of this many bytes.
const WORD: usize = 8;

/// What a step pushes: 16 bytes.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default)]
pub struct Entry {
    /// The symbols to push, leftmost last.
    pub symbols: [u16; PUSHES],
    /// For each the levels to take off.
    pub less: [u8; PUSHES],
    /// Where the record of what is emitted is.
    pub emission: u16,
    /// How many symbols are pushed, less the one that is popped.
    pub rise: i8,
    /// Nothing: all bytes are read at once.
    pub spare: u8,
}

impl Entry {
    /// A block of slots in the form of an entry.
    pub fn of_slots(slots: impl Iterator<Item = u8>) -> Entry {
        let mut all = [0; SLOTS];
        all.iter_mut().zip(slots).for_each(|(byte, slot)| *byte = slot);
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, rise, spare] = all;
        let symbols = [[a, b], [c, d], [e, f], [g, h]].map(u16::from_ne_bytes);
        let emission = u16::from_ne_bytes([m, n]);
        Entry { symbols, less: [i, j, k, l], emission, rise: rise as i8, spare }
    }

    /// Slot `at` of a block of slots.
    pub fn slot(&self, at: usize) -> u8 {
        let [[a, b], [c, d], [e, f], [g, h]] = self.symbols.map(u16::to_ne_bytes);
        let ([i, j, k, l], [m, n]) = (self.less, self.emission.to_ne_bytes());
        [a, b, c, d, e, f, g, h, i, j, k, l, m, n, self.rise as u8, self.spare][at]
    }

    /// Sets push number `at`, counted from the rightmost.
    pub fn set_push(&mut self, at: usize, symbol: u16, less: u16, row: Row) {
        // In other rows there are not so many levels; at the horizon, only
        // where they mean nothing.
        debug_assert!(row < HORIZON || less < 255 || less == u16::MAX);
        self.symbols[at] = symbol;
        self.less[at] = less.min(255) as u8;
    }

    /// The symbols that are pushed and the levels that each has less,
    /// rightmost first.
    pub fn pushed(&self) -> impl Iterator<Item = (u16, u16)> + use<'_> {
        let pushes = self.symbols.iter().zip(self.less).take((self.rise + 1) as usize);
        pushes.map(|(&symbol, less)| (symbol, less.into()))
    }
}

/// What a step emits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Emission {
    /// The bytes, 0 where one is drawn.
    pub text: Vec<u8>,
    /// For each of the first bytes the byte of a tuple that is drawn, or 128.
    pub places: [u8; DRAWN],
    /// What it is drawn from.
    pub tuples: Tuples,
}

/// The beginning of a record; the text is behind it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// What is drawn from, but for its mask.
    pub count: u64,
    pub first: *const u8,
    /// Where the places of drawn bytes are.
    pub places: u16,
    /// How many bytes are emitted.
    pub len: u8,
    spare: u8,
}

/// Bytes of a record before its text.
pub const HEAD: usize = 20;

/// Places of drawn bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Places {
    /// For each of the first bytes the byte of a tuple that is drawn, or 128.
    pub bytes: [u8; DRAWN],
    /// Of what is drawn from.
    pub mask: u64,
}

/// Records, and what they share: places of drawn bytes.
#[derive(Debug, Default)]
pub struct Emissions {
    /// As the machine reads them.
    words: Vec<u64>,
    numbers: HashMap<Emission, u16>,
    places: HashMap<Places, u16>,
}

/// Words behind the last record: text is read as [`STORE`] bytes.
const BEHIND: usize = STORE / WORD;

impl Emissions {
    /// Forgets all but nothing, which has number 0.
    pub fn clear(&mut self) {
        self.words.clear();
        self.numbers.clear();
        self.places.clear();
        self.number(Emission { places: [128; DRAWN], ..Emission::default() });
    }

    /// Words of all records.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// The first word, for the machine.
    pub fn as_ptr(&self) -> *const u64 {
        self.words.as_ptr()
    }

    /// The number of an emission.
    pub fn number(&mut self, emission: Emission) -> u16 {
        if let Some(&number) = self.numbers.get(&emission) {
            return number;
        }
        self.words.truncate(self.words.len().saturating_sub(BEHIND));
        let Tuples { count, first, mask } = emission.tuples;
        let record = Record { count, first, places: 0, len: emission.text.len() as u8, spare: 0 };
        let shared = Places { bytes: emission.places, mask };
        let number = self.words.len() as u16;
        let places = match self.places.get(&shared) {
            Some(&known) => known,
            None => number + (HEAD + emission.text.len()).div_ceil(WORD) as u16,
        };
        self.append(&Record { places, ..record }.head(), &emission.text);
        if self.places.insert(shared, places).is_none() {
            self.append(&shared.bytes, &shared.mask.to_ne_bytes());
        }
        self.words.extend([0; BEHIND]);
        self.numbers.insert(emission, number);
        number
    }

    fn append(&mut self, head: &[u8], text: &[u8]) {
        let bytes: Vec<u8> = [head, text].concat();
        for word in bytes.chunks(WORD) {
            let mut whole = [0; WORD];
            whole[..word.len()].copy_from_slice(word);
            self.words.push(u64::from_ne_bytes(whole));
        }
    }

    /// The bytes of a record, and how many they are: drawn ones by random bits.
    pub fn emitted(&self, number: u16, random: u64) -> ([u8; TEXT], usize) {
        // SAFETY: numbers are those of records of these words; tables of
        // tuples are as old as these.
        unsafe {
            let record = self.words.as_ptr().add(number.into()).cast::<Record>();
            let mut text = [0; TEXT];
            let len = usize::from((*record).len);
            text[..len].copy_from_slice(std::slice::from_raw_parts(record.cast::<u8>().add(HEAD), len));
            let places = self.words.as_ptr().add((*record).places.into()).cast::<Places>();
            fill(&mut text, &(*places).bytes, *(*record).pick(&*places, random));
            (text, len)
        }
    }
}

impl Record {
    /// The tuple that random bits pick.
    #[inline(always)]
    pub fn pick(&self, places: &Places, random: u64) -> *const Tuple {
        Tuples { count: self.count, first: self.first, mask: places.mask }.pick(random)
    }

    /// As bytes.
    fn head(self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        // SAFETY: a record has as many bytes and more, none of them undefined.
        unsafe { std::ptr::copy_nonoverlapping((&raw const self).cast::<u8>(), bytes.as_mut_ptr(), HEAD) };
        bytes
    }
}

/// Puts a tuple in its places.
#[inline(always)]
pub fn fill(text: &mut [u8; TEXT], places: &[u8; DRAWN], tuple: Tuple) {
    for (byte, place) in text.iter_mut().zip(places) {
        *byte |= tuple.get(usize::from(*place)).copied().unwrap_or(0);
    }
}
