//! Hashes of whole campaigns: what a change that must not change behaviour is
//! compared by.
//!
//! `cargo test -p wug-campaign --test queues -- --ignored --nocapture` prints a
//! hash for each campaign, made of the names and contents of its queue and
//! crashes and of what each mutator did. The hashes depend on the compiler of
//! the targets, so none is written down here: run it before and after.

#[path = "../../target/tests/common/mod.rs"]
mod common;

use common::build_native;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wug_campaign::explore;
use wug_campaign::fuzz::{Campaign, Event, Mutators, Options, Parts, Seeds, Watch};
use wug_campaign::structure::Structure;
use wug_folder::report::Report;
use wug_folder::{Folder, Setup, Start};
use wug_grammar::{Notation, load::load_text};
use wug_target::Target;
use wug_target::dictionary::{Sections, of_program};

const LISTS: &str = "list = '(' items? ')' ; items = item (' '+ item)* ; item = list | [abc]+ ;";
const TOKENS: &str = "list = '(' item* ')' ; item = list | WORD ; token WORD = [abc]+ ; skip SPACE = ' '+ ;";
const SETTINGS: &str = r#"
    file = setting+ ;
    setting = NAME "=" NUMBER "," NUMBER "," NUMBER ";" ;
    token NAME = [a-z]+ ;
    token NUMBER = [0-9]{1,9} ;
    skip SPACE = " "+ ;
"#;

struct Quiet;

impl Watch for Quiet {
    fn event(&mut self, _: Event<'_>) {}

    fn stops(&mut self) -> bool {
        false
    }
}

/// A campaign to compare.
#[derive(Clone, Copy, Default)]
struct Case {
    source: &'static str,
    grammar: Option<&'static str>,
    seed_input: Option<&'static str>,
    traced: bool,
    checked: bool,
    flags: &'static [&'static str],
}

/// Names without times, and contents, of the files of a folder.
fn files(folder: &Path, text: &mut String) {
    let Ok(listing) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = listing.map(|file| file.expect("a file").path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.is_file()) {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if name.starts_with("id:") {
            let fields: Vec<&str> = name.split(',').filter(|field| !field.starts_with("time:")).collect();
            let bytes = std::fs::read(path).expect("bytes");
            writeln!(text, "{} {:x}", fields.join(","), wug_random::hash(&bytes)).expect("text");
        }
    }
}

fn run(name: &str, case: Case, options: Options) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("queues-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("in")).expect("a folder");
    let build = |more: &[&str], kind: &str| {
        let flags = [more, case.flags].concat();
        Target::new(build_native("gcc", &flags, case.source, &format!("queues-{name}-{kind}")))
    };
    let seeds = match case.seed_input {
        Some(seed) => {
            std::fs::write(folder.join("in/seed"), seed).expect("a seed");
            Seeds::Folder(folder.join("in"))
        }
        None => Seeds::Fresh,
    };
    let loaded = case.grammar.map(|text| load_text("g.wug", text, Notation::Wug).expect("it loads"));
    let structure = loaded.as_ref().map(|loaded| Structure::new(&loaded.grammar).expect("it is small"));
    let out = folder.join("out");
    let parts = Parts {
        target: build(&["-O1", "-g"], "fast"),
        traced: case.traced.then(|| build(&["--wug-traced"], "traced")),
        checked: case.checked.then(|| build(&["-O1", "-g", "-fsanitize=address"], "checked")),
        // On a busy machine a run may have to wait for its turn.
        execution: wug_target::Options { timeout: Duration::from_secs(10), ..Default::default() },
        structure,
        folder: Folder::open(&out, "default", Start::New, &Setup::default()).expect("a folder"),
        sync: None,
        report: Report::default(),
        tokens: vec![b"abc".to_vec()],
        watch: &mut Quiet,
    };
    let report = Campaign::new(parts, options).and_then(|mut campaign| campaign.run(seeds));
    let report = report.expect("a campaign");
    let mut text = String::new();
    files(&out.join("default/queue"), &mut text);
    files(&out.join("default/crashes"), &mut text);
    for one in &report.mutators {
        writeln!(text, "{} {} {} {}", one.name, one.tries, one.finds, one.yield_now).expect("text");
    }
    let Report { generalised, execs_done, edges_found, corpus_parsed, .. } = &report;
    let Report { parse_tries, input_bytes, traced_execs, max_depth, rechecked, .. } = &report;
    writeln!(text, "{generalised:?} {execs_done} {edges_found} {corpus_parsed} {parse_tries}").expect("text");
    writeln!(text, "{input_bytes} {traced_execs} {max_depth} {rechecked} {}", report.cycles_done)
        .expect("text");
    std::fs::write(folder.join("all.txt"), &text).expect("the text");
    let (entries, crashes) = (report.corpus_count, report.saved_crashes);
    println!("{name}: {:016x} {entries} entries, {crashes} crashes", wug_random::hash(text.as_bytes()));
}

