//! Runs, some of them ahead on other cores.
//!
//! In:  inputs to run, and inputs that will be run next, as it seems.
//! Out: what each run showed.
//!
//! Whoever asks for a run gets the same answer whether it was made ahead or
//! not: so a search finds the same on any number of cores, only sooner.

use crate::fuzz;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use wug_runtime::abi::Event;
use wug_target::{Error, Executor, Observation, Target, Verdict};

/// A traced build that was started.
pub struct Traced {
    pub(super) runner: AheadRunner,
    pub(super) timeout: Duration,
}

impl Traced {
    /// Starts a traced build, so many times that there is one for each core;
    /// other builds are refused.
    pub fn start(
        target: Target,
        mut execution: wug_target::Options,
        cores: usize,
    ) -> Result<Traced, fuzz::Error> {
        let name = target.program.to_string_lossy().into_owned();
        execution.trace = Some(execution.trace.unwrap_or_default());
        let timeout = execution.timeout;
        let mut executor = Executor::new(target.clone(), execution.clone())?;
        if !executor.is_traced() {
            return Err(fuzz::Error::NotTraced(name));
        }
        executor.prove(&[b"1"])?;
        let another = |_| Executor::new(target.clone(), execution.clone());
        let others = (1..cores).map(another).collect::<Result<Vec<Executor>, Error>>()?;
        Ok(Traced { runner: AheadRunner::new(executor, others), timeout })
    }

    /// Where its fork server starts, if that is not before `main`, or why it is.
    pub(super) fn fork_point(&self) -> Option<String> {
        let point = self.runner.own.fork_point();
        (*point != wug_target::ForkPoint::Main).then(|| point.to_string())
    }
}

/// Runs inputs.
pub struct AheadRunner {
    own: Executor,
    helpers: Vec<Helper>,
    /// The last run that was made ahead.
    record: Record,
}

impl AheadRunner {
    /// The first of some executors answers; the others run ahead.
    pub fn new(own: Executor, others: Vec<Executor>) -> AheadRunner {
        AheadRunner { own, helpers: others.into_iter().map(Helper::new).collect(), record: Record::default() }
    }

    /// The executor that answers.
    pub fn executor(&self) -> &Executor {
        &self.own
    }

    /// An input is going to be run, as it seems.
    pub fn expect(&mut self, input: impl FnOnce() -> Option<Vec<u8>>) {
        if self.helpers.is_empty() {
            return;
        }
        let Some(input) = input() else { return };
        let known = self.helpers.iter().any(|helper| helper.input.as_ref() == Some(&input));
        for helper in self.helpers.iter_mut().filter(|_| !known) {
            if helper.is_free() {
                return helper.start(input);
            }
        }
    }

    /// Runs an input.
    pub fn run(&mut self, input: &[u8]) -> Result<Observation<'_>, Error> {
        let mut helpers = self.helpers.iter_mut();
        if let Some(helper) = helpers.find(|helper| helper.input.as_deref() == Some(input))
            && let Some(record) = helper.finish()
        {
            self.record = record;
            return Ok(self.record.observation());
        }
        self.own.run(input)
    }
}

/// A thread with an executor of its own.
struct Helper {
    /// The input that it runs, or ran last and nobody asked for.
    input: Option<Vec<u8>>,
    /// What came of that; nothing if it could not be run.
    done: Option<Option<Record>>,
    inputs: Option<Sender<Vec<u8>>>,
    records: Receiver<Option<Record>>,
    thread: Option<JoinHandle<()>>,
}

impl Helper {
    fn new(mut executor: Executor) -> Helper {
        let (inputs, to_run) = channel::<Vec<u8>>();
        let (answers, records) = channel();
        let thread = std::thread::spawn(move || {
            for input in to_run {
                // Whatever is wrong, the search will see it itself.
                let record = executor.run(&input).ok().map(|seen| Record::of(&seen));
                if answers.send(record).is_err() {
                    break;
                }
            }
        });
        Helper { input: None, done: None, inputs: Some(inputs), records, thread: Some(thread) }
    }

    /// Whether it can take another input. What it ran last is forgotten then.
    fn is_free(&mut self) -> bool {
        if self.input.is_some() && self.done.is_none() {
            self.done = self.records.try_recv().ok();
        }
        self.input.is_none() || self.done.is_some()
    }

    fn start(&mut self, input: Vec<u8>) {
        self.done = None;
        let sent = self.inputs.as_ref().is_some_and(|inputs| inputs.send(input.clone()).is_ok());
        self.input = sent.then_some(input);
    }

    /// What the run showed, once it is over.
    fn finish(&mut self) -> Option<Record> {
        self.input = None;
        self.done.take().unwrap_or_else(|| self.records.recv().ok().flatten())
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        // It ends when there is nothing more to come.
        self.inputs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What a run showed, kept.
#[derive(Default)]
struct Record {
    verdict: Option<Verdict>,
    wall: Duration,
    cpu: Option<Duration>,
    coverage: Vec<u8>,
    events: Vec<Event>,
    pairs: Vec<u32>,
    depth: u32,
}

impl Record {
    fn of(seen: &Observation<'_>) -> Record {
        Record {
            verdict: Some(seen.verdict),
            wall: seen.wall,
            cpu: seen.cpu,
            coverage: seen.coverage.to_vec(),
            events: seen.events.to_vec(),
            pairs: seen.pairs.to_vec(),
            depth: seen.depth,
        }
    }

    fn observation(&self) -> Observation<'_> {
        Observation {
            verdict: self.verdict.unwrap_or(Verdict::Ok),
            wall: self.wall,
            cpu: self.cpu,
            coverage: &self.coverage,
            events: &self.events,
            pairs: &self.pairs,
            depth: self.depth,
            output: &[],
        }
    }
}
