//! The clock of a campaign.
//!
//! In:  nothing, or how long each run is to have taken.
//! Out: the time since the campaign began.
//!
//! Limits and budgets follow measured time. So that tests do not, a clock can
//! be counted: it stands still but for runs, and a run takes what a function of
//! its input says. Such a campaign does the same on every machine, however
//! busy that is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Tells the time since a campaign began.
#[derive(Clone, Debug)]
pub struct Clock {
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Real(Instant),
    Counted { nanos: Arc<AtomicU64>, takes: fn(&[u8]) -> Duration },
}

impl Default for Clock {
    fn default() -> Clock {
        Clock { kind: Kind::Real(Instant::now()) }
    }
}

impl Clock {
    /// A clock that only runs move, each by what `takes` says of its input. A
    /// run that takes more than its limit is a timeout, and does not come to the
    /// last quarter of all edges, whatever the target did.
    pub fn counted(takes: fn(&[u8]) -> Duration) -> Clock {
        Clock { kind: Kind::Counted { nanos: Arc::default(), takes } }
    }

    /// Begins anew, if it is a real one.
    pub(crate) fn start(&mut self) {
        if let Kind::Real(begin) = &mut self.kind {
            *begin = Instant::now();
        }
    }

    /// Time since the campaign began.
    pub fn now(&self) -> Duration {
        match &self.kind {
            Kind::Real(begin) => begin.elapsed(),
            Kind::Counted { nanos, .. } => Duration::from_nanos(nanos.load(Ordering::Relaxed)),
        }
    }

    /// Whether it only counts.
    pub(crate) fn is_counted(&self) -> bool {
        matches!(self.kind, Kind::Counted { .. })
    }

    /// Counts a run with this limit: how long it took, and whether it was cut
    /// off. None if time is measured.
    pub(crate) fn count(&self, input: &[u8], limit: Duration) -> Option<(Duration, bool)> {
        let Kind::Counted { nanos, takes } = &self.kind else { return None };
        let wanted = takes(input);
        let took = wanted.min(limit);
        nanos.fetch_add(took.as_nanos() as u64, Ordering::Relaxed);
        Some((took, wanted > limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counted_clock_is_moved_by_runs_alone() {
        let clock = Clock::counted(|input| Duration::from_millis(input.len() as u64));
        let limit = Duration::from_millis(3);
        assert_eq!(clock.count(b"ab", limit), Some((Duration::from_millis(2), false)));
        assert_eq!(clock.clone().count(b"abcde", limit), Some((limit, true)));
        assert_eq!(clock.now(), Duration::from_millis(5));
        assert_eq!(Clock::default().count(b"", limit), None);
    }
}
