//! Runs property tests; for the tests of this workspace alone.
//!
//! In:  a property: a function that makes up a case from random bytes and
//!      panics if it does not hold.
//! Out: silence, or the panic with the seed that repeats it.
//!
//! A search runs for a time, through the same seeds each time: the more time
//! it has, the further it comes. So whether a change passes does not depend
//! on luck, and what a long search finds is found again. `WUG_PROPERTY_SEARCH`
//! is a number that starts another search, `WUG_PROPERTY_CASE` one case to
//! run alone, and `WUG_BUDGET_MS` the time of each search.
//!
//! `arbtest` does the same with new seeds in each run, which can be neither
//! turned off nor repeated as a whole.

use arbitrary::{Result, Unstructured};
use std::time::{Duration, Instant};

/// Bytes of the first cases, and the most.
const SIZES: (u32, u32) = (32, 65_536);

/// Searches for a case that breaks `property`.
#[must_use = "nothing is run before `for_ms`"]
pub fn check<P: FnMut(&mut Unstructured<'_>) -> Result<()>>(property: P) -> Search<P> {
    Search { property, sizes: SIZES }
}

/// A search that is yet to be run.
pub struct Search<P> {
    property: P,
    sizes: (u32, u32),
}

impl<P: FnMut(&mut Unstructured<'_>) -> Result<()>> Search<P> {
    /// With random bytes of these lengths.
    #[must_use = "nothing is run before `for_ms`"]
    pub fn sizes(self, least: u32, most: u32) -> Search<P> {
        Search { sizes: (least, most), ..self }
    }

    /// Runs it for so many milliseconds, or those of `WUG_BUDGET_MS`.
    ///
    /// # Panics
    /// If the property does, or if no random bytes made a case.
    pub fn for_ms(mut self, usual: u64) {
        if let Some(case) = number("WUG_PROPERTY_CASE") {
            self.run(case).expect("these random bytes make a case");
            return;
        }
        let began = Instant::now();
        let budget = Duration::from_millis(budget(usual));
        let (mut size, most) = self.sizes;
        let mut search = number("WUG_PROPERTY_SEARCH").unwrap_or(0);
        let mut cases = 0u64;
        let mut made = 0u64;
        while cases == 0 || began.elapsed() < budget {
            let case = next(&mut search) & !0xffff_ffff | u64::from(size);
            made += u64::from(self.run(case).is_ok());
            cases += 1;
            if cases.is_multiple_of(3) {
                size = (size + size / 4 + 1).min(most);
            }
        }
        assert!(made > 0, "none of {cases} random texts made a case");
    }

    fn run(&mut self, case: u64) -> Result<()> {
        let told = Told(case);
        let mut bytes = Vec::new();
        let mut state = case;
        while bytes.len() < (case & 0xffff_ffff) as usize {
            bytes.extend(next(&mut state).to_le_bytes());
        }
        bytes.truncate((case & 0xffff_ffff) as usize);
        let result = (self.property)(&mut Unstructured::new(&bytes));
        std::mem::forget(told);
        result
    }
}

/// Milliseconds that a search takes: `usual`, or those of `WUG_BUDGET_MS`.
pub fn budget(usual: u64) -> u64 {
    number("WUG_BUDGET_MS").unwrap_or(usual)
}

/// Says which case it was, if the property panics.
struct Told(u64);

impl Drop for Told {
    fn drop(&mut self) {
        eprintln!("\nto run this case alone: WUG_PROPERTY_CASE={:#018x}\n", self.0);
    }
}

/// The next number of a stream (SplitMix64).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    match text.strip_prefix("0x") {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases(search: &mut Vec<Vec<u8>>) {
        check(|u| {
            search.push(u.bytes(u.len())?.to_vec());
            Ok(())
        })
        .for_ms(20);
    }

    #[test]
    fn a_search_repeats_and_its_cases_differ_and_grow() {
        let (mut one, mut other) = (Vec::new(), Vec::new());
        cases(&mut one);
        cases(&mut other);
        let both = one.len().min(other.len());
        assert!(both > 10 && one[..both] == other[..both]);
        assert!(one[0].len() == 32 && one[0] != one[1] && one[both - 1].len() > 32);
    }

    #[test]
    #[should_panic(expected = "sum of 200")]
    fn what_does_not_hold_is_found() {
        check(|u| {
            let sum = u32::from(u.arbitrary::<u8>()?) + u32::from(u.arbitrary::<u8>()?);
            assert!(sum != 200, "a sum of 200");
            Ok(())
        })
        .for_ms(10_000);
    }

    #[test]
    #[should_panic(expected = "made a case")]
    fn a_property_without_cases_is_a_mistake() {
        check(|_| Err(arbitrary::Error::IncorrectFormat)).for_ms(1);
    }
}
