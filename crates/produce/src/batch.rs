//! Many inputs in one buffer.

use crate::{Engine, Program, Scratch};
use std::ops::Range;

/// Inputs one behind the other, with the place where each ends.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// The index of the first.
    first: u64,
}

/// An input was drawn again and again, and its tokens always ran together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RanTogether {
    /// Which one.
    pub index: u64,
}

impl Batch {
    /// All inputs, one behind the other.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where each input ends.
    pub fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// The inputs with their indices.
    pub fn inputs(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let indices = self.first..;
        indices.zip(starts.zip(&self.ends)).map(|(index, (start, &end))| (index, &self.bytes[start..end]))
    }

    /// Replaces what is in it by the inputs `indices` of `seed`, up to the
    /// one with which it passes `enough` bytes; gives the index behind the
    /// last. Those before one that cannot be made stay in it.
    pub fn fill(
        &mut self,
        program: &Program,
        engine: Engine,
        seed: u64,
        indices: Range<u64>,
        enough: usize,
        scratch: &mut Scratch,
    ) -> Result<u64, RanTogether> {
        self.fill_by(indices, enough, |index, bytes| program.produce(engine, seed, index, scratch, bytes))
    }

    /// As [`Batch::fill`], with inputs that `produce` appends, if it can.
    pub fn fill_by(
        &mut self,
        indices: Range<u64>,
        enough: usize,
        mut produce: impl FnMut(u64, &mut Vec<u8>) -> Option<()>,
    ) -> Result<u64, RanTogether> {
        self.bytes.clear();
        self.ends.clear();
        self.first = indices.start;
        for index in indices.clone() {
            produce(index, &mut self.bytes).ok_or(RanTogether { index })?;
            self.ends.push(self.bytes.len());
            if self.bytes.len() >= enough {
                return Ok(index + 1);
            }
        }
        Ok(indices.end.max(indices.start))
    }
}

/// Consecutive inputs in one buffer, each with a separator behind it.
#[derive(Clone, Debug, Default)]
pub struct Piece {
    /// All of it.
    pub bytes: Vec<u8>,
    /// Where each input ends, its separator not counted.
    pub ends: Vec<usize>,
    separator: usize,
    first: u64,
}

impl Piece {
    /// All inputs with their separators.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many inputs there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no input.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The index of the first input.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The lengths of the inputs.
    pub fn lengths(&self) -> impl Iterator<Item = usize> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|end| end + self.separator));
        self.ends.iter().zip(starts).map(|(end, start)| end - start)
    }

    /// How many inputs there are up to the one with which they have `enough`
    /// bytes, or all.
    pub fn inputs_within(&self, enough: u64) -> usize {
        if (self.bytes.len() as u64) < enough {
            return self.len();
        }
        let mut bytes = 0;
        let last = self.lengths().position(|length| {
            bytes += length as u64;
            bytes >= enough
        });
        last.map_or(self.len(), |last| last + 1)
    }

    /// The first `count` inputs with their separators.
    pub fn bytes_of(&self, count: usize) -> &[u8] {
        let end =
            count.checked_sub(1).and_then(|last| self.ends.get(last)).map_or(0, |end| end + self.separator);
        &self.bytes[..end]
    }

    /// The inputs with their indices.
    pub fn inputs(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|end| end + self.separator));
        (self.first..)
            .zip(starts.zip(&self.ends))
            .map(|(index, (start, &end))| (index, &self.bytes[start..end]))
    }

    /// Empties it for the inputs from `first` on.
    pub fn restart(&mut self, first: u64, separator: usize) {
        self.bytes.clear();
        self.ends.clear();
        self.first = first;
        self.separator = separator;
    }

    /// Notes that an input ends here.
    pub fn end(&mut self, separator: &[u8]) {
        self.ends.push(self.bytes.len());
        self.bytes.extend_from_slice(separator);
    }
}
