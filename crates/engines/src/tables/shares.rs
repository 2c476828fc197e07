//! Probabilities as numbers of slots: one of n with one draw and one look.
//!
//! In:  probabilities.
//! Out: a list of slots, each with the number of what it stands for, all
//!      equally likely; and what is left of the probabilities.
//!
//! Most probabilities are fractions of small numbers, since alternatives are
//! mostly equally likely. Where a common denominator is small, all is exact
//! and nothing is left. Else some slots stand for the rest, from which is
//! drawn again.
//!
//! Rejected: Walker's alias method. It takes n columns whatever the
//! probabilities are, but twice the memory, a comparison and a selection,
//! for which the next step waits.

/// The slot that stands for what is left.
pub const REST: u16 = u16::MAX;

/// Slots for each entry, at most, and how many are always allowed: of a table
/// that is rarely drawn from, and of one that often is.
const SLOTS: [(u64, u64); 2] = [(4, 32), (4, 64)];
/// Slots at most.
const MOST_SLOTS: u64 = 1024;
/// Numbers of slots that are tried where there is no common denominator.
const TRIES: u64 = 16;
/// What is taken for a whole number.
const NEAR: f64 = 1e-10;

/// How probabilities are shared out.
#[derive(Debug)]
pub struct Shares {
    /// What each slot stands for: a number, or [`REST`].
    pub slots: Vec<u16>,
    /// What is left of each probability, if there is a slot for it; they
    /// need not add up to 1.
    pub rest: Vec<f64>,
}

/// Shares out probabilities, which need not add up to 1, at most 1,024 of
/// them, for a table that is drawn from `often` or not. The `last` has nothing
/// left: what rounding changes then is below one in 1,024.
pub fn shares(weights: Vec<f64>, often: bool, last: bool) -> Shares {
    let total: f64 = weights.iter().sum();
    let shares: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
    if last {
        return rounded(&shares);
    }
    let wanted = weights.len() as u64;
    let (each, few) = SLOTS[usize::from(often)];
    let most = (wanted * each).clamp(few, MOST_SLOTS);
    let common = common_denominator(&shares, most);
    let tried = (1..=TRIES).map(|times| common * times).filter(|&slots| slots <= most);
    let (mut best, mut least) = (common, 2.0);
    for slots in tried.chain([most]) {
        let left = left(&shares, slots) as f64 / slots as f64;
        if left < least {
            (best, least) = (slots, left);
        }
        if left == 0.0 {
            break;
        }
    }
    let mut slots = Vec::with_capacity(best as usize);
    let mut rest = Vec::with_capacity(shares.len());
    for (number, share) in shares.iter().enumerate() {
        let whole = whole(*share, best);
        slots.extend(std::iter::repeat_n(number as u16, whole as usize));
        rest.push((share * best as f64 - whole as f64).max(0.0));
    }
    slots.resize(best as usize, REST);
    if slots.last() != Some(&REST) {
        rest.clear();
    }
    Shares { slots, rest }
}

/// Whether so many slots can hold probabilities exactly, which add up to 1.
pub fn fit(shares: &[f64], slots: u64) -> bool {
    left(shares, common_denominator(shares, slots)) == 0
}

/// Whole slots of a share.
fn whole(share: f64, slots: u64) -> u64 {
    (share * slots as f64 + NEAR) as u64
}

/// Slots that are left over.
fn left(shares: &[f64], slots: u64) -> u64 {
    slots - shares.iter().map(|&share| whole(share, slots)).sum::<u64>().min(slots)
}

/// The least common multiple of the denominators, as far as it is at most
/// `most`.
fn common_denominator(shares: &[f64], most: u64) -> u64 {
    let mut common = 1;
    for &share in shares {
        let near = |slots: f64| slots >= 1.0 - NEAR && (slots - slots.round()).abs() < NEAR;
        if near(share * common as f64) {
            continue;
        }
        if let Some(denominator) = denominator(share, most) {
            let both = common / gcd(common, denominator) * denominator;
            if both <= most {
                common = both;
            }
        }
    }
    common
}

/// The denominator of a fraction, if it is at most `most`: by its continued
/// fraction.
fn denominator(share: f64, most: u64) -> Option<u64> {
    let (mut before, mut now, mut rest) = (0u64, 1u64, share);
    loop {
        if (share * now as f64 - (share * now as f64).round()).abs() < NEAR && share * now as f64 > 0.5 {
            return Some(now);
        }
        rest = 1.0 / (rest - rest.floor());
        if !rest.is_finite() || rest > most as f64 {
            return None;
        }
        (before, now) = (now, (rest as u64).saturating_mul(now).saturating_add(before));
        if now > most {
            return None;
        }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// All in slots, with the largest remainders rounded up.
fn rounded(shares: &[f64]) -> Shares {
    let slots = MOST_SLOTS;
    let mut counts: Vec<u64> = shares.iter().map(|&share| whole(share, slots)).collect();
    let mut order: Vec<usize> = (0..shares.len()).collect();
    let part = |number: usize| shares[number] * slots as f64 - counts[number] as f64;
    order.sort_by(|&a, &b| part(b).total_cmp(&part(a)).then(a.cmp(&b)));
    let left = slots - counts.iter().sum::<u64>().min(slots);
    for &number in order.iter().take(left as usize) {
        counts[number] += 1;
    }
    let slots = counts.iter().enumerate();
    let slots = slots.flat_map(|(number, &count)| std::iter::repeat_n(number as u16, count as usize));
    Shares { slots: slots.collect(), rest: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Probabilities that slots and what is left of them give.
    fn given(weights: &[f64], draws: u32) -> Vec<f64> {
        let mut mass = vec![0.0; weights.len()];
        let (mut share, mut weights) = (1.0, weights.to_vec());
        for draw in 0..=draws {
            let shares = shares(weights, draw == 0, draw == draws);
            let each: f64 = share / shares.slots.len() as f64;
            share = 0.0;
            for &slot in &shares.slots {
                match slot {
                    REST => share += each,
                    number => mass[usize::from(number)] += each,
                }
            }
            weights = shares.rest;
            if share == 0.0 {
                break;
            }
        }
        mass
    }

    #[test]
    fn slots_hold_the_probabilities() {
        let thirds: Vec<f64> = (0..40).map(|i| if i % 3 == 0 { 0.01 } else { 0.0333 }).collect();
        let geometric: Vec<f64> = (0..60).map(|i| 0.75f64.powi(i)).collect();
        let cases = [
            vec![1.0],
            vec![1.0, 3.0],
            vec![0.1, 0.2, 0.7],
            vec![1e-9, 1.0, 2.0, 0.0, 5.0],
            // As near to a whole slot as can be.
            vec![1.0, 1e8],
            thirds,
            geometric,
        ];
        for weights in cases {
            let total: f64 = weights.iter().sum();
            for (mass, weight) in given(&weights, 8).iter().zip(&weights) {
                assert!((mass - weight / total).abs() < 2f64.powi(-31), "{weights:?}: {mass} {weight}");
            }
        }
    }

    #[test]
    fn fractions_of_small_numbers_leave_nothing() {
        for weights in [vec![1.0, 2.0, 4.0], vec![1.0; 7], vec![1.0 / 7.0, 1.0 / 14.0, 1.0 / 2.0, 2.0 / 7.0]]
        {
            let shares = shares(weights, true, false);
            assert!(shares.rest.is_empty() && shares.slots.len() <= 14, "{shares:?}");
        }
    }
}
