//! Campaigns with a grammar, on a target with a bug that needs structure.

#[path = "../../target/tests/common/mod.rs"]
mod common;

use common::build_native;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wug_campaign::fuzz::{Campaign, Error, Event, Mutators, Options, Parts, Seeds, Watch};
use wug_campaign::structure::Structure;
use wug_folder::report::{MutatorReport, Report};
use wug_folder::{Folder, Setup, Start, sync::Sync};
use wug_grammar::{Grammar, Notation, load::load_text};
use wug_parse::{Cache, Parser};
use wug_target::Target;

/// Of runs: on a busy machine a run may have to wait for its turn.
const TIMEOUT: Duration = Duration::from_secs(5);
const LISTS: &str = "list = '(' items? ')' ; items = item (' '+ item)* ; item = list | [abc]+ ;";

fn grammar() -> Grammar {
    load_text("lists.wug", LISTS, Notation::Wug).expect("it loads").grammar
}

fn target() -> PathBuf {
    build_native("gcc", &["-O1", "-g"], "lists.c", "lists")
}

fn target_that_hangs() -> PathBuf {
    build_native("gcc", &["-O1", "-g", "-DHANGS"], "lists.c", "lists-hang")
}

/// A folder that is new to a test.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{name}"));
    let _ = std::fs::remove_dir_all(&path);
    path
}

#[derive(Debug, Default)]
struct Quiet {
    notices: Vec<String>,
    crashes: Vec<String>,
}

impl Watch for Quiet {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Notice(text) => self.notices.push(text),
            Event::Crash(crash) => self.crashes.push(crash.place.clone()),
            Event::Report(_) | Event::Paused(_) => {}
        }
    }

    fn stops(&mut self) -> bool {
        false
    }
}

/// Runs a campaign with the grammar of lists.
fn run(out: &Path, start: Start, seeds: Seeds, options: Options) -> (Result<Report, Error>, Quiet) {
    run_on(target(), None, out, start, seeds, options)
}

fn run_on(
    program: PathBuf,
    checked: Option<PathBuf>,
    out: &Path,
    start: Start,
    seeds: Seeds,
    options: Options,
) -> (Result<Report, Error>, Quiet) {
    let grammar = grammar();
    let structure = Structure::new(&grammar).expect("it is small");
    run_with(structure, program, checked, out, start, seeds, options)
}

fn run_with(
    structure: Structure<'_>,
    program: PathBuf,
    checked: Option<PathBuf>,
    out: &Path,
    start: Start,
    seeds: Seeds,
    options: Options,
) -> (Result<Report, Error>, Quiet) {
    run_within(TIMEOUT, structure, program, checked, out, start, seeds, options)
}

#[allow(clippy::too_many_arguments, reason = "what a campaign has")]
fn run_within<'a>(
    timeout: Duration,
    structure: impl Into<Option<Structure<'a>>>,
    program: PathBuf,
    checked: Option<PathBuf>,
    out: &Path,
    start: Start,
    seeds: Seeds,
    options: Options,
) -> (Result<Report, Error>, Quiet) {
    let mut watch = Quiet::default();
    let parts = Parts {
        target: Target::new(program),
        traced: None,
        checked: checked.map(Target::new),
        execution: wug_target::Options { timeout, ..wug_target::Options::default() },
        structure: structure.into(),
        folder: Folder::open(out, "default", start, &Setup::default()).expect("a folder"),
        sync: Some(Sync::new(out, "default", &[]).expect("nothing to import")),
        report: Report::default(),
        tokens: Vec::new(),
        watch: &mut watch,
    };
    let outcome = Campaign::new(parts, options).and_then(|mut campaign| campaign.run(seeds));
    (outcome, watch)
}

fn repeatable(seed: u64, execs: u64) -> Options {
    Options { seed, repeatable: true, max_execs: Some(execs), ..Options::default() }
}

