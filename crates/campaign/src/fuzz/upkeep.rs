//! Upkeep: now and then statistics are told and written, and inputs of other
//! fuzzers are imported.

use super::evaluate::Evaluator;
use super::ledger::Activity;
use super::mutators::MutatorList;
use super::source::Source;
use super::stages::generalise::Generalise;
use super::{Error, Event};
use std::time::{Duration, Instant};
use wug_folder::sync::Sync;

/// Inputs of others that are imported at once.
const IMPORTS: usize = 256;
/// How often others' inputs are looked for, and statistics are told.
const LOOK: Duration = Duration::from_millis(500);
/// How often statistics are written.
const WRITE: Duration = Duration::from_secs(5);

/// What is done by the clock.
pub(crate) struct Upkeep {
    sync: Option<Sync>,
    next_look: Instant,
    next_write: Instant,
}

impl Upkeep {
    pub fn new(sync: Option<Sync>) -> Upkeep {
        let now = Instant::now();
        Upkeep { sync, next_look: now + LOOK, next_write: now + WRITE }
    }

    /// Does what is due. Asked after every input that was evaluated.
    pub fn run<'a>(
        &mut self,
        evaluator: &mut Evaluator<'a>,
        mutators: &MutatorList<'a>,
        generalise: &Generalise,
    ) -> Result<(), Error> {
        if Instant::now() < self.next_look {
            return Ok(());
        }
        self.look(evaluator, mutators, generalise)?;
        let Some(sync) = self.sync.as_mut().filter(|_| !evaluator.runner.is_over()) else { return Ok(()) };
        let doing = evaluator.runner.turn_to(Activity::Sync);
        for import in sync.poll(IMPORTS)?.imports {
            if evaluator.runner.is_over() {
                break;
            }
            let mut input = import.bytes;
            let source = Source::Import(import.fuzzer, import.source);
            let worth = evaluator.evaluate(&mut input, &source)?;
            evaluator.statistics.stages.add(source.stage_name(), worth);
            if Instant::now() >= self.next_look {
                self.look(evaluator, mutators, generalise)?;
            }
        }
        evaluator.runner.turn_to(doing);
        Ok(())
    }

    /// Tells statistics, and writes them if that is due.
    fn look<'a>(
        &mut self,
        evaluator: &mut Evaluator<'a>,
        mutators: &MutatorList<'a>,
        generalise: &Generalise,
    ) -> Result<(), Error> {
        let doing = evaluator.runner.turn_to(Activity::Write);
        let now = Instant::now();
        self.next_look = now + LOOK;
        if now >= self.next_write {
            self.next_write = now + WRITE;
            self.write(evaluator, mutators, generalise)?;
        } else {
            self.fill(evaluator, mutators, generalise);
        }
        let Evaluator { runner, statistics, .. } = evaluator;
        if let Some(mean) = statistics.slowness() {
            let millis = mean.as_millis();
            let way_out = match runner.executor.is_persistent() {
                true => "smaller inputs, a build with -O2, and no sleeping or waiting in the harness help",
                false => {
                    "a persistent harness (LLVMFuzzerTestOneInput) saves the start of the program; smaller inputs and a build with -O2 help as well"
                }
            };
            runner.notice(format!("a run takes {millis} ms, which is slow: {way_out}"));
        }
        runner.tell(Event::Report(&statistics.report));
        runner.turn_to(doing);
        Ok(())
    }

    /// Writes statistics and coverage to the folder.
    pub fn write<'a>(
        &mut self,
        evaluator: &mut Evaluator<'a>,
        mutators: &MutatorList<'a>,
        generalise: &Generalise,
    ) -> Result<(), Error> {
        self.fill(evaluator, mutators, generalise);
        let Evaluator { runner, folder, statistics, feedback, .. } = evaluator;
        runner.insist(folder, |folder| folder.report(&statistics.report))?;
        runner.insist(folder, |folder| folder.plot(&statistics.report))?;
        runner.insist(folder, |folder| folder.bitmap(feedback.seen()))
    }

    /// Collects what all parts know into the report.
    fn fill<'a>(&self, evaluator: &mut Evaluator<'a>, mutators: &MutatorList<'a>, generalise: &Generalise) {
        evaluator.report();
        let Evaluator { runner, statistics, materials, .. } = evaluator;
        let report = &mut statistics.report;
        mutators.report(report);
        generalise.report(materials, report);
        statistics.fill(runner);
    }
}
