//! Trimming: smaller inputs that reach the same new coverage.
//!
//! In:  an input, its tree if it has one, and what is new in its coverage.
//! Out: a smaller input that reaches all of that; its tree and coverage.

use crate::feedback::{New, counts_reach, reaches};
use crate::fuzz::Error;
use crate::fuzz::budget::Budget;
use crate::fuzz::ledger::Activity;
use crate::fuzz::runner::{Point, Runner};
use crate::structure::Structure;
use std::time::Duration;
use wug_produce::mutate::Tree;
use wug_target::{Verdict, coverage};

/// Executions spent on one input, at most and at least: a smaller entry is
/// quicker to run ever after, but mutators find more.
const RUNS: u64 = 200;
const LEAST_RUNS: u64 = 8;
/// The share of all executions that is spent so, one in so many, and of the
/// time for each second of mutation. An input gets its least number of runs in any case, if they take no
/// longer than this.
const SHARE: u32 = 5;
const BESIDE: f64 = 0.3;
const LEAST_TIME: Duration = Duration::from_millis(20);

/// Trims new entries.
#[derive(Debug)]
pub(crate) struct Trim {
    pub budget: Budget,
}

impl Default for Trim {
    fn default() -> Trim {
        Trim { budget: Budget::new(SHARE, BESIDE, (0, Duration::ZERO)).fixed() }
    }
}

/// What a trimmed input has to reach, and the coverage of the last that did.
struct Goal<'t, 'a> {
    news: &'t [New],
    counts: &'t mut Vec<u8>,
    runner: &'t mut Runner<'a>,
    begin: Point,
    time: Duration,
}

impl Trim {
    /// Makes an input, which takes so long, smaller while it reaches all of
    /// `news`; `counts` is its coverage, in classes.
    pub fn run(
        &mut self,
        input: &mut Vec<u8>,
        tree: &mut Option<Tree>,
        (news, wall): (&[New], Duration),
        counts: &mut Vec<u8>,
        structure: Option<&Structure<'_>>,
        runner: &mut Runner<'_>,
    ) -> Result<(), Error> {
        let (begin, doing) = (runner.now(), runner.turn_to(Activity::Trim));
        let share = runner.execs() / u64::from(SHARE);
        let budget = share.saturating_sub(self.budget.execs).clamp(LEAST_RUNS, RUNS);
        let least = (wall * LEAST_RUNS as u32).min(LEAST_TIME);
        let time = self.budget.left(runner).max(least);
        let mut goal = Goal { news, counts, runner, begin, time };
        match (tree.as_ref(), structure) {
            (Some(whole), Some(structure)) => {
                if let Some(trimmed) = trim_tree(input, whole, structure, budget, &mut goal)? {
                    *tree = Some(trimmed);
                }
            }
            _ => trim_bytes(input, budget, &mut goal)?,
        }
        self.budget.spend(runner.since(begin));
        runner.turn_to(doing);
        Ok(())
    }
}

/// Along the tree, so that the result parses.
fn trim_tree(
    input: &mut Vec<u8>,
    tree: &Tree,
    structure: &Structure<'_>,
    budget: u64,
    goal: &mut Goal<'_, '_>,
) -> Result<Option<Tree>, Error> {
    let reduced = structure.reduce(tree, budget, |bytes| goal.is_met(bytes))?;
    let Some((bytes, tree)) = reduced else { return Ok(None) };
    // Once more, for its coverage.
    if bytes == *input || !goal.is_met(&bytes)? {
        return Ok(None);
    }
    *input = bytes;
    Ok(Some(tree))
}

/// Leaves out ever smaller parts.
fn trim_bytes(input: &mut Vec<u8>, budget: u64, goal: &mut Goal<'_, '_>) -> Result<(), Error> {
    let mut left = budget;
    let mut part = (input.len() / 4).next_power_of_two().max(1);
    let mut candidate = Vec::with_capacity(input.len());
    while left > 0 && part > 0 && input.len() > 1 {
        let mut at = 0;
        while at < input.len() && left > 0 {
            let end = (at + part).min(input.len());
            candidate.clear();
            candidate.extend_from_slice(&input[..at]);
            candidate.extend_from_slice(&input[end..]);
            left -= 1;
            if !candidate.is_empty() && goal.is_met(&candidate)? {
                std::mem::swap(input, &mut candidate);
            } else {
                at = end;
            }
        }
        part /= 2;
    }
    Ok(())
}

impl Goal<'_, '_> {
    /// Whether an input reaches all news; its coverage is kept if so. No more,
    /// once the campaign is to end or the time is up.
    fn is_met(&mut self, input: &[u8]) -> Result<bool, Error> {
        if self.runner.is_over() || self.runner.since(self.begin).0 > self.time {
            return Ok(false);
        }
        let Some(seen) = wug_target::Error::unless_ended(self.runner.run(input))? else { return Ok(false) };
        let ended = !seen.verdict.is_crash() && seen.verdict != Verdict::Timeout;
        let same = ended && counts_reach(seen.coverage, self.news);
        if same {
            self.counts.clear();
            self.counts.extend_from_slice(seen.coverage);
            coverage::classify(self.counts);
            debug_assert!(reaches(self.counts, self.news));
        }
        Ok(same)
    }
}
