//! Campaigns whose decisions follow time, judged by a clock that counts: a run
//! takes what a function of its input says, on every machine.

#[path = "../../target/tests/common/mod.rs"]
mod common;

use common::build_native;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wug_campaign::fuzz::{Campaign, Clock, Error, Event, Options, Parts, Seeds, Watch};
use wug_folder::report::Report;
use wug_folder::{Folder, Setup, Start};
use wug_target::Target;

const QUICK: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

struct Quiet;

impl Watch for Quiet {
    fn event(&mut self, _: Event<'_>) {}

    fn stops(&mut self) -> bool {
        false
    }
}

/// A campaign without a grammar, for so long by a clock that counts.
fn run(name: &str, seeds: &Seeds, takes: fn(&[u8]) -> Duration, options: Options) -> (Report, PathBuf) {
    let (outcome, folder) = try_to_run(name, seeds, takes, options);
    (outcome.expect("a campaign"), folder)
}

fn try_to_run(
    name: &str,
    seeds: &Seeds,
    takes: fn(&[u8]) -> Duration,
    options: Options,
) -> (Result<Report, Error>, PathBuf) {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("time-{name}"));
    let _ = std::fs::remove_dir_all(&out);
    let parts = Parts {
        target: Target::new(build_native("gcc", &["-O1", "-g"], "members.c", &format!("time-{name}-target"))),
        traced: None,
        checked: None,
        execution: wug_target::Options { timeout: SECOND, ..Default::default() },
        structure: None,
        folder: Folder::open(&out, "default", Start::New, &Setup::default()).expect("a folder"),
        sync: None,
        report: Report::default(),
        tokens: Vec::new(),
        watch: &mut Quiet,
    };
    let options = Options { seed: 1, generalise: true, clock: Clock::counted(takes), ..options };
    let outcome = Campaign::new(parts, options).and_then(|mut campaign| campaign.run(seeds.clone()));
    (outcome, out.join("default"))
}

fn within(seconds: u32) -> Options {
    Options { max_time: Some(SECOND * seconds), ..Options::default() }
}

/// The inputs of a queue, by name without the time.
fn queue(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let files = std::fs::read_dir(folder.join("queue")).expect("a queue");
    let entry = |path: PathBuf| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let fields: Vec<&str> = name.split(',').filter(|field| !field.starts_with("time:")).collect();
        (fields.join(","), std::fs::read(&path).expect("bytes"))
    };
    let files = files.map(|file| file.expect("a file").path()).filter(|path| path.is_file());
    let mut entries: Vec<_> = files.map(entry).collect();
    entries.sort();
    entries
}

/// Where the time went.
fn activities(report: &Report) -> String {
    let rows = report.activities.iter().filter(|one| one.execs > 0);
    rows.map(|one| format!("{} {:.1} s {}, ", one.name, one.seconds, one.execs)).collect()
}

/// One feature takes 0.8 s.
fn one_feature(input: &[u8]) -> Duration {
    if input.contains(&b'!') { Duration::from_millis(800) } else { QUICK }
}

#[test]
fn one_slow_feature_does_not_take_the_time_of_all_others() {
    // The first seed has it: all printable characters.
    let (report, folder) = run("feature", &Seeds::Fresh, one_feature, within(20));
    // With a limit of a second it would be a hundred.
    assert!(report.execs_done > 2_000, "{} {}", report.execs_done, activities(&report));
    assert!(report.exec_timeout <= 100, "{}", report.exec_timeout);
    assert!(queue(&folder).iter().any(|(_, input)| input.contains(&b'!')), "the slow one is kept");
    // Every second has a name, and every execution an author.
    let seconds: f64 = report.activities.iter().map(|activity| activity.seconds).sum();
    assert!((19.9..22.0).contains(&seconds), "{seconds}");
    let execs = |sum: &mut dyn Iterator<Item = u64>| sum.sum::<u64>();
    assert_eq!(execs(&mut report.activities.iter().map(|activity| activity.execs)), report.execs_done);
    assert_eq!(execs(&mut report.mutators.iter().map(|mutator| mutator.execs)), report.execs_done);
    let unfinished = report.mutators.iter().find(|row| row.name == "unfinished").map_or(0, |row| row.execs);
    assert!(unfinished < 50, "{unfinished}");
    let mutated = report.activities.iter().find(|activity| activity.name == "mutate").expect("mutation");
    assert!(mutated.seconds > 6.0, "{:?}", report.activities);
}

