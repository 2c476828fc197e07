//! Fork servers that start where the input begins: each way in which a program
//! can set itself up and read its input gets the verdict, the coverage and the
//! output that a new process gets, whether the server moved or not; and says
//! which.

mod common;

use common::{build_native, has};
use std::path::{Path, PathBuf};
use std::time::Duration;
use wug_target::{
    Batch, Confinement, Executor, Fork, ForkAt, ForkPoint, Kind, Options, Output, Target, Verdict,
};

/// Where the server of a way starts: at this system call, with what of the
/// set-up all runs share; or why it stays.
enum Expected {
    Moves(&'static [&'static str], &'static str),
    Stays(&'static str),
}
use Expected::{Moves, Stays};

const READ: &[&str] = &["read"];
const OPEN: &[&str] = &["openat", "open"];
/// What libc asks first depends on its version.
const STDIO: &[&str] = &["newfstatat", "fstat"];
const STAT: &[&str] = &["newfstatat", "stat"];

/// The argument, whether the input is a file, and where the server starts.
const WAYS: &[(&str, bool, Expected)] = &[
    ("read", false, Moves(READ, "")),
    ("file", true, Moves(OPEN, "")),
    ("named", true, Moves(OPEN, "")),
    ("fread", false, Moves(STDIO, "")),
    ("fgets", false, Moves(STDIO, "")),
    ("ungetc", false, Moves(STDIO, "")),
    ("stat", true, Moves(STAT, "")),
    ("realpath", true, Moves(&["readlink", "newfstatat"], "")),
    ("relative", true, Moves(OPEN, "")),
    ("at", true, Moves(OPEN, "")),
    ("link", false, Moves(OPEN, "")),
    ("reopen", false, Moves(OPEN, "")),
    ("duplicate", false, Moves(READ, "")),
    ("twice", true, Moves(OPEN, "")),
    ("map", true, Moves(OPEN, "")),
    ("map-stdin", false, Moves(&["mmap"], "")),
    ("polled", false, Moves(READ, "")),
    ("poll", false, Moves(&["poll"], "")),
    ("select", false, Moves(&["pselect6", "select"], "")),
    ("raw", false, Moves(READ, "")),
    ("constructor", false, Moves(READ, "")),
    ("size-first", false, Moves(&["lseek"], "")),
    ("config", false, Moves(READ, "")),
    ("signals", false, Moves(READ, "the number of the process")),
    ("closes", false, Moves(READ, "")),
    ("drops", false, Moves(READ, "")),
    ("pid-name", false, Moves(READ, "the number of the process")),
    ("time", false, Moves(READ, "the time")),
    ("random", false, Moves(READ, "random numbers")),
    ("banner", false, Moves(READ, "what was written before")),
    ("pid", false, Stays("ends with exit 13")),
    ("thread", false, Stays("a thread or a process")),
    ("joined", false, Stays("a thread or a process")),
    ("child", false, Stays("a thread or a process")),
    ("helper", false, Stays("a thread or a process")),
    ("pipe", false, Stays("a pipe")),
    ("socket", false, Stays("a socket")),
    ("timer", false, Stays("a timer")),
    ("lock", false, Stays("locks a file")),
    ("lock-file", false, Stays("changes files")),
    ("made-link", true, Moves(&["symlink"], "")),
    ("shared", false, Stays("memory that a fork shares")),
    ("unread", false, Stays("the program ends")),
];

const INPUTS: [&str; 8] = ["1", "", "12345", "a", "3p4p", "9e", "pppp11", "2"];

fn options(at: ForkAt) -> Options {
    let mut fork = Fork::at(at);
    // However busy the machine is.
    fork.patience = Duration::from_secs(86_400);
    Options { timeout: Duration::from_secs(60), fork, ..Options::default() }
}

fn target(program: &Path, way: &str, by_file: bool) -> Target {
    Target::new(program).arguments([way]).arguments(by_file.then_some("@@"))
}

fn builds() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut builds = Vec::new();
    for compiler in ["gcc", "clang"] {
        if has(compiler) {
            builds.push((compiler, vec![]));
            builds.push((compiler, vec!["-fsanitize=address"]));
        }
    }
    builds.push(("gcc", vec!["-static"]));
    builds
}

fn program(compiler: &str, flags: &[&str]) -> PathBuf {
    let name = format!("begin-{compiler}{}", flags.concat().replace(['=', ','], "-"));
    build_native(compiler, &[&["-O1", "-w", "-pthread"], flags].concat(), "begin.c", &name)
}

/// What a run showed: its verdict, all counts, and its output.
type Seen = (Verdict, Vec<u8>, Vec<u8>);

