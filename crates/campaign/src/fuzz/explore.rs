//! Valid inputs from the traced build, when nothing else finds anything.
//!
//! A campaign without a grammar that has found nothing for a while looks for
//! inputs that the parser accepts, as `wug explore` does. The search goes on
//! where it was each time, and has a share of the runs and no more.

use super::execute::Making;
use super::{Campaign, Error, Event};
use crate::explore::{Explorer, Options, Traced};
use std::time::Duration;
use wug_target::Target;
use wug_target::dictionary::{Sections, of_program};

/// Runs without a find after which it is tried.
const STALL: u64 = 10_000;
/// Runs of the traced build at a time, and how long these may take.
const RUNS: u64 = 1_000;
const TIME: Duration = Duration::from_secs(1);
/// One in so many runs may go into this.
const SHARE: u64 = 8;

/// The search beside a campaign.
pub(super) struct Stage {
    target: Target,
    explorer: Option<Explorer<'static>>,
    /// Runs that were spent on it.
    execs: u64,
    /// Entries when the last was found, and runs at that time.
    entries: usize,
    since: u64,
    /// The search has nothing more to try.
    over: bool,
}

impl Stage {
    pub fn new(target: Target) -> Stage {
        Stage { target, explorer: None, execs: 0, entries: 0, since: 0, over: false }
    }
}

impl Campaign<'_> {
    /// Looks for valid inputs if nothing was found for a while.
    pub(super) fn explore_some(&mut self) -> Result<(), Error> {
        let Some(stage) = &mut self.stage else { return Ok(()) };
        let (entries, execs) = (self.corpus.len(), self.figures.execs);
        if stage.entries != entries {
            (stage.entries, stage.since) = (entries, execs);
        }
        if stage.over || execs - stage.since < STALL || stage.execs * SHARE > execs {
            return Ok(());
        }
        let left = self.options.max_execs.map_or(u64::MAX, |most| most.saturating_sub(self.figures.own().1));
        let time = if self.options.repeatable { Duration::MAX } else { TIME };
        let explorer = match &mut stage.explorer {
            Some(explorer) => explorer,
            None => match search(stage.target.clone(), &self.execution, &self.options) {
                Ok(explorer) => stage.explorer.insert(explorer),
                Err(Error::Executor(wug_target::Error::Ended)) => return Ok(()),
                Err(error) => {
                    stage.over = true;
                    self.watch.event(Event::Notice(format!("no search for valid inputs: {error}")));
                    return Ok(());
                }
            },
        };
        let found = explorer.go_on(RUNS.min(left), time)?;
        stage.execs += found.execs;
        stage.over = found.over;
        self.figures.execs += found.execs;
        for word in found.words {
            self.learn_token(&word);
        }
        for input in found.inputs {
            if self.is_over() {
                break;
            }
            self.input = input;
            self.execute(&Making::Mutation { from: None, other: None, op: "explore", rep: 1 })?;
        }
        Ok(())
    }
}

fn search(
    target: Target,
    execution: &wug_target::Options,
    options: &super::Options,
) -> Result<Explorer<'static>, Error> {
    let execution = wug_target::Options { trace: None, ..execution.clone() };
    let program = target.locate()?;
    let texts = of_program(&program, Sections::ReadOnly).unwrap_or_default();
    let traced = Traced::start(target, execution, 1)?;
    let options = Options { seed: options.seed, max_size: options.max_size.min(200), ..Options::default() };
    Ok(Explorer::beside(traced, texts, options))
}
