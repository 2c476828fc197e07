//! Deterministic random numbers and hashes: the same seed, the same bytes.
//!
//! In:  a seed and an index ([`Rng`]), bytes of a fuzzer ([`Draw`]), or bytes
//!      to be told from others ([`hash()`]).
//! Out: numbers that depend on nothing else.
//!
//! [`Rng`] is one stream of random bits for each (seed, index).
//! The state is a 64-bit counter with an odd step; each output folds the
//! 128-bit product of two views of it (the construction known as wyrand).
//! Period 2^64 for every seed; streams are 2^64 starting points on that one
//! cycle, spread by a mixing function of seed and index. A draw uses the
//! upper 32 bits of one output, so `n` choices have a bias below `n / 2^32`.

pub mod draw;
pub mod hash;

pub use draw::Draw;
pub use hash::hash;

/// A stream of random bits.
#[derive(Clone, Copy, Debug)]
pub struct Rng {
    state: u64,
}

/// What the state grows by.
pub const STEP: u64 = 0xA076_1D64_78BD_642F;
/// What tells the two views of the state apart.
pub const FOLD: u64 = 0xE703_7ED1_A0B4_28DB;

impl Rng {
    /// The stream of input `index` under `seed`.
    pub fn new(seed: u64, index: u64) -> Rng {
        Rng { state: state(seed, index) }
    }

    /// The stream from this state on.
    pub fn resume(state: u64) -> Rng {
        Rng { state }
    }

    /// 64 fresh bits.
    #[inline]
    pub fn wide(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        let product = u128::from(self.state) * u128::from(self.state ^ FOLD);
        (product >> 64) as u64 ^ product as u64
    }

    /// 32 fresh bits.
    #[inline]
    pub fn bits(&mut self) -> u32 {
        (self.wide() >> 32) as u32
    }

    /// A number below `n`; `n` must not be 0.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.bits()) * u64::from(n)) >> 32) as u32
    }
}

/// The state that the stream of input `index` under `seed` begins with.
pub fn state(seed: u64, index: u64) -> u64 {
    mix(mix(seed).wrapping_add(index))
}

/// Spreads close numbers over all 64 bits (the finaliser of SplitMix64).
pub fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_spread_evenly() {
        let mut counts = [0u32; 7];
        for index in 0..1000 {
            let mut rng = Rng::new(1, index);
            for _ in 0..700 {
                counts[rng.below(7) as usize] += 1;
            }
        }
        // 100,000 expected in each, standard deviation below 300.
        assert!(counts.iter().all(|&c| c.abs_diff(100_000) < 1800), "{counts:?}");
    }

    #[test]
    fn neighbouring_streams_differ() {
        let firsts: std::collections::HashSet<u32> = (0..10_000).map(|i| Rng::new(7, i).bits()).collect();
        assert!(firsts.len() > 9_980);
    }
}
