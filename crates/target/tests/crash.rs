//! Where targets crash.

mod common;

use common::{build, build_native, has};
use std::path::Path;
use std::time::Duration;
use wug_target::{Crash, Executor, Options, Target, Verdict};

fn examine(program: &Path, options: Options, input: &[u8]) -> Crash {
    let mut executor = Executor::new(Target::new(program), options).expect("an executor");
    let crash = executor.examine(input).expect("a look");
    // What follows is not disturbed.
    assert_eq!(executor.run(b"x").expect("a run").verdict, Verdict::Ok);
    crash
}

fn patient() -> Options {
    Options { timeout: Duration::from_secs(20), ..Options::default() }
}

/// The functions that stand in this order on the stack.
#[track_caller]
fn check(crash: &Crash, verdict: Verdict, functions: &[&str]) {
    assert_eq!(crash.verdict, verdict, "{crash:?}");
    let names: Vec<&str> = crash.stack.iter().filter_map(|frame| frame.function.as_deref()).collect();
    let mut rest = names.iter();
    for function in functions {
        assert!(rest.any(|name| name == function), "{function} in {names:?}");
    }
}

#[test]
fn stacks_of_crashes_need_no_frame_pointers() {
    for flags in [&["-O2", "-g", "-fomit-frame-pointer"][..], &["-O0"], &["-O2", "-static", "-g"]] {
        let program = build("cc", flags, "crash.c", &format!("crash{}", flags.join("")));
        let crash = examine(&program, patient(), b"s\0");
        check(&crash, Verdict::Signal(libc::SIGSEGV), &["write_to_null", "inner", "outer", "main"]);
        assert_eq!(crash.stack[0].function.as_deref(), Some("write_to_null"));
        if flags.contains(&"-g") {
            let place = (crash.stack[0].file.as_deref(), crash.stack[0].line);
            assert!(
                place.0.is_some_and(|file| file.ends_with("crash.c")) && place.1 == Some(10),
                "{place:?}"
            );
        }
        check(
            &examine(&program, patient(), b"a"),
            Verdict::Signal(libc::SIGABRT),
            &["abort", "inner", "outer", "main"],
        );
        check(
            &examine(&program, patient(), b"j"),
            Verdict::Signal(libc::SIGSEGV),
            &["inner", "outer", "main"],
        );
        let deep = examine(&program, patient(), b"d");
        check(&deep, Verdict::Signal(libc::SIGSEGV), &["deep", "deep", "deep"]);
        assert!(deep.stack.len() <= 300);
        let fine = examine(&program, patient(), b"x");
        assert_eq!((fine.verdict, fine.stack.len()), (Verdict::Ok, 0));
    }
}

#[test]
fn instrumented_targets_are_examined_as_well() {
    for compiler in ["gcc", "clang"].into_iter().filter(|compiler| has(compiler)) {
        let program = build_native(compiler, &["-O1", "-g"], "crash.c", &format!("crash-{compiler}"));
        let crash = examine(&program, patient(), b"s\0");
        check(&crash, Verdict::Signal(libc::SIGSEGV), &["write_to_null", "inner", "outer", "main"]);
    }
}

#[test]
fn reports_of_sanitizers_are_read() {
    for compiler in ["gcc", "clang"].into_iter().filter(|compiler| has(compiler)) {
        let flags = ["-O1", "-g", "-fsanitize=address"];
        let program = build(compiler, &flags, "crash.c", &format!("crash-asan-{compiler}"));
        let crash = examine(&program, patient(), b"u\x02");
        check(&crash, Verdict::Signal(libc::SIGABRT), &["inner", "outer", "main"]);
        assert_eq!(crash.stack[0].function.as_deref(), Some("inner"), "{crash:?}");
        let summary = crash.summary.expect("a summary");
        assert!(summary.starts_with("AddressSanitizer: heap-use-after-free"), "{summary}");
    }
}

#[test]
fn memory_that_runs_out_is_no_ordinary_crash() {
    let memory = Some(200 << 20);
    let program = build("cc", &["-O1", "-g", "-w"], "crash.c", "crash-memory");
    let crash = examine(&program, Options { memory, ..patient() }, b"m");
    check(&crash, Verdict::OutOfMemory, &["inner", "outer", "main"]);
    let options = Options { memory, ..patient() };
    let mut executor = Executor::new(Target::new(&program), options).expect("an executor");
    assert_eq!(executor.run(b"m").expect("a run").verdict, Verdict::OutOfMemory);
    assert_eq!(executor.run(b"s\0").expect("a run").verdict, Verdict::Signal(libc::SIGSEGV));
    // A crash that has nothing to do with it stays one.
    let crash = examine(&program, Options { memory, ..patient() }, b"s\0");
    check(&crash, Verdict::Signal(libc::SIGSEGV), &["write_to_null"]);
    if has("clang") {
        let flags = ["-O1", "-g", "-w", "-fsanitize=address"];
        let program = build("clang", &flags, "crash.c", "crash-memory-asan");
        let crash = examine(&program, Options { memory, ..patient() }, b"m");
        assert_eq!(crash.verdict, Verdict::OutOfMemory, "{}", String::from_utf8_lossy(&crash.output));
    }
}

#[test]
fn hangs_end_under_trace_too() {
    let program = build("cc", &["-O1", "-w"], "hostile.c", "crash-hang");
    let mut executor = Executor::new(
        Target::new(program),
        Options { timeout: Duration::from_secs(2), ..Options::default() },
    )
    .expect("an executor");
    let crash = executor.examine(b"H").expect("a look");
    assert_eq!((crash.verdict, crash.stack.len()), (Verdict::Timeout, 0));
    assert_eq!(executor.examine(b"f").expect("a look").verdict, Verdict::Ok);
}
