//! A campaign: from a target to what it does that it should not.
//!
//! In:  a target, a folder, perhaps a grammar and seeds.
//! Out: a corpus that reaches more and more of the target, crashes and
//!      hangs, all in the folder; figures.
//!
//! ```text
//! seeds, fresh inputs --> execute --> found --> corpus, folder
//!                            ^          |
//!             turn: mutate --+          +--> calibrate, trim
//!                            |
//!                            +--> crashed, hung --> folder
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `start` | the first inputs |
//! | `turn` | an entry's turn: inputs made of it |
//! | `ways` | the ways to make an input, as the schedule knows them |
//! | `leaf` | bytes of leaves |
//! | `traced` | what the traced build compares |
//! | `learn` | entries generalised, and inputs made of that |
//! | `together` | inputs that wait to be run together |
//! | `explore` | valid inputs from the traced build, when all else finds nothing |
//! | `execute` | a run, and what is kept of it |
//! | `trim` | smaller inputs that do the same |
//! | `buckets` | crashes by site, and which of their inputs are kept |
//! | `crash` | crashes told apart by where they happen, hangs by a second run |
//! | `recheck` | finds run by another build, which may see more |
//! | `corpus` | entries in memory |
//! | `figures` | the report |
//! | `full` | what a full disk refused, done again |
//!
//! # The way of a campaign
//!
//! 1. `fuzz/mod.rs` is the loop: `fuzz/start.rs` gives the first inputs,
//!    `fuzz/turn.rs` makes inputs of an entry, `fuzz/execute.rs` runs them
//!    and keeps what is new (`feedback.rs`), `fuzz/trim.rs` makes it smaller,
//!    `fuzz/crash.rs` tells crashes apart and `fuzz/buckets.rs` keeps some of
//!    each, `fuzz/recheck.rs` has another build look at finds.
//! 2. `structure.rs` stands between bytes and trees: parser, mutators,
//!    printer and reducer of one grammar; `walks.rs` between bytes and walks.
//!    `crates/produce/src/mutate/mod.rs` lists the mutators; they work on
//!    derivations by the grammar as it was written, since that is what real
//!    inputs are read by. What they decide is carried out on the text alone
//!    (`crates/produce/src/mutate/patch.rs`), since most inputs are run once
//!    and forgotten; only what is kept is parsed. `havoc.rs` changes bytes;
//!    `fuzz/leaf.rs` those of leaves.
//! 3. What the target compares is told by its traced build
//!    (`fuzz/traced.rs`), and `operands/mod.rs` finds where in the input it
//!    came from. `fuzz/ways.rs` lists all ways to make an input.
//! 4. Where structure is to be learned, `fuzz/learn.rs` has entries
//!    generalised: `generalise/group.rs` finds what does not matter in them,
//!    `generalise/nest.rs` where they fit into themselves,
//!    `generalise/library.rs` keeps it, `generalise/recombine.rs` makes
//!    inputs of it.
//! 5. `schedule/bandit.rs` chooses mutators, `schedule/entries.rs` entries.
//!    Nothing in them asks the clock: cost is what the loop says it is, so
//!    that a campaign can repeat.
//! 6. Entries are bytes. Trees are caches that are thrown away when there are
//!    too many (`fuzz/corpus.rs`).
//! 7. `crates/wug/src/cli/commands/fuzz/workers.rs` runs several campaigns as
//!    processes, which share finds through the output folder as any other
//!    fuzzer does, and tell what a person should know in words
//!    (`crates/wug/src/cli/commands/fuzz/word.rs`).
//! 8. `crates/wug/src/cli/commands/fuzz/summary.rs` has the last words, once,
//!    and sees to it that a campaign ends when its end has come. All that
//!    goes to a terminal goes through `crates/wug/src/cli/terminal.rs`, where
//!    no text of others is obeyed (`crates/wug/src/cli/terminal/clean.rs`).

mod buckets;
mod corpus;
mod crash;
mod execute;
mod explore;
mod figures;
mod full;
mod leaf;
mod learn;
mod recheck;
mod start;
mod together;
mod traced;
mod trim;
mod turn;
mod ways;

pub(crate) use full::insist;
pub use start::Seeds;

