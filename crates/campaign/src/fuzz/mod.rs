//! A campaign: the loop from a target to crashes in it.
//!
//! In:  a target, a folder, perhaps a grammar and seeds.
//! Out: a corpus that covers more and more of the target, crashes and hangs,
//!      all in the folder; statistics.
//!
//! ```text
//! seeds, imports ------> evaluate --> corpus, findings --> folder
//!                           ^            |
//! mutators, by schedule ----+ <--entry---+
//!                           ^            |
//! generalise, explore ------+ <----------+
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `parts`, `options` | what a campaign is given |
//! | `error`, `watch` | what it tells |
//! | `seeds`, `loading` | the first inputs, and how they are run beside the others |
//! | `mutators` | inputs made of entries, one file for each kind |
//! | `materials`, `lessons` | what mutators share |
//! | `turn`, `budget` | how long turns and stages are |
//! | `batch` | inputs that wait to be executed together |
//! | `runner` | executes inputs, counts, knows when to end |
//! | `clock`, `limit` | the time; the time limit of a run, which follows the target |
//! | `ledger` | where the time goes |
//! | `evaluate` | an execution, and what is kept of it |
//! | `corpus` | entries in memory |
//! | `findings` | crashes and hangs |
//! | `stages` | calibration, recheck, trimming; generalisation, exploration |
//! | `source` | where an input comes from |
//! | `statistics` | the report |
//! | `upkeep` | what is told, written and imported now and then |
//!
//! Each part is a type that is passed to those that need it; none of them
//! knows the campaign.

mod batch;
mod budget;
mod clock;
mod corpus;
mod error;
mod evaluate;
mod findings;
mod ledger;
mod lessons;
mod limit;
mod loading;
mod materials;
pub mod mutators;
mod options;
mod parts;
mod runner;
mod seeds;
mod source;
mod stages;
mod statistics;
mod turn;
mod upkeep;
mod watch;

pub use clock::Clock;
pub use error::Error;
pub use options::{Mutators, Options};
pub use parts::Parts;
pub(crate) use runner::insist;
use seeds::Seed;
pub use seeds::Seeds;
pub(crate) use statistics::{begin_report, seconds_now};
pub use watch::{Event, Watch};

use batch::{Mutated, Pending};
use evaluate::{Evaluator, Worth};
use ledger::Activity;
use loading::Loading;
use materials::Materials;
use mutators::{Attempt, Mutator, MutatorList};
use runner::Runner;
use source::Source;
use stages::{explore::Explore, generalise::Generalise, recheck::Recheck};
use std::time::Duration;
use turn::Turn;
use upkeep::Upkeep;
use wug_folder::report::Report;
use wug_produce::mutate::Tree;

/// Seeds that prove where the runs of a target may begin.
const PROVING: usize = 64;
/// Where every seed takes longer than this, in microseconds, parts of one are
/// tried: so many times what it takes goes into it.
const SLOW_SEED: f64 = 20_000.0;
const SPLITTING: u32 = 8;
/// The share of a find by what was learned that learning is credited with.
const LEARNED: f64 = 0.5;

/// A campaign under way.
pub struct Campaign<'a> {
    options: Options,
    evaluator: Evaluator<'a>,
    mutators: MutatorList<'a>,
    pending: Pending,
    loading: Loading,
    generalise: Generalise,
    explore: Option<Explore>,
    upkeep: Upkeep,
}