/// What is in the queue: names without times, and bytes.
fn queue(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(out.join("default/queue")).expect("a queue");
    let name = |path: &Path| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        name.split(',').filter(|part| !part.starts_with("time:")).collect::<Vec<_>>().join(",")
    };
    files
        .map(|file| file.expect("a file").path())
        .map(|path| (name(&path), std::fs::read(&path).expect("bytes")))
        .collect()
}

#[test]
fn a_bug_that_needs_structure_is_found_and_kept() {
    let out = folder("bug");
    // Nothing may leave the language.
    let options = Options { until_crash: true, invalid: 0.0, ..repeatable(1, 2_000_000) };
    let (report, watch) = run(&out, Start::New, Seeds::Fresh, options);
    let report = report.expect("a campaign");
    assert_eq!(report.saved_crashes, 1, "{report:?}");
    assert!(watch.crashes[0].contains("list"), "{:?}", watch.crashes);
    let crash = std::fs::read(out.join("default/crashes").join(&report.crashes[0].file)).expect("the crash");
    let grammar = grammar();
    let parser = Parser::new(&grammar).expect("it is small");
    let parsed = parser.parse(&crash, &mut Cache::new(&parser), wug_parse::Limits::default());
    assert!(parsed.is_ok(), "{}", String::from_utf8_lossy(&crash));
    // The queue holds what was counted, and all of it parses.
    assert_eq!(queue(&out).len() as u64, report.corpus_count);
    assert!(report.corpus_parsed == report.corpus_count && report.edges_found > 10, "{report:?}");
    let byte_level = |mutator: &&MutatorReport| matches!(mutator.name.as_str(), "havoc" | "token");
    assert!(report.mutators.iter().filter(byte_level).all(|mutator| mutator.tries == 0), "{report:?}");
    let made: u64 = report.mutators.iter().map(|mutator| mutator.finds).sum();
    assert!(made > 0 && report.mutators.iter().filter(|mutator| mutator.tries > 0).count() >= 10);
}

#[test]
fn large_changes_come_beside_small_ones_or_alone() {
    check_mutators(&grammar(), "bytes");
    // Between tokens anything may stand that is skipped.
    let text = "list = '(' item* ')' ; item = list | WORD ; token WORD = [abc]+ ; skip SPACE = ' '+ ;";
    check_mutators(&load_text("tokens.wug", text, Notation::Wug).expect("it loads").grammar, "tokens");
}

