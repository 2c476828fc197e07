//! `fuzzer_stats`: figures that afl-whatsup and many scripts read.
//!
//! A key, padded to 18 characters, `: ` and a value; the keys of AFL++ first
//! and in its order, ours after them.
//!
//! afl-whatsup makes a shell script of this file and runs it, so a value
//! must not end a quoted string there or start a command: of texts, all that
//! could is replaced. The command line, which it leaves out, is only kept on
//! its line.

use crate::report::Report;
use std::fmt::Write;
use std::path::Path;
use wug_files::regular;

/// Larger files are not ours, in bytes.
const MAX_FILE: u64 = 16 << 20;
/// More than any campaign takes: about 30 years, and so many executions.
const MAX_SECONDS: u64 = 1_000_000_000;
const MAX_COUNT: u64 = 1 << 53;

/// Written once for writer and reader.
macro_rules! keys {
    ($do:ident) => {
        $do! {
            start_time: number, last_update: number, run_time: number, fuzzer_pid: number,
            cycles_done: number, cycles_wo_finds: number, time_wo_finds: number, fuzz_time: number,
            calibration_time: number, cmplog_time: number, sync_time: number, trim_time: number,
            execs_done: number, execs_per_sec: rate, execs_ps_last_min: rate, corpus_count: number,
            corpus_favored: number, corpus_found: number, corpus_imported: number,
            corpus_variable: number, max_depth: number, cur_item: number, pending_favs: number,
            pending_total: number, stability: percent, bitmap_cvg: percent, saved_crashes: number,
            saved_hangs: number, last_find: number, last_crash: number, last_hang: number,
            execs_since_crash: number, exec_timeout: number, slowest_exec_ms: number,
            peak_rss_mb: number, cpu_affinity: number, edges_found: number, total_edges: number,
            var_byte_count: number, havoc_expansion: number, auto_dict_entries: number,
            testcache_size: number, testcache_count: number, testcache_evict: number,
            afl_banner: text, afl_version: text, target_mode: text, command_line: line,
        }
    };
}

/// The whole file.
pub(crate) fn write(report: &Report) -> String {
    let mut out = String::new();
    macro_rules! rows {
        ($($key:ident: $kind:ident,)*) => { $(row(&mut out, stringify!($key), $kind(&report.$key));)* };
    }
    keys!(rows);
    own(&mut out, report);
    out
}

/// Our keys: all begin with `wug_`, so that they cannot stand for anything
/// in scripts that take keys for variables.
fn own(out: &mut String, report: &Report) {
    row(out, "wug_seed", number(&report.seed));
    row(out, "wug_grammar", text(&report.grammar));
    row(out, "wug_workers", number(&report.workers));
    row(out, "wug_parse_tries", number(&report.parse_tries));
    row(out, "wug_parse_hits", number(&report.parse_hits));
    row(out, "wug_corpus_parsed", number(&report.corpus_parsed));
    row(out, "wug_gen_execs", number(&report.generalise_execs));
    let seeds = &report.seeds;
    row(out, "wug_seeds", number(&seeds.given));
    row(out, "wug_seeds_parsed", number(&seeds.parsed));
    row(out, "wug_seeds_left_out", number(&seeds.left_out));
    row(out, "wug_stacks", number(&report.crashes.len()));
    row(out, "wug_seeds_waiting", number(&seeds.waiting));
    for activity in &report.activities {
        // seconds, seconds of the target, executions
        let (name, seconds, target) = (&activity.name, activity.seconds, activity.target_seconds);
        row(out, &format!("wug_time_{name}"), format!("{seconds:.2} {target:.2} {}", activity.execs));
    }
    row(out, "wug_cpu_own", format!("{:.2}", report.cpu_own_seconds));
    row(out, "wug_cpu_target", format!("{:.2}", report.cpu_target_seconds));
    for mutator in &report.mutators {
        // tries, finds, executions, yield, seconds, finds in a second
        let key: String =
            mutator.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let (tries, finds, execs) = (mutator.tries, mutator.finds, mutator.execs);
        row(out, &format!("wug_op_{key}"), {
            let (seconds, rate) = (mutator.seconds, mutator.finds_per_second());
            format!("{tries} {finds} {execs} {:.6} {seconds:.2} {rate:.3}", mutator.yield_now)
        });
    }
}