impl<'a> Campaign<'a> {
    /// Starts the target.
    pub fn new(parts: Parts<'a>, options: Options) -> Result<Campaign<'a>, Error> {
        let Parts { target, traced, checked, mut execution, structure, folder, sync, report, tokens, watch } =
            parts;
        if let Some(time) = options.max_time.filter(|_| !options.clock.is_counted()) {
            execution.end = execution.end.within(time);
        }
        let executor = parts::start(&target, &execution, options.plain, watch)?;
        let recheck = checked.map(|target| Recheck::new(target, &execution)).transpose()?;
        let comparisons = traced.clone().and_then(|target| parts::comparisons(target, &execution, watch));
        // A grammar knows better what is valid.
        let traced = traced.filter(|_| comparisons.is_some() && structure.is_none());
        let explore = traced.map(|target| Explore::new(target, &execution, &options));
        let mut report = report;
        let own = executor.dictionary();
        report.auto_dict_entries = own.len() as u64;
        let mut materials = Materials::new(&options, structure);
        for token in tokens.into_iter().chain(own) {
            materials.learn_token(&token);
        }
        let runner = Runner::new(executor, &execution, &options, folder.previous(), watch);
        Ok(Campaign {
            evaluator: Evaluator::new(&options, runner, folder, materials, recheck, report),
            mutators: MutatorList::new(mutators::all(comparisons), options.uniform),
            pending: Pending::default(),
            loading: Loading::new(Vec::new()),
            generalise: Generalise::new(&options),
            explore,
            upkeep: Upkeep::new(sync),
            options,
        })
    }

    /// Adds a mutator to those of every campaign. Before [`Campaign::run`].
    pub fn add_mutator(&mut self, mutator: Box<dyn Mutator + 'a>) {
        self.mutators.add(mutator);
    }

    /// Runs until it is to end. Statistics and findings are on disk then.
    pub fn run(&mut self, seeds: Seeds) -> Result<Report, Error> {
        let outcome = match self.start(seeds).and_then(|()| self.go_on()) {
            // A run that was cut short by the end.
            Err(Error::Executor(wug_target::Error::Ended)) => Ok(()),
            outcome => outcome,
        };
        // Whatever happened, what was found stays.
        let written = self.upkeep.write(&mut self.evaluator, &self.mutators, &self.generalise);
        let Evaluator { runner, statistics, folder, .. } = &mut self.evaluator;
        runner.tell(Event::Report(&statistics.report));
        outcome?;
        written?;
        folder.settle()?;
        Ok(statistics.report.clone())
    }

    /// Evaluates the seeds, or generated inputs.
    fn start(&mut self, seeds: Seeds) -> Result<(), Error> {
        let list = seeds.list(&mut self.evaluator)?;
        self.prove(&list)?;
        self.loading = Loading::new(list);
        // What goes on has its whole queue first, or it would find it again.
        let whole = matches!(seeds, Seeds::Queue);
        loop {
            let Evaluator { corpus, runner, .. } = &mut self.evaluator;
            if !whole && corpus.len() > 0 && self.loading.may_wait(runner) {
                break;
            }
            let Some(seed) = self.loading.next(None, runner) else { break };
            self.load(&seed)?;
        }
        let fresh = matches!(seeds, Seeds::Fresh);
        self.split(fresh)?;
        let Evaluator { corpus, runner, materials, .. } = &mut self.evaluator;
        if materials.structure.is_some() && corpus.len() == 0 && (fresh || !runner.is_over()) {
            if !fresh {
                runner
                    .notice("no seed can be mutated: the campaign starts with inputs of the grammar instead");
            }
            for _ in 0..self.options.generated {
                if self.evaluator.runner.is_over() {
                    break;
                }
                self.generate()?;
            }
        }
        self.evaluator.runner.tell_fork_point();
        self.upkeep.write(&mut self.evaluator, &self.mutators, &self.generalise)?;
        let Evaluator { corpus, runner, statistics, .. } = &self.evaluator;
        if corpus.len() > 0 || runner.has_stopped() {
            return Ok(());
        }
        let failed = statistics.report.seeds.crashed + statistics.report.seeds.timed_out;
        Err(Error::NoInput(match failed {
            1.. => "every seed crashes the target or takes too long: give one that does not, or more time with -t".into(),
            _ => "no seed reaches anything in the target".into(),
        }))
    }

    /// Has it proven with the first seeds that runs can begin behind the set-up
    /// of the target, if they are to.
    fn prove(&mut self, seeds: &[Seed]) -> Result<(), Error> {
        let inputs = seeds.iter().take(PROVING).map(Seed::read).collect::<Result<Vec<_>, _>>()?;
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        if !inputs.is_empty() {
            self.evaluator.runner.executor.prove(&inputs)?;
        }
        Ok(())
    }

    /// Runs a seed.
    fn load(&mut self, seed: &Seed) -> Result<(), Error> {
        let (begin, doing) = (self.evaluator.runner.now(), self.evaluator.runner.turn_to(Activity::Seeds));
        self.evaluator.statistics.report.seeds.waiting = self.loading.len() as u64;
        let mut input = seed.read()?;
        let before = seed.before(&input, &mut self.evaluator);
        // A seed has all the time that there is: the limit follows seeds.
        let room = self.evaluator.runner.make_room(Duration::MAX);
        self.evaluate(&mut input, &seed.source)?;
        let runner = &mut self.evaluator.runner;
        runner.give_back(room);
        runner.turn_to(doing);
        self.loading.spend(runner.since(begin));
        seed.after(before, &mut self.evaluator);
        Ok(())
    }

    /// Runs some of the seeds that wait.
    fn load_more(&mut self) -> Result<(), Error> {
        let begin = self.evaluator.runner.now();
        while let Some(seed) = self.loading.next(Some(begin), &mut self.evaluator.runner) {
            self.load(&seed)?;
        }
        Ok(())
    }

    /// Where all entries are slow, tries parts of the quickest: one feature may
    /// be what takes the time, and then something quick is there to go on with.
    /// The same of our own seed, where the target cannot take it as a whole.
    fn split(&mut self, fresh: bool) -> Result<(), Error> {
        let Evaluator { corpus, runner, folder, materials, .. } = &mut self.evaluator;
        let cost = |at: &usize| corpus.turns.merits(*at).cost;
        let quickest = (0..corpus.len()).min_by(|a, b| cost(a).total_cmp(&cost(b)));
        let mut bytes = Vec::new();
        let wall = match quickest {
            Some(at) if !runner.is_repeatable() && cost(&at) >= SLOW_SEED => {
                corpus.read(at, folder, &mut bytes)?;
                Duration::from_micros(cost(&at) as u64)
            }
            None if fresh && materials.structure.is_none() => {
                bytes = seeds::printable();
                runner.timeout()
            }
            _ => return Ok(()),
        };
        let begin = runner.now();
        let mut part = bytes.len().div_ceil(2);
        while part >= 1 && part < bytes.len() {
            for piece in bytes.chunks(part) {
                let runner = &mut self.evaluator.runner;
                let is_late = !runner.is_repeatable() && runner.since(begin).0 > wall * SPLITTING;
                if runner.is_over() || is_late {
                    return Ok(());
                }
                self.evaluate(&mut piece.to_vec(), &Source::stage("split", quickest))?;
            }
            let turns = &self.evaluator.corpus.turns;
            if part == 1 || (0..turns.len()).any(|at| turns.merits(at).cost < SLOW_SEED) {
                break;
            }
            part = part.div_ceil(2);
        }
        Ok(())
    }

    /// The loop: a turn of an entry, then the stages.
    fn go_on(&mut self) -> Result<(), Error> {
        while !self.evaluator.runner.is_over() {
            let Evaluator { corpus, materials, .. } = &mut self.evaluator;
            let Some(entry) = corpus.turns.draw(self.options.invalid, &mut materials.rng) else {
                return Err(Error::NoInput("no input reaches anything in the target".into()));
            };
            self.doing(Activity::Mutate, |campaign| campaign.turn(entry))?;
            self.load_more()?;
            self.doing(Activity::Generalise, Campaign::generalise)?;
            self.doing(Activity::Explore, Campaign::explore)?;
            self.doing(Activity::Mutate, Campaign::generate)?;
        }
        Ok(())
    }

    /// Does something, which is named in the report.
    fn doing(
        &mut self,
        activity: Activity,
        act: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let before = self.evaluator.runner.turn_to(activity);
        let outcome = act(self);
        self.evaluator.runner.turn_to(before);
        outcome
    }

    /// Makes inputs of an entry and runs them.
    fn turn(&mut self, entry: usize) -> Result<(), Error> {
        let Evaluator { corpus, materials, folder, statistics, .. } = &mut self.evaluator;
        statistics.report.cur_item = entry as u64;
        let (mut bytes, mut tree) = (Vec::new(), None);
        corpus.read(entry, folder, &mut bytes)?;
        if let Some(structure) = &mut materials.structure {
            tree = corpus.take_tree(entry, &bytes, structure);
        }
        let cost = corpus.turns.merits(entry).cost;
        let runner = &mut self.evaluator.runner;
        let in_time = (!runner.is_repeatable()).then_some(cost);
        let length = Turn::new(in_time, self.evaluator.corpus.turns.usual_cost());
        // What is made of a slow entry is slow: it is run to its end.
        let room = runner.make_room(Duration::from_micros(in_time.unwrap_or(0.0) as u64));
        let outcome = self.mutate((entry, &bytes, tree.as_ref()), length);
        self.evaluator.runner.give_back(room);
        self.evaluator.corpus.put_tree(entry, tree);
        outcome
    }

    fn mutate(&mut self, entry: (usize, &[u8], Option<&Tree>), length: Turn) -> Result<(), Error> {
        let mut input = Vec::new();
        let begin = self.evaluator.runner.now();
        for made in 0..length.inputs {
            let runner = &mut self.evaluator.runner;
            let is_late = length.time.is_some_and(|time| made > 0 && runner.since(begin).0 > time);
            if is_late || runner.is_over() {
                break;
            }
            match self.mutators.next(entry, &mut self.evaluator, &mut input)? {
                Attempt::Input(made) => self.submit(&mut input, made)?,
                Attempt::Nothing => {}
                Attempt::NoneFits => break,
            }
        }
        self.run_pending()
    }

    /// Evaluates a mutated input, now or together with others.
    fn submit(&mut self, input: &mut Vec<u8>, made: Mutated) -> Result<(), Error> {
        let Evaluator { materials, runner, .. } = &self.evaluator;
        let wants_coverage = materials.lessons.as_ref().is_some_and(|lessons| lessons.wants_coverage());
        if wants_coverage || self.options.plain || !runner.takes_batches() {
            // What others found first must stay first.
            self.run_pending()?;
            let worth = self.evaluator.evaluate(input, &made.source)?;
            self.learn(&made, worth);
            self.upkeep.run(&mut self.evaluator, &self.mutators, &self.generalise)?;
        } else if self.pending.push(input, made, runner.left()) {
            self.run_pending()?;
        }
        Ok(())
    }

    /// Evaluates all inputs that wait.
    fn run_pending(&mut self) -> Result<(), Error> {
        // Not in place: imports are evaluated in between.
        let mut pending = std::mem::take(&mut self.pending);
        let Pending { inputs, made, input } = &mut pending;
        let mut at = 0;
        while at < inputs.len() && !self.evaluator.runner.is_over() {
            let (place, outcome) = self.evaluator.run_batch(inputs, at)?;
            let cost = self.evaluator.runner.cost(outcome.wall);
            for made in &made[at..place] {
                self.mutators.learn(made, Worth { gain: 0.0, cost, execs: 1, time: outcome.wall });
            }
            input.clear();
            input.extend_from_slice(inputs.get(place));
            let worth = self.evaluator.judge(input, &made[place].source, outcome)?;
            self.learn(&made[place], worth);
            self.upkeep.run(&mut self.evaluator, &self.mutators, &self.generalise)?;
            at = place + 1;
        }
        pending.clear();
        self.pending = pending;
        Ok(())
    }

    /// Learns what came of a mutated input.
    fn learn(&mut self, made: &Mutated, worth: Worth) {
        self.mutators.learn(made, worth);
        // What was learned from entries pays by those that use it.
        if worth.gain > 0.0 && self.mutators.is_learned(made) {
            self.generalise.budget.gained(worth.gain * LEARNED);
        }
    }

    /// Evaluates an input that no mutator made.
    fn evaluate(&mut self, input: &mut Vec<u8>, source: &Source) -> Result<Worth, Error> {
        let worth = self.evaluator.evaluate(input, source)?;
        self.evaluator.statistics.stages.add(source.stage_name(), worth);
        self.upkeep.run(&mut self.evaluator, &self.mutators, &self.generalise)?;
        Ok(worth)
    }

    /// Evaluates one generated input, if there is a grammar.
    fn generate(&mut self) -> Result<(), Error> {
        let mut input = Vec::new();
        let Evaluator { materials, runner, .. } = &mut self.evaluator;
        if materials.generate(&mut input) && !runner.is_over() {
            self.evaluate(&mut input, &Source::stage("generate", None))?;
        }
        Ok(())
    }

    /// Generalises entries, as far as the budget goes.
    fn generalise(&mut self) -> Result<(), Error> {
        loop {
            let Evaluator { materials, feedback, runner, statistics, .. } = &mut self.evaluator;
            let begin = runner.now();
            let Some(met) = self.generalise.next(materials, feedback, runner)? else { return Ok(()) };
            statistics.stages.spend("generalise", runner.since(begin));
            for mut input in met.inputs {
                let Evaluator { materials: Materials { structure, share, .. }, runner, .. } =
                    &mut self.evaluator;
                if runner.is_over() || !share.permits(structure.is_some()) {
                    break;
                }
                if structure.is_some() {
                    share.count(false);
                }
                let worth = self.evaluate(&mut input, &Source::stage("generalise", Some(met.entry)))?;
                self.generalise.evaluated(worth.gain);
            }
        }
    }

    /// Searches for valid inputs, if nothing was found for a while.
    fn explore(&mut self) -> Result<(), Error> {
        let Some(explore) = &mut self.explore else { return Ok(()) };
        let Evaluator { corpus, runner, statistics, .. } = &mut self.evaluator;
        let begin = runner.now();
        let Some(found) = explore.run(corpus.len(), runner)? else { return Ok(()) };
        statistics.stages.spend("explore", runner.since(begin));
        for word in found.words {
            self.evaluator.materials.learn_token(&word);
        }
        for mut input in found.inputs {
            if self.evaluator.runner.is_over() {
                break;
            }
            let worth = self.evaluate(&mut input, &Source::stage("explore", None))?;
            if let Some(explore) = &mut self.explore {
                explore.budget.gained(worth.gain);
            }
        }
        Ok(())
    }
}
