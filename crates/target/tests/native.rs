//! Targets that `wug cc` built, with gcc and with clang.

mod common;

use common::{alive, build_native, copy, has};
use std::path::PathBuf;
use std::time::Duration;
use wug_runtime::abi;
use wug_target::{Executor, Kind, Layer, Options, Target, Trace, Verdict};

fn compilers() -> Vec<&'static str> {
    ["gcc", "clang"].into_iter().filter(|compiler| has(compiler)).collect()
}

fn fork_target(compiler: &str) -> PathBuf {
    build_native(compiler, &["-O1", "-w"], "hostile.c", &format!("hostile-fork-{compiler}"))
}

fn persistent_target(compiler: &str) -> PathBuf {
    build_native(compiler, &["-O1", "-w", "-DPERSISTENT"], "hostile.c", &format!("hostile-loop-{compiler}"))
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
fn fork_servers_tell_verdicts_time_and_coverage() {
    for compiler in compilers() {
        let program = copy(&fork_target(compiler), &format!("native-{compiler}"));
        for by_file in [false, true] {
            let target = Target::new(&program).arguments(by_file.then_some("@@"));
            let mut executor = Executor::new(target, options()).expect("an executor");
            assert!(executor.has_server() && !executor.is_persistent());
            let mut maps = std::collections::HashSet::new();
            for (input, expected) in [
                ("", Verdict::Ok),
                ("e7", Verdict::Exit(7)),
                ("a", Verdict::Signal(libc::SIGABRT)),
                ("s", Verdict::Signal(libc::SIGSEGV)),
                ("r15", Verdict::Signal(libc::SIGTERM)),
                ("c", Verdict::Ok),
                ("S", Verdict::Ok),
                ("w", Verdict::Signal(libc::SIGXFSZ)),
                ("q", Verdict::Ok),
            ] {
                let seen = executor.run(input.as_bytes()).expect("a run");
                assert_eq!(seen.verdict, expected, "{input}");
                assert!(seen.cpu.is_some_and(|cpu| cpu > Duration::ZERO), "{input}");
                let map = seen.coverage.to_vec();
                assert_eq!(executor.run(input.as_bytes()).expect("a run").coverage, map, "{input} again");
                maps.insert(map);
            }
            assert!(maps.len() >= 6, "inputs differ in what they cover: {}", maps.len());
            check(&mut executor, "k", Verdict::Ok);
            check(&mut executor, "K", Verdict::Ok);
            check(&mut executor, "f", Verdict::Ok);
            check(&mut executor, "f", Verdict::Ok);
            check(&mut executor, "e0", Verdict::Ok);
            assert_eq!(alive(&program), 1, "only the fork server");
        }
        assert_eq!(alive(&program), 0);
    }
}

/// Looking for what a run left behind takes a number as well, which must not
/// be taken for another process left behind.
#[test]
fn one_run_that_leaves_a_process_costs_one_sweep() {
    let program = fork_target("gcc");
    let mut executor = Executor::new(Target::new(&program), options()).expect("an executor");
    if executor.missing().iter().any(|missing| missing.layer == Layer::Processes) {
        assert!(std::env::var_os("WUG_REQUIRE_ALL").is_none(), "pid namespaces are needed");
        eprintln!("skipped: no pid namespaces here");
        return;
    }
    for input in ["", "", "", "f", "", ""] {
        check(&mut executor, input, Verdict::Ok);
    }
    let mut number = || match executor.run(b"P").expect("a run").verdict {
        Verdict::Ok => 0,
        Verdict::Exit(number) => number,
        other => panic!("{other}"),
    };
    let numbers: Vec<i32> = (0..5).map(|_| number()).collect();
    assert!(numbers.windows(2).all(|pair| (pair[0] + 1) % 128 == pair[1]), "{numbers:?}");
}

#[test]
fn a_warden_that_is_killed_is_replaced() {
    for (program, persistent) in [(fork_target("gcc"), false), (persistent_target("gcc"), true)] {
        let program = copy(&program, &format!("bereft-{persistent}"));
        for by_file in [false, true] {
            if by_file && persistent {
                continue;
            }
            let target = Target::new(&program).arguments(by_file.then_some("@@"));
            let mut executor = Executor::new(target, options()).expect("an executor");
            for _ in 0..3 {
                // On a busy machine the list of processes may not show it at once.
                let find = |_| {
                    check(&mut executor, "e7", Verdict::Exit(7));
                    let mine = std::process::id() as i32;
                    let mut wardens = common::processes(&program).into_iter().map(common::parent);
                    wardens.find(|warden| common::parent(*warden) == mine)
                };
                let warden = (0..100).find_map(find).expect("a warden");
                // SAFETY: a child of this process that was not waited for.
                assert_eq!(unsafe { libc::kill(warden, libc::SIGKILL) }, 0);
                check(&mut executor, "e8", Verdict::Exit(8));
                assert_eq!(executor.is_persistent(), persistent);
            }
            drop(executor);
            assert_eq!(alive(&program), 0);
        }
    }
}

#[test]
fn the_time_limit_can_change_between_runs() {
    let Some(compiler) = compilers().into_iter().next() else { return };
    let program = copy(&persistent_target(compiler), "limits");
    for kind in [Kind::Server, Kind::Spawn] {
        let (short, long) = (Duration::from_millis(150), Duration::from_secs(20));
        let options = Options { timeout: short, kind, ..options() };
        let mut executor = Executor::new(Target::new(&program), options).expect("an executor");
        for _ in 0..2 {
            // It would end well within the long limit.
            check(&mut executor, "z9000", Verdict::Timeout);
            executor.set_timeout(long);
            check(&mut executor, "z400", Verdict::Ok);
            executor.set_timeout(short);
        }
    }
}

#[test]
fn persistent_targets_survive_everything_with_true_verdicts() {
    for compiler in compilers() {
        let program = copy(&persistent_target(compiler), &format!("loop-{compiler}"));
        let options = Options { timeout: Duration::from_secs(2), cpu_time: true, ..options() };
        let mut executor = Executor::new(Target::new(&program), options).expect("an executor");
        assert!(executor.is_persistent());
        for _ in 0..3 {
            check(&mut executor, "", Verdict::Ok);
            check(&mut executor, "e7", Verdict::Exit(7));
            check(&mut executor, "e0", Verdict::Ok);
            check(&mut executor, "a", Verdict::Signal(libc::SIGABRT));
            check(&mut executor, "s", Verdict::Signal(libc::SIGSEGV));
            check(&mut executor, "h", Verdict::Timeout);
            check(&mut executor, "H", Verdict::Timeout);
            check(&mut executor, "c", Verdict::Ok);
            check(&mut executor, "S", Verdict::Ok);
            check(&mut executor, "k", Verdict::Ok);
            check(&mut executor, "e9", Verdict::Exit(9));
            check(&mut executor, "f", Verdict::Ok);
            check(&mut executor, "a", Verdict::Signal(libc::SIGABRT));
            check(&mut executor, "", Verdict::Ok);
        }
        drop(executor);
        assert_eq!(alive(&program), 0);
    }
}

#[test]
fn inputs_in_shared_memory_are_neither_cut_nor_padded() {
    for compiler in compilers() {
        let source = "loop.c";
        let program = build_native(compiler, &["-O1", "-w"], source, &format!("sum-{compiler}"));
        for fresh in [false, true] {
            let options = Options { fresh, ..options() };
            let mut executor = Executor::new(Target::new(&program), options).expect("an executor");
            assert_eq!(executor.is_persistent(), !fresh);
            for length in [1usize, 2, 4096, 70_000, 5, 1 << 20, (1 << 20) + 1, 5_000_000, 17, 1] {
                let mut input: Vec<u8> = (0..length).map(|i| (i * 7 + length) as u8).collect();
                input[0] = 0;
                input[0] = input.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
                for _ in 0..25 {
                    assert_eq!(executor.run(&input).expect("a run").verdict, Verdict::Ok, "{length}");
                }
                input[0] ^= 1;
                assert_eq!(executor.run(&input).expect("a run").verdict, Verdict::Exit(1), "{length}");
            }
            assert_eq!(
                executor.run(b"").expect("a run").verdict,
                Verdict::Exit(2),
                "an empty input is empty"
            );
        }
    }
}

#[test]
fn traced_builds_show_what_was_compared() {
    for compiler in compilers() {
        let flags = ["-w", "--wug-traced"];
        let program = build_native(compiler, &flags, "loop.c", &format!("traced-{compiler}"));
        let trace = Some(Trace { events: 1000, pairs: 1 << 16 });
        let mut executor =
            Executor::new(Target::new(&program), Options { trace, ..options() }).expect("an executor");
        for _ in 0..3 {
            let seen = executor.run(b"!crush").expect("a run");
            let texts = seen.events.iter().filter(|event| event.kind == abi::EVENT_TEXT);
            let found = texts.filter(|event| event.x() == b"!crash" || event.y() == b"!crash").count();
            assert!(found > 0, "{compiler}: {} events", seen.events.len());
            assert!(!seen.pairs.is_empty());
            let (events, pairs) = (seen.events.len(), seen.pairs.to_vec());
            let again = executor.run(b"!crush").expect("a run");
            assert_eq!((again.events.len(), again.pairs), (events, pairs.as_slice()), "logs begin anew");
        }
    }
}

#[test]
fn v1_of_the_protocol_of_afl_is_understood() {
    for compiler in compilers() {
        // A target of ours that is not told of a board speaks as AFL++ does.
        let program = fork_target(compiler);
        for protocol in ["old", "v1"] {
            let target = Target::new(&program).variable("WUG_FORKSERVER", protocol);
            let options = Options { as_afl: true, ..options() };
            let mut executor = Executor::new(target, options).expect("an executor");
            check(&mut executor, "", Verdict::Ok);
            check(&mut executor, "e7", Verdict::Exit(7));
            check(&mut executor, "s", Verdict::Signal(libc::SIGSEGV));
            let seen = executor.run(b"e1").expect("a run");
            assert!(seen.coverage.iter().any(|hits| *hits > 0), "{protocol}");
        }
    }
}
