//! All figures of a campaign, in one value.
//!
//! In:  what the campaign counts.
//! Out: `fuzzer_stats` and a row of `plot_data` (see [`crate`]), a
//!      JSON object, and whatever a screen or a page shows.
//!
//! The first fields are the keys of AFL++'s `fuzzer_stats`, with its names
//! and meanings; ours follow.

use serde::{Deserialize, Serialize};

/// All figures of a campaign.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// When the campaign began: seconds of Unix time. A campaign that goes
    /// on counts as begun `run_time` ago.
    pub start_time: u64,
    /// When this was written, likewise.
    pub last_update: u64,
    /// Seconds of fuzzing, earlier runs included.
    pub run_time: u64,
    /// The process.
    pub fuzzer_pid: u32,
    /// Times that all entries have had their turn.
    pub cycles_done: u64,
    /// How many of the last of them found nothing.
    pub cycles_wo_finds: u64,
    /// Seconds since the last find.
    pub time_wo_finds: u64,
    /// Seconds spent on mutated inputs.
    pub fuzz_time: u64,
    /// Seconds spent on calibration.
    pub calibration_time: u64,
    /// Seconds spent on traced runs.
    pub cmplog_time: u64,
    /// Seconds spent on imports.
    pub sync_time: u64,
    /// Seconds spent on trimming.
    pub trim_time: u64,
    /// Executions.
    pub execs_done: u64,
    /// The same per second of run time.
    pub execs_per_sec: f64,
    /// The same over the last minute.
    pub execs_ps_last_min: f64,
    /// Entries.
    pub corpus_count: u64,
    /// Entries that together reach all that is reached.
    pub corpus_favored: u64,
    /// Entries found by this campaign.
    pub corpus_found: u64,
    /// Entries found by others.
    pub corpus_imported: u64,
    /// Entries whose runs differ.
    pub corpus_variable: u64,
    /// Longest chain of ancestors.
    pub max_depth: u64,
    /// The entry whose turn it is.
    pub cur_item: u64,
    /// Favoured entries that have not had a turn.
    pub pending_favs: u64,
    /// Entries that have not had a turn.
    pub pending_total: u64,
    /// Share of reached edges that are reached in every run of an input: percent.
    pub stability: f64,
    /// Share of edges that are reached: percent.
    pub bitmap_cvg: f64,
    /// Crashes that were kept.
    pub saved_crashes: u64,
    /// Hangs that were kept.
    pub saved_hangs: u64,
    /// When an entry was last found: seconds of Unix time; 0 for never.
    pub last_find: u64,
    /// When a crash was.
    pub last_crash: u64,
    /// When a hang was.
    pub last_hang: u64,
    /// Executions since the last crash.
    pub execs_since_crash: u64,
    /// Time limit of a run, in milliseconds.
    pub exec_timeout: u64,
    /// Slowest run of an entry, in milliseconds.
    pub slowest_exec_ms: u64,
    /// Most memory that a target held, in MiB.
    pub peak_rss_mb: u64,
    /// The core this is bound to; -1 for none.
    pub cpu_affinity: i64,
    /// Edges that are reached.
    pub edges_found: u64,
    /// Edges that there are.
    pub total_edges: u64,
    /// Edges that are reached in some runs of an input only.
    pub var_byte_count: u64,
    /// Always 0 with us: how far AFL++ widened its havoc.
    pub havoc_expansion: u64,
    /// Tokens that the target brought along.
    pub auto_dict_entries: u64,
    /// Finds that another build ran as well.
    pub rechecked: u64,
    /// Bytes of entries in memory.
    pub testcache_size: u64,
    /// Entries in memory.
    pub testcache_count: u64,
    /// Entries that had to leave it.
    pub testcache_evict: u64,
    /// What to call this campaign: the target.
    pub afl_banner: String,
    /// Name and version of the fuzzer.
    pub afl_version: String,
    /// How the target is run.
    pub target_mode: String,
    /// How the campaign was started.
    pub command_line: String,

    /// The seed of all random choices.
    pub seed: u64,
    /// The grammar; empty without one.
    pub grammar: String,
    /// Workers that share this output folder.
    pub workers: u64,
    /// Inputs that were parsed, or tried to be.
    pub parse_tries: u64,
    /// Those that the grammar derives.
    pub parse_hits: u64,
    /// Entries that the grammar derives.
    pub corpus_parsed: u64,
    /// Bytes of all inputs that were run.
    pub input_bytes: u64,
    /// Executions spent on finding out what the target compares.
    pub traced_execs: u64,
    /// Executions spent on generalisation.
    pub generalise_execs: u64,
    /// What came of it.
    pub generalised: GeneraliseReport,
    /// Where the time of this run went: each moment belongs to one of these.
    pub activities: Vec<ActivityReport>,
    /// CPU time of the fuzzer in this run, in seconds.
    pub cpu_own_seconds: f64,
    /// The same of the target, where it is measured: not for builds of AFL++,
    /// nor for traced ones.
    pub cpu_target_seconds: f64,
    /// Executions of earlier runs.
    pub execs_earlier: u64,
    /// What each mutator did, and each stage: executions of all are those of
    /// this run.
    pub mutators: Vec<MutatorReport>,
    /// Crashes by site, in the order of finding.
    pub crashes: Vec<CrashReport>,
    /// What became of the user's seeds.
    pub seeds: SeedsReport,
}