#[test]
fn a_limit_that_is_set_stays() {
    let options = Options { fixed_timeout: true, ..within(20) };
    let (report, _) = run("fixed", &Seeds::Fresh, one_feature, options);
    assert_eq!(report.exec_timeout, 1000);
    let options = Options { repeatable: true, max_execs: Some(300), ..Options::default() };
    let (report, _) = run("repeated", &Seeds::Fresh, one_feature, options);
    assert_eq!(report.exec_timeout, 1000);
}

#[test]
fn decisions_follow_the_clock_alone() {
    let twice = [0, 1].map(|_| run("same", &Seeds::Fresh, one_feature, within(10)));
    let [one, two] = twice.map(|(report, folder)| (report.execs_done, report.exec_timeout, queue(&folder)));
    assert_eq!(one, two);
}

#[test]
fn slow_inputs_that_show_something_new_are_kept_beyond_the_limit() {
    // Whatever has a dot, which the seed has not, takes 0.3 s.
    fn takes(input: &[u8]) -> Duration {
        if input.contains(&b'.') { Duration::from_millis(300) } else { QUICK }
    }
    let seeds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("time-slow-seeds");
    std::fs::create_dir_all(&seeds).expect("a folder");
    std::fs::write(seeds.join("seed"), "math").expect("a seed");
    let (report, folder) = run("slow", &Seeds::Folder(seeds), takes, within(20));
    assert!(report.exec_timeout < 300, "{}", report.exec_timeout);
    let slow = queue(&folder).iter().filter(|(_, input)| input.contains(&b'.')).count();
    assert!(slow > 0 && report.corpus_count > 2 * slow as u64, "{slow} {}", activities(&report));
    assert!(report.execs_done > 4_000, "{}", report.execs_done);
}

#[test]
fn mutation_begins_before_all_seeds_are_run() {
    fn takes(_: &[u8]) -> Duration {
        Duration::from_millis(5)
    }
    let seeds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("time-many-seeds");
    std::fs::create_dir_all(&seeds).expect("a folder");
    for number in 0..2000 {
        let text = format!("{{\"k{number}\": [{number}, {}]}}", "1, ".repeat(number % 50));
        std::fs::write(seeds.join(format!("{number:04}")), text).expect("a seed");
    }
    let (report, folder) = run("seeds", &Seeds::Folder(seeds), takes, within(6));
    let of = |name: &str| report.activities.iter().find(|one| one.name == name).expect("it is there").seconds;
    assert!(report.seeds.waiting > 500, "{}", report.seeds.waiting);
    assert_eq!(report.seeds.given + report.seeds.waiting, 2000);
    assert!(of("mutate") > 0.8 && of("seeds") > 1.0, "{:?}", report.activities);
    // The smallest first.
    let sizes: Vec<usize> = queue(&folder)
        .iter()
        .filter(|(name, _)| name.contains("orig:"))
        .map(|(name, _)| {
            name.split("orig:").nth(1).expect("a name")[..4].parse::<usize>().expect("a number") % 50
        })
        .collect();
    assert!(sizes[0] == 0 && sizes.iter().all(|size| *size < 40), "{sizes:?}");
}

#[test]
fn a_run_that_was_cut_off_says_nothing_about_stability() {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    // Every fourth run hangs, whatever its input is.
    fn takes(_: &[u8]) -> Duration {
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        if run % 4 == 3 { SECOND * 100 } else { QUICK }
    }
    let options = Options { max_execs: Some(4_000), ..Options::default() };
    let (report, _) = run("stable", &Seeds::Fresh, takes, options);
    assert!(report.corpus_found > 5, "{}", report.corpus_found);
    assert_eq!((report.var_byte_count, report.stability), (0, 100.0));
}

#[test]
fn where_the_first_seed_hangs_its_parts_are_tried() {
    // As our own seed of all characters does.
    fn takes(input: &[u8]) -> Duration {
        if input.contains(&b'!') { SECOND * 100 } else { QUICK }
    }
    let (report, _) = run("parts", &Seeds::Fresh, takes, within(15));
    assert!(report.corpus_count > 3 && report.execs_done > 1_000, "{}", activities(&report));
}

#[test]
fn where_every_seed_hangs_the_way_out_is_told() {
    fn takes(_: &[u8]) -> Duration {
        SECOND * 100
    }
    let seeds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("time-hang-seeds");
    std::fs::create_dir_all(&seeds).expect("a folder");
    std::fs::write(seeds.join("seed"), "{}").expect("a seed");
    let (outcome, _) = try_to_run("hangs", &Seeds::Folder(seeds), takes, within(60));
    let message = outcome.expect_err("no seed is left").to_string();
    assert!(message.contains("takes too long") && message.contains("-t"), "{message}");
}
