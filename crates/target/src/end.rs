//! The end of a campaign, as its executors know it.
//!
//! In:  a moment, and a flag that somebody may raise.
//! Out: whether either has come; waits that end then.
//!
//! A run that is under way is cut short at the end, so that a campaign ends
//! on time whatever its target does and however long a run may take.

use super::sys;
use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// When all runs are to end: at a moment, when a flag is raised, or never.
#[derive(Clone, Debug, Default)]
pub struct End {
    at: Option<Instant>,
    asked: Option<Arc<AtomicBool>>,
}

/// How often a wait looks at the flag.
const LOOK: Duration = Duration::from_millis(50);

impl End {
    /// At the latest after this time.
    pub fn within(self, time: Duration) -> End {
        match Instant::now().checked_add(time) {
            Some(at) => End { at: Some(self.at.map_or(at, |other| other.min(at))), ..self },
            None => self,
        }
    }

    /// Also when somebody raises this flag.
    pub fn or_asked(self, flag: Arc<AtomicBool>) -> End {
        End { asked: Some(flag), ..self }
    }

    /// Whether it has come.
    pub fn has_come(&self) -> bool {
        self.asked.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
            || self.at.is_some_and(|at| Instant::now() >= at)
    }

    /// How long one may sleep, of this time, before a look whether it has come.
    pub fn nap(&self, time: Duration) -> Duration {
        let left = self.at.map_or(time, |at| time.min(at.saturating_duration_since(Instant::now())));
        if self.asked.is_some() { left.min(LOOK) } else { left }
    }

    /// Sleeps for this time, or until it has come.
    pub fn sleep(&self, time: Duration) {
        let until = Instant::now() + time;
        while !self.has_come() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(self.nap(left));
        }
    }

    /// Waits until one of the descriptors can be read: which can. None at
    /// `until`, or when the end has come.
    pub(super) fn readable<const N: usize>(
        &self,
        fds: [RawFd; N],
        until: Instant,
    ) -> io::Result<Option<[bool; N]>> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let ready = sys::readable(fds, self.nap(left))?;
            if ready.is_some() || left.is_zero() || self.has_come() {
                return Ok(ready);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_raised_flag_and_a_moment_that_is_past_are_the_end() {
        let flag = Arc::new(AtomicBool::new(false));
        let end = End::default().or_asked(flag.clone());
        assert!(!end.has_come() && !End::default().has_come());
        flag.store(true, Ordering::Relaxed);
        assert!(end.has_come());
        assert!(End::default().within(Duration::ZERO).has_come());
        // The earlier of two moments counts; one beyond all clocks is none.
        let soon = End::default().within(Duration::ZERO).within(Duration::from_secs(3600));
        assert!(soon.has_come());
        assert!(!End::default().within(Duration::MAX).has_come());
        // Neither waits for an hour.
        end.sleep(Duration::from_secs(3600));
        soon.sleep(Duration::from_secs(3600));
    }
}
