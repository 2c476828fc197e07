//! The time limit of a run, which follows the target.
//!
//! In:  how long seeds took; how long runs take, and those that found
//!      something.
//! Out: the limit.
//!
//! It begins as afl-fuzz's does: a multiple of what the slowest seed takes,
//! rounded up. From then on it is the limit under which the runs so far would
//! have yielded most in a second: a find counts if it took no longer, a run
//! costs what it took or the limit. One slow entry does not pin it so, and a
//! program whose slow inputs are the ones that pay gets the time that they
//! need. Old runs count less and less: when quick inputs find nothing more,
//! their time makes slow ones the better choice.
//!
//! Quantiles of the finds alone (say, five times what 95 % of them take) were
//! rejected: they do not know what the slow ones cost, and where a campaign
//! begins with slow entries, all early finds are slow.

use std::time::Duration;

/// The limit that seeds set is a multiple of this, as afl-fuzz's is.
const ROUND: Duration = Duration::from_millis(20);
/// No limit is shorter: on a busy machine a run may have to wait for its turn.
const LEAST: Duration = Duration::from_millis(10);
/// A hang exceeds a limit that was set by the user so many times: false hangs
/// against time.
const PATIENCE: u32 = 5;
/// Buckets of times, four for each factor of two from a microsecond on: up to
/// an hour and more.
const BUCKETS: usize = 4 * 32;
/// Time of runs after which what came before counts half.
const HALF_LIFE: f64 = 60.0;
/// Another limit has to be better by this factor, lest it change at each find.
const BETTER: f64 = 1.1;
/// Finds before which the seeds alone count.
const FEW: u64 = 8;
/// Where nothing was found yet, so many runs that are cut off halve the limit,
/// which stays above this.
const IN_VAIN: u32 = 3;
const LEAST_IN_VAIN: Duration = Duration::from_millis(100);

/// The limit, and what it is chosen by.
#[derive(Clone, Debug)]
pub(crate) struct TimeLimit {
    ceiling: Duration,
    fixed: bool,
    limit: Duration,
    slowest_seed: Duration,
    finds: u64,
    /// Runs that were cut off since the limit changed.
    cut_off: u32,
    /// Gain of finds, and runs, by how long they took.
    gain: Vec<f64>,
    runs: Vec<f64>,
    time: f64,
}

impl TimeLimit {
    /// At most this; always this, if it is fixed.
    pub fn new(ceiling: Duration, fixed: bool) -> TimeLimit {
        TimeLimit {
            ceiling,
            fixed,
            limit: ceiling,
            slowest_seed: Duration::ZERO,
            finds: 0,
            cut_off: 0,
            gain: vec![0.0; BUCKETS],
            runs: vec![0.0; BUCKETS],
            time: 0.0,
        }
    }

    /// The limit.
    pub fn get(&self) -> Duration {
        self.limit
    }

    /// The limit for something that takes so long when it is not cut off.
    pub fn room_for(&self, wall: Duration) -> Duration {
        if self.fixed { self.limit } else { generous(wall, self.ceiling).max(self.limit) }
    }

    /// The time of a run that is made to tell hangs from slow inputs.
    pub fn patience(&self) -> Duration {
        if self.fixed { self.limit.saturating_mul(PATIENCE) } else { self.ceiling }
    }

    /// Runs took so long each, or were cut off then: those would take ever so
    /// long.
    pub fn ran(&mut self, wall: Duration, runs: usize, cut_off: bool) {
        self.runs[if cut_off { BUCKETS - 1 } else { bucket(wall) }] += runs as f64;
        self.cut_off = self.cut_off.saturating_add(u32::from(cut_off));
        self.time += wall.as_secs_f64() * runs as f64;
        if self.time >= 2.0 * HALF_LIFE {
            self.time /= 2.0;
            self.runs.iter_mut().chain(&mut self.gain).for_each(|value| *value /= 2.0);
        }
    }

    /// A seed takes so long, or what comes first without seeds.
    pub fn seed(&mut self, wall: Duration) {
        self.slowest_seed = self.slowest_seed.max(wall);
    }

    /// What was kept takes so long.
    pub fn found(&mut self, wall: Duration, gain: f64) {
        if self.finds < FEW {
            self.seed(wall);
        }
        self.finds += 1;
        self.gain[bucket(wall)] += gain;
    }

    /// Chooses the limit anew; whether it is another one.
    pub fn choose(&mut self) -> bool {
        let best = match self.finds {
            _ if self.fixed => self.limit,
            0 if self.slowest_seed.is_zero() && self.cut_off < IN_VAIN => self.limit,
            0 if self.slowest_seed.is_zero() => (self.limit / 2).max(LEAST_IN_VAIN.min(self.limit)),
            ..FEW => generous(self.slowest_seed, self.ceiling),
            _ => self.best(),
        };
        let changed = std::mem::replace(&mut self.limit, best) != best;
        if changed {
            self.cut_off = 0;
        }
        changed
    }

    /// The limit that yields most, if it is better than the one that there is.
    fn best(&self) -> Duration {
        let usual = self.usual();
        let least = (usual * times(usual)).max(LEAST).min(self.ceiling);
        let mut best = (self.limit.max(least), self.rate(self.limit.max(least)) * BETTER);
        let mut limit = least;
        loop {
            let rate = self.rate(limit);
            if rate > best.1 {
                best = (limit, rate);
            }
            if limit >= self.ceiling {
                return best.0;
            }
            limit = (limit * 3 / 2).min(self.ceiling);
        }
    }