fn plain(program: &Path, way: &str, by_file: bool) -> Vec<Seen> {
    let options = Options { kind: Kind::Spawn, output: Output::Record(1 << 16), ..options(ForkAt::Main) };
    let mut executor = Executor::new(target(program, way, by_file), options).expect("an executor");
    let run = |input: &&str| {
        let seen = executor.run(input.as_bytes()).expect("a run");
        (seen.verdict, seen.coverage.to_vec(), seen.output.to_vec())
    };
    INPUTS.iter().map(run).collect()
}

fn check(program: &Path, way: &str, by_file: bool, expected: &Expected) {
    let judge = plain(program, way, by_file);
    let options = Options { kind: Kind::Server, ..options(ForkAt::Input) };
    let mut executor = Executor::new(target(program, way, by_file), options).expect("an executor");
    let seeds: Vec<&[u8]> = INPUTS.iter().map(|input| input.as_bytes()).collect();
    executor.prove(&seeds).expect("a proof");
    let line = executor.fork_point().to_string();
    match expected {
        Moves(calls, notes) => {
            assert!(executor.fork_point().is_late(), "{way}: {line}");
            assert!(calls.iter().any(|call| line.contains(&format!("at {call} "))), "{way}: {line}");
            assert!(line.contains("108 runs agree"), "{way}: {line}");
            assert!(line.contains(notes), "{way}: {line}");
            // The allocator of ASan asks for the time.
            let noted = line.contains("the same in all runs") && !line.ends_with("all runs: the time");
            assert_eq!(notes.is_empty() || *notes == "the time", !noted, "{way}: {line}");
            let covered = executor.setup_coverage().iter().filter(|count| **count > 0).count();
            assert!(covered > 0 || *way == *"constructor", "{way}: the set-up is covered once");
        }
        Stays(why) => {
            assert!(matches!(executor.fork_point(), ForkPoint::Stays(_)), "{way}: {line}");
            assert!(line.contains(why), "{way}: {line}");
            assert!(executor.setup_coverage().is_empty());
        }
    }
    // More than once: what one run leaves would be there for the next.
    let by_chance = matches!(way, "time" | "random");
    for round in 0..3 {
        for (input, (verdict, counts, _)) in INPUTS.iter().zip(&judge) {
            let late = executor.fork_point().is_late();
            let seen = executor.run(input.as_bytes()).expect("a run");
            assert_eq!(seen.verdict, *verdict, "{way} {input} {round}");
            let mut sum = seen.coverage.to_vec();
            if late && !by_chance {
                sum.iter_mut().zip(executor.setup_coverage()).for_each(|(a, b)| *a = a.wrapping_add(*b));
                assert_eq!(&sum, counts, "{way} {input} {round}");
            }
        }
    }
    check_batch(&mut executor, way, &judge);
}

/// All in one batch: what is not new is passed over, and crashes are found.
fn check_batch(executor: &mut Executor, way: &str, judge: &[Seen]) {
    let mut batch = Batch::default();
    INPUTS.iter().for_each(|input| batch.push(input.as_bytes()));
    let seen = vec![u8::MAX; executor.ids()];
    let mut at = 0;
    while at < batch.len() {
        let (place, found) = executor.run_batch(&batch, at, &seen).expect("a batch");
        assert_eq!(found.verdict, judge[place].0, "{way} {}", INPUTS[place]);
        let passed = &judge[at..place];
        assert!(passed.iter().all(|(verdict, ..)| !verdict.is_crash()), "{way}");
        at = place + 1;
    }
}

fn check_all(compiler: &str, flags: &[&str]) {
    let program = program(compiler, flags);
    for (way, by_file, expected) in WAYS {
        check(&program, way, *by_file, expected);
    }
}

#[test]
fn servers_of_gcc_move_where_that_is_safe() {
    check_all("gcc", &[]);
}

#[test]
fn servers_of_clang_move_where_that_is_safe() {
    if has("clang") {
        check_all("clang", &[]);
    }
}

#[test]
fn static_programs_are_no_exception() {
    check_all("gcc", &["-static"]);
}

#[test]
fn nor_are_those_with_a_sanitizer() {
    for compiler in ["gcc", "clang"].into_iter().filter(|compiler| has(compiler)) {
        let program = program(compiler, &["-fsanitize=address"]);
        for (way, by_file, expected) in WAYS {
            // Those that differ in what they do before the input comes.
            if ["read", "file", "fread", "map", "config", "banner", "thread", "pipe"].contains(way) {
                check(&program, way, *by_file, expected);
            }
        }
    }
}