impl Report {
    /// Adds the figures of a worker on the same output folder: what it did is
    /// added, what it reached or knows is the most of both, and crashes count
    /// once for each stack.
    pub fn merge(&mut self, other: &Report) {
        if self.start_time == 0 || (other.start_time != 0 && other.start_time < self.start_time) {
            self.start_time = other.start_time;
        }
        macro_rules! each {
            ($how:ident: $($field:ident),*) => { $(self.$field = self.$field.$how(other.$field);)* };
        }
        each!(saturating_add: execs_done, execs_earlier, saved_hangs, corpus_found, corpus_imported, parse_tries, parse_hits,
            input_bytes, traced_execs, generalise_execs, rechecked, fuzz_time, calibration_time, cmplog_time,
            sync_time, trim_time);
        each!(max: last_update, run_time, cycles_done, corpus_count, corpus_parsed, corpus_variable,
            edges_found, total_edges, bitmap_cvg, max_depth, last_find, last_crash, last_hang, var_byte_count,
            exec_timeout, slowest_exec_ms, auto_dict_entries, workers);
        // Unstable in one is unstable.
        if self.stability == 0.0 || (other.stability > 0.0 && other.stability < self.stability) {
            self.stability = other.stability;
        }
        self.execs_per_sec += other.execs_per_sec;
        self.execs_ps_last_min += other.execs_ps_last_min;
        for crash in &other.crashes {
            match self.crashes.iter_mut().find(|known| known.stack == crash.stack) {
                Some(known) => known.count = known.count.saturating_add(crash.count),
                None => self.crashes.push(crash.clone()),
            }
        }
        self.saved_crashes = self.crashes.len() as u64;
        for mutator in &other.mutators {
            match self.mutators.iter_mut().find(|known| known.name == mutator.name) {
                Some(known) => known.add(mutator),
                None => self.mutators.push(mutator.clone()),
            }
        }
        for activity in &other.activities {
            match self.activities.iter_mut().find(|known| known.name == activity.name) {
                Some(known) => {
                    known.seconds += activity.seconds;
                    known.target_seconds += activity.target_seconds;
                    known.execs = known.execs.saturating_add(activity.execs);
                }
                None => self.activities.push(activity.clone()),
            }
        }
        self.cpu_own_seconds += other.cpu_own_seconds;
        self.cpu_target_seconds += other.cpu_target_seconds;
        // All have the same seeds.
        if self.seeds.given < other.seeds.given {
            self.seeds = other.seeds.clone();
        }
        for (own, other) in [
            (&mut self.grammar, &other.grammar),
            (&mut self.afl_banner, &other.afl_banner),
            (&mut self.afl_version, &other.afl_version),
            (&mut self.target_mode, &other.target_mode),
            (&mut self.command_line, &other.command_line),
        ] {
            if own.is_empty() {
                own.clone_from(other);
            }
        }
    }
}