fn row(out: &mut String, key: &str, value: String) {
    writeln!(out, "{key:<18}: {value}").expect("strings take everything");
}

fn number(value: &impl std::fmt::Display) -> String {
    value.to_string()
}

fn rate(value: &f64) -> String {
    format!("{:.2}", finite(*value))
}

pub(super) fn percent(value: &f64) -> String {
    format!("{:.2}%", finite(*value))
}

/// Tools read numbers.
pub(super) fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

fn text(value: &str) -> String {
    let plain = |c: char| !c.is_control() && !matches!(c, '"' | '$' | '`' | '\\');
    value.chars().map(|c| if plain(c) { c } else { '_' }).collect()
}

fn line(value: &str) -> String {
    value.chars().map(|c| if c.is_control() { '_' } else { c }).collect()
}

/// Reads what a campaign of any kind wrote; keys that are not known or
/// make no sense are passed over.
pub(crate) fn parse(stats: &str) -> Report {
    let mut report = Report::default();
    for (key, value) in stats.lines().filter_map(|line| line.split_once(':')) {
        let value = value.trim();
        macro_rules! take {
            (number, $field:expr) => {
                if let Ok(value) = value.parse() {
                    $field = value
                }
            };
            (rate, $field:expr) => {
                take!(number, $field)
            };
            (percent, $field:expr) => {
                if let Ok(value) = value.trim_end_matches('%').parse() {
                    $field = value
                }
            };
            (text, $field:expr) => {
                $field = value.to_owned()
            };
            (line, $field:expr) => {
                take!(text, $field)
            };
        }
        macro_rules! fields {
            ($($key:ident: $kind:ident,)*) => {
                match key.trim_end() { $(stringify!($key) => take!($kind, report.$key),)* _ => {} }
            };
        }
        keys!(fields);
    }
    report
}

/// The figures of an old campaign: all of them if it was ours.
pub(super) fn read(folder: &Path) -> Option<Report> {
    let stats = stats(folder)?;
    let whole = report(&folder.join("report.json"));
    // afl-fuzz may have gone on with our campaign since.
    let mut last = whole.filter(|whole| whole.last_update >= stats.last_update).unwrap_or(stats);
    // Others add to these: what no campaign can come to was made up.
    last.run_time = last.run_time.min(MAX_SECONDS);
    last.execs_done = last.execs_done.min(MAX_COUNT);
    Some(last)
}

/// The process that wrote them last.
pub(super) fn pid(folder: &Path) -> Option<u32> {
    Some(stats(folder)?.fuzzer_pid).filter(|&pid| pid != 0)
}

fn stats(folder: &Path) -> Option<Report> {
    let bytes = regular::read_own(&folder.join("fuzzer_stats"), MAX_FILE).ok()?;
    Some(parse(&String::from_utf8_lossy(&bytes)))
}

/// The figures in a `report.json`, if they make sense.
pub fn report(path: &Path) -> Option<Report> {
    serde_json::from_slice(&regular::read_own(path, MAX_FILE).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_as_written() {
        let report = Report {
            start_time: 1,
            last_update: 70,
            execs_per_sec: 12.25,
            stability: 99.5,
            cpu_affinity: -1,
            afl_banner: "./t".into(),
            command_line: "wug fuzz -- \"./t $x\"".into(),
            ..Report::default()
        };
        let stats = write(&report);
        assert!(
            stats.starts_with("start_time        : 1\nlast_update       : 70\nrun_time          : 0\n"),
            "{stats}"
        );
        assert!(stats.contains("\nstability         : 99.50%\n"), "{stats}");
        assert_eq!(parse(&stats), report);
    }

    #[test]
    fn texts_cannot_leave_their_line_or_their_quotes() {
        let report = Report {
            afl_banner: "a\"; touch x #$(id)`id`\\\nrun_time : 7".into(),
            command_line: "a\nrun_time : 7".into(),
            ..Report::default()
        };
        let stats = write(&report);
        assert!(stats.contains("\nafl_banner        : a_; touch x #_(id)_id___run_time : 7\n"), "{stats}");
        assert_eq!(parse(&stats).run_time, 0);
        assert!(!stats.contains(['"', '$', '`', '\\']));
    }
}