/// Streams of C++, by name and on standard input.
#[test]
fn streams_are_read_like_files() {
    let program = build_native("g++", &["-O1", "-w"], "begin.cc", "begin-streams");
    for (arguments, calls) in [(vec!["@@"], OPEN), (vec![], &["read", "newfstatat", "fstat"])] {
        let target = Target::new(&program).arguments(arguments);
        let plain = Options { kind: Kind::Spawn, ..options(ForkAt::Main) };
        let mut judge = Executor::new(target.clone(), plain).expect("an executor");
        let mut executor = Executor::new(target, options(ForkAt::Input)).expect("an executor");
        for input in ["1 2 3", "", "4 x", "1 2 3", "7"] {
            let expected = judge.run(input.as_bytes()).expect("a run");
            let (verdict, counts) = (expected.verdict, expected.coverage.to_vec());
            let seen = executor.run(input.as_bytes()).expect("a run");
            assert_eq!(seen.verdict, verdict, "{input}");
            let mut sum = seen.coverage.to_vec();
            sum.iter_mut().zip(executor.setup_coverage()).for_each(|(a, b)| *a = a.wrapping_add(*b));
            assert_eq!(sum, counts, "{input}");
        }
        let line = executor.fork_point().to_string();
        assert!(calls.iter().any(|call| line.contains(&format!("at {call} (101 runs agree"))), "{line}");
    }
}

/// Without namespaces the input has another name in each executor, and there are
/// no batches.
#[test]
fn layers_of_confinement_may_be_missing() {
    let program = program("gcc", &[]);
    for confinement in [Confinement { namespaces: false, ..Confinement::default() }, Confinement::none()] {
        for (way, by_file) in [("read", false), ("named", true), ("config", false), ("constructor", false)] {
            let options = Options { confinement: confinement.clone(), ..options(ForkAt::Input) };
            let mut executor = Executor::new(target(&program, way, by_file), options).expect("an executor");
            for _ in 0..3 {
                assert_eq!(executor.run(b"12p").expect("a run").verdict, Verdict::Ok, "{way}");
                assert_eq!(executor.run(b"1e").expect("a run").verdict, Verdict::Exit(7), "{way}");
            }
            assert!(executor.fork_point().is_late(), "{way}: {}", executor.fork_point());
        }
    }
}

/// A run that hangs is ended, also where the program blocks all signals.
#[test]
fn runs_behind_the_set_up_can_be_stopped() {
    let program = program("gcc", &[]);
    for way in ["read", "signals"] {
        let options = Options { timeout: Duration::from_millis(300), ..options(ForkAt::Input) };
        let fork = options.fork.unproven();
        let mut executor =
            Executor::new(target(&program, way, false), Options { fork, ..options }).expect("an executor");
        for _ in 0..3 {
            assert_eq!(executor.run(b"hang").expect("a run").verdict, Verdict::Timeout, "{way}");
            assert_eq!(executor.run(b"1e").expect("a run").verdict, Verdict::Exit(7), "{way}");
        }
        assert!(executor.fork_point().is_late());
    }
}

#[test]
fn a_function_can_be_the_place() {
    for (compiler, flags) in builds() {
        let program = program(compiler, &flags);
        let executor = |symbol: &str, way| {
            Executor::new(target(&program, way, false), options(ForkAt::Symbol(symbol.into())))
        };
        let mut moved = executor("set_up", "read").expect("an executor");
        assert_eq!(moved.run(b"a").expect("a run").verdict, Verdict::Signal(libc::SIGABRT));
        assert_eq!(moved.run(b"1e").expect("a run").verdict, Verdict::Exit(7));
        let line = moved.fork_point().to_string();
        assert!(line.starts_with("the fork server starts before set_up (101 runs agree"), "{line}");
        let mut late = executor("judge", "read").expect("an executor");
        assert_eq!(late.run(b"1e").expect("a run").verdict, Verdict::Exit(7));
        let line = late.fork_point().to_string();
        assert!(line.contains("before judge comes, the program looks at its input"), "{line}");
        let error = executor("no_such", "read").expect_err("no function").to_string();
        assert!(error.contains("no function `no_such`") && error.contains("--fork-at input"), "{error}");
    }
}

/// What a program says itself, and programs of others, are left as they are.
#[test]
fn harnesses_and_other_programs_keep_their_place() {
    let harness = build_native("gcc", &["-O1", "-w", "-DPERSISTENT"], "hostile.c", "begin-loop");
    let mut executor = Executor::new(Target::new(&harness), options(ForkAt::Input)).expect("an executor");
    assert!(executor.is_persistent());
    assert_eq!(executor.run(b"e7").expect("a run").verdict, Verdict::Exit(7));
    assert_eq!(*executor.fork_point(), ForkPoint::Main);
    let mut other = Executor::new(Target::new("cat"), options(ForkAt::Input)).expect("an executor");
    assert_eq!(other.run(b"x").expect("a run").verdict, Verdict::Ok);
    assert_eq!(*other.fork_point(), ForkPoint::Main);
    let symbol = options(ForkAt::Symbol("main".into()));
    let other = Executor::new(Target::new("cat"), symbol).expect("an executor");
    assert!(matches!(other.fork_point(), ForkPoint::Stays(why) if why.contains("wug cc")));
}
