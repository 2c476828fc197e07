//! How often a repetition repeats: the one distribution that producers,
//! expected lengths and replays share.
//!
//! A repetition of bounds at most 8 apart draws its count uniformly. A
//! wider or unbounded one takes its least count plus a geometric number:
//! one more with probability 3/4 each time, mean 3, cut at the upper bound
//! and at 64 more than the least.

/// Bounds this far apart or less are drawn uniformly.
pub const UNIFORM_SPAN: u32 = 8;
/// A geometric draw is at most this.
pub const MAX_EXTRA: u32 = 64;

/// `2^32 * (1 - (3/4)^(k+1))`, rounded down: a draw below entry k and not
/// below entry k-1 means k more.
pub const THRESHOLDS: [u32; MAX_EXTRA as usize] = {
    let mut table = [0; MAX_EXTRA as usize];
    // (3/4)^(k+1) in units of 2^-96, exact to far below one unit of 2^-32.
    let mut tail: u128 = 1 << 96;
    let mut k = 0;
    while k < table.len() {
        tail = tail / 4 * 3;
        table[k] = (((1 << 96) - tail) >> 64) as u32;
        k += 1;
    }
    table
};

/// How many different counts a draw can give.
pub fn choices(min: u32, max: Option<u32>) -> u32 {
    let span = max.map_or(u32::MAX, |max| max - min);
    if span <= UNIFORM_SPAN { span + 1 } else { span.min(MAX_EXTRA) + 1 }
}

/// The number of repetitions beyond the least that 32 random bits mean.
pub fn extra(bits: u32, min: u32, max: Option<u32>) -> u32 {
    let choices = choices(min, max);
    if choices <= UNIFORM_SPAN + 1 {
        return ((u64::from(bits) * u64::from(choices)) >> 32) as u32;
    }
    let drawn = THRESHOLDS.partition_point(|&t| t <= bits) as u32;
    drawn.min(choices - 1)
}

/// The probability that `extra` more is all, when at least that many come.
/// `extra` must be below [`choices`].
pub fn stops(min: u32, max: Option<u32>, extra: u32) -> f64 {
    let choices = choices(min, max);
    if choices <= UNIFORM_SPAN + 1 {
        return 1.0 / f64::from(choices - extra);
    }
    if extra + 1 >= choices {
        return 1.0;
    }
    let below = |k: u32| if k == 0 { 0.0 } else { f64::from(THRESHOLDS[k as usize - 1]) };
    (below(extra + 1) - below(extra)) / (2f64.powi(32) - below(extra))
}

/// The mean of [`extra`] over all bits.
pub fn mean_extra(min: u32, max: Option<u32>) -> f64 {
    let choices = choices(min, max);
    if choices <= UNIFORM_SPAN + 1 {
        return f64::from(choices - 1) / 2.0;
    }
    // The sum over k of the probability of more than k.
    let more = |k: u32| (2f64.powi(32) - f64::from(THRESHOLDS[k as usize])) / 2f64.powi(32);
    (0..choices - 1).map(more).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_those_of_the_draws() {
        for (min, max) in
            [(0, Some(1)), (2, Some(5)), (0, Some(8)), (0, Some(9)), (1, Some(30)), (0, None), (3, None)]
        {
            let n = 1 << 20;
            let total: u64 =
                (0..n).map(|i| u64::from(extra(((i as u64) << 12) as u32 + 2048, min, max))).sum();
            let mean = total as f64 / f64::from(n);
            assert!(
                (mean - mean_extra(min, max)).abs() < 1e-3,
                "{min} {max:?}: {mean} {}",
                mean_extra(min, max)
            );
        }
    }

    #[test]
    fn stopping_by_and_by_is_drawing_at_once() {
        for (min, max) in [(0, Some(1)), (2, Some(9)), (0, Some(9)), (1, Some(30)), (0, None)] {
            let (mut reached, mut mean) = (1.0, 0.0);
            for extra in 0..choices(min, max) {
                let stops = stops(min, max, extra);
                mean += f64::from(extra) * reached * stops;
                reached *= 1.0 - stops;
            }
            assert!((mean - mean_extra(min, max)).abs() < 1e-9, "{min} {max:?}: {mean}");
            assert!(reached.abs() < 1e-12);
        }
    }

    #[test]
    fn draws_stay_within_bounds() {
        for (min, max) in
            [(0, Some(0)), (7, Some(7)), (0, Some(12)), (0, None), (u32::MAX - 1, Some(u32::MAX))]
        {
            assert_eq!(extra(0, min, max), 0);
            assert_eq!(extra(u32::MAX, min, max), choices(min, max) - 1);
        }
    }
}
