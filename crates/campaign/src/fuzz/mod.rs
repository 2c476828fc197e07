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
//! | `seeds` | the first inputs |
//! | `mutators` | inputs made of entries, one file for each kind |
//! | `materials`, `lessons` | what mutators share |
//! | `batch` | inputs that wait to be executed together |
//! | `runner` | executes inputs, counts, knows when to end |
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
mod corpus;
mod error;
mod evaluate;
mod findings;
mod lessons;
mod materials;
pub mod mutators;
mod options;
mod parts;
mod runner;
mod seeds;
mod source;
mod stages;
mod statistics;
mod upkeep;
mod watch;

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
use materials::Materials;
use mutators::{Attempt, Mutator, MutatorList};
use runner::Runner;
use source::Source;
use stages::{explore::Explore, generalise::Generalise, recheck::Recheck};
use upkeep::Upkeep;
use wug_folder::report::Report;
use wug_produce::mutate::Tree;

/// Inputs made in a turn of an entry. GRIMOIRE makes 512 to 1,024; with 768,
/// three campaigns on expat without a grammar reached 1,365 to 1,614 edges in
/// 250,000 executions, with 128 they reached 1,577 to 1,621.
const INPUTS: usize = 128;
/// Seeds that prove where the runs of a target may begin.
const PROVING: usize = 64;
/// A campaign under way.
pub struct Campaign<'a> {
    options: Options,
    evaluator: Evaluator<'a>,
    mutators: MutatorList<'a>,
    pending: Pending,
    generalise: Generalise,
    explore: Option<Explore>,
    upkeep: Upkeep,
}

impl<'a> Campaign<'a> {
    /// Starts the target.
    pub fn new(parts: Parts<'a>, options: Options) -> Result<Campaign<'a>, Error> {
        let Parts { target, traced, checked, mut execution, structure, folder, sync, report, tokens, watch } =
            parts;
        if let Some(time) = options.max_time {
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
        for seed in list {
            if self.evaluator.runner.is_over() {
                break;
            }
            let mut input = seed.read()?;
            let before = seed.before(&input, &mut self.evaluator);
            self.evaluate(&mut input, &seed.source)?;
            seed.after(before, &mut self.evaluator);
        }
        let fresh = matches!(seeds, Seeds::Fresh);
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

    /// The loop: a turn of an entry, then the stages.
    fn go_on(&mut self) -> Result<(), Error> {
        while !self.evaluator.runner.is_over() {
            let Evaluator { corpus, materials, .. } = &mut self.evaluator;
            let Some(entry) = corpus.turns.draw(self.options.invalid, &mut materials.rng) else {
                return Err(Error::NoInput("no input reaches anything in the target".into()));
            };
            self.turn(entry)?;
            self.generalise()?;
            self.explore()?;
            self.generate()?;
        }
        Ok(())
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
        let outcome = self.mutate((entry, &bytes, tree.as_ref()));
        self.evaluator.corpus.put_tree(entry, tree);
        outcome
    }

    fn mutate(&mut self, entry: (usize, &[u8], Option<&Tree>)) -> Result<(), Error> {
        let mut input = Vec::new();
        for _ in 0..INPUTS {
            if self.evaluator.runner.is_over() {
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
        if wants_coverage || self.options.plain {
            // What others found first must stay first.
            self.run_pending()?;
            let worth = self.evaluate(input, &made.source)?;
            self.mutators.learn(&made, worth.cost, worth.gain);
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
                self.mutators.learn(made, cost, 0.0);
            }
            input.clear();
            input.extend_from_slice(inputs.get(place));
            let worth = self.evaluator.judge(input, &made[place].source, outcome)?;
            self.mutators.learn(&made[place], worth.cost, worth.gain);
            self.upkeep.run(&mut self.evaluator, &self.mutators, &self.generalise)?;
            at = place + 1;
        }
        pending.clear();
        self.pending = pending;
        Ok(())
    }

    /// Evaluates an input.
    fn evaluate(&mut self, input: &mut Vec<u8>, source: &Source) -> Result<Worth, Error> {
        let worth = self.evaluator.evaluate(input, source)?;
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
            let Evaluator { materials, feedback, runner, .. } = &mut self.evaluator;
            let Some(met) = self.generalise.next(materials, feedback, runner)? else { return Ok(()) };
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
                self.generalise.evaluated(worth.gain > 0.0);
            }
        }
    }

    /// Searches for valid inputs, if nothing was found for a while.
    fn explore(&mut self) -> Result<(), Error> {
        let Some(explore) = &mut self.explore else { return Ok(()) };
        let found = explore.run(self.evaluator.corpus.len(), &mut self.evaluator.runner)?;
        let Some(found) = found else { return Ok(()) };
        for word in found.words {
            self.evaluator.materials.learn_token(&word);
        }
        for mut input in found.inputs {
            if self.evaluator.runner.is_over() {
                break;
            }
            self.evaluate(&mut input, &Source::stage("explore", None))?;
        }
        Ok(())
    }
}
