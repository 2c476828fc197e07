//! Valid inputs from nothing but the parser.
//!
//! In:  a traced build of a program that exits with 0 exactly when it parsed.
//! Out: inputs that it accepts and that cover more and more of it, in a
//!      folder as AFL++ lays it out; the words of its language.
//!
//! The base is parser-directed fuzzing (Mathis and others, PLDI 2019): run an
//! input, and run it with one more byte that cannot be expected; the log of
//! comparisons tells what was expected instead. Each of these is a longer
//! input to try.
//!
//! ```text
//! queue --best--> input --run--> valid? --> folder, covered, closing
//!   ^               |
//!   |               +--run with a sentinel--> sight: state, offers
//!   +-- offers, words, guesses <---------------+
//! ```
//!
//! The search is made of three parts: the demand of the parser (`prober`), the
//! knowledge of its language (`knowledge`), and what is tried next
//! (`frontier`); what is found goes to the `output`.
//!
//! | file | what |
//! | --- | --- |
//! | `prober` | executes the traced build, and tells what is asked for |
//! | `knowledge` | all that is known |
//! | `frontier` | all that is to be tried |
//! | `sentinel` | bytes to append |
//! | `offers` | what comparisons would have been satisfied by |
//! | `tokens` | lexemes for codes that a parser behind a lexer compares |
//! | `deciders` | whether tables decide, so that there is nothing to see |
//! | `demand` | what the parser asked for last |
//! | `scans` | places that read the input before the parser does |
//! | `sight` | what such a run shows, and the parser's state |
//! | `rank` | what is tried next |
//! | `nodes` | inputs that can go on, and how they came about |
//! | `search` | a step, and what is added in a new state |
//! | `closing` | how open constructs were closed before |
//! | `ends` | valid inputs by that, and by what the parser insists on |
//! | `nuls` | whether NUL bytes are read |
//! | `ways` | valid inputs by the states they passed through |
//! | `words` | words of the language |
//! | `aside` | what is tried beside the queue: random words, combinations |
//! | `inside` | sentinels in the middle of valid inputs |
//! | `covered` | what valid inputs cover |
//! | `rejects` | inputs that were parsed though the program failed later |
//! | `runner` | runs, some of them ahead on other cores |
//! | `output` | what is kept of runs |
//! | `host` | where that goes |
//!
//! What the paper lacks is the notion of a state (see `sight`). It keeps the
//! search from white space and comments, which lead back to where they began,
//! and from nesting what is known; it says where a word that was learned is
//! worth a try, and how what is open was closed before.

mod aside;
mod closing;
mod covered;
mod deciders;
mod demand;
mod ends;
mod frontier;
mod fuzzing;
mod host;
mod inside;
mod knowledge;
mod nodes;
mod nuls;
mod offers;
mod output;
mod prober;
mod rank;
mod rejects;
mod runner;
mod scans;
mod search;
mod sentinel;
mod sight;
mod tokens;
mod ways;
mod words;

use crate::fuzz::{Error, Event, Watch};
use frontier::Frontier;
pub(crate) use fuzzing::use_events;
use host::Host;
use knowledge::Knowledge;
use output::Output;
use prober::Prober;
pub use runner::Traced;
use std::time::Duration;
use wug_folder::Folder;
use wug_folder::report::Report;
use wug_random::Rng;

/// What a search is to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// The seed of all random choices.
    pub seed: u64,
    /// Ends after so many executions.
    pub max_execs: Option<u64>,
    /// Ends after this time.
    pub max_time: Option<Duration>,
    /// No input is longer.
    pub max_size: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { seed: 0, max_execs: None, max_time: None, max_size: 200 }
    }
}

/// What a search works on.
pub struct Parts<'a> {
    /// What is run.
    pub traced: Traced,
    /// Where all is kept.
    pub folder: Folder,
    /// Figures to begin with: how the search was started.
    pub report: Report,
    /// Texts in the program's data: words perhaps.
    pub texts: Vec<Vec<u8>>,
    /// Who watches it.
    pub watch: &'a mut dyn Watch,
}

/// What came of a search.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// All figures.
    pub report: Report,
    /// Why there is little, where there is: a sentence for people.
    pub remark: Option<String>,
}

/// What a search found since it was asked last.
#[derive(Clone, Debug)]
pub struct Found {
    /// Valid inputs.
    pub inputs: Vec<Vec<u8>>,
    /// Words of the language.
    pub words: Vec<Vec<u8>>,
    /// What it took.
    pub execs: u64,
    /// There is nothing more to try.
    pub over: bool,
}