/// What was learned of the structure of inputs.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GeneraliseReport {
    /// Inputs that were generalised.
    pub inputs: u64,
    /// Those that wait for it.
    pub waiting: u64,
    /// Bytes of the former, and how many of them do not matter.
    pub bytes: u64,
    /// See there.
    pub gap_bytes: u64,
    /// Gaps.
    pub gaps: u64,
    /// Texts between gaps, each once.
    pub tokens: u64,
    /// Words that are only right together.
    pub links: u64,
    /// Gaps of inputs that take the input itself.
    pub nests: u64,
    /// Pairs of a gap and an input that fits into it.
    pub pairs: u64,
    /// Entries that were met on the way.
    pub finds: u64,
}

/// What a mutator did.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MutatorReport {
    /// Its name, as in the names of entries.
    pub name: String,
    /// How often it was asked.
    pub tries: u64,
    /// How many entries came of it.
    pub finds: u64,
    /// Executions spent on it, with those for what came of it.
    pub execs: u64,
    /// Time spent on it, in seconds: making inputs, running them, and what was
    /// done with those that were kept.
    pub seconds: f64,
    /// What the schedule makes of it: finds by cost, recent ones first.
    pub yield_now: f64,
    /// Whether it is a stage of the campaign, not a mutator.
    pub is_stage: bool,
}

impl MutatorReport {
    /// Finds in a second.
    pub fn finds_per_second(&self) -> f64 {
        if self.seconds > 0.0 { self.finds as f64 / self.seconds } else { 0.0 }
    }

    /// Adds what another one of this name did.
    pub fn add(&mut self, other: &MutatorReport) {
        self.tries = self.tries.saturating_add(other.tries);
        self.finds = self.finds.saturating_add(other.finds);
        self.execs = self.execs.saturating_add(other.execs);
        self.seconds += other.seconds;
    }
}

/// What a campaign did for some time.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ActivityReport {
    /// Its name.
    pub name: String,
    /// How long.
    pub seconds: f64,
    /// How long the target ran meanwhile; the rest is the fuzzer's own.
    pub target_seconds: f64,
    /// Executions.
    pub execs: u64,
}

/// A crash bucket: crashes of one site.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CrashReport {
    /// A hash of the site, the same in all campaigns with one build.
    pub stack: u64,
    /// The signal.
    pub signal: u8,
    /// How many inputs led there.
    pub count: u64,
    /// The first file that was kept.
    pub file: String,
    /// Further files, which reached edges that no crash had reached before.
    pub more: Vec<String>,
    /// The signal, or what a sanitizer complains of.
    pub kind: String,
    /// The site, for people: kind, innermost functions, what was said, line.
    pub place: String,
}

/// What became of the user's seeds.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SeedsReport {
    /// How many there were.
    pub given: u64,
    /// How many the grammar derives.
    pub parsed: u64,
    /// How many crashed the target.
    pub crashed: u64,
    /// How many took too long.
    pub timed_out: u64,
    /// How many wait to be run.
    pub waiting: u64,
    /// How many were left out as too large or unreadable.
    pub left_out: u64,
    /// Where the first that do not parse stop.
    pub stops: Vec<SeedStop>,
}

/// Where a seed stops to be an input of the grammar.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SeedStop {
    /// The seed.
    pub name: String,
    /// Bytes before that place.
    pub offset: u64,
    /// What is said of it.
    pub message: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_add_up_and_crashes_count_once_for_each_stack() {
        let crash = |stack, count| CrashReport { stack, count, ..CrashReport::default() };
        let one = Report {
            execs_done: u64::MAX,
            edges_found: 7,
            saved_crashes: 2,
            crashes: vec![crash(1, u64::MAX), crash(2, 1)],
            ..Report::default()
        };
        let two = Report {
            execs_done: 5,
            edges_found: 9,
            saved_crashes: 2,
            crashes: vec![crash(2, 3), crash(3, 1)],
            ..Report::default()
        };
        let mut sum = Report::default();
        sum.merge(&one);
        sum.merge(&two);
        assert_eq!((sum.execs_done, sum.edges_found, sum.saved_crashes), (u64::MAX, 9, 3));
        let counts: Vec<(u64, u64)> = sum.crashes.iter().map(|crash| (crash.stack, crash.count)).collect();
        assert_eq!(counts, [(1, u64::MAX), (2, 4), (3, 1)]);
    }
}
