//! Where the time of a campaign goes.
//!
//! In:  what the campaign is doing from now on, whenever that changes.
//! Out: for each activity its time, how much of that the target ran, and its
//!      executions.
//!
//! There is one activity at any time, so the times of all add up to the time of
//! the campaign, and no second is without a name.

use std::time::Duration;
use wug_folder::report::ActivityReport;

/// What a campaign is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    /// What no other activity is: the loop itself.
    Own,
    /// Seeds are run.
    Seeds,
    /// Inputs are made of entries and run.
    Mutate,
    /// New entries are run again.
    Calibrate,
    /// New entries are run by the build with a sanitizer.
    Recheck,
    Trim,
    Generalise,
    Explore,
    /// Comparisons are traced, colouring included.
    Trace,
    /// Crashes are looked at.
    Crashes,
    /// Timeouts are run again.
    Hangs,
    /// Inputs of others are imported.
    Sync,
    /// Statistics are told and written.
    Write,
}

const ALL: [(Activity, &str); 13] = [
    (Activity::Own, "own"),
    (Activity::Seeds, "seeds"),
    (Activity::Mutate, "mutate"),
    (Activity::Calibrate, "calibrate"),
    (Activity::Recheck, "recheck"),
    (Activity::Trim, "trim"),
    (Activity::Generalise, "generalise"),
    (Activity::Explore, "explore"),
    (Activity::Trace, "trace"),
    (Activity::Crashes, "crashes"),
    (Activity::Hangs, "hangs"),
    (Activity::Sync, "sync"),
    (Activity::Write, "write"),
];

/// What an activity took.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    time: Duration,
    /// Of it, as long as the target ran.
    target: Duration,
    execs: u64,
}

/// What each activity took.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    current: Activity,
    since: Duration,
    spent: [Spent; ALL.len()],
}

impl Ledger {
    /// From a moment on.
    pub fn new(now: Duration) -> Ledger {
        Ledger { current: Activity::Own, since: now, spent: Default::default() }
    }

    /// From now on the campaign is doing something else; what it did before.
    pub fn turn_to(&mut self, activity: Activity, now: Duration) -> Activity {
        self.spent[self.current as usize].time += now.saturating_sub(self.since);
        self.since = now;
        std::mem::replace(&mut self.current, activity)
    }

    /// The target was executed so many times, which took so long.
    pub fn ran(&mut self, execs: u64, time: Duration) {
        let spent = &mut self.spent[self.current as usize];
        spent.execs += execs;
        spent.target = spent.target.saturating_add(time);
    }

    /// The time of an activity up to the last change.
    pub fn time(&self, activity: Activity) -> Duration {
        self.spent[activity as usize].time
    }

    /// The same up to now.
    pub fn time_until(&self, activity: Activity, now: Duration) -> Duration {
        let current = if self.current == activity { now.saturating_sub(self.since) } else { Duration::ZERO };
        self.time(activity) + current
    }

    /// All of them, up to now.
    pub fn report(&mut self, now: Duration) -> Vec<ActivityReport> {
        self.turn_to(self.current, now);
        let row = |(activity, name): &(Activity, &str)| {
            let Spent { time, target, execs } = self.spent[*activity as usize];
            ActivityReport {
                name: (*name).into(),
                seconds: time.as_secs_f64(),
                // A mean of several runs may be rounded up.
                target_seconds: target.min(time).as_secs_f64(),
                execs,
            }
        };
        ALL.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_moment_and_every_run_belongs_to_one_activity() {
        let second = Duration::from_secs(1);
        let mut ledger = Ledger::new(second);
        let before = ledger.turn_to(Activity::Mutate, second * 3);
        assert_eq!(before, Activity::Own);
        ledger.ran(10, second);
        let before = ledger.turn_to(Activity::Trim, second * 7);
        ledger.ran(5, second);
        ledger.turn_to(before, second * 8);
        ledger.ran(1, second);
        assert_eq!(ledger.time_until(Activity::Mutate, second * 10), second * 6);
        assert_eq!(ledger.time_until(Activity::Trim, second * 10), second);
        let rows = ledger.report(second * 10);
        assert_eq!(rows.iter().map(|row| row.seconds).sum::<f64>(), 9.0);
        assert_eq!(rows.iter().map(|row| row.execs).sum::<u64>(), 16);
        let row = |name: &str| rows.iter().find(|row| row.name == name).expect("a row");
        assert_eq!((row("mutate").seconds, row("mutate").target_seconds), (6.0, 2.0));
        assert_eq!((row("trim").seconds, row("own").seconds, row("trim").execs), (1.0, 2.0, 5));
    }

    #[test]
    fn rows_are_in_the_order_of_their_numbers() {
        for (at, (activity, _)) in ALL.iter().enumerate() {
            assert_eq!(*activity as usize, at);
        }
    }
}