/// A search under way.
pub struct Explorer<'a> {
    options: Options,
    rng: Rng,
    /// What the parser asks for.
    prober: Prober,
    /// What is known of the language.
    known: Knowledge,
    /// What is tried next.
    frontier: Frontier,
    output: Output<'a>,
    stopped: bool,
}

/// Rounds without a run after which there is nothing more to try.
const IDLE: u32 = 256;
/// Executions without a find after which a search in a program whose tables
/// decide ends.
const VAIN: u64 = 5_000;
impl<'a> Explorer<'a> {
    /// A search whose finds go to a folder.
    pub fn new(parts: Parts<'a>, options: Options) -> Explorer<'a> {
        let Parts { traced, folder, report, texts, watch } = parts;
        for missing in traced.runner.executor().missing() {
            watch.event(Event::Notice(missing.to_string()));
        }
        if let Some(line) = traced.fork_point() {
            watch.event(Event::Notice(line));
        }
        let end = traced.runner.executor().end().clone();
        Explorer::with(traced, Host::Folder { folder: folder.into(), watch, end }, report, texts, options)
    }

    fn with(
        traced: Traced,
        host: Host<'a>,
        report: Report,
        texts: Vec<Vec<u8>>,
        options: Options,
    ) -> Explorer<'a> {
        let Traced { runner, timeout } = traced;
        let output = Output::new(host, report, runner.executor(), options.seed, timeout);
        Explorer {
            rng: Rng::new(options.seed, 0),
            options,
            prober: Prober::new(runner),
            known: Knowledge::new(texts),
            frontier: Frontier::default(),
            output,
            stopped: false,
        }
    }

    /// A search whose finds go to a campaign, some at a time.
    pub fn beside(traced: Traced, texts: Vec<Vec<u8>>, options: Options) -> Explorer<'static> {
        let host = Host::Campaign { found: Vec::new(), count: 0 };
        Explorer::with(traced, host, Report::default(), texts, options)
    }

    /// Goes on for so many executions, or so long.
    pub fn go_on(&mut self, execs: u64, time: Duration) -> Result<Found, Error> {
        let (before, words) = (self.prober.execs, self.known.words.known().len());
        self.options.max_execs = Some(before + execs);
        self.options.max_time = Some(self.output.begin.elapsed().saturating_add(time));
        self.stopped = false;
        self.search()?;
        Ok(Found {
            inputs: self.output.host.take(),
            words: self.known.words.known()[words..].to_vec(),
            execs: self.prober.execs - before,
            over: !self.stopped,
        })
    }

    /// Searches until it is to end. Figures and inputs are on disk then.
    pub fn run(mut self) -> Result<Outcome, Error> {
        let outcome = match self.search() {
            // A run that was cut short by the end.
            Err(Error::Executor(wug_target::Error::Ended)) => Ok(()),
            outcome => outcome,
        };
        let written = self.output.write(&self.prober, &self.known, &self.frontier);
        outcome?;
        written?;
        self.output.host.settle()?;
        Ok(Outcome { remark: self.output.remark(&self.prober), report: self.output.report })
    }

    fn search(&mut self) -> Result<(), Error> {
        if self.frontier.nodes.is_empty() {
            self.root()?;
        }
        let mut idle = 0;
        while !self.is_over() && idle < IDLE && !self.is_in_vain() {
            let execs = self.prober.execs;
            match self.frontier.next(&self.known) {
                Some(item) => self.visit(&item)?,
                None if self.prober.offers == 0 => return Ok(()),
                None => {}
            }
            // What was tried before takes no run, and is no step.
            if self.prober.execs > execs || self.frontier.queue.len() == 0 {
                self.aside()?;
            }
            idle = if self.prober.execs > execs || self.frontier.queue.len() > 0 { 0 } else { idle + 1 };
        }
        Ok(())
    }

    /// Whether tables decide, and nothing was found for long.
    fn is_in_vain(&self) -> bool {
        self.prober.deciders.are_tables() && self.prober.execs - self.output.counts.found_at >= VAIN
    }

    /// Tells and writes statistics when it is time to.
    fn tell(&mut self) -> Result<(), Error> {
        self.output.tell(&self.prober, &self.known, &self.frontier)
    }

    /// Whether it is to end.
    fn is_over(&mut self) -> bool {
        if !self.stopped {
            self.stopped = self.output.host.stops()
                || self.prober.executor().end().has_come()
                || self.options.max_time.is_some_and(|most| self.output.begin.elapsed() >= most)
                || self.options.max_execs.is_some_and(|most| self.prober.execs >= most);
        }
        self.stopped
    }
}
