//! Exploration: valid inputs from the traced build, when nothing else finds
//! anything.
//!
//! In:  a traced build of a target without a grammar.
//! Out: inputs that its parser accepts, and words, for the campaign.
//!
//! The search is that of `wug explore`. It goes on where it was each time, and
//! has a share of the executions and no more.

use crate::explore::{Explorer, Found, Options, Traced};
use crate::fuzz::Error;
use crate::fuzz::budget::Budget;
use crate::fuzz::runner::{Point, Runner};
use std::time::Duration;
use wug_target::Target;
use wug_target::dictionary::{Sections, of_program};

/// Executions without a find after which the search is tried: a slow traced
/// build against mutation that may still find something.
const STALL: u64 = 10_000;
/// The same in time, where that comes first.
const STALL_TIME: Duration = Duration::from_secs(20);
/// Executions of the traced build at a time, and how long these may take: the
/// cost of starting again against late imports.
const RUNS: u64 = 1_000;
const TIME: Duration = Duration::from_secs(1);
/// One in so many executions may go into this, or so much for each second of
/// mutation, for the same reason.
const SHARE: u32 = 8;
const BESIDE: f64 = 0.25;
/// The inputs that are searched for are no longer: long ones come by mutation.
const LONGEST: usize = 200;

/// The search beside a campaign.
pub(crate) struct Explore {
    target: Target,
    execution: wug_target::Options,
    options: Options,
    explorer: Option<Explorer<'static>>,
    pub budget: Budget,
    /// Entries when the last was found, and when that was.
    entries: usize,
    since: Option<Point>,
    /// The search has nothing more to try.
    over: bool,
}

impl Explore {
    pub fn new(target: Target, execution: &wug_target::Options, options: &crate::fuzz::Options) -> Explore {
        let max_size = options.max_size.min(LONGEST);
        Explore {
            target,
            execution: wug_target::Options { trace: None, ..execution.clone() },
            options: Options { seed: options.seed, max_size, ..Options::default() },
            explorer: None,
            budget: Budget::new(SHARE, BESIDE, (0, Duration::ZERO)),
            entries: 0,
            since: None,
            over: false,
        }
    }

    /// Searches for a while, if the campaign, which has so many entries, found
    /// nothing for long.
    pub fn run(&mut self, entries: usize, runner: &mut Runner<'_>) -> Result<Option<Found>, Error> {
        let since = *self.since.get_or_insert(Point::default());
        if self.entries != entries {
            (self.entries, self.since) = (entries, Some(runner.now()));
            return Ok(None);
        }
        let (time, execs) = runner.since(since);
        let stalls = execs >= STALL || !runner.is_repeatable() && time >= STALL_TIME;
        if self.over || !stalls || !self.budget.allows(runner) {
            return Ok(None);
        }
        let begin = runner.now();
        let time = if runner.is_repeatable() { Duration::MAX } else { TIME };
        let explorer = match &mut self.explorer {
            Some(explorer) => explorer,
            None => match self.start(runner.timeout()) {
                Ok(explorer) => self.explorer.insert(explorer),
                Err(Error::Executor(wug_target::Error::Ended)) => return Ok(None),
                Err(error) => {
                    self.over = true;
                    runner.notice(format!("no search for valid inputs: {error}"));
                    return Ok(None);
                }
            },
        };
        let found = explorer.go_on(RUNS.min(runner.left()), time)?;
        self.over = found.over;
        let time = runner.since(begin).0;
        runner.count(found.execs, time);
        self.budget.spend((time, found.execs));
        Ok(Some(found))
    }

    fn start(&self, timeout: Duration) -> Result<Explorer<'static>, Error> {
        let program = self.target.locate()?;
        let texts = of_program(&program, Sections::ReadOnly).unwrap_or_default();
        let execution = wug_target::Options { timeout, ..self.execution.clone() };
        let traced = Traced::start(self.target.clone(), execution, 1)?;
        Ok(Explorer::beside(traced, texts, self.options.clone()))
    }
}