fn check_mutators(grammar: &Grammar, of: &str) {
    for (mutators, name) in
        [(Mutators::Both, "both"), (Mutators::Aggressive, "aggressive"), (Mutators::Spot, "spot")]
    {
        let structure = Structure::new(grammar).expect("it is small");
        // Nothing may leave the language; Gramatron's mutators never do.
        let invalid = if mutators == Mutators::Aggressive { 0.5 } else { 0.0 };
        let options = Options { mutators, invalid, ..repeatable(4, 6_000) };
        let out = folder(&format!("{name}-{of}"));
        let (report, _) = run_with(structure, target(), None, &out, Start::New, Seeds::Fresh, options);
        let report = report.expect("a campaign");
        let tries = |names: &[&str]| -> Vec<u64> {
            let of =
                |name: &&str| report.mutators.iter().find(|one| one.name == *name).expect("it is listed");
            names.iter().map(|name| of(name).tries).collect()
        };
        let tried = |names: &[&str]| tries(names).iter().all(|tries| *tries > 20);
        let untried = |names: &[&str]| tries(names).iter().all(|tries| *tries == 0);
        let (whole, recursion, small) =
            (["rest", "tail"], ["recurse", "repeat"], ["fresh", "splice", "swap"]);
        assert!(tried(&recursion), "{report:?}");
        match mutators {
            Mutators::Both => assert!(tried(&whole) && tried(&small), "{report:?}"),
            Mutators::Aggressive => {
                assert!(
                    tried(&whole) && untried(&small) && untried(&["leaf", "havoc", "token"]),
                    "{report:?}"
                );
            }
            Mutators::Spot => assert!(untried(&whole) && tried(&small), "{report:?}"),
        }
        // A parser that knows nothing of mutators accepts all of it.
        assert_eq!(report.corpus_parsed, report.corpus_count, "{report:?}");
        let parser = Parser::new(grammar).expect("it is small");
        for (name, bytes) in queue(&out) {
            let parsed = parser.parse(&bytes, &mut Cache::new(&parser), wug_parse::Limits::default());
            assert!(parsed.is_ok(), "{name}: {}", String::from_utf8_lossy(&bytes));
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_queue() {
    let outs = [folder("same-a"), folder("same-b"), folder("other")];
    for (out, seed) in outs.iter().zip([7, 7, 8]) {
        let (report, _) = run(out, Start::New, Seeds::Fresh, repeatable(seed, 20_000));
        assert!(report.expect("a campaign").execs_done >= 20_000);
    }
    assert_eq!(queue(&outs[0]), queue(&outs[1]));
    assert_ne!(queue(&outs[0]), queue(&outs[2]));
}

#[test]
fn the_share_of_inputs_without_regard_to_the_grammar_is_bounded() {
    let (report, _) = run(&folder("share"), Start::New, Seeds::Fresh, repeatable(9, 20_000));
    let report = report.expect("a campaign");
    let tries = |names: &[&str]| -> u64 {
        let named = |mutator: &&MutatorReport| names.contains(&mutator.name.as_str());
        report.mutators.iter().filter(named).map(|mutator| mutator.tries).sum()
    };
    let all: u64 = report.mutators.iter().map(|mutator| mutator.tries).sum();
    // A fifth of the turns goes to entries that do not parse, and a fifth of
    // what is made of the others.
    let byte_level = tries(&["havoc", "token"]);
    assert!(byte_level > all / 50 && byte_level < all * 42 / 100, "{byte_level} of {all}");
    assert!(tries(&["leaf"]) > all / 100, "{report:?}");
}

#[test]
fn a_campaign_goes_on_where_it_was() {
    let out = folder("resume");
    let (first, _) = run(&out, Start::New, Seeds::Fresh, repeatable(3, 5_000));
    let first = first.expect("a campaign");
    let before = queue(&out);
    let (second, _) = run(&out, Start::Resume, Seeds::Queue, repeatable(3, 5_000));
    let second = second.expect("a campaign");
    let after = queue(&out);
    assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)), "nothing is lost");
    assert!(second.execs_done >= first.execs_done + 5_000 && second.edges_found >= first.edges_found);
    assert!(second.corpus_count >= first.corpus_count);
}

#[test]
fn figures_that_cannot_be_do_no_harm() {
    let out = folder("figures");
    let (first, _) = run(&out, Start::New, Seeds::Fresh, repeatable(3, 500));
    first.expect("a campaign");
    let most = u64::MAX;
    let report =
        Report { run_time: most, execs_done: most, last_update: most, start_time: most, ..Report::default() };
    let json = serde_json::to_string(&report).expect("JSON");
    std::fs::write(out.join("default/report.json"), json).expect("figures");
    let stats = format!("run_time : {most}\nexecs_done : {most}\nlast_update : {most}\n");
    let name = format!("default/crashes/id:{},sig:06,time:{most},execs:{most},op:havoc", u32::MAX);
    for told in ["report.json", "fuzzer_stats"] {
        std::fs::write(out.join("default/fuzzer_stats"), &stats).expect("figures");
        std::fs::write(out.join(&name), "(").expect("a crash with the last number");
        let (second, _) = run(&out, Start::Resume, Seeds::Queue, repeatable(3, 500));
        let second = second.unwrap_or_else(|error| panic!("{told}: {error}"));
        assert!(second.corpus_count > 0 && second.execs_done < most, "{told}: {second:?}");
        std::fs::remove_file(out.join("default/report.json")).expect("then the others are read");
    }
}

