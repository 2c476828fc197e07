//! Valid inputs from nothing but traced builds of small parsers.

#[path = "../../../target/tests/common/mod.rs"]
mod common;
mod reading;

use common::{build_native, has};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wug_campaign::explore::{Explorer, Options, Outcome, Parts, Traced};
use wug_campaign::fuzz::{Event, Watch};
use wug_folder::report::Report;
use wug_folder::{Folder, Name, Setup, Start};
use wug_grammar::{Notation, load::load_text};
use wug_parse::{Cache, Limits, Parser};
use wug_target::Target;
use wug_target::dictionary::{Sections, of_program};

/// The language of `letters.c`, for a judge that shares no code with it.
const LETTERS: &str = r#"
    program = " "* (statement " "*)* ;
    statement = "let" sp name sp "=" sp sum sp ";" | "print" sp sum sp ";" | "{" sp (statement sp)* "}" ;
    sum = term (sp "+" sp term)* ;
    term = name | [0-9]+ | "(" sp sum sp ")" ;
    name = [A-Z] ;
    sp = " "* ;
"#;

struct Quiet;

impl Watch for Quiet {
    fn event(&mut self, _: Event<'_>) {}

    fn stops(&mut self) -> bool {
        false
    }
}

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("explore-{name}"));
    let _ = std::fs::remove_dir_all(&path);
    path
}

fn explore(target: Target, out: &Path, seed: u64, execs: u64) -> Outcome {
    explore_with(target, Vec::new(), out, seed, execs)
}

fn explore_with(target: Target, texts: Vec<Vec<u8>>, out: &Path, seed: u64, execs: u64) -> Outcome {
    let execution = wug_target::Options { timeout: Duration::from_secs(3), ..wug_target::Options::default() };
    let parts = Parts {
        traced: Traced::start(target, execution, 1).expect("a traced build"),
        folder: Folder::open(out, "default", Start::New, &Setup::default()).expect("a folder"),
        report: Report::default(),
        texts,
        watch: &mut Quiet,
    };
    let options = Options { seed, max_execs: Some(execs), ..Options::default() };
    Explorer::new(parts, options).run().expect("a search")
}

/// The inputs that were kept, by name without the time.
fn kept(out: &Path, part: &str) -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(out.join("default").join(part)).expect("a folder");
    files
        .map(|file| file.expect("a file").path())
        .map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), path))
        .filter(|(name, _)| name.starts_with("id:"))
        .map(|(name, path)| {
            let fields: Vec<&str> = name.split(',').filter(|field| !field.starts_with("time:")).collect();
            (fields.join(","), std::fs::read(&path).expect("bytes"))
        })
        .collect()
}

/// Every input is one of the language, and together they have all its tokens.
#[track_caller]
fn check(out: &Path) {
    let grammar = load_text("letters.wug", LETTERS, Notation::Wug).expect("it loads").grammar;
    let parser = Parser::new(&grammar).expect("it is small");
    let inputs = kept(out, "queue");
    for (name, input) in &inputs {
        assert!(Name::parse(name).is_some(), "{name}");
        let parsed = parser.parse(input, &mut Cache::new(&parser), Limits::default());
        assert!(parsed.is_ok(), "{name}: {}", input.escape_ascii());
    }
    let all: Vec<u8> = inputs.values().flatten().copied().collect();
    let all = String::from_utf8_lossy(&all);
    for token in ["let", "print", "=", "+", ";", "(", ")", "{", "}"] {
        assert!(all.contains(token), "{token} is missing: {inputs:?}");
    }
}

