//! What the target compares its input with, put where the input's side of the
//! comparison came from (input-to-state correspondence).
//!
//! A traced build beside the fast one tells what is compared on an entry and
//! on a coloured copy of it: same path, other bytes.

use super::{Made, Making, Mutator, Subject};
use crate::fuzz::Error;
use crate::fuzz::ledger::Activity;
use crate::fuzz::materials::Materials;
use crate::operands::{self, Change, Operands, TracedRun};
use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;
use wug_folder::report::Report;
use wug_random::hash;
use wug_target::{Executor, Target, Trace, Verdict, coverage};

/// Executions that colour an input: so many, and one for each so many bytes.
/// Bytes known to be free against executions.
const RUNS: usize = 16;
const BYTES_PER_RUN: usize = 4;
const MOST_RUNS: usize = 128;
/// One in so many executions may go into this, and as much of the time:
/// comparisons known early against mutation.
const SHARE: u32 = 8;
/// Entries whose changes wait: memory.
const WAITING: usize = 512;
/// Events that a run may log: memory against late comparisons.
const EVENTS: usize = 1 << 15;
/// Traced builds are not optimised: they get so many times the time limit.
const PATIENCE: u32 = 5;
/// Changes that are tried to find one that may be run: time, where few may
/// leave the language.
const TRIES: usize = 16;
/// Where time counts, one entry is coloured for no longer than this.
const TIME: Duration = Duration::from_millis(500);

/// Puts operands of comparisons into entries, if there is a traced build.
pub struct PutOperand {
    comparisons: Option<Comparisons>,
}

/// The traced build, and what it told.
#[derive(Debug)]
pub(crate) struct Comparisons {
    executor: Executor,
    operands: Operands,
    /// What is still to be tried of each entry, the first last.
    waiting: HashMap<usize, Vec<Change>>,
    order: VecDeque<usize>,
    done: HashSet<usize>,
    /// Executions of either build that went into it.
    execs: u64,
    time: Duration,
    counts: Vec<u8>,
}

impl PutOperand {
    pub fn new(comparisons: Option<Comparisons>) -> PutOperand {
        PutOperand { comparisons }
    }
}

impl Mutator for PutOperand {
    fn name(&self) -> &'static str {
        "operand"
    }

    fn fits(&mut self, entry: &Subject<'_>, making: &Making<'_, '_>) -> bool {
        self.comparisons.as_ref().is_some_and(|comparisons| {
            comparisons.may_trace(entry, making) || comparisons.waiting.contains_key(&entry.entry)
        })
    }

    fn make(&mut self, entry: &Subject<'_>, making: &mut Making<'_, '_>) -> Result<Option<Made>, Error> {
        let Some(comparisons) = &mut self.comparisons else { return Ok(None) };
        if !comparisons.done.contains(&entry.entry) {
            comparisons.trace(entry, making)?;
        }
        for _ in 0..TRIES {
            let Some(change) = comparisons.next(entry.entry) else { break };
            if let Some(valid) = put(&change, entry, making.materials, making.out) {
                return Ok(Some(Made::one(valid)));
            }
        }
        Ok(None)
    }

    fn report(&self, report: &mut Report) {
        report.traced_execs = self.comparisons.as_ref().map_or(0, |one| one.execs);
    }
}

/// Puts an operand on the terminal that it came from where that keeps the
/// input in the language, else on its bytes; whether the result is in the
/// language. None if it is not, and may not be.
fn put(
    change: &Change,
    entry: &Subject<'_>,
    materials: &mut Materials<'_>,
    out: &mut Vec<u8>,
) -> Option<bool> {
    let Some(tree) = entry.tree else {
        change.apply(entry.bytes, out);
        return Some(false);
    };
    let structure = materials.structure.as_mut()?;
    if structure.put(change, entry.bytes, tree, out) {
        return Some(true);
    }
    change.apply(entry.bytes, out);
    let valid = structure.parse(out).is_ok();
    (valid || materials.share.permits(true)).then_some(valid)
}

impl Comparisons {
    /// Starts a traced build.
    pub fn new(target: Target, options: &wug_target::Options) -> Result<Comparisons, wug_target::Error> {
        let trace = Some(Trace { events: EVENTS, pairs: 0 });
        let options = wug_target::Options { trace, timeout: options.timeout * PATIENCE, ..options.clone() };
        Ok(Comparisons {
            executor: Executor::new(target, options)?,
            operands: Operands::default(),
            waiting: HashMap::new(),
            order: VecDeque::new(),
            done: HashSet::new(),
            execs: 0,
            time: Duration::ZERO,
            counts: Vec::new(),
        })
    }

