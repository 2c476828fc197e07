//! Generalisation: structure is learned from entries with new edges.
//!
//! In:  the backlog of [`Lessons`](crate::fuzz::lessons::Lessons).
//! Out: generalised inputs in its library; inputs met on the way that reach
//!      something new, for the campaign to evaluate.

use crate::feedback::{Feedback, New, counts_reach};
use crate::fuzz::budget::Budget;
use crate::fuzz::lessons::Unlearned;
use crate::fuzz::materials::Materials;
use crate::fuzz::runner::{Point, Runner};
use crate::fuzz::{Error, Options};
use crate::generalise::{self, Generalised};
use std::time::Duration;
use wug_folder::report::{GeneraliseReport, Report};
use wug_target::Verdict;

/// One in so many executions goes into it at most, or so much for each second
/// of mutation, after a few to begin with: structure known early against
/// mutation.
const SHARE: u32 = 4;
const BESIDE: f64 = 0.5;
const CREDIT: (u64, Duration) = (500, Duration::from_millis(500));
/// One entry takes no longer than this at a time: others wait for their turn.
const TIME: Duration = Duration::from_millis(500);
/// Executions for one entry: so many, and so many for each byte. All gaps of
/// one entry against the turn of the next.
const RUNS: usize = 64;
const RUNS_PER_BYTE: usize = 1;
/// Executions that look for words which have to be the same.
const LINK_RUNS: usize = 32;
/// Executions that look where an input can be put into itself.
const NEST_RUNS: usize = 32;
/// Inputs met on the way that are kept, of one entry: memory.
const MET: usize = 64;

/// Generalises entries.
#[derive(Debug)]
pub(crate) struct Generalise {
    /// Whether words that have to be the same are looked for.
    links: bool,
    pub budget: Budget,
    report: GeneraliseReport,
}

/// Inputs met while an entry was generalised.
pub(crate) struct MetInputs {
    pub entry: usize,
    pub inputs: Vec<Vec<u8>>,
}

impl Generalise {
    pub fn new(options: &Options) -> Generalise {
        Generalise {
            links: options.links,
            budget: Budget::new(SHARE, BESIDE, CREDIT),
            report: GeneraliseReport::default(),
        }
    }

    /// Generalises the next entry of the backlog, if there is one and the
    /// budget allows it.
    pub fn next(
        &mut self,
        materials: &mut Materials<'_>,
        feedback: &Feedback,
        runner: &mut Runner<'_>,
    ) -> Result<Option<MetInputs>, Error> {
        let Some(lessons) = &mut materials.lessons else { return Ok(None) };
        if !self.budget.allows(runner) || runner.is_over() {
            return Ok(None);
        }
        let Some(next) = lessons.next() else { return Ok(None) };
        lessons.clear_bench();
        let Unlearned { entry, input, edges } = next;
        let begin = runner.now();
        let flaky = feedback.flaky();
        let sure = edges.iter().filter(|id| flaky.binary_search(id).is_err());
        let wanted: Vec<New> = sure.map(|id| New { id: *id, classes: u8::MAX }).collect();
        let time = if runner.is_repeatable() { Duration::MAX } else { TIME };
        let mut probe = Probe { runner, feedback, wanted: &wanted, met: Vec::new(), begin, time };
        // An input that does not reach the same again is asked no further.
        let form = match !wanted.is_empty() && probe.reaches(&input)? {
            true => Some(self.form_of(&input, &mut probe)?),
            false => None,
        };
        let inputs = probe.met;
        if let Some((mut form, takes_itself)) = form {
            self.count(&input, &form, &takes_itself);
            form.edges = wanted.iter().map(|new| new.id).collect();
            let number = lessons.library.add(form, &mut materials.rng);
            for gap in takes_itself {
                lessons.library.takes_itself((number, gap), &mut materials.rng);
            }
            lessons.of_entry.retain(|_, other| *other != number);
            lessons.of_entry.insert(entry, number);
        }
        self.budget.spend(runner.since(begin));
        Ok(Some(MetInputs { entry, inputs }))
    }

    /// The generalised form of an input, and the numbers of its gaps that it
    /// fits into itself.
    fn form_of(&self, input: &[u8], probe: &mut Probe<'_, '_>) -> Result<(Generalised, Vec<u32>), Error> {
        let runs = RUNS + RUNS_PER_BYTE * input.len();
        let found = generalise::gaps(input, runs, |input| probe.reaches(input))?;
        let mut form = Generalised::new(input, &found.removed);
        let takes_itself = put_into_itself(&mut form, probe)?;
        if self.links {
            form.links = generalise::links(form.content(), LINK_RUNS, |input| probe.reaches(input))?.0;
        }
        Ok((form, takes_itself))
    }

    fn count(&mut self, input: &[u8], form: &Generalised, takes_itself: &[u32]) {
        let report = &mut self.report;
        report.inputs += 1;
        report.bytes += input.len() as u64;
        report.gap_bytes += (input.len() - form.content().len()) as u64;
        report.gaps += form.gaps().len() as u64;
        report.links += form.links.len() as u64;
        report.nests += takes_itself.len() as u64;
    }

    /// An input met on the way was evaluated, and was worth so much.
    pub fn evaluated(&mut self, gain: f64) {
        self.budget.gained(gain);
        self.report.finds += u64::from(gain > 0.0);
    }

    /// Fills in what was done.
    pub fn report(&self, materials: &Materials<'_>, report: &mut Report) {
        report.generalise_execs = self.budget.execs;
        report.generalised = self.report.clone();
        if let Some(lessons) = &materials.lessons {
            lessons.report(&mut report.generalised);
        }
    }
}

/// Looks where an input fits into itself. It was executed there if some edges
/// are hit more often than by it alone, and none less often.
fn put_into_itself(form: &mut Generalised, probe: &mut Probe<'_, '_>) -> Result<Vec<u32>, Error> {
    let (mut alone, mut counts) = (Vec::new(), Vec::new());
    if !probe.counts(form.content(), &mut alone)? {
        return Ok(Vec::new());
    }
    generalise::nest(form, NEST_RUNS, |input| {
        let reached = probe.counts(input, &mut counts)?;
        Ok(reached && counts != alone && counts.iter().zip(&alone).all(|(more, less)| more >= less))
    })
}

/// Asks the target whether inputs reach some edges.
struct Probe<'p, 'a> {
    runner: &'p mut Runner<'a>,
    feedback: &'p Feedback,
    wanted: &'p [New],
    /// Inputs that crashed or reached something new.
    met: Vec<Vec<u8>>,
    /// Since when, and for how long it may ask.
    begin: Point,
    time: Duration,
}

impl Probe<'_, '_> {
    /// Whether an input reaches the edges.
    fn reaches(&mut self, input: &[u8]) -> Result<bool, Error> {
        self.counts(input, &mut Vec::new())
    }

    /// The same, and how often it hits each.
    fn counts(&mut self, input: &[u8], counts: &mut Vec<u8>) -> Result<bool, Error> {
        if self.runner.is_over() || self.runner.since(self.begin).0 > self.time {
            return Ok(false);
        }
        let seen = self.runner.run(input)?;
        let crash = seen.verdict.is_crash();
        if self.met.len() < MET && (crash || self.feedback.has_news(seen.coverage)) {
            self.met.push(input.to_vec());
        }
        let fine = !crash && seen.verdict != Verdict::Timeout && counts_reach(seen.coverage, self.wanted);
        counts.clear();
        if fine {
            counts.extend(self.wanted.iter().map(|new| seen.coverage[new.id as usize]));
        }
        Ok(fine)
    }
}
