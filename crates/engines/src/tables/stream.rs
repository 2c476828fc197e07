//! Random bits for tables: one stream for each (seed, index).
//!
//! Two words that are shifted and added (the generator known as
//! xoroshiro128+): eleven instructions for four streams at once on a
//! processor with vectors of 256 bits, where the generator of [`wug_random`]
//! takes five for each, and registers that the machine needs. Period
//! 2^128 - 1; streams begin at places that a mixing function of seed and
//! index spreads over it. The lowest bits are the weakest; draws are products,
//! which the upper bits decide.

use wug_random as rng;

/// Sets the streams apart from those of the other engines.
const APART: u64 = 0x7ab1_e500_0000_0000 + super::FORMAT as u64;

/// Makes a second word of a mixed one: odd, with bits spread evenly.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Where a stream is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    pub low: u64,
    pub high: u64,
}

impl Stream {
    /// The stream of input `index` under `seed`.
    pub fn new(seed: u64, index: u64) -> Stream {
        let low = rng::state(seed ^ APART, index);
        // Never both 0, from where no stream goes on.
        Stream { low, high: (low ^ APART).wrapping_mul(FACTOR) }
    }

    /// 64 fresh bits.
    #[inline(always)]
    pub fn next(&mut self) -> u64 {
        let Stream { low, high } = *self;
        let both = low ^ high;
        *self = Stream { low: low.rotate_left(24) ^ both ^ (both << 16), high: both.rotate_left(37) };
        low.wrapping_add(high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_do_not_come_back_soon() {
        // The order of the state's bits under one step divides 2^128 - 1 if the
        // constants are those of the published generator; a slip in one of them
        // mostly leads to a short circle or to 0.
        let begun = Stream::new(1, 2);
        let mut stream = begun;
        for _ in 0..100_000 {
            stream.next();
            assert!(stream != begun && stream != Stream::default());
        }
    }

    #[test]
    fn every_bit_is_set_half_of_the_time() {
        const DRAWS: u32 = 100_000;
        let mut stream = Stream::new(3, 4);
        let mut set = [0u32; 64];
        for _ in 0..DRAWS {
            let random = stream.next();
            set.iter_mut().enumerate().for_each(|(bit, count)| *count += (random >> bit & 1) as u32);
        }
        // Standard deviation below 160.
        assert!(set.iter().all(|&count| count.abs_diff(DRAWS / 2) < 900), "{set:?}");
    }

    #[test]
    fn close_inputs_and_seeds_have_streams_that_differ() {
        let mut seen = std::collections::HashSet::new();
        for seed in 0..100 {
            for index in 0..100 {
                let mut stream = Stream::new(seed, index);
                assert!(seen.insert(stream.next()), "{seed} {index}");
            }
        }
    }
}