    /// Whether the build tells of comparisons at all.
    pub fn is_traced(&self) -> bool {
        self.executor.is_traced()
    }

    /// Whether an entry is to be traced, and the budget allows it.
    fn may_trace(&self, entry: &Subject<'_>, making: &Making<'_, '_>) -> bool {
        let runner = &making.runner;
        !self.done.contains(&entry.entry)
            && entry.bytes.len() <= operands::LONGEST
            && self.execs * u64::from(SHARE) <= runner.execs()
            && (runner.is_repeatable()
                || (self.time + self.takes(entry, making)) * SHARE <= runner.time_of(Activity::Mutate) * 2)
    }

    /// How long it takes to trace an entry, about, where time counts.
    fn takes(&self, entry: &Subject<'_>, making: &Making<'_, '_>) -> Duration {
        Duration::from_micros(making.corpus.turns.merits(entry.entry).cost as u64) * RUNS as u32
    }

    /// Runs an entry and a coloured copy of it in the traced build.
    fn trace(&mut self, entry: &Subject<'_>, making: &mut Making<'_, '_>) -> Result<(), Error> {
        let (begin, bytes) = (making.runner.now(), entry.bytes);
        let doing = making.runner.turn_to(Activity::Trace);
        self.executor.set_timeout(making.runner.timeout() * PATIENCE);
        let path = self.path_of(bytes, making)?;
        let runs = (RUNS + bytes.len() / BYTES_PER_RUN).min(MOST_RUNS);
        // Copied, since executions are made in between; they draw nothing.
        let mut rng = making.materials.rng;
        let copy = operands::coloured(bytes, runs, &mut rng, |copy| {
            if !making.runner.is_repeatable() && making.runner.since(begin).0 > TIME {
                return Ok(false);
            }
            let same = self.path_of(copy, making)?;
            Ok::<bool, Error>(path.is_some() && same == path)
        })?;
        making.materials.rng = rng;
        making.runner.unless_over()?;
        let first = self.executor.run(bytes)?;
        let (wall, first) = (first.wall, first.events.to_vec());
        making.runner.unless_over()?;
        let second = self.executor.run(&copy)?;
        making.runner.count(2, wall + second.wall);
        let changes = self.operands.changes(
            TracedRun { input: bytes, events: &first },
            TracedRun { input: &copy, events: second.events },
        );
        // What stands in the input was read from there.
        let foreign = |text: &Vec<u8>| !bytes.windows(text.len()).any(|part| part == text);
        for text in Operands::texts(&first).iter().filter(|text| foreign(text)) {
            making.materials.learn_token(text);
        }
        self.keep(entry.entry, changes);
        making.runner.turn_to(doing);
        let (time, execs) = making.runner.since(begin);
        self.execs += execs;
        self.time += time;
        making.cost += making.runner.cost_since(begin);
        Ok(())
    }

    /// A number for the path of an execution; none if it fails.
    fn path_of(&mut self, input: &[u8], making: &mut Making<'_, '_>) -> Result<Option<u64>, Error> {
        making.runner.unless_over()?;
        let seen = making.runner.run(input)?;
        if seen.verdict.is_crash() || seen.verdict == Verdict::Timeout {
            return Ok(None);
        }
        self.counts.clear();
        self.counts.extend_from_slice(seen.coverage);
        coverage::classify(&mut self.counts);
        for id in making.feedback.flaky() {
            if let Some(count) = self.counts.get_mut(*id as usize) {
                *count = 0;
            }
        }
        Ok(Some(hash(&self.counts)))
    }

    /// Keeps the changes of an entry until they are tried.
    fn keep(&mut self, entry: usize, mut changes: Vec<Change>) {
        self.done.insert(entry);
        if changes.is_empty() {
            return;
        }
        changes.reverse();
        self.waiting.insert(entry, changes);
        self.order.push_back(entry);
        if self.order.len() > WAITING
            && let Some(oldest) = self.order.pop_front()
        {
            self.waiting.remove(&oldest);
        }
    }

    /// Takes the next change of an entry.
    fn next(&mut self, entry: usize) -> Option<Change> {
        let changes = self.waiting.get_mut(&entry)?;
        let change = changes.pop();
        if changes.is_empty() {
            self.waiting.remove(&entry);
            self.order.retain(|other| *other != entry);
        }
        change
    }
}
