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
//!
//! # The way of a search without a grammar
//!
//! 1. `explore/mod.rs` is the loop: an input is run as it is, and with a byte
//!    behind it that cannot be expected (`explore/sentinel.rs`; any byte that
//!    the input lacks will do, so a shadow of loads and stores for inputs
//!    without one was left out). What that byte was compared with is what was
//!    expected (`explore/offers.rs`); by which calls it was compared is the
//!    parser's state (`explore/sight.rs`). Places that read the input before
//!    the parser does are left out of it (`explore/scans.rs`); parsers whose
//!    tables decide are told by `explore/deciders.rs`.
//! 2. `explore/rank.rs` says what is tried next: what follows states that are
//!    new. `explore/closing.rs` remembers how such states led to valid
//!    inputs, `explore/words.rs` the words of the language.
//! 3. Parsers behind a lexer compare codes: `explore/tokens.rs` finds lexemes
//!    for them. What is looked at only when an input is whole is found inside
//!    of valid ones (`explore/inside.rs`).
//! 4. `explore/covered.rs` says whether a valid input is worth keeping,
//!    `explore/output.rs` keeps it in a folder or for a campaign
//!    (`explore/host.rs`): one that finds nothing more asks for some
//!    (`fuzz/explore.rs`).

mod aside;
mod closing;
mod covered;
mod deciders;
mod demand;
mod ends;
mod fuzzing;
mod host;
mod inside;
mod nodes;
mod nuls;
mod offers;
mod output;
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
use closing::Closing;
use covered::{Covered, Deed};
use deciders::Deciders;
use demand::{Demands, Wish};
pub(crate) use fuzzing::use_events;
use host::Host;
use inside::Inner;
use nodes::Nodes;
use nuls::Nuls;
use offers::{Offered, Ranges};
use output::Counts;
use rank::Queue;
use rejects::Rejects;
use runner::Runner;
pub use runner::Traced;
use std::collections::{HashMap, HashSet, VecDeque};
use std::time::{Duration, Instant};
use tokens::{Codes, Place};
use ways::Ways;
use words::Words;
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
    runner: Runner,
    host: Host<'a>,
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
    /// Those of them in which words are compared.
    wordy: Vec<u32>,
    /// How many words were compared with a tail of letters, and its length.
    word_tail: (usize, usize),
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
    /// What the last run offers, and where it compared the code of a token.
    offered: Offered,
    place: Option<Place>,
    /// What the last run insisted on.
    wishes: Vec<Wish>,
    demands: Demands,
    deciders: Deciders,
    codes: Codes,
    /// What was wanted before, and the same by the few innermost calls.
    wanted: HashSet<Deed>,
    asked: HashSet<u64>,
    inner: Inner,
    nuls: Nuls,
    next_look: Instant,
    next_write: Instant,
    stopped: bool,
}

/// Rounds without a run after which there is nothing more to try.
const IDLE: u32 = 256;
/// Executions without a find after which a search in a program whose tables
/// decide ends.
const VAIN: u64 = 5_000;
/// How often figures are told, and written.
const LOOK: Duration = Duration::from_millis(500);
const WRITE: Duration = Duration::from_secs(5);

impl<'a> Explorer<'a> {
    /// A search whose finds go to a folder.
    pub fn new(parts: Parts<'a>, options: Options) -> Explorer<'a> {
        let Parts { traced, folder, report, texts, watch } = parts;
        for missing in traced.runner.executor().missing() {
            watch.event(Event::Notice(missing.to_string()));
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
        let now = Instant::now();
        let mut explorer = Explorer {
            rng: Rng::new(options.seed, 0),
            options,
            runner,
            host,
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
            wordy: Vec::new(),
            word_tail: (0, 0),
            covered: Covered::default(),
            rejects: Rejects::default(),
            closing: Closing::default(),
            words: Words::default(),
            doubtful: Vec::new(),
            ways: Ways::default(),
            ranges: Ranges::new(),
            fresh: Vec::new(),
            attempts: HashMap::new(),
            offered: Offered::default(),
            place: None,
            wishes: Vec::new(),
            demands: Demands::default(),
            deciders: Deciders::default(),
            codes: Codes::default(),
            wanted: HashSet::new(),
            asked: HashSet::new(),
            inner: Inner::default(),
            nuls: Nuls::default(),
            next_look: now + LOOK,
            next_write: now + WRITE,
            stopped: false,
        };
        explorer.doubtful = texts.into_iter().filter(|text| words::is_wordlike(text)).collect();
        explorer.begin_report(timeout);
        explorer
    }

    /// A search whose finds go to a campaign, some at a time.
    pub fn beside(traced: Traced, texts: Vec<Vec<u8>>, options: Options) -> Explorer<'static> {
        let host = Host::Campaign { found: Vec::new(), count: 0 };
        Explorer::with(traced, host, Report::default(), texts, options)
    }

    /// Goes on for so many executions, or so long.
    pub fn go_on(&mut self, execs: u64, time: Duration) -> Result<Found, Error> {
        let (before, words) = (self.counts.execs, self.words.known().len());
        self.options.max_execs = Some(before + execs);
        self.options.max_time = Some(self.begin.elapsed().saturating_add(time));
        self.stopped = false;
        self.search()?;
        Ok(Found {
            inputs: self.host.take(),
            words: self.words.known()[words..].to_vec(),
            execs: self.counts.execs - before,
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
        let written = self.write();
        outcome?;
        written?;
        self.host.settle()?;
        Ok(Outcome { remark: self.remark(), report: self.report })
    }

    fn search(&mut self) -> Result<(), Error> {
        if self.nodes.is_empty() {
            self.root()?;
        }
        let mut idle = 0;
        while !self.is_over() && idle < IDLE && !self.is_in_vain() {
            let execs = self.counts.execs;
            match self.next() {
                Some(item) => self.visit(&item)?,
                None if self.counts.offers == 0 => return Ok(()),
                None => {}
            }
            // What was tried before takes no run, and is no step.
            if self.counts.execs > execs || self.queue.len() == 0 {
                self.aside()?;
            }
            idle = if self.counts.execs > execs || self.queue.len() > 0 { 0 } else { idle + 1 };
        }
        Ok(())
    }

    /// Whether tables decide, and nothing was found for long.
    fn is_in_vain(&self) -> bool {
        self.deciders.are_tables() && self.counts.execs - self.counts.found_at >= VAIN
    }

    /// Whether it is to end.
    fn is_over(&mut self) -> bool {
        if !self.stopped {
            self.stopped = self.host.stops()
                || self.runner.executor().end().has_come()
                || self.options.max_time.is_some_and(|most| self.begin.elapsed() >= most)
                || self.options.max_execs.is_some_and(|most| self.counts.execs >= most);
        }
        self.stopped
    }
}
