//! A run, and what is kept of it.

use super::{Campaign, Error, Event, learn};
use crate::feedback::{New, counts_reach, reaches};
use crate::schedule::Merits;
use std::time::{Duration, Instant};
use wug_folder::{EntryId, How, Origin};
use wug_produce::mutate::Tree;
use wug_target::{Verdict, coverage};

/// Runs of a new entry that tell whether runs of it differ.
const CALIBRATION: usize = 3;

/// How an input came to be.
#[derive(Clone, Debug)]
pub(super) enum Making {
    /// The user gave it.
    Seed(String),
    /// Another fuzzer found it.
    Import(String, EntryId),
    /// It is an entry of the campaign that goes on.
    Entry(EntryId),
    /// By a mutator, so many times, from an entry or from nothing.
    Mutation { from: Option<usize>, other: Option<usize>, op: &'static str, rep: u32 },
}

/// What a run was worth.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Worth {
    /// For the schedule.
    pub gain: f64,
    /// What it cost: executions, or microseconds.
    pub cost: f64,
}

impl Campaign<'_> {
    /// Runs `input`; keeps it if it is worth that.
    pub(super) fn execute(&mut self, making: &Making) -> Result<Worth, Error> {
        let seen = self.executor.run(&self.input)?;
        let (verdict, wall) = (seen.verdict, seen.wall);
        if let Some(learned) = &mut self.learned {
            learned.judge(seen.coverage, &mut self.rng);
        }
        let news = !self.options.plain && self.feedback.has_news(seen.coverage);
        let failed = verdict.is_crash() || verdict == Verdict::Timeout;
        if news || failed || matches!(making, Making::Entry(_)) {
            self.counts.clear();
            self.counts.extend_from_slice(seen.coverage);
        }
        self.judge(verdict, wall, news, making)
    }

    /// Counts a run; what it cost.
    pub(super) fn ran(&mut self, length: usize, wall: Duration) -> f64 {
        self.figures.execs += 1;
        self.figures.timed(wall);
        self.figures.report.input_bytes += length as u64;
        if self.options.repeatable { 1.0 } else { wall.as_secs_f64() * 1e6 }
    }

    /// Keeps `input`, which was run, if it is worth that. Its counts are at
    /// hand if there is anything about them.
    pub(super) fn judge(
        &mut self,
        verdict: Verdict,
        wall: Duration,
        news: bool,
        making: &Making,
    ) -> Result<Worth, Error> {
        let mut cost = self.ran(self.input.len(), wall);
        let (begin, execs) = (Instant::now(), self.figures.execs);
        let gain = if verdict.is_crash() {
            self.crashed(verdict, making)?
        } else if verdict == Verdict::Timeout {
            self.hung(making)?
        } else if news || matches!(making, Making::Entry(_)) {
            self.found(making, wall)?
        } else if self.options.plain && self.is_first(making) {
            self.counts.clear();
            let tree = self.parse();
            self.keep(making, tree, wall, false, 0)?;
            0.0
        } else {
            0.0
        };
        let now = Instant::now();
        // Calibrating, trimming and parsing are part of what a find costs.
        cost += if self.options.repeatable {
            (self.figures.execs - execs) as f64
        } else {
            (now - begin).as_secs_f64() * 1e6
        };
        if now >= self.next_look {
            self.look()?;
        }
        Ok(Worth { gain, cost })
    }

    /// Whether a plain campaign starts with `input`.
    fn is_first(&self, making: &Making) -> bool {
        match making {
            Making::Seed(_) | Making::Import(..) | Making::Entry(_) => true,
            Making::Mutation { .. } => self.corpus.len() < self.options.generated,
        }
    }

    /// Keeps `input`, whose counts hold something new.
    fn found(&mut self, making: &Making, wall: Duration) -> Result<f64, Error> {
        coverage::classify(&mut self.counts);
        let mut news = self.feedback.news(&self.counts);
        let (wall, varies) = self.calibrate(&mut news, wall)?;
        let again = matches!(making, Making::Entry(_));
        if news.is_empty() && !again {
            return Ok(0.0);
        }
        if !again {
            self.recheck(making)?;
        }
        let found = match self.learned {
            Some(_) => {
                let edges = learn::edges_of(&news, |id| self.feedback.is_new_id(id));
                Some((self.input.clone(), edges))
            }
            None => None,
        };
        let mut tree = self.parse();
        if self.options.trim && !again && !varies {
            self.trim(&news, &mut tree)?;
        }
        let edges = news.iter().filter(|new| self.feedback.is_new_id(new.id)).count();
        self.feedback.add(&self.counts);
        self.keep(making, tree, wall, varies, edges)?;
        if let Some((input, edges)) = found {
            self.remember(self.corpus.len() - 1, input, edges);
        }
        Ok(if edges > 0 { 1.0 + (edges as f64).ln() / 2.0 } else { 0.05 })
    }

    /// Runs `input` some more times. What differs is never news again.
    fn calibrate(&mut self, news: &mut Vec<New>, wall: Duration) -> Result<(Duration, bool), Error> {
        let begin = Instant::now();
        let (mut total, mut varies) = (wall, false);
        let mut runs = 1;
        for _ in 0..CALIBRATION {
            if self.is_over() {
                break;
            }
            let Some(seen) = wug_target::Error::unless_ended(self.executor.run(&self.input))? else { break };
            self.figures.execs += 1;
            runs += 1;
            total += seen.wall;
            if seen.coverage.len() != self.counts.len() {
                self.counts.resize(self.counts.len().max(seen.coverage.len()), 0);
            }
            let differs = |(at, class): (usize, &u8)| {
                let count = seen.coverage.get(at).copied().unwrap_or(0);
                (coverage::class(count) != *class).then_some(at as u32)
            };
            let flaky: Vec<u32> = self.counts.iter().enumerate().filter_map(differs).collect();
            varies |= !flaky.is_empty();
            for id in flaky {
                self.feedback.distrust(id);
                news.retain(|new| new.id != id);
            }
        }
        self.figures.calibration += begin.elapsed();
        Ok((total / runs, varies))
    }

    /// The tree of `input`.
    fn parse(&mut self) -> Option<Tree> {
        let structure = self.structure.as_mut()?;
        self.figures.report.parse_tries += 1;
        let tree = structure.parse(&self.input).ok()?;
        self.figures.report.parse_hits += 1;
        structure.mutator.learn(&tree, &mut self.rng);
        Some(tree)
    }

    fn keep(
        &mut self,
        making: &Making,
        tree: Option<Tree>,
        wall: Duration,
        varies: bool,
        edges: usize,
    ) -> Result<(), Error> {
        let origin = self.origin(making, edges > 0);
        let id = match making {
            Making::Entry(id) => *id,
            _ => {
                let input = std::mem::take(&mut self.input);
                let kept = self.insist(|folder| folder.add(&input, &origin));
                self.input = input;
                kept?
            }
        };
        let depth = match making {
            Making::Mutation { from: Some(from), .. } => {
                self.corpus.turns.found(*from);
                self.corpus.turns.merits(*from).depth + 1
            }
            _ => 0,
        };
        let cost = if self.options.repeatable { 1.0 } else { wall.as_secs_f64() * 1e6 };
        let edges = coverage::hits(&self.counts).map(|id| id as u32).collect();
        self.corpus.add(id, &self.input, tree, varies, Merits { edges, cost, depth, ..Merits::default() });
        self.figures.kept(making, depth, wall);
        Ok(())
    }

    /// Where an input came from, as its name tells.
    pub(super) fn origin(&self, making: &Making, new_coverage: bool) -> Origin {
        let id = |at: &usize| self.corpus.entries()[*at].id;
        let how = match making {
            Making::Seed(name) => How::Seed(name.clone()),
            Making::Import(fuzzer, source) => How::Sync { fuzzer: fuzzer.clone(), source: *source },
            Making::Entry(_) => How::default(),
            Making::Mutation { from, other, op, rep } => How::Mutation {
                parents: from.iter().chain(other).map(id).collect(),
                op: (*op).to_string(),
                rep: Some(*rep),
            },
        };
        let time = self.figures.elapsed().as_millis() as u64;
        Origin { time, execs: self.figures.execs, how, new_coverage }
    }

    /// Whether `input` still reaches all of `news`; its counts are kept if so.
    /// No more, once the campaign is to end.
    pub(super) fn still(&mut self, input: &[u8], news: &[New]) -> Result<bool, Error> {
        if self.is_over() {
            return Ok(false);
        }
        let Some(seen) = wug_target::Error::unless_ended(self.executor.run(input))? else { return Ok(false) };
        self.figures.execs += 1;
        let ended = !seen.verdict.is_crash() && seen.verdict != Verdict::Timeout;
        let same = ended && counts_reach(seen.coverage, news);
        if same {
            self.counts.clear();
            self.counts.extend_from_slice(seen.coverage);
            coverage::classify(&mut self.counts);
            debug_assert!(reaches(&self.counts, news));
        }
        Ok(same)
    }

    /// Imports, and tells how things are.
    fn look(&mut self) -> Result<(), Error> {
        let now = Instant::now();
        self.next_look = now + super::LOOK;
        if now >= self.next_write {
            self.next_write = now + super::WRITE;
            self.write_figures()?;
        }
        self.fill_report();
        if let Some(mean) = self.figures.slowness() {
            let millis = mean.as_millis();
            let way_out = match self.executor.is_persistent() {
                true => "smaller inputs, a build with -O2, and no sleeping or waiting in the harness help",
                false => {
                    "a persistent harness (LLVMFuzzerTestOneInput) saves the start of the program; smaller inputs and a build with -O2 help as well"
                }
            };
            self.watch.event(Event::Notice(format!("a run takes {millis} ms, which is slow: {way_out}")));
        }
        self.watch.event(Event::Report(&self.figures.report));
        if self.is_over() { Ok(()) } else { self.import() }
    }
}
