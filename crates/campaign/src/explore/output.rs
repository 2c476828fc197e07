//! What is kept of runs, and figures.

use super::nodes::FRESH;
use super::offers::{Kind, Probed, offers};
use super::sentinel::{Class, sentinel};
use super::sight::Sight;
use super::tokens::Place;
use super::{Explorer, LOOK, WRITE};
use crate::fuzz::{Error, Event};
use std::time::{Duration, Instant};
use wug_folder::{EntryId, How, Origin};
use wug_target::dictionary;
use wug_target::{Verdict, coverage};

/// What is counted.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    pub execs: u64,
    /// Steps of the search.
    pub rounds: u64,
    pub accepted: u64,
    pub hangs: u64,
    pub crashes: u64,
    /// Offers that comparisons made.
    pub offers: u64,
    /// Events that comparisons left.
    pub compared: u64,
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

impl Explorer<'_> {
    /// Runs an input as it is, and keeps it if it is valid and covers more.
    pub(super) fn check(
        &mut self,
        input: &[u8],
        node: u32,
        kind: Kind,
        added: &[u8],
    ) -> Result<Answer, Error> {
        self.counts.execs += 1;
        let seen = self.runner.run(input)?;
        let verdict = seen.verdict;
        let parsed = verdict == Verdict::Ok || self.rejects.parsed(seen.coverage);
        if !parsed {
            return Ok(Answer::Rejected);
        }
        self.counts.accepted += 1;
        if verdict == Verdict::Ok {
            self.inner.accept(input);
        }
        let new = self.covered.add(&self.words, seen.pairs, seen.events);
        if verdict == Verdict::Ok {
            self.rejects.accept(seen.coverage);
        }
        if !new {
            return Ok(Answer::Known);
        }
        let hit = &mut self.counts.hit;
        hit.resize(hit.len().max(seen.coverage.len()), 0);
        for (hit, count) in hit.iter_mut().zip(seen.coverage) {
            *hit |= u8::from(*count > 0);
        }
        let entry = self.keep(input, verdict, node, kind, added)?;
        let stops = self.nodes.stops(node, input);
        for state in self.closing.learn(input, &stops) {
            self.again.extend(self.waiting.get(&state).into_iter().flatten());
        }
        self.ways.add(input, stops, node);
        if verdict == Verdict::Ok {
            self.inner.add(input, node);
        }
        self.nodes.at_mut(node).entry = entry.or(self.nodes.at(node).entry);
        Ok(Answer::New)
    }

    /// Writes an input to where it belongs.
    fn keep(
        &mut self,
        input: &[u8],
        verdict: Verdict,
        node: u32,
        kind: Kind,
        added: &[u8],
    ) -> Result<Option<EntryId>, Error> {
        self.counts.found = Some(Instant::now());
        self.counts.found_at = self.counts.execs;
        self.counts.steps = self.counts.steps.max(self.nodes.at(node).steps + 1);
        let how = How::Mutation {
            parents: self.nodes.at(node).entry.into_iter().collect(),
            op: format!("{}-{}", kind.name(), added.escape_ascii()).replace(':', "\\x3a"),
            rep: None,
        };
        let time = self.begin.elapsed().as_millis() as u64;
        let origin = Origin { time, execs: self.counts.execs, how, new_coverage: true };
        self.counts.hangs += u64::from(verdict == Verdict::Timeout);
        self.counts.crashes += u64::from(verdict.is_crash());
        self.host.keep(input, verdict, &origin)
    }

    /// Runs an input with a tail of sentinels behind it; what is offered is in
    /// `self.offered`. None if no byte is left for a sentinel.
    pub(super) fn look(&mut self, input: &[u8], class: Class, tail: usize) -> Result<Option<Sight>, Error> {
        match sentinel(input, class, &mut self.rng) {
            Some(byte) => self.look_with(input, byte, tail).map(Some),
            None => Ok(None),
        }
    }

    pub(super) fn look_with(&mut self, input: &[u8], byte: u8, tail: usize) -> Result<Sight, Error> {
        self.counts.execs += 1;
        let mut probe = input.to_vec();
        probe.resize(input.len() + tail, byte);
        let seen = self.runner.run(&probe)?;
        let probed = Probed { input: &probe, keep: input.len(), sentinel: byte };
        self.demands.learn_scans(probed, seen.events);
        let sight = Sight::of(&seen, probed, &self.demands);
        self.offered = offers(probed, seen.events, &self.demands, &mut self.ranges, &mut self.rng);
        self.place = self.offered.token.map(|at| Place::of(seen.events, at as usize));
        self.wishes = self.demands.of(seen.events, &self.offered);
        self.fresh =
            self.covered.news(&self.words, &seen.pairs[..sight.reached], &seen.events[..sight.first]);
        self.fresh.truncate(FRESH);
        if sight.touched && matches!(sight.verdict, Verdict::Exit(_)) {
            self.rejects.reject(seen.coverage);
        }
        if let Some(last) = sight.last.filter(|_| tail == 1 && !input.is_empty()) {
            self.deciders.learn(probed, &seen.events[last]);
        }
        self.counts.offers += (self.offered.texts.len() + self.offered.codes.len()) as u64;
        self.counts.compared += sight.compared as u64;
        self.inner.see(&sight.places);
        Ok(sight)
    }

    pub(super) fn begin_report(&mut self, timeout: Duration) {
        let (executor, report) = (self.runner.executor(), &mut self.report);
        report.start_time = seconds_now();
        report.fuzzer_pid = std::process::id();
        report.seed = self.options.seed;
        report.exec_timeout = timeout.as_millis() as u64;
        report.target_mode = match (executor.has_server(), executor.is_persistent()) {
            (false, _) => "default",
            (true, false) => "shmem_testcase",
            (true, true) => "shmem_testcase persistent",
        }
        .into();
    }

    fn fill_report(&mut self) {
        let elapsed = self.begin.elapsed();
        let (counts, report) = (&self.counts, &mut self.report);
        report.last_update = seconds_now();
        report.run_time = elapsed.as_secs();
        report.fuzz_time = report.run_time;
        report.execs_done = counts.execs;
        report.execs_per_sec = counts.execs as f64 / elapsed.as_secs_f64().max(1e-6);
        report.execs_ps_last_min = report.execs_per_sec;
        report.corpus_count = self.host.len() as u64;
        report.corpus_found = report.corpus_count;
        report.corpus_parsed = report.corpus_count;
        report.pending_total = self.queue.len() as u64;
        report.max_depth = counts.steps.into();
        report.saved_hangs = counts.hangs;
        report.saved_crashes = counts.crashes;
        report.edges_found = coverage::hit_count(&counts.hit) as u64;
        report.total_edges = (self.runner.executor().ids() as u64).max(report.edges_found);
        report.bitmap_cvg = 100.0 * report.edges_found as f64 / report.total_edges.max(1) as f64;
        report.stability = 100.0;
        report.auto_dict_entries = self.words.known().len() as u64;
        report.time_wo_finds = counts.found.unwrap_or(self.begin).elapsed().as_secs();
        report.last_find =
            counts.found.map_or(0, |found| report.last_update.saturating_sub(found.elapsed().as_secs()));
    }

    /// Tells and writes figures when it is time to.
    pub(super) fn tell(&mut self) -> Result<(), Error> {
        let now = Instant::now();
        if now >= self.next_look {
            self.next_look = now + LOOK;
            self.fill_report();
            self.host.tell(Event::Report(&self.report));
        }
        if now >= self.next_write {
            self.next_write = now + WRITE;
            self.write()?;
        }
        Ok(())
    }

    /// Writes figures, and the words of the language as a dictionary of
    /// AFL++.
    pub(super) fn write(&mut self) -> Result<(), Error> {
        self.fill_report();
        let words = dictionary::write(self.words.known().iter().map(Vec::as_slice));
        self.host.write(&self.report, &self.counts.hit, &words)
    }

    /// What a person should know of a search that found little.
    pub(super) fn remark(&self) -> Option<String> {
        let Self { counts, host, .. } = self;
        if counts.compared == 0 {
            return Some(
                "the target logs no comparisons: build all of it with `wug cc --wug-traced`, parser included"
                    .into(),
            );
        }
        if counts.offers == 0 {
            return Some(format!(
                "in {} runs with {} comparisons the parser compared no byte that was appended: its tables decide, as those of lex and bison do. With a grammar, `wug fuzz -g` fits better; without, `wug fuzz -i` with a few seeds",
                counts.execs, counts.compared
            ));
        }
        if self.deciders.are_tables() {
            return Some(format!(
                "in {} runs the parser looked at the byte that was appended in the same few places, whatever stood before, and asked for no character there: its tables decide, as those of lex and bison do. With a grammar, `wug fuzz -g` fits better; without, `wug fuzz -i` with a few seeds",
                counts.execs
            ));
        }
        (counts.accepted == 0 && host.len() == 0 && counts.execs > 1000).then(|| {
            "no input was accepted: the target must exit with 0 exactly when it parsed its input".into()
        })
    }
}

fn seconds_now() -> u64 {
    std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_secs())
}