use crate::feedback::Feedback;
use crate::havoc::Havoc;
use crate::schedule::Bandit;
use crate::structure::Structure;
use corpus::Corpus;
use crash::Crashes;
use figures::Figures;
use learn::Learned;
use std::fmt;
use std::time::{Duration, Instant};
use together::Waiting;
use traced::Comparisons;
use turn::{Recent, Share};
use wug_folder::report::Report;
use wug_folder::{Folder, sync::Sync};
use wug_grammar::Derivation;
use wug_random::Rng;
use wug_target::{Executor, Target};

/// What a campaign is to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// The seed of all random choices.
    pub seed: u64,
    /// The same seed is to give the same campaign: cost is counted in
    /// executions, not in time.
    pub repeatable: bool,
    /// Ends after so many executions, those of earlier runs not counted.
    pub max_execs: Option<u64>,
    /// Ends after this time, that of earlier runs not counted.
    pub max_time: Option<Duration>,
    /// Ends with the first crash.
    pub until_crash: bool,
    /// Share of turns that entries which do not parse have at most.
    pub invalid: f64,
    /// Inputs that are generated to start with, without seeds.
    pub generated: usize,
    /// No input is longer.
    pub max_size: usize,
    /// All mutators are equally likely at all times.
    pub uniform: bool,
    /// Which structural mutators there are.
    pub mutators: Mutators,
    /// An input that takes too long gets at least this before it counts as a
    /// hang.
    pub hang_timeout: Option<Duration>,
    /// The time for a run is kept, also where hangs take much of all time.
    pub fixed_timeout: bool,
    /// Whether what is found is made smaller.
    pub trim: bool,
    /// Whether structure is learned from what is found.
    pub generalise: bool,
    /// There, also look for words that are only right together.
    pub links: bool,
    /// Without regard to what inputs reach: for targets that do not tell.
    /// Nothing is kept then but what the campaign starts with and crashes.
    pub plain: bool,
}

/// Structural mutators by how much they change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mutators {
    /// A part of the tree, or all of the walk from some point on.
    #[default]
    Both,
    /// Those on trees.
    Spot,
    /// Those on walks, for entries that have one.
    Aggressive,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            seed: 0,
            repeatable: false,
            max_execs: None,
            max_time: None,
            until_crash: false,
            invalid: 0.2,
            generated: 100,
            max_size: 1 << 20,
            uniform: false,
            mutators: Mutators::Both,
            hang_timeout: None,
            fixed_timeout: false,
            trim: true,
            generalise: false,
            links: true,
            plain: false,
        }
    }
}

/// Why a campaign ends before its time.
#[derive(Debug)]
pub enum Error {
    /// The target cannot be run.
    Executor(wug_target::Error),
    /// The folder cannot be written or read.
    Folder(wug_folder::Error),
    /// There is nothing to start with.
    NoInput(String),
    /// The target does not tell what it reaches.
    NotInstrumented(String),
    /// The target has a runtime, and does not tell what it reaches.
    TellsNothing(String),
    /// The target does not tell what it compares.
    NotTraced(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Executor(error) => write!(f, "{error}"),
            Error::Folder(error) => write!(f, "{error}"),
            Error::NoInput(why) => f.write_str(why),
            Error::NotInstrumented(program) => write!(
                f,
                "`{program}` is not instrumented, so nothing tells what inputs reach in it: build it with \
                 `wug cc` or AFL++, or fuzz it as it is with -n"
            ),
            Error::TellsNothing(program) => write!(
                f,
                "`{program}` tells nothing of what inputs reach in it: none of its sources was compiled \
                 with `wug cc`, or another version of wug did so; build it again, or fuzz it as it is with -n"
            ),
            Error::NotTraced(program) => write!(
                f,
                "`{program}` is no traced build, so it does not tell what it compares: build it with \
                 `wug cc --wug-traced`, parser included"
            ),
        }
    }
}

impl std::error::Error for Error {}

impl From<wug_target::Error> for Error {
    fn from(error: wug_target::Error) -> Error {
        Error::Executor(error)
    }
}

impl From<wug_folder::Error> for Error {
    fn from(error: wug_folder::Error) -> Error {
        Error::Folder(error)
    }
}