#[test]
fn seeds_in_folders_inside_are_seeds() {
    let (out, seeds) = (folder("nested"), folder("nested-in"));
    std::fs::create_dir_all(seeds.join("a/b")).expect("a folder");
    std::fs::create_dir_all(seeds.join(".hidden")).expect("a folder");
    for (name, text) in [("one", "()"), ("a/two", "(a)"), ("a/b/three", "(a (b))"), (".hidden/four", "(c)")] {
        std::fs::write(seeds.join(name), text).expect("a seed");
    }
    // A circle of folders has an end.
    std::os::unix::fs::symlink("..", seeds.join("a/up")).expect("a link");
    let (report, watch) = run(&out, Start::New, Seeds::Folder(seeds), repeatable(1, 50));
    let report = report.expect("a campaign");
    assert_eq!((report.seeds.given, report.seeds.parsed), (3, 3), "{watch:?}");
}

#[test]
fn with_a_grammar_seeds_that_all_crash_are_no_end() {
    let (out, seeds) = (folder("all-crash"), folder("all-crash-in"));
    std::fs::create_dir_all(&seeds).expect("a folder");
    std::fs::write(seeds.join("one"), "(((((((abc a a a a)))))))").expect("a seed");
    let (report, watch) = run(&out, Start::New, Seeds::Folder(seeds), repeatable(1, 2_000));
    let report = report.expect("a campaign");
    assert!(report.seeds.crashed == 1 && report.saved_crashes >= 1 && report.corpus_count > 1, "{report:?}");
    assert!(watch.notices.iter().any(|text| text.contains("inputs of the grammar")), "{watch:?}");
}

#[test]
fn seeds_are_told_by_whether_they_parse_crash_or_hang() {
    let (out, seeds) = (folder("seeds"), folder("seeds-in"));
    std::fs::create_dir_all(&seeds).expect("a folder");
    for (name, text) in [
        ("a", "(a (b c))"),
        ("broken", "(a b"),
        ("crash", "((((((abc a a a))))))"),
        ("slow", "(cacbcacbcacbc)"),
        ("z", "()"),
    ] {
        std::fs::write(seeds.join(name), text).expect("a seed");
    }
    let (report, watch) =
        run_on(target_that_hangs(), None, &out, Start::New, Seeds::Folder(seeds.clone()), repeatable(5, 60));
    let told = report.expect("a campaign").seeds;
    assert_eq!((told.given, told.parsed, told.crashed, told.timed_out), (5, 4, 1, 1), "{told:?}");
    assert_eq!((told.stops[0].name.as_str(), told.stops[0].offset), ("broken", 4), "{told:?}");
    for what in ["`crash` crashes", "`slow` takes"] {
        assert!(watch.notices.iter().any(|notice| notice.contains(what)), "{what}: {:?}", watch.notices);
    }
    assert!(queue(&out).values().any(|bytes| bytes == b"(a b"), "a seed that does not parse is one");
    // The hang was run again with more time, and kept.
    assert_eq!(wug_folder::inputs(&out.join("default/hangs")).expect("a folder").files.len(), 1);
}

#[test]
fn what_others_find_is_imported() {
    let out = folder("sync");
    let other = out.join("other/queue");
    std::fs::create_dir_all(&other).expect("a folder");
    // The target knows it, and hardly anybody meets it by chance.
    let rare = format!("( {})", "a ".repeat(2159)).into_bytes();
    assert_eq!(rare.len(), 4321);
    assert_eq!(&rare[4000..4020], b"a a a a a a a a a a ");
    std::fs::write(other.join("id:000000,orig:x"), &rare).expect("an input");
    let options = Options { max_time: Some(Duration::from_secs(5)), trim: false, ..Options::default() };
    let (report, _) = run(&out, Start::New, Seeds::Fresh, options);
    assert_eq!(report.expect("a campaign").corpus_imported, 1);
    let imported =
        |(name, bytes): (&String, &Vec<u8>)| name.contains("sync:other,src:000000") && *bytes == rare;
    assert!(queue(&out).iter().any(imported));
}

