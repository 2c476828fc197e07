//! Bytes that no rule tells apart, as one letter.

/// A partition of the 256 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alphabet {
    letter_of: [u8; 256],
    letters: usize,
}

impl Alphabet {
    /// The coarsest partition that keeps each range whole.
    pub fn of(ranges: impl Iterator<Item = (u8, u8)>) -> Alphabet {
        let mut starts = [false; 257];
        starts[0] = true;
        for (low, high) in ranges {
            starts[usize::from(low)] = true;
            starts[usize::from(high) + 1] = true;
        }
        let mut letter_of = [0; 256];
        let mut letters = 0;
        for (byte, letter) in letter_of.iter_mut().enumerate() {
            letters += usize::from(starts[byte]);
            *letter = (letters - 1) as u8;
        }
        Alphabet { letter_of, letters }
    }

    /// How many letters there are.
    pub fn len(&self) -> usize {
        self.letters
    }

    /// There is always one.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The letter of a byte.
    pub fn letter(&self, byte: u8) -> usize {
        usize::from(self.letter_of[usize::from(byte)])
    }

    /// The bytes of a letter: first and last.
    pub fn bytes(&self, letter: usize) -> (u8, u8) {
        let first = self.letter_of.partition_point(|&l| usize::from(l) < letter);
        let behind = self.letter_of.partition_point(|&l| usize::from(l) <= letter);
        (first as u8, (behind - 1) as u8)
    }
}
