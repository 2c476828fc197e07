//! Campaigns with a traced build beside the fast one: what only comparisons
//! tell is found, and stays in the language.

#[path = "../../target/tests/common/mod.rs"]
mod common;

use common::build_native;
use std::path::{Path, PathBuf};
use wug_campaign::fuzz::{Campaign, Event, Options, Parts, Seeds, Watch};
use wug_campaign::structure::Structure;
use wug_folder::report::{MutatorReport, Report};
use wug_folder::{Folder, Setup, Start};
use wug_grammar::{Grammar, Notation, load::load_text};
use wug_parse::{Cache, Limits, Parser};
use wug_target::Target;

const SETTINGS: &str = r#"
    file = setting+ ;
    setting = NAME "=" NUMBER "," NUMBER "," NUMBER ";" ;
    token NAME = [a-z]+ ;
    token NUMBER = [0-9]{1,9} ;
    skip SPACE = " "+ ;
"#;

/// For bytes: long enough, and with a number in digits where one is read.
const SEED: &[u8] = b"abcdefghijklmn1234opqrstuvwx";

fn grammar() -> Grammar {
    load_text("settings.wug", SETTINGS, Notation::Wug).expect("it loads").grammar
}

#[derive(Default)]
struct Quiet {
    notices: Vec<String>,
}

impl Watch for Quiet {
    fn event(&mut self, event: Event<'_>) {
        if let Event::Notice(text) = event {
            self.notices.push(text);
        }
    }

    fn stops(&mut self) -> bool {
        false
    }
}

struct Run<'a> {
    out: PathBuf,
    report: Report,
    watch: Quiet,
    grammar: Option<&'a Grammar>,
}

fn run<'a>(
    name: &str,
    flags: &[&str],
    traced: Option<PathBuf>,
    grammar: Option<&'a Grammar>,
    execs: u64,
) -> Run<'a> {
    let seeds = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("operands-{name}-in"));
    std::fs::create_dir_all(&seeds).expect("a folder");
    std::fs::write(seeds.join("seed"), SEED).expect("a seed");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("operands-{name}"));
    let _ = std::fs::remove_dir_all(&out);
    let program = build_native("gcc", &[flags, &["-O1"]].concat(), "secrets.c", &format!("secrets-{name}"));
    let mut watch = Quiet::default();
    let parts = Parts {
        target: Target::new(program),
        traced: traced.map(Target::new),
        checked: None,
        execution: wug_target::Options::default(),
        structure: grammar.map(|grammar| Structure::new(grammar).expect("it is small")),
        folder: Folder::open(&out, "default", Start::New, &Setup::default()).expect("a folder"),
        sync: None,
        report: Report::default(),
        tokens: Vec::new(),
        watch: &mut watch,
    };
    let options = Options {
        seed: 1,
        repeatable: true,
        max_execs: Some(execs),
        until_crash: true,
        ..Options::default()
    };
    let seeds = if grammar.is_some() { Seeds::Fresh } else { Seeds::Folder(seeds) };
    let report = Campaign::new(parts, options).and_then(|mut campaign| campaign.run(seeds));
    Run { out, report: report.expect("a campaign"), watch, grammar }
}

impl Run<'_> {
    fn mutator(&self, name: &str) -> &MutatorReport {
        self.report.mutators.iter().find(|mutator| mutator.name == name).expect("a mutator")
    }

    /// How many files of a folder there are, and how many of them parse.
    fn parsed(&self, folder: &str) -> (usize, usize) {
        let grammar = self.grammar.expect("a grammar");
        let parser = Parser::new(grammar).expect("it is small");
        let cache = &mut Cache::new(&parser);
        let files = wug_folder::inputs(&self.out.join("default").join(folder)).expect("a folder").files;
        let parses = |file: &&PathBuf| {
            let bytes = std::fs::read(file).expect("an input");
            parser.parse(&bytes, cache, Limits::default()).is_ok()
        };
        (files.len(), files.iter().filter(parses).count())
    }
}

fn traced(flags: &[&str], name: &str) -> PathBuf {
    build_native("gcc", &[&["--wug-traced"], flags].concat(), "secrets.c", name)
}

#[test]
fn numbers_that_only_comparisons_tell_are_found_and_stay_in_the_language() {
    let grammar = grammar();
    let found = run("numbers", &[], Some(traced(&[], "secrets-traced")), Some(&grammar), 60_000);
    assert_eq!(found.report.saved_crashes, 1, "{:?}", found.report.mutators);
    assert!(found.mutator("operand").finds > 0, "{:?}", found.report.mutators);
    // The crash, beside a text for people.
    assert_eq!(found.parsed("crashes"), (2, 1));
    let (entries, valid) = found.parsed("queue");
    assert!(valid * 2 > entries, "{valid} of {entries}");
    // At most one run in eight went into it, and what one entry takes.
    let Report { traced_execs, execs_done, .. } = found.report;
    assert!(traced_execs > 0 && traced_execs <= execs_done / 8 + 200, "{traced_execs} of {execs_done}");
    // The same again, run by run.
    let again = run("numbers-again", &[], Some(traced(&[], "secrets-traced")), Some(&grammar), 60_000);
    assert_eq!(again.report.execs_done, execs_done);
    // By chance alone, they are not found.
    let blind = run("numbers-blind", &[], None, Some(&grammar), 60_000);
    assert_eq!((blind.report.saved_crashes, blind.mutator("operand").tries), (0, 0));
}

#[test]
fn bytes_of_several_widths_and_orders_are_found_without_a_grammar() {
    let binary = traced(&["-DBINARY"], "secrets-binary-traced");
    let found = run("binary", &["-DBINARY"], Some(binary), None, 200_000);
    assert_eq!(found.report.saved_crashes, 1, "{:?}", found.report.mutators);
    assert!(found.mutator("operand").finds >= 3, "{:?}", found.report.mutators);
}

#[test]
fn a_build_that_is_not_traced_is_left_out_with_a_word() {
    let fast = build_native("gcc", &["-O1"], "secrets.c", "secrets-fast");
    let found = run("untraced", &[], Some(fast), None, 100);
    assert!(
        found.watch.notices.iter().any(|notice| notice.contains("is no traced build")),
        "{:?}",
        found.watch.notices
    );
    assert_eq!(found.report.traced_execs, 0);
}
