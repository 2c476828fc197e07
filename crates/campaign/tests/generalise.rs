//! Campaigns that learn the structure of inputs from what they find.

#[path = "../../target/tests/common/mod.rs"]
mod common;

use common::build_native;
use std::path::{Path, PathBuf};
use wug_campaign::fuzz::{Campaign, Event, Options, Parts, Seeds, Watch};
use wug_campaign::structure::Structure;
use wug_folder::report::{MutatorReport, Report};
use wug_folder::{Folder, Setup, Start};
use wug_grammar::{Notation, load::load_text};
use wug_target::Target;

struct Quiet;

impl Watch for Quiet {
    fn event(&mut self, _: Event<'_>) {}

    fn stops(&mut self) -> bool {
        false
    }
}

/// What a campaign left.
struct Run {
    report: Report,
    queue: Vec<Vec<u8>>,
}

/// A folder that is new to a test.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("generalise-{name}"));
    let _ = std::fs::remove_dir_all(&path);
    path
}

fn run(name: &str, source: &str, seed: Option<&[u8]>, grammar: Option<&str>, options: Options) -> Run {
    let out = folder(name);
    let seeds = seed.map_or(Seeds::Fresh, |seed| {
        let seeds = folder(&format!("{name}-in"));
        std::fs::create_dir_all(&seeds).expect("a folder");
        std::fs::write(seeds.join("seed"), seed).expect("a seed");
        Seeds::Folder(seeds)
    });
    let program = build_native("gcc", &["-O1"], source, &format!("generalise-{name}-target"));
    let loaded = grammar.map(|text| load_text("g.wug", text, Notation::Wug).expect("it loads"));
    let parts = Parts {
        target: Target::new(program),
        traced: None,
        checked: None,
        execution: wug_target::Options::default(),
        structure: loaded.as_ref().map(|loaded| Structure::new(&loaded.grammar).expect("it is small")),
        folder: Folder::open(&out, "default", Start::New, &Setup::default()).expect("a folder"),
        sync: None,
        report: Report::default(),
        tokens: Vec::new(),
        watch: &mut Quiet,
    };
    let report = Campaign::new(parts, options).and_then(|mut campaign| campaign.run(seeds));
    let mut files = wug_folder::inputs(&out.join("default/queue")).expect("a queue").files;
    files.sort();
    let queue = files.iter().map(|file| std::fs::read(file).expect("an input")).collect();
    Run { report: report.expect("a campaign"), queue }
}

fn options(seed: u64, execs: u64) -> Options {
    Options { seed, repeatable: true, generalise: true, max_execs: Some(execs), ..Options::default() }
}

impl Run {
    fn mutator(&self, name: &str) -> &MutatorReport {
        self.report.mutators.iter().find(|mutator| mutator.name == name).expect("a mutator")
    }
}

#[test]
fn from_the_printable_characters_structure_is_learned_and_put_together() {
    let made = run("lists", "lists.c", None, None, options(1, 60_000));
    let Report { generalised, generalise_execs, execs_done, .. } = &made.report;
    assert!(
        generalised.finds > 0
            && generalised.inputs >= 5
            && generalised.gap_bytes > 0
            && generalised.tokens > 0,
        "{generalised:?}"
    );
    assert_eq!(generalised.waiting, 0);
    // At most a quarter of the runs, and what one input takes.
    assert!(*generalise_execs > 0 && *generalise_execs <= execs_done / 4 + 1200, "{generalise_execs}");
    for name in ["extend", "fill"] {
        assert!(made.mutator(name).tries > 100, "{:?}", made.report.mutators);
    }
    let finds = |names: &[&str]| names.iter().map(|name| made.mutator(name).finds).sum::<u64>();
    assert!(finds(&["extend", "fill"]) > 0, "{:?}", made.report.mutators);
    // The same again.
    let again = run("lists-again", "lists.c", None, None, options(1, 60_000));
    assert_eq!(made.queue, again.queue);
    // Without it, nothing is spent on it.
    let off = Options { generalise: false, ..options(1, 5_000) };
    let without = run("lists-off", "lists.c", None, None, off);
    assert_eq!((without.report.generalise_execs, without.mutator("fill").tries), (0, 0));
}

#[test]
fn elements_are_put_into_each_other_and_renamed_together() {
    let seed_input: Option<&[u8]> = Some(b"<?> <item>some text</item> tail");
    let (mut learned, mut plain, mut renamed, mut linked) = (Vec::new(), Vec::new(), 0, 0);
    // One run says little of how long another takes.
    for seed in 1..=9 {
        let until = Options { until_crash: true, ..options(seed, 400_000) };
        let made = run(&format!("tags-{seed}"), "tags.c", seed_input, None, until.clone());
        let Report { generalised, saved_crashes, execs_done, .. } = &made.report;
        assert_eq!(*saved_crashes, 1, "{:?}", made.report.mutators);
        assert!(generalised.pairs > 0, "{generalised:?}");
        linked += u32::from(generalised.links > 0);
        renamed += made.mutator("rename").tries;
        learned.push(*execs_done);
        // Bytes alone take longer, if they come there at all.
        let off = Options { generalise: false, ..until };
        let without = run(&format!("tags-off-{seed}"), "tags.c", seed_input, None, off);
        eprintln!("{execs_done} against {}, {} links", without.report.execs_done, generalised.links);
        plain.push(without.report.execs_done);
    }
    assert!(renamed > 0 && linked > 4, "{renamed} {linked}");
    learned.sort_unstable();
    plain.sort_unstable();
    assert!(plain[4] > learned[4], "medians of {plain:?} and {learned:?}");
}

#[test]
fn with_a_grammar_it_keeps_to_the_share_of_what_leaves_the_language() {
    let lists = "list = '(' items? ')' ; items = item (' '+ item)* ; item = list | [abc]+ ;";
    let made = run("grammar", "lists.c", None, Some(lists), options(5, 20_000));
    assert!(made.report.generalised.inputs > 0, "{:?}", made.report);
    assert!(made.mutator("fill").tries > 0 && made.mutator("splice").tries > 0, "{:?}", made.report.mutators);
    let strict = Options { invalid: 0.0, ..options(5, 5_000) };
    let made = run("grammar-strict", "lists.c", None, Some(lists), strict);
    assert_eq!(made.mutator("fill").tries, 0);
    assert_eq!(made.report.corpus_parsed, made.report.corpus_count);
}
