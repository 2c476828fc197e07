//! The evaluator: executes an input and keeps what is worth it.
//!
//! In:  an input and its source.
//! Out: a corpus entry, a crash, a hang or nothing; what the execution was
//!      worth and what it cost.
//!
//! ```text
//! execute --> new coverage --> calibrate --> recheck --> trim --> corpus
//!    |
//!    +-----> crash, timeout --> findings
//! ```

use super::corpus::Corpus;
use super::findings::{Failed, Findings, Slow, simplify};
use super::ledger::Activity;
use super::materials::Materials;
use super::runner::Runner;
use super::source::Source;
use super::stages::{calibrate::Calibrate, recheck::Recheck, trim::Trim};
use super::statistics::Statistics;
use super::{Error, Options};
use crate::feedback::{Feedback, New};
use crate::schedule::Merits;
use std::time::Duration;
use wug_folder::Folder;
use wug_folder::report::Report;
use wug_produce::mutate::Tree;
use wug_target::{Batch, Verdict, coverage};

/// What an entry is worth to the schedule that has no new edge, only new hit
/// counts; one with new edges is worth 1 and more.
const NEW_COUNTS: f64 = 0.05;

/// Executes inputs, and keeps what is worth it.
pub(crate) struct Evaluator<'a> {
    pub runner: Runner<'a>,
    pub folder: Folder,
    pub corpus: Corpus,
    pub feedback: Feedback,
    pub findings: Findings,
    pub materials: Materials<'a>,
    pub statistics: Statistics,
    checks: Checks,
    /// Coverage of the last execution that was looked at.
    counts: Vec<u8>,
    /// Without coverage, the corpus is what comes first: so many generated
    /// inputs.
    plain: Option<usize>,
}

/// What a new entry goes through before it is kept.
pub(crate) struct Checks {
    pub calibrate: Calibrate,
    pub recheck: Option<Recheck>,
    pub trim: Option<Trim>,
}

/// What an execution was worth.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Worth {
    /// For the schedule.
    pub gain: f64,
    /// Executions, or microseconds.
    pub cost: f64,
    /// Executions, and time.
    pub execs: u64,
    pub time: Duration,
}

/// How an execution ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    verdict: Verdict,
    pub wall: Duration,
    /// Whether its coverage holds anything new.
    news: bool,
}