#[test]
fn all_tokens_are_found_however_the_input_is_read() {
    for compiler in ["gcc", "clang"].into_iter().filter(|compiler| has(compiler)) {
        let program = build_native(compiler, &["--wug-traced"], "letters.c", &format!("letters.{compiler}"));
        let harness = build_native(
            compiler,
            &["--wug-traced", "-DHARNESS"],
            "letters.c",
            &format!("letters-harness.{compiler}"),
        );
        for (how, target) in [
            ("stdin", Target::new(&program)),
            ("file", Target::new(&program).arguments(["@@"])),
            ("harness", Target::new(&harness)),
        ] {
            let out = folder(&format!("{compiler}-{how}"));
            let outcome = explore(target, &out, 1, 6_000);
            assert_eq!(outcome.remark, None);
            assert_eq!(outcome.report.corpus_count as usize, kept(&out, "queue").len());
            check(&out);
            let words = std::fs::read_to_string(out.join("default/tokens.dict")).expect("a dictionary");
            assert!(words.contains("\"let\"") && words.contains("\"print\""), "{words}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_inputs() {
    let program = build_native("gcc", &["--wug-traced"], "letters.c", "letters-same");
    let outs = [folder("same-a"), folder("same-b")];
    for out in &outs {
        explore(Target::new(&program), out, 7, 1500);
    }
    assert_eq!(kept(&outs[0], "queue"), kept(&outs[1], "queue"));
    assert!(kept(&outs[0], "queue").len() > 3);
}

#[test]
fn lexemes_are_found_for_codes_that_are_compared() {
    for compiler in ["gcc", "clang"].into_iter().filter(|compiler| has(compiler)) {
        let program = build_native(compiler, &["--wug-traced"], "codes.c", &format!("codes.{compiler}"));
        let texts = of_program(&program, Sections::ReadOnly).expect("texts");
        let out = folder(&format!("codes-{compiler}"));
        let outcome = explore_with(Target::new(&program), texts, &out, 1, 4000);
        assert_eq!(outcome.remark, None);
        let inputs = kept(&out, "queue");
        let all: Vec<String> =
            inputs.values().map(|input| String::from_utf8_lossy(input).into_owned()).collect();
        for token in ["begin", "finish", "call", ":="] {
            assert!(all.iter().any(|input| input.contains(token)), "{token} is missing: {all:?}");
        }
        assert!(inputs.keys().any(|name| name.contains("op:token-")), "{:?}", inputs.keys());
        let words = std::fs::read_to_string(out.join("default/tokens.dict")).expect("a dictionary");
        assert!(words.contains("\"finish\"") && words.contains("\":=\""), "{words}");
    }
}

#[test]
fn what_is_looked_at_late_is_found_inside_of_valid_inputs() {
    let program = build_native("gcc", &["--wug-traced"], "late.c", "late");
    let out = folder("late");
    explore(Target::new(&program), &out, 1, 2000);
    let inputs = kept(&out, "queue");
    for escape in ["\\n", "\\u"] {
        let has = |input: &Vec<u8>| String::from_utf8_lossy(input).contains(escape);
        assert!(inputs.values().any(has), "{escape} is missing: {inputs:?}");
    }
}

#[test]
fn members_of_names_are_found_though_names_alone_give_nothing_new() {
    for compiler in ["gcc", "clang"].into_iter().filter(|compiler| has(compiler)) {
        let program = build_native(compiler, &["--wug-traced"], "members.c", &format!("members.{compiler}"));
        let out = folder(&format!("members-{compiler}"));
        explore(Target::new(&program), &out, 1, 3_000);
        let inputs = kept(&out, "queue");
        for whole in ["math.floor", "math.round", "file.close", "file.remove"] {
            assert!(inputs.values().any(|input| input == whole.as_bytes()), "{whole} is missing: {inputs:?}");
        }
    }
}

#[test]
fn nul_bytes_are_found_where_they_are_read() {
    let program = build_native("gcc", &["--wug-traced", "-DBINARY"], "late.c", "binary");
    let out = folder("binary");
    explore(Target::new(&program), &out, 1, 1000);
    assert!(kept(&out, "queue").values().any(|input| input == b"B\0x\0"));
}

#[test]
fn programs_that_run_for_ever_do_not_stop_the_search() {
    let program = build_native("gcc", &["--wug-traced", "-DHANGS"], "letters.c", "letters-hangs");
    let out = folder("hangs");
    let outcome = explore(Target::new(&program), &out, 3, 6000);
    check(&out);
    assert_eq!(outcome.report.saved_hangs as usize, kept(&out, "hangs").len());
}

#[test]
fn a_parser_of_bison_is_told_and_ends_the_search() {
    if !has("bison") || !has("flex") {
        return;
    }
    let folder = folder("bison");
    std::fs::create_dir_all(&folder).expect("a folder");
    let generate = |tool: &str, output: &str, source: &str| {
        let mut command = std::process::Command::new(tool);
        command.current_dir(&folder).arg("-o").arg(output).arg(common::sources().join(source));
        assert!(
            command.args((tool == "bison").then_some("-d")).status().expect("it starts").success(),
            "{tool}"
        );
    };
    generate("bison", "sums.tab.c", "sums.y");
    generate("flex", "sums.lex.c", "sums.l");
    let (parser, lexer) = (folder.join("sums.tab.c"), folder.join("sums.lex.c"));
    let (parser, lexer) = (parser.to_str().expect("UTF-8"), lexer.to_str().expect("UTF-8"));
    // A lexer of flex, and one by hand, which compares bytes.
    for (name, flags) in [("flex", &["--wug-traced", "-DFLEX", lexer][..]), ("hand", &["--wug-traced"])] {
        let program = build_native("gcc", flags, parser, &format!("sums-{name}"));
        let out = folder.join(name);
        let outcome = explore(Target::new(&program), &out, 1, 100_000);
        let remark = outcome.remark.unwrap_or_else(|| panic!("{name}: a remark"));
        assert!(remark.contains("its tables decide"), "{name}: {remark}");
        assert!(outcome.report.execs_done < 50_000, "{name}: it did not end: {}", outcome.report.execs_done);
    }
}

#[test]
fn a_parser_that_compares_nothing_is_told() {
    let program = build_native("gcc", &["--wug-traced"], "tables.c", "tables");
    let outcome = explore(Target::new(&program), &folder("tables"), 1, 2000);
    let remark = outcome.remark.expect("a remark");
    assert!(remark.contains("compared no byte that was appended"), "{remark}");
    let plain = build_native("gcc", &[], "letters.c", "letters-plain");
    let Err(error) = Traced::start(Target::new(&plain), wug_target::Options::default(), 1) else {
        panic!("it is not traced");
    };
    assert!(error.to_string().contains("--wug-traced"), "{error}");
}
