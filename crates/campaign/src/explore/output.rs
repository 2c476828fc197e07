//! The output of a search: what is kept, and statistics.

use super::frontier::Frontier;
use super::host::Host;
use super::knowledge::Knowledge;
use super::nodes::Node;
use super::offers::Kind;
use super::prober::Prober;
use crate::fuzz::{Error, Event, begin_report, seconds_now};
use std::time::{Duration, Instant};
use wug_folder::report::Report;
use wug_folder::{EntryId, How, Origin};
use wug_target::dictionary;
use wug_target::{Executor, Verdict, coverage};

/// How often statistics are told, and written.
const LOOK: Duration = Duration::from_millis(500);
const WRITE: Duration = Duration::from_secs(5);

/// Where finds go, and what is told.
pub struct Output<'a> {
    pub host: Host<'a>,
    pub report: Report,
    pub counts: Counts,
    pub begin: Instant,
    next_look: Instant,
    next_write: Instant,
}

/// What is counted.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Steps of the search.
    pub rounds: u64,
    pub accepted: u64,
    pub hangs: u64,
    pub crashes: u64,
    /// Longest way from nothing to a valid input, in steps.
    pub steps: u32,
    /// When something was last found.
    pub found: Option<Instant>,
    /// After how many executions that was.
    pub found_at: u64,
    /// Ids that valid inputs hit.
    pub hit: Vec<u8>,
}

/// How a run of an input as it is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Rejected,
    /// Accepted, and nothing new.
    Known,
    /// Accepted and kept.
    New,
}

impl<'a> Output<'a> {
    pub fn new(
        host: Host<'a>,
        mut report: Report,
        executor: &Executor,
        seed: u64,
        timeout: Duration,
    ) -> Output<'a> {
        begin_report(&mut report, executor, seed, Duration::ZERO);
        report.exec_timeout = timeout.as_millis() as u64;
        let now = Instant::now();
        let (next_look, next_write) = (now + LOOK, now + WRITE);
        Output { host, report, counts: Counts::default(), begin: now, next_look, next_write }
    }

    /// Writes an input to where it belongs.
    pub fn keep(
        &mut self,
        input: &[u8],
        verdict: Verdict,
        node: &Node,
        execs: u64,
        kind: Kind,
        added: &[u8],
    ) -> Result<Option<EntryId>, Error> {
        self.counts.found = Some(Instant::now());
        self.counts.found_at = execs;
        self.counts.steps = self.counts.steps.max(node.steps + 1);
        let how = How::Mutation {
            parents: node.entry.into_iter().collect(),
            op: format!("{}-{}", kind.name(), added.escape_ascii()).replace(':', "\\x3a"),
            rep: None,
        };
        let time = self.begin.elapsed().as_millis() as u64;
        let origin = Origin { time, execs, how, new_coverage: true };
        self.counts.hangs += u64::from(verdict == Verdict::Timeout);
        self.counts.crashes += u64::from(verdict.is_crash());
        self.host.keep(input, verdict, &origin)
    }

    fn fill_report(&mut self, prober: &Prober, known: &Knowledge, frontier: &Frontier) {
        let elapsed = self.begin.elapsed();
        let (counts, report) = (&self.counts, &mut self.report);
        report.last_update = seconds_now();
        report.run_time = elapsed.as_secs();
        report.fuzz_time = report.run_time;
        report.execs_done = prober.execs;
        report.execs_per_sec = prober.execs as f64 / elapsed.as_secs_f64().max(1e-6);
        report.execs_ps_last_min = report.execs_per_sec;
        report.corpus_count = self.host.len() as u64;
        report.corpus_found = report.corpus_count;
        report.corpus_parsed = report.corpus_count;
        report.pending_total = frontier.queue.len() as u64;
        report.max_depth = counts.steps.into();
        report.saved_hangs = counts.hangs;
        report.saved_crashes = counts.crashes;
        report.edges_found = coverage::hit_count(&counts.hit) as u64;
        report.total_edges = (prober.executor().ids() as u64).max(report.edges_found);
        report.bitmap_cvg = 100.0 * report.edges_found as f64 / report.total_edges.max(1) as f64;
        report.stability = 100.0;
        report.auto_dict_entries = known.words.known().len() as u64;
        report.time_wo_finds = counts.found.unwrap_or(self.begin).elapsed().as_secs();
        report.last_find =
            counts.found.map_or(0, |found| report.last_update.saturating_sub(found.elapsed().as_secs()));
    }

    /// Tells and writes figures when it is time to.
    pub fn tell(&mut self, prober: &Prober, known: &Knowledge, frontier: &Frontier) -> Result<(), Error> {
        let now = Instant::now();
        if now >= self.next_look {
            self.next_look = now + LOOK;
            self.fill_report(prober, known, frontier);
            self.host.tell(Event::Report(&self.report));
        }
        if now >= self.next_write {
            self.next_write = now + WRITE;
            self.write(prober, known, frontier)?;
        }
        Ok(())
    }

    /// Writes figures, and the words of the language as a dictionary of
    /// AFL++.
    pub fn write(&mut self, prober: &Prober, known: &Knowledge, frontier: &Frontier) -> Result<(), Error> {
        self.fill_report(prober, known, frontier);
        let words = dictionary::write(known.words.known().iter().map(Vec::as_slice));
        self.host.write(&self.report, &self.counts.hit, &words)
    }

    /// What a person should know of a search that found little.
    pub fn remark(&self, prober: &Prober) -> Option<String> {
        let Self { counts, host, .. } = self;
        if prober.compared == 0 {
            return Some(
                "the target logs no comparisons: build all of it with `wug cc --wug-traced`, parser included"
                    .into(),
            );
        }
        if prober.offers == 0 {
            return Some(format!(
                "in {} runs with {} comparisons the parser compared no byte that was appended: its tables decide, as those of lex and bison do. With a grammar, `wug fuzz -g` fits better; without, `wug fuzz -i` with a few seeds",
                prober.execs, prober.compared
            ));
        }
        if prober.deciders.are_tables() {
            return Some(format!(
                "in {} runs the parser looked at the byte that was appended in the same few places, whatever stood before, and asked for no character there: its tables decide, as those of lex and bison do. With a grammar, `wug fuzz -g` fits better; without, `wug fuzz -i` with a few seeds",
                prober.execs
            ));
        }
        (counts.accepted == 0 && host.len() == 0 && prober.execs > 1000).then(|| {
            "no input was accepted: the target must exit with 0 exactly when it parsed its input".into()
        })
    }
}
