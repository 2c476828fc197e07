//! Reduction of bytes of which nothing is known.

use super::ddmin::ddmin;
use super::trial::{Stop, Trial};

/// Up to so many bytes, all pairs of them are tried.
const PAIRS: usize = 48;

/// Leaves out what is not needed of `bytes`: then no byte can be left out,
/// and with `pairs` no two bytes side by side, nor of few bytes any two.
pub(super) fn reduce(trial: &mut Trial<'_>, bytes: Vec<u8>, pairs: bool) -> Result<Vec<u8>, Stop> {
    let mut now = bytes;
    loop {
        let mut out = Vec::with_capacity(now.len());
        let kept = ddmin(now.len(), 0, &mut |kept| {
            out.clear();
            out.extend(kept.iter().map(|&at| now[at]));
            trial.test(&out)
        })?;
        now = kept.iter().map(|&at| now[at]).collect();
        if !pairs || !without_pair(trial, &mut now)? {
            return Ok(now);
        }
    }
}

/// Leaves out two bytes, if there are two that can be.
fn without_pair(trial: &mut Trial<'_>, now: &mut Vec<u8>) -> Result<bool, Stop> {
    let far = if now.len() <= PAIRS { now.len() } else { 2 };
    for distance in 1..far {
        for first in (0..now.len() - distance).rev() {
            let mut out = now.clone();
            out.remove(first + distance);
            out.remove(first);
            if trial.test(&out)? {
                *now = out;
                return Ok(true);
            }
        }
    }
    Ok(false)
}
