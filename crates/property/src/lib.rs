//! Runs property tests; for the tests of this workspace alone.
//!
//! In:  a property: a function that makes up a case from random bytes and
//!      panics if it does not hold.
//! Out: silence, or the panic with the seed that repeats it.
//!
//! A search runs a number of cases, the same each time: so whether a change
//! passes depends neither on luck nor on how busy the machine is, and what is
//! found is found again. `WUG_BUDGET_MS` is a time for which each search goes
//! on behind its cases, the further the more time it has;
//! `WUG_PROPERTY_SEARCH` a number that starts another search, and
//! `WUG_PROPERTY_CASE` one case to run alone.
//!
//! `arbtest` does the same with new seeds in each run, which can be neither
//! turned off nor repeated as a whole.

use arbitrary::{Result, Unstructured};
use std::time::{Duration, Instant};

/// Bytes of the first cases, and the most.
const SIZES: (u32, u32) = (32, 65_536);

/// Searches for a case that breaks `property`.
#[must_use = "nothing is run before `for_cases`"]
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
    #[must_use = "nothing is run before `for_cases`"]
    pub fn sizes(self, least: u32, most: u32) -> Search<P> {
        Search { sizes: (least, most), ..self }
    }

    /// Runs so many cases, and further ones until the milliseconds of
    /// `WUG_BUDGET_MS` are over, if that is set.
    ///
    /// # Panics
    /// If the property does, or if no random bytes made a case.
    pub fn for_cases(mut self, least: u64) {
        if let Some(case) = number("WUG_PROPERTY_CASE") {
            self.run(case).expect("these random bytes make a case");
            return;
        }
        let began = Instant::now();
        let further = number("WUG_BUDGET_MS").map(Duration::from_millis);
        let (mut size, most) = self.sizes;
        let mut search = number("WUG_PROPERTY_SEARCH").unwrap_or(0);
        let mut cases = 0u64;
        let mut made = 0u64;
        while cases < least.max(1) || further.is_some_and(|further| began.elapsed() < further) {
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

/// Runs the body of a fuzz target on some texts of random bytes.
///
/// # Panics
/// If the body does.
pub fn any_bytes(body: impl Fn(&[u8])) {
    check(|u| {
        body(u.bytes(u.len())?);
        Ok(())
    })
    .sizes(16, 4_096)
    .for_cases(400);
}

/// Those of `WUG_BUDGET_MS`, or `usual`: for tests that make more of something
/// where there is more time, but never less.
pub fn budget(usual: u64) -> u64 {
    number("WUG_BUDGET_MS").unwrap_or(usual).max(usual)
}

/// Processor time that this thread has used, to ten milliseconds: what tests
/// of cost may look at, since it does not depend on how busy the machine is.
///
/// # Panics
/// Where there is no `/proc`.
pub fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("a /proc");
    // Behind the name, which may hold anything: the 12th and 13th field are
    // ticks, of which there are 100 in a second on Linux.
    let fields = stat.rsplit(')').next().unwrap_or("").split_whitespace();
    let ticks = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum::<u64>();
    Duration::from_millis(ticks * 10)
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

    fn cases(least: u64) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        check(|u| {
            all.push(u.bytes(u.len())?.to_vec());
            Ok(())
        })
        .for_cases(least);
        all
    }

    #[test]
    fn a_search_repeats_and_its_cases_differ_and_grow() {
        let (one, other) = (cases(40), cases(40));
        // Further ones may follow where there is a budget.
        assert!(one.len() >= 40 && one[..40] == other[..40]);
        assert!(one[0].len() == 32 && one[0] != one[1] && one[39].len() > 32);
    }

    #[test]
    fn the_processor_time_of_this_thread_grows_with_its_work() {
        let began = cpu_time();
        let mut state = 0;
        while cpu_time() < began + Duration::from_millis(20) {
            for _ in 0..100_000 {
                next(&mut state);
            }
        }
        assert!(state != 0);
    }

    #[test]
    #[should_panic(expected = "sum of 200")]
    fn what_does_not_hold_is_found() {
        check(|u| {
            let sum = u32::from(u.arbitrary::<u8>()?) + u32::from(u.arbitrary::<u8>()?);
            assert!(sum != 200, "a sum of 200");
            Ok(())
        })
        .for_cases(10_000);
    }

    #[test]
    #[should_panic(expected = "made a case")]
    fn a_property_without_cases_is_a_mistake() {
        check(|_| Err(arbitrary::Error::IncorrectFormat)).for_cases(1);
    }
}
