//! Targets that AFL++ built: `afl-clang-fast` of Debian, which speaks the old
//! protocol.

mod common;

use common::{alive, build, copy, has};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;
use wug_target::{Executor, Kind, Options, Target, Verdict};

fn hostile() -> Option<PathBuf> {
    static PATH: OnceLock<Option<PathBuf>> = OnceLock::new();
    let make =
        || has("afl-clang-fast").then(|| build("afl-clang-fast", &["-O1", "-w"], "hostile.c", "hostile-afl"));
    PATH.get_or_init(make).clone()
}

fn persistent() -> Option<PathBuf> {
    static PATH: OnceLock<Option<PathBuf>> = OnceLock::new();
    let flags = ["-O1", "-w"];
    let make = || has("afl-clang-fast").then(|| build("afl-clang-fast", &flags, "loop.c", "loop-afl"));
    PATH.get_or_init(make).clone()
}

fn options() -> Options {
    Options { timeout: Duration::from_secs(20), kind: Kind::Server, ..Options::default() }
}

#[track_caller]
fn check(executor: &mut Executor, input: &str, expected: Verdict) {
    let seen = executor.run(input.as_bytes()).expect("a run");
    assert_eq!(seen.verdict, expected, "{input}");
}

#[test]
fn verdicts_and_coverage_come_from_the_fork_server() {
    let Some(program) = hostile() else { return };
    let program = copy(&program, "afl-verdicts");
    for by_file in [false, true] {
        let target = Target::new(&program).arguments(by_file.then_some("@@"));
        let mut executor = Executor::new(target, options()).expect("an executor");
        assert!(executor.has_server() && !executor.is_persistent());
        for round in 0..3 {
            check(&mut executor, "", Verdict::Ok);
            check(&mut executor, "e7", Verdict::Exit(7));
            check(&mut executor, "a", Verdict::Signal(libc::SIGABRT));
            check(&mut executor, "s", Verdict::Signal(libc::SIGSEGV));
            check(&mut executor, "r15", Verdict::Signal(libc::SIGTERM));
            check(&mut executor, "l", Verdict::Ok);
            check(&mut executor, "c", Verdict::Ok);
            check(&mut executor, "S", Verdict::Ok);
            check(&mut executor, "w", Verdict::Signal(libc::SIGXFSZ));
            check(&mut executor, "q", Verdict::Ok);
            // It kills the fork server, and that is not its own end.
            check(&mut executor, "k", Verdict::Ok);
            check(&mut executor, "f", Verdict::Ok);
            check(&mut executor, "f", Verdict::Ok);
            check(&mut executor, "e0", Verdict::Ok);
            // Only the fork server is left, and at most the last daemon.
            assert_eq!(alive(&program), 1, "round {round}");
        }
    }
}

#[test]
fn coverage_tells_inputs_apart_and_repeats() {
    let Some(program) = hostile() else { return };
    let mut executor = Executor::new(Target::new(program), options()).expect("an executor");
    assert!(executor.ids() > 10);
    let mut map = |input: &str| executor.run(input.as_bytes()).expect("a run").coverage.to_vec();
    let nothing = map("");
    let exit = map("e1");
    let session = map("S");
    assert!(nothing.iter().any(|hits| *hits > 0));
    assert!(nothing != exit && exit != session);
    for _ in 0..20 {
        assert_eq!(map("e1"), exit);
        assert_eq!(map("S"), session);
    }
}

#[test]
fn hangs_cost_the_child_and_not_the_server() {
    let Some(program) = hostile() else { return };
    let options = Options { timeout: Duration::from_secs(2), ..options() };
    let mut executor = Executor::new(Target::new(program), options).expect("an executor");
    for _ in 0..3 {
        check(&mut executor, "h", Verdict::Timeout);
        check(&mut executor, "H", Verdict::Timeout);
        check(&mut executor, "e3", Verdict::Exit(3));
    }
}

#[test]
fn persistent_targets_take_inputs_of_any_length_from_shared_memory() {
    let Some(program) = persistent() else { return };
    let mut executor = Executor::new(Target::new(program), options()).expect("an executor");
    assert!(executor.is_persistent());
    // It exits with 1 if the sum in the first byte is wrong.
    for length in [1usize, 2, 3, 1000, 70_000, 5, 1 << 20, (1 << 20) + 5, 3_000_000, 17, 1] {
        let mut input: Vec<u8> = (0..length).map(|i| (i * 7 + length) as u8).collect();
        input[0] = 0;
        input[0] = input.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
        for _ in 0..3 {
            let seen = executor.run(&input).expect("a run");
            assert_eq!(seen.verdict, Verdict::Ok, "{length}");
        }
        input[0] ^= 1;
        assert_eq!(executor.run(&input).expect("a run").verdict, Verdict::Exit(1), "{length}");
    }
    assert_eq!(executor.run(b"").expect("a run").verdict, Verdict::Exit(2), "an empty input is empty");
}

#[test]
fn persistent_targets_crash_hang_and_go_on() {
    let Some(program) = persistent() else { return };
    let options = Options { timeout: Duration::from_secs(2), ..options() };
    let mut executor = Executor::new(Target::new(program), options).expect("an executor");
    for _ in 0..3 {
        check(&mut executor, "!crash", Verdict::Signal(libc::SIGABRT));
        check(&mut executor, "!hang", Verdict::Timeout);
        check(&mut executor, "!exit", Verdict::Exit(9));
        // More runs than the loop of one process.
        for _ in 0..50 {
            check(&mut executor, "\0", Verdict::Ok);
        }
    }
}

#[test]
fn programs_without_a_fork_server_are_told_or_run_plainly() {
    let plain = build("cc", &["-O1", "-w"], "hostile.c", "hostile-no-server");
    let refused = Executor::new(Target::new(&plain), options()).expect_err("no server");
    assert!(refused.to_string().contains("wug cc"), "{refused}");
    // It has the name that AFL++'s runtime looks up, and says nothing.
    let mute = build("cc", &["-O1", "-w"], "mute.c", "mute");
    let silent = Options { handshake: Duration::from_millis(300), ..options() };
    let refused = Executor::new(Target::new(&mute), silent.clone()).expect_err("a silent server");
    assert_eq!(refused.to_string(), "the target's fork server did not answer within 300 ms");
    let target = Target::new(&mute).arguments(["ends"]);
    let mut executor = Executor::new(target, Options { kind: Kind::Auto, ..silent }).expect("a plain way");
    assert!(!executor.has_server());
    check(&mut executor, "", Verdict::Exit(5));
}