    /// Gain in a second under a limit.
    fn rate(&self, limit: Duration) -> f64 {
        let last = bucket(limit);
        let gain: f64 = self.gain[..=last].iter().sum();
        let cost = |(at, runs): (usize, &f64)| runs * middle(at).min(limit.as_secs_f64());
        gain / self.runs.iter().enumerate().map(cost).sum::<f64>().max(1e-9)
    }

    /// What half of the finds take at most.
    fn usual(&self) -> Duration {
        let half = self.gain.iter().sum::<f64>() / 2.0;
        let mut sum = 0.0;
        let at = self.gain.iter().position(|gain| {
            sum += gain;
            sum >= half
        });
        Duration::from_secs_f64(middle(at.unwrap_or(0)))
    }
}

/// Several times what something takes, as afl-fuzz has it: the more, the
/// quicker it is.
fn generous(wall: Duration, ceiling: Duration) -> Duration {
    round(wall.saturating_mul(times(wall))).min(ceiling)
}

fn times(wall: Duration) -> u32 {
    match wall.as_millis() {
        0..10 => 5,
        10..50 => 3,
        _ => 2,
    }
}

fn round(time: Duration) -> Duration {
    let rounds = time.as_nanos().div_ceil(ROUND.as_nanos()).max(1);
    ROUND.saturating_mul(u32::try_from(rounds).unwrap_or(u32::MAX))
}

fn bucket(wall: Duration) -> usize {
    let micros = wall.as_secs_f64() * 1e6;
    ((micros.max(1.0).log2() * 4.0) as usize).min(BUCKETS - 1)
}

/// The time that a bucket stands for, in seconds.
fn middle(bucket: usize) -> f64 {
    ((bucket as f64 + 0.5) / 4.0).exp2() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const CEILING: Duration = Duration::from_millis(1000);

    /// A limit after finds of so many milliseconds, each after some runs of
    /// the same length.
    fn limit(finds: &[(u32, usize)], runs: usize) -> TimeLimit {
        let mut limit = TimeLimit::new(CEILING, false);
        for (millis, count) in finds {
            for _ in 0..*count {
                limit.ran(MS * *millis, runs, false);
                limit.found(MS * *millis, 1.0);
            }
        }
        limit.choose();
        limit
    }

    #[test]
    fn seeds_set_it_as_in_afl_fuzz() {
        for (slowest, expected) in [(0, 20), (3, 20), (9, 60), (12, 40), (45, 140), (60, 140), (700, 1000)] {
            let mut limit = TimeLimit::new(CEILING, false);
            limit.seed(MS * slowest + Duration::from_micros(1));
            limit.seed(MS / 2);
            limit.choose();
            assert_eq!(limit.get(), MS * expected, "{slowest} ms");
        }
    }

    #[test]
    fn one_slow_entry_does_not_pin_it() {
        for finds in [[(2, 40), (800, 1)], [(800, 1), (2, 40)]] {
            let limit = limit(&finds, 50).get();
            assert!((10 * MS..=20 * MS).contains(&limit), "{limit:?}");
        }
    }

    #[test]
    fn where_slow_inputs_pay_they_have_time() {
        // Quick runs find nothing for long: then what is slow is the better.
        let mut limit = limit(&[(1, 20), (300, 20)], 2);
        assert!(limit.get() <= 20 * MS);
        limit.ran(MS, 20_000, false);
        assert!(limit.choose() && limit.get() > 300 * MS, "{:?}", limit.get());
        // All finds are of one length.
        assert!(self::limit(&[(150, 20)], 3).get() >= 290 * MS);
    }

    #[test]
    fn runs_that_are_cut_off_make_it_shorter() {
        // Finds of 150 ms pay at first, and others that end there beside them.
        let mut limit = limit(&[(2, 20), (150, 60)], 1);
        assert!(limit.get() >= 200 * MS, "{:?}", limit.get());
        limit.found(MS, 80.0);
        limit.ran(limit.get(), 200, true);
        assert!(limit.choose() && limit.get() <= 200 * MS, "{:?}", limit.get());
    }

    #[test]
    fn where_all_runs_are_cut_off_it_gets_shorter() {
        let mut limit = TimeLimit::new(CEILING, false);
        for expected in [1000, 1000, 500, 500, 500, 250, 250, 250, 125, 125, 125, 100, 100, 100, 100] {
            limit.ran(limit.get(), 1, true);
            limit.choose();
            assert_eq!(limit.get(), MS * expected);
        }
    }

    #[test]
    fn a_fixed_limit_stays_and_no_limit_is_above_the_ceiling() {
        let mut fixed = TimeLimit::new(50 * MS, true);
        fixed.seed(MS);
        for _ in 0..100 {
            fixed.ran(MS, 10, false);
            fixed.found(MS, 1.0);
        }
        assert!(!fixed.choose() && fixed.get() == 50 * MS && fixed.room_for(CEILING) == 50 * MS);
        assert_eq!(limit(&[(900, 30)], 1).get(), CEILING);
        assert_eq!(limit(&[(1, 30)], 1).room_for(CEILING * 9), CEILING);
    }

    #[test]
    fn any_time_has_a_bucket_that_holds_it() {
        for wall in [Duration::ZERO, Duration::MAX, MS, CEILING] {
            let at = bucket(wall);
            assert!(at < BUCKETS && middle(at) > 0.0);
        }
        assert!((middle(bucket(CEILING)) - 1.0).abs() < 0.2);
        assert!(round(Duration::MAX) > CEILING);
    }
}
