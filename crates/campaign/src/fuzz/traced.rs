//! The traced build beside the fast one: what is compared on an entry, and
//! inputs made of that.

use super::{Campaign, Error};
use crate::operands::{self, Change, Operands, Traced};
use std::collections::{HashMap, HashSet, VecDeque};
use std::time::{Duration, Instant};
use wug_produce::mutate::Tree;
use wug_random::hash;
use wug_target::{Executor, Target, Trace, Verdict, coverage};

/// Runs that colour an input: so many, and one for each so many bytes.
const RUNS: usize = 16;
const BYTES_PER_RUN: usize = 4;
const MOST_RUNS: usize = 128;
/// One in so many runs may go into this, and as much of the time.
const SHARE: u32 = 8;
/// Entries whose changes wait.
const WAITING: usize = 512;
/// Events that a run may log.
const EVENTS: usize = 1 << 15;
/// Traced builds are not optimised: they get so many times the limit.
const PATIENCE: u32 = 5;
/// Changes that are tried to find one that may be run.
const TRIES: usize = 16;

/// The traced build, and what it told.
#[derive(Debug)]
pub(super) struct Comparisons {
    executor: Executor,
    operands: Operands,
    /// What is still to be tried of each entry, the first last.
    waiting: HashMap<usize, Vec<Change>>,
    order: VecDeque<usize>,
    done: HashSet<usize>,
    /// Runs that were spent on it, of either build.
    pub execs: u64,
    pub time: Duration,
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
        })
    }

    /// Whether the build tells of comparisons at all.
    pub fn is_traced(&self) -> bool {
        self.executor.is_traced()
    }

    fn keep(&mut self, at: usize, mut changes: Vec<Change>) {
        self.done.insert(at);
        if changes.is_empty() {
            return;
        }
        changes.reverse();
        self.waiting.insert(at, changes);
        self.order.push_back(at);
        if self.order.len() > WAITING
            && let Some(oldest) = self.order.pop_front()
        {
            self.waiting.remove(&oldest);
        }
    }

    fn next(&mut self, at: usize) -> Option<Change> {
        let changes = self.waiting.get_mut(&at)?;
        let change = changes.pop();
        if changes.is_empty() {
            self.waiting.remove(&at);
            self.order.retain(|other| *other != at);
        }
        change
    }
}

impl Campaign<'_> {
    /// Whether comparisons of an entry are to be had.
    pub(super) fn has_operands(&self, at: usize, origin: &[u8]) -> bool {
        self.comparisons.as_ref().is_some_and(|comparisons| {
            let in_time = || self.options.repeatable || comparisons.time * SHARE <= self.figures.own().0;
            let fresh = !comparisons.done.contains(&at)
                && origin.len() <= operands::LONGEST
                && comparisons.execs * u64::from(SHARE) <= self.figures.execs
                && in_time();
            fresh || comparisons.waiting.contains_key(&at)
        })
    }

    /// Puts what the target compared with where it came from; whether the
    /// result is in the language.
    pub(super) fn put_operand(
        &mut self,
        at: usize,
        origin: &[u8],
        tree: Option<&Tree>,
    ) -> Result<Option<bool>, Error> {
        let Some(mut comparisons) = self.comparisons.take() else { return Ok(None) };
        let traced =
            if comparisons.done.contains(&at) { Ok(()) } else { self.trace(at, origin, &mut comparisons) };
        let mut made = None;
        for _ in 0..TRIES {
            let Some(change) = comparisons.next(at) else { break };
            made = match tree {
                Some(tree) => self.put(&change, origin, tree),
                None => {
                    change.apply(origin, &mut self.input);
                    Some(false)
                }
            };
            if made.is_some() {
                break;
            }
        }
        self.comparisons = Some(comparisons);
        traced.map(|()| made)
    }

    /// Runs an entry and a coloured copy of it in the traced build.
    fn trace(&mut self, at: usize, origin: &[u8], comparisons: &mut Comparisons) -> Result<(), Error> {
        let (begin, before) = (Instant::now(), self.figures.execs);
        let path = self.path_of(origin)?;
        let runs = (RUNS + origin.len() / BYTES_PER_RUN).min(MOST_RUNS);
        let mut rng = self.rng;
        let copy = operands::coloured(origin, runs, &mut rng, |copy| {
            let same = self.path_of(copy)?;
            Ok::<bool, Error>(path.is_some() && same == path)
        })?;
        self.rng = rng;
        self.unless_over()?;
        let first = comparisons.executor.run(origin)?.events.to_vec();
        self.unless_over()?;
        let second = comparisons.executor.run(&copy)?;
        self.figures.execs += 2;
        let changes = comparisons.operands.changes(
            Traced { input: origin, events: &first },
            Traced { input: &copy, events: second.events },
        );
        // What stands in the input was read from there.
        let foreign = |text: &Vec<u8>| !origin.windows(text.len()).any(|part| part == text);
        for text in Operands::texts(&first).iter().filter(|text| foreign(text)) {
            self.learn_token(text);
        }
        comparisons.keep(at, changes);
        let runs = self.figures.execs - before;
        comparisons.execs += runs;
        comparisons.time += begin.elapsed();
        self.making_cost +=
            if self.options.repeatable { runs as f64 } else { begin.elapsed().as_secs_f64() * 1e6 };
        Ok(())
    }

    /// A number for the way that a run takes; none if it does not end well.
    fn path_of(&mut self, input: &[u8]) -> Result<Option<u64>, Error> {
        self.unless_over()?;
        let seen = self.executor.run(input)?;
        self.figures.execs += 1;
        if seen.verdict.is_crash() || seen.verdict == Verdict::Timeout {
            return Ok(None);
        }
        self.counts.clear();
        self.counts.extend_from_slice(seen.coverage);
        coverage::classify(&mut self.counts);
        for id in self.feedback.flaky() {
            if let Some(count) = self.counts.get_mut(*id as usize) {
                *count = 0;
            }
        }
        Ok(Some(hash(&self.counts)))
    }
}
