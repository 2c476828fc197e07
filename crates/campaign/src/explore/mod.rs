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
//! | file | what |
//! | --- | --- |
//! | `sentinel` | bytes to append |
//! | `offers` | what comparisons would have been satisfied by |
//! | `sight` | what such a run shows, and the parser's state |
//! | `rank` | what is tried next |
//! | `nodes` | inputs that can go on, and how they came about |
//! | `search` | a step, and what is added in a new state |
//! | `closing` | how open constructs were closed before |
//! | `ways` | valid inputs by the states they passed through |
//! | `words` | words of the language |
//! | `aside` | what is tried beside the queue: random words, combinations |
//! | `covered` | what valid inputs cover |
//! | `rejects` | inputs that were parsed though the program failed later |
//! | `output` | runs, and what is kept of them |
//!
//! What the paper lacks is the notion of a state (see `sight`). It keeps the
//! search from white space and comments, which lead back to where they began,
//! and from nesting what is known; it says where a word that was learned is
//! worth a try, and how what is open was closed before.

mod aside;
mod closing;
mod covered;
mod nodes;
mod offers;
mod output;
mod rank;
mod rejects;
mod search;
mod sentinel;
mod sight;
mod ways;
mod words;

use crate::executor::{self, Executor, Target};
use crate::folder::Folder;
use crate::fuzz::{Error, Event, Watch};
use crate::report::Report;
use closing::Closing;
use covered::{Covered, Deed};
use nodes::Nodes;
use offers::{Offer, Ranges};
use output::Counts;
use rank::Queue;
use rejects::Rejects;
use std::collections::{HashMap, HashSet, VecDeque};
use std::time::{Duration, Instant};
use ways::Ways;
use words::Words;
use wug_produce::rng::Rng;

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
    /// A traced build.
    pub target: Target,
    /// How it is run.
    pub execution: executor::Options,
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

/// A search under way.
pub struct Explorer<'a> {
    options: Options,
    executor: Executor,
    folder: Folder,
    watch: &'a mut dyn Watch,
    rng: Rng,
    begin: Instant,
    report: Report,
    counts: Counts,
    nodes: Nodes,
    queue: Queue,
    /// Inputs that had their turn, by hash.
    tried: HashSet<u64>,
    /// How often each state was seen, in each of the ways to tell it.
    states: HashMap<u64, u32>,
    /// Nodes that reached something new, by state: to be closed when it is
    /// known how.
    waiting: HashMap<u64, Vec<u32>>,
    /// Of these, those for which that was learned.
    again: VecDeque<u32>,
    /// Nodes that were the first in a state where words may stand.
    open: Vec<u32>,
    covered: Covered,
    rejects: Rejects,
    closing: Closing,
    words: Words,
    /// Texts that may be words.
    doubtful: Vec<Vec<u8>>,
    ways: Ways,
    ranges: Ranges,
    /// What the last run did that no valid input did.
    fresh: Vec<Deed>,
    /// Deeds of nodes that no valid input had done, and how often it was
    /// tried to make a valid input of such a node.
    attempts: HashMap<Deed, u8>,
    /// What the last run offers.
    offers: Vec<Offer>,
    next_look: Instant,
    next_write: Instant,
    stopped: bool,
}

/// How often figures are told, and written.
const LOOK: Duration = Duration::from_millis(500);
const WRITE: Duration = Duration::from_secs(5);

impl<'a> Explorer<'a> {
    /// Starts the target.
    pub fn new(parts: Parts<'a>, options: Options) -> Result<Explorer<'a>, Error> {
        let Parts { target, mut execution, folder, report, texts, watch } = parts;
        execution.trace = Some(execution.trace.unwrap_or_default());
        let executor = Executor::new(target, execution.clone())?;
        for missing in executor.missing() {
            watch.event(Event::Notice(missing.to_string()));
        }
        let now = Instant::now();
        let mut explorer = Explorer {
            rng: Rng::new(options.seed, 0),
            options,
            executor,
            folder,
            watch,
            begin: now,
            report,
            counts: Counts::default(),
            nodes: Nodes::default(),
            queue: Queue::default(),
            tried: HashSet::new(),
            states: HashMap::new(),
            waiting: HashMap::new(),
            again: VecDeque::new(),
            open: Vec::new(),
            covered: Covered::default(),
            rejects: Rejects::default(),
            closing: Closing::default(),
            words: Words::default(),
            doubtful: Vec::new(),
            ways: Ways::default(),
            ranges: Ranges::new(),
            fresh: Vec::new(),
            attempts: HashMap::new(),
            offers: Vec::new(),
            next_look: now + LOOK,
            next_write: now + WRITE,
            stopped: false,
        };
        explorer.doubtful = texts.into_iter().filter(|text| words::is_wordlike(text)).collect();
        explorer.begin_report(&execution);
        Ok(explorer)
    }

    /// Searches until it is to end. Figures and inputs are on disk then.
    pub fn run(mut self) -> Result<Outcome, Error> {
        let outcome = self.search();
        let written = self.write_figures();
        let dictionary = self.write_dictionary();
        outcome?;
        written?;
        dictionary?;
        self.folder.settle()?;
        Ok(Outcome { remark: self.remark(), report: self.report })
    }

    fn search(&mut self) -> Result<(), Error> {
        self.root()?;
        while !self.is_over() {
            match self.next() {
                Some(item) => self.visit(&item)?,
                None if self.counts.offers == 0 => return Ok(()),
                None => {}
            }
            self.aside()?;
        }
        Ok(())
    }

    /// Whether it is to end.
    fn is_over(&mut self) -> bool {
        if !self.stopped {
            self.stopped = self.watch.stops()
                || self.options.max_time.is_some_and(|most| self.begin.elapsed() >= most)
                || self.options.max_execs.is_some_and(|most| self.counts.execs >= most);
        }
        self.stopped
    }
}