impl<'a> Evaluator<'a> {
    pub fn new(
        options: &Options,
        runner: Runner<'a>,
        folder: Folder,
        materials: Materials<'a>,
        recheck: Option<Recheck>,
        report: Report,
    ) -> Evaluator<'a> {
        Evaluator {
            statistics: Statistics::new(report, &runner, options.seed),
            runner,
            folder,
            corpus: Corpus::default(),
            feedback: Feedback::default(),
            findings: Findings::new(options),
            materials,
            checks: Checks { calibrate: Calibrate, recheck, trim: options.trim.then(Trim::default) },
            counts: Vec::new(),
            plain: options.plain.then_some(options.generated),
        }
    }

    /// Executes an input; keeps it if it is worth that.
    pub fn evaluate(&mut self, input: &mut Vec<u8>, source: &Source) -> Result<Worth, Error> {
        let seen = self.runner.run(input)?;
        if let Some(lessons) = &mut self.materials.lessons {
            lessons.judge(seen.coverage, &mut self.materials.rng);
        }
        let news = self.plain.is_none() && self.feedback.has_news(seen.coverage);
        let ended = Ended { verdict: seen.verdict, wall: seen.wall, news };
        if news || ended.failed() || matches!(source, Source::Entry(_)) {
            self.counts.clear();
            self.counts.extend_from_slice(seen.coverage);
        }
        self.judge(input, source, ended)
    }

    /// Executes inputs of a batch from one on, up to the first of interest:
    /// its place and how it ended. The others before it had nothing new.
    pub fn run_batch(&mut self, batch: &Batch, from: usize) -> Result<(usize, Ended), Error> {
        let (place, seen) = self.runner.run_batch(batch, from, self.feedback.seen())?;
        let news = self.feedback.has_news(seen.coverage);
        let ended = Ended { verdict: seen.verdict, wall: seen.wall, news };
        self.counts.clear();
        self.counts.extend_from_slice(seen.coverage);
        for input in from..place {
            self.statistics.executed(batch.get(input).len(), ended.wall);
        }
        Ok((place, ended))
    }

    /// Keeps an input, which was executed, if it is worth that. Its coverage is
    /// at hand if there is anything about it.
    pub fn judge(&mut self, input: &mut Vec<u8>, source: &Source, ended: Ended) -> Result<Worth, Error> {
        let Ended { wall, news, .. } = ended;
        self.statistics.executed(input.len(), wall);
        let begin = self.runner.now();
        let gain = if ended.failed() {
            self.fail(input, source, ended)?
        } else if news || matches!(source, Source::Entry(_)) {
            self.found(input, source, wall)?
        } else {
            if self.is_first(source) {
                self.counts.clear();
                let tree = self.parse(input);
                self.keep(input, source, tree, wall, false, 0)?;
            }
            0.0
        };
        // Calibrating, trimming and parsing are part of what a find costs.
        let (time, execs) = self.runner.since(begin);
        let cost = self.runner.cost(wall) + self.runner.cost_since(begin);
        Ok(Worth { gain, cost, execs: execs + 1, time: time + wall })
    }

    /// Whether a campaign without coverage starts with an input.
    fn is_first(&self, source: &Source) -> bool {
        self.plain.is_some_and(|generated| match source {
            Source::Seed(_) | Source::Import(..) | Source::Entry(_) => true,
            Source::Mutation { .. } => self.corpus.len() < generated,
        })
    }

    /// Keeps an input that crashed the target or exceeded its time limit. One
    /// that ends well with more time is found as any other.
    fn fail(&mut self, input: &mut Vec<u8>, source: &Source, ended: Ended) -> Result<f64, Error> {
        if ended.verdict.is_crash() {
            return self.crash(input, source, ended.verdict);
        }
        simplify(&mut self.counts);
        let failed = Failed { input, counts: &self.counts, source, corpus: &self.corpus };
        let timeouts = &mut self.findings.timeouts;
        let before = self.runner.turn_to(Activity::Hangs);
        let slow = timeouts.add(&failed, ended.news, &mut self.runner, &mut self.folder)?;
        self.runner.turn_to(before);
        let Some(Slow { verdict, wall, counts }) = slow else { return Ok(0.0) };
        self.counts = counts;
        if verdict.is_crash() {
            return self.crash(input, source, verdict);
        }
        if self.plain.is_some() || !self.feedback.has_news(&self.counts) {
            return Ok(0.0);
        }
        let begin = self.runner.now();
        let gain = self.found(input, source, wall)?;
        self.findings.timeouts.time += self.runner.since(begin).0;
        Ok(gain)
    }

    /// Keeps an input that crashed the target.
    fn crash(&mut self, input: &[u8], source: &Source, verdict: Verdict) -> Result<f64, Error> {
        simplify(&mut self.counts);
        let failed = Failed { input, counts: &self.counts, source, corpus: &self.corpus };
        let before = self.runner.turn_to(Activity::Crashes);
        let gain = self.findings.crashes.add(&failed, verdict, &mut self.runner, &mut self.folder);
        self.runner.turn_to(before);
        gain
    }

    /// Keeps an input whose coverage holds something new. It has time for what
    /// is done with it, however slow it is.
    fn found(&mut self, input: &mut Vec<u8>, source: &Source, wall: Duration) -> Result<f64, Error> {
        let before = self.runner.make_room(wall);
        let gain = self.take_in(input, source, wall)?;
        self.runner.give_back(before);
        Ok(gain)
    }

    fn take_in(&mut self, input: &mut Vec<u8>, source: &Source, wall: Duration) -> Result<f64, Error> {
        coverage::classify(&mut self.counts);
        let mut news = self.feedback.news(&self.counts);
        let (wall, varies) = self.checks.calibrate.run(
            input,
            wall,
            &mut self.counts,
            &mut news,
            &mut self.feedback,
            &mut self.runner,
        )?;
        let resumed = matches!(source, Source::Entry(_));
        if news.is_empty() && !resumed {
            return Ok(0.0);
        }
        if !resumed {
            self.recheck(input, source)?;
        }
        let is_edge = |new: &&New| self.feedback.is_new_id(new.id);
        let edges: Box<[u32]> = news.iter().filter(is_edge).map(|new| new.id).collect();
        // As it was found: what trimming leaves has few gaps.
        let whole = self.materials.lessons.is_some().then(|| input.clone());
        let mut tree = self.parse(input);
        if let Some(trim) = self.checks.trim.as_mut().filter(|_| !resumed && !varies) {
            let structure = self.materials.structure.as_ref();
            let news = (&news[..], wall);
            trim.run(input, &mut tree, news, &mut self.counts, structure, &mut self.runner)?;
        }
        self.feedback.add(&self.counts);
        let count = edges.len();
        self.keep(input, source, tree, wall, varies, count)?;
        if let (Some(lessons), Some(whole)) = (&mut self.materials.lessons, whole) {
            lessons.remember(self.corpus.len() - 1, whole, edges);
        }
        let gain = if count > 0 { 1.0 + (count as f64).ln() / 2.0 } else { NEW_COUNTS };
        match source {
            Source::Mutation { .. } => self.runner.found(wall, gain),
            _ => self.runner.limit().seed(wall),
        }
        self.runner.choose_limit();
        Ok(gain)
    }

    /// Runs an input by the build with a sanitizer, before it is trimmed to
    /// what the fast build sees.
    fn recheck(&mut self, input: &[u8], source: &Source) -> Result<(), Error> {
        let Some(recheck) = &mut self.checks.recheck else { return Ok(()) };
        let crashes = &mut self.findings.crashes;
        let before = self.runner.turn_to(Activity::Recheck);
        let crash = recheck.run(input, &mut self.runner, |site| crashes.is_new(site))?;
        self.runner.turn_to(before);
        let Some((site, crash)) = crash else { return Ok(()) };
        crashes.total += 1;
        let failed = Failed { input, counts: &self.counts, source, corpus: &self.corpus };
        // What is checked has reached something new.
        crashes.keep(site, &crash, true, &failed, &mut self.runner, &mut self.folder)?;
        Ok(())
    }

    /// The tree of an input that is about to be kept.
    fn parse(&mut self, input: &[u8]) -> Option<Tree> {
        self.materials.structure.as_ref()?;
        let report = &mut self.statistics.report;
        report.parse_tries += 1;
        let tree = self.materials.learn_tree(input)?;
        report.parse_hits += 1;
        Some(tree)
    }

    /// Adds an input to folder and corpus.
    fn keep(
        &mut self,
        input: &[u8],
        source: &Source,
        tree: Option<Tree>,
        wall: Duration,
        varies: bool,
        edges: usize,
    ) -> Result<(), Error> {
        let id = match source {
            Source::Entry(id) => *id,
            _ => {
                let origin = source.origin(&self.corpus, &self.runner, edges > 0);
                self.runner.insist(&mut self.folder, |folder| folder.add(input, &origin))?
            }
        };
        let depth = match source {
            Source::Mutation { from: Some(from), .. } => {
                self.corpus.turns.found(*from);
                self.corpus.turns.merits(*from).depth + 1
            }
            _ => 0,
        };
        let cost = self.runner.cost(wall);
        let edges = coverage::hits(&self.counts).map(|id| id as u32).collect();
        self.corpus.add(id, input, tree, varies, Merits { edges, cost, depth, ..Merits::default() });
        self.statistics.kept(source, depth, wall);
        Ok(())
    }

    /// Fills in what all parts know.
    pub fn report(&mut self) {
        let report = &mut self.statistics.report;
        self.corpus.report(report);
        self.findings.report(&self.runner, report);
        report.edges_found = self.feedback.edges_with(self.runner.executor.setup_coverage()) as u64;
        report.var_byte_count = self.feedback.flaky().len() as u64;
        report.rechecked = self.checks.recheck.as_ref().map_or(0, |recheck| recheck.execs);
    }
}

impl Ended {
    fn failed(self) -> bool {
        self.verdict.is_crash() || self.verdict == Verdict::Timeout
    }
}