#[test]
fn without_anything_to_start_with_it_says_so() {
    let (out, seeds) = (folder("nothing"), folder("nothing-in"));
    std::fs::create_dir_all(&seeds).expect("a folder");
    let (outcome, _) = run(&out, Start::New, Seeds::Folder(seeds.clone()), repeatable(1, 100));
    assert!(outcome.is_err_and(|error| error.to_string().contains("no input in")));
    std::fs::write(seeds.join("slow"), "(cacbcacbcacbc)").expect("a seed");
    let out = folder("nothing-slow");
    let (outcome, _) = run_within(
        TIMEOUT,
        None,
        target_that_hangs(),
        None,
        &out,
        Start::New,
        Seeds::Folder(seeds),
        repeatable(1, 100),
    );
    assert!(outcome.is_err_and(|error| error.to_string().contains("every seed crashes")));
}

#[test]
fn a_target_whose_runtime_tells_nothing_is_named() {
    let object = common::build("gcc", &["-c"], "lists.c", "lists-plain.o");
    let program = build_native("gcc", &[], object.to_str().expect("a path"), "lists-mute");
    let out = folder("mute");
    let (refused, _) = run_on(program, None, &out, Start::New, Seeds::Fresh, repeatable(3, 10));
    assert!(
        refused.expect_err("it tells nothing").to_string().contains("tells nothing of what inputs reach")
    );
}

#[test]
fn a_target_without_instrumentation_is_fuzzed_if_one_insists() {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lists-plain");
    let source = common::sources().join("lists.c");
    let built = std::process::Command::new("gcc")
        .args(["-O1", "-g", "-DMAIN", "-DDEEP=1"])
        .arg(source)
        .arg("-o")
        .arg(&program)
        .status();
    assert!(built.expect("gcc").success());
    let out = folder("plain");
    let start = |options| run_on(program.clone(), None, &out, Start::New, Seeds::Fresh, options);
    let (refused, _) = start(repeatable(3, 10));
    assert!(refused.expect_err("it tells nothing").to_string().contains("is not instrumented"));
    // A list with four items that begins with "abc", one deep.
    let options = Options { plain: true, until_crash: true, ..repeatable(3, 30_000) };
    let (report, watch) = start(options);
    let report = report.expect("a campaign");
    assert_eq!((report.saved_crashes, report.corpus_count), (1, 100), "{report:?}");
    assert!(watch.crashes[0].contains("list"), "{:?}", watch.crashes);
}

#[test]
fn finds_are_run_by_a_build_that_sees_more() {
    let fast = build_native("gcc", &["-O1", "-g", "-DOVERFLOW"], "lists.c", "lists-overflow");
    let flags = ["-O1", "-g", "-DOVERFLOW", "-fsanitize=address"];
    let checked = build_native("gcc", &flags, "lists.c", "lists-asan");
    let options = Options { until_crash: true, ..repeatable(1, 20_000) };
    let (alone, _) = run_on(fast.clone(), None, &folder("fast"), Start::New, Seeds::Fresh, options.clone());
    let (both, watch) = run_on(fast, Some(checked), &folder("asan"), Start::New, Seeds::Fresh, options);
    let (alone, both) = (alone.expect("a campaign"), both.expect("a campaign"));
    assert!(!alone.crashes.iter().any(|crash| crash.place.contains("overflow")), "{alone:?}");
    assert!(watch.crashes.iter().any(|place| place.contains("heap-buffer-overflow")), "{watch:?}");
    assert!(both.rechecked > 0 && both.rechecked < both.execs_done / 2, "{both:?}");
}