/// The same for a search for valid inputs.
fn explore(name: &str, source: &str, seed: u64, execs: u64) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("queues-explore-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    let program = build_native("gcc", &["--wug-traced"], source, &format!("queues-explore-{name}-target"));
    let execution = wug_target::Options { timeout: Duration::from_secs(10), ..Default::default() };
    let parts = explore::Parts {
        texts: of_program(&program, Sections::ReadOnly).expect("texts"),
        traced: explore::Traced::start(Target::new(program), execution, 1).expect("a traced build"),
        folder: Folder::open(&folder, "default", Start::New, &Setup::default()).expect("a folder"),
        report: Report::default(),
        watch: &mut Quiet,
    };
    let options = explore::Options { seed, max_execs: Some(execs), ..explore::Options::default() };
    let outcome = explore::Explorer::new(parts, options).run().expect("a search");
    let mut text = String::new();
    files(&folder.join("default/queue"), &mut text);
    files(&folder.join("default/crashes"), &mut text);
    let words = std::fs::read_to_string(folder.join("default/tokens.dict")).expect("words");
    let Report { execs_done, pending_total, edges_found, max_depth, corpus_count, .. } = outcome.report;
    writeln!(text, "{words} {execs_done} {pending_total} {edges_found} {max_depth}").expect("text");
    println!("explore {name}: {:016x} {corpus_count} entries,", wug_random::hash(text.as_bytes()));
}

#[test]
#[ignore = "prints hashes to compare two versions by"]
fn hashes_of_searches() {
    for (seed, source) in (1..).zip(["letters.c", "codes.c", "members.c", "words.c", "tags.c", "lists.c"]) {
        explore(source.trim_end_matches(".c"), source, seed, 12_000);
    }
}

fn options(seed: u64, execs: u64) -> Options {
    Options { seed, repeatable: true, max_execs: Some(execs), ..Options::default() }
}

#[test]
#[ignore = "prints hashes to compare two versions by"]
fn hashes_of_campaigns() {
    let lists = Case { source: "lists.c", grammar: Some(LISTS), ..Case::default() };
    let tokens = Case { grammar: Some(TOKENS), ..lists };
    let tags =
        Case { source: "tags.c", seed_input: Some("<?> <item>some text</item> tail"), ..Case::default() };
    let members = Case { source: "members.c", ..Case::default() };
    let codes = Case { source: "codes.c", seed_input: Some(" "), traced: true, ..Case::default() };
    let secrets = Case { source: "secrets.c", grammar: Some(SETTINGS), traced: true, ..Case::default() };
    let plain = options(1, 15_000);
    let learning = |seed| Options { generalise: true, ..options(seed, 15_000) };
    run("lists", lists, plain.clone());
    run("lists-deep", Case { flags: &["-DDEEP=1"], ..lists }, options(2, 15_000));
    run("lists-traced", Case { traced: true, ..lists }, learning(3));
    run("lists-tokens", Case { traced: true, ..tokens }, learning(4));
    run("lists-walks", tokens, Options { mutators: Mutators::Aggressive, ..options(5, 10_000) });
    run("lists-trees", lists, Options { mutators: Mutators::Spot, uniform: true, ..options(6, 10_000) });
    run("lists-strict", lists, Options { invalid: 0.0, trim: false, ..learning(7) });
    run("lists-checked", Case { checked: true, flags: &["-DOVERFLOW"], ..lists }, options(8, 5_000));
    run("lists-plain", lists, Options { plain: true, ..options(9, 3_000) });
    run("lists-bytes", Case { grammar: None, ..lists }, learning(10));
    run("tags", tags, learning(11));
    run("tags-bytes", tags, options(12, 15_000));
    run("tags-traced", Case { traced: true, ..tags }, learning(13));
    run("members", members, learning(14));
    run("members-traced", Case { traced: true, ..members }, learning(15));
    run("codes", codes, options(16, 30_000));
    run("secrets", secrets, options(17, 15_000));
    run("secrets-binary", Case { grammar: None, flags: &["-DBINARY"], ..secrets }, options(18, 15_000));
}