/// What whoever watches a campaign is told.
#[derive(Debug)]
pub enum Event<'a> {
    /// The figures of now; every second or so.
    Report(&'a Report),
    /// A crash at a place where none was before.
    Crash(&'a wug_folder::report::CrashReport),
    /// The disk is full: the campaign waits.
    Paused(&'a wug_folder::Error),
    /// Something that a person should know.
    Notice(String),
}

/// Watches a campaign, and says whether it is to go on.
pub trait Watch {
    /// Something happened.
    fn event(&mut self, event: Event<'_>);
    /// Whether it is to end. Asked before every run.
    fn stops(&mut self) -> bool;
}

/// How often others' finds are looked for, and figures are told.
const LOOK: Duration = Duration::from_millis(500);
/// How often figures are written.
const WRITE: Duration = Duration::from_secs(5);

/// What a campaign works on.
pub struct Parts<'a> {
    /// The program.
    pub target: Target,
    /// A build of it that tells what it compares, if there is one.
    pub traced: Option<Target>,
    /// A build of it that sees more errors, if there is one: finds are run by
    /// it as well.
    pub checked: Option<Target>,
    /// How it is run.
    pub execution: wug_target::Options,
    /// By a grammar, if there is one.
    pub structure: Option<Structure<'a>>,
    /// Where all is kept.
    pub folder: Folder,
    /// What others find.
    pub sync: Option<Sync>,
    /// Figures to begin with: how the campaign was started.
    pub report: Report,
    /// Tokens of the user, and of the target's file.
    pub tokens: Vec<Vec<u8>>,
    /// Who watches it.
    pub watch: &'a mut dyn Watch,
}

/// A campaign under way.
pub struct Campaign<'a> {
    options: Options,
    execution: wug_target::Options,
    executor: Executor,
    /// The build that sees more, if there is one.
    checked: Option<Executor>,
    /// The traced build, if there is one.
    comparisons: Option<Comparisons>,
    /// The search for valid inputs, by the traced build as well.
    stage: Option<explore::Stage>,
    /// Structure that is learned, if it is to be.
    learned: Option<Learned>,
    structure: Option<Structure<'a>>,
    folder: Folder,
    sync: Option<Sync>,
    watch: &'a mut dyn Watch,
    rng: Rng,
    corpus: Corpus,
    feedback: Feedback,
    crashes: Crashes,
    bandit: Bandit,
    havoc: Havoc,
    recent: Recent,
    waiting: Waiting,
    share: Share,
    figures: Figures,
    /// The input that is being made.
    input: Vec<u8>,
    /// The derivation that it is made from.
    made: Derivation,
    /// A text on its way into it.
    text: Vec<u8>,
    /// What it cost to make it, beyond what every input costs.
    making_cost: f64,
    /// Counts of the last run that was looked at.
    counts: Vec<u8>,
    next_look: Instant,
    next_write: Instant,
    stopped: bool,
}

impl<'a> Campaign<'a> {
    /// Starts the target.
    pub fn new(parts: Parts<'a>, options: Options) -> Result<Campaign<'a>, Error> {
        let Parts { target, traced, checked, mut execution, structure, folder, sync, report, tokens, watch } =
            parts;
        if let Some(time) = options.max_time {
            execution.end = execution.end.within(time);
        }
        for path in wug_target::unseen(&target, &execution, b"") {
            watch.event(Event::Notice(path.to_string()));
        }
        let recorded = wug_target::Options { record_crashes: true, ..execution.clone() };
        let executor = Executor::new(target.clone(), recorded)?;
        if executor.ids() == 0 && !options.plain {
            let name = target.program.to_string_lossy().into_owned();
            let has_runtime = target.is_instrumented();
            return Err(if has_runtime { Error::TellsNothing(name) } else { Error::NotInstrumented(name) });
        }
        let checked = checked.map(|target| recheck::start(target, &execution)).transpose()?;
        for missing in executor.missing() {
            watch.event(Event::Notice(missing.to_string()));
        }
        let comparisons = traced.clone().and_then(|target| comparisons(target, &execution, watch));
        // A grammar knows better what is valid.
        let stage = traced.filter(|_| comparisons.is_some() && structure.is_none()).map(explore::Stage::new);
        let learned = options.generalise.then(Learned::default);
        let now = Instant::now();
        let mut campaign = Campaign {
            rng: Rng::new(options.seed, 0),
            figures: Figures::new(report, &executor, &execution, &options, folder.previous()),
            bandit: ways::arms(options.uniform),
            share: Share::new(if structure.is_some() { options.invalid } else { 1.0 }),
            options,
            execution,
            executor,
            checked,
            comparisons,
            stage,
            learned,
            structure,
            folder,
            sync,
            watch,
            corpus: Corpus::default(),
            feedback: Feedback::default(),
            crashes: Crashes::default(),
            havoc: Havoc::default(),
            recent: Recent::default(),
            waiting: Waiting::default(),
            input: Vec::new(),
            made: Derivation::default(),
            text: Vec::new(),
            making_cost: 0.0,
            counts: Vec::new(),
            next_look: now + LOOK,
            next_write: now + WRITE,
            stopped: false,
        };
        let own = campaign.executor.dictionary();
        campaign.figures.report.auto_dict_entries = own.len() as u64;
        for token in tokens.into_iter().chain(own) {
            campaign.learn_token(&token);
        }
        Ok(campaign)
    }

    /// Runs until it is to end. Figures and findings are on disk then.
    pub fn run(&mut self, seeds: Seeds) -> Result<Report, Error> {
        let outcome = match self.start(seeds).and_then(|()| self.go_on()) {
            // A run that was cut short by the end.
            Err(Error::Executor(wug_target::Error::Ended)) => Ok(()),
            outcome => outcome,
        };
        // Whatever happened, what was found stays.
        let written = self.write_figures();
        self.watch.event(Event::Report(&self.figures.report));
        outcome?;
        written?;
        self.folder.settle()?;
        Ok(self.figures.report.clone())
    }

    fn go_on(&mut self) -> Result<(), Error> {
        while !self.is_over() {
            let Some(at) = self.corpus.turns.draw(self.options.invalid, &mut self.rng) else {
                return Err(Error::NoInput("no input reaches anything in the target".into()));
            };
            self.turn(at)?;
            self.generalise_some()?;
            self.explore_some()?;
            self.fresh()?;
        }
        Ok(())
    }

    /// Whether it is to end.
    fn is_over(&mut self) -> bool {
        if !self.stopped {
            let (_, execs) = self.figures.own();
            self.stopped = self.watch.stops()
                || self.execution.end.has_come()
                || self.options.max_execs.is_some_and(|most| execs >= most)
                || self.options.until_crash && !self.crashes.is_empty();
        }
        self.stopped
    }

    /// Leaves a stage, by an error that is none, when the campaign is to end.
    fn unless_over(&mut self) -> Result<(), Error> {
        if self.is_over() { Err(wug_target::Error::Ended.into()) } else { Ok(()) }
    }

    fn learn_token(&mut self, token: &[u8]) {
        if self.havoc.add_token(token)
            && let Some(structure) = &mut self.structure
        {
            structure.mutator.learn_text(token, &mut self.rng);
        }
    }

    /// Does again what a full disk refused, until there is room or the
    /// campaign is to end.
    fn insist<T>(
        &mut self,
        act: impl FnMut(&mut Folder) -> Result<T, wug_folder::Error>,
    ) -> Result<T, Error> {
        Ok(full::insist(&mut self.folder, self.watch, &self.execution.end, act)?)
    }
}

/// Starts the traced build. A campaign goes on without one that does not run.
fn comparisons(target: Target, options: &wug_target::Options, watch: &mut dyn Watch) -> Option<Comparisons> {
    let name = target.program.to_string_lossy().into_owned();
    match Comparisons::new(target, options) {
        Ok(comparisons) if comparisons.is_traced() => return Some(comparisons),
        Ok(_) => watch.event(Event::Notice(format!(
            "`{name}` is no traced build, so nothing is known of comparisons: build it with WUG_TRACED=1"
        ))),
        Err(error) => watch.event(Event::Notice(format!("the traced build is left out: {error}"))),
    }
    None
}
