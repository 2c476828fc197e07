//! Targets that forge what they share with the executor: memory, words on the
//! pipes, lengths, counters. None makes it panic, hang, or take much memory.

mod common;

use common::{build, build_native};
use std::path::PathBuf;
use std::sync::{OnceLock, mpsc};
use std::time::Duration;
use wug_target::{Batch, Error, Executor, Kind, Options, Target, Trace, Verdict};

const FLAGS: [&str; 2] = ["-O1", "-w"];

fn plain() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| build("gcc", &FLAGS, "forge.c", "forge")).clone()
}

fn afl() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| build("gcc", &["-O1", "-w", "-DAFL"], "forge.c", "forge-afl")).clone()
}

fn inside() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| build_native("gcc", &["-O1", "-w", "-DINSIDE"], "forge.c", "forge-inside")).clone()
}

/// A limit that nothing but a hang reaches.
const HANG: Duration = Duration::from_secs(300);

/// Runs something that must come to an end.
#[track_caller]
fn ends<T: Send + 'static>(what: &str, act: impl FnOnce() -> T + Send + 'static) -> T {
    let (tell, told) = mpsc::channel();
    let thread = std::thread::spawn(move || tell.send(act()));
    match told.recv_timeout(HANG) {
        Ok(value) => value,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what} hangs"),
        Err(mpsc::RecvTimeoutError::Disconnected) => panic!("{what}: {:?}", thread.join().err()),
    }
}

fn options(trace: bool) -> Options {
    Options {
        timeout: Duration::from_millis(100),
        handshake: Duration::from_millis(2000),
        kind: Kind::Server,
        trace: trace.then_some(Trace { events: 4096, pairs: 1 << 16 }),
        ..Options::default()
    }
}

/// Runs inputs alone, together and longer than any before.
fn drive(program: PathBuf, mode: &str, trace: bool) -> Result<Vec<Verdict>, Error> {
    let target = Target::new(program).arguments([mode]);
    let mut executor = Executor::new(target, options(trace))?;
    let mut verdicts = Vec::new();
    let _ = (executor.dictionary(), executor.modules());
    // A board that was written over costs two seconds each time, until its
    // server is killed: so only a few.
    let mut batch = Batch::default();
    (0..3u8).for_each(|input| batch.push(&[input; 5]));
    let (mut at, seen) = (0, vec![0xff; 5000]);
    while at < batch.len() {
        let (place, observed) = executor.run_batch(&batch, at, &seen)?;
        assert!((at..batch.len()).contains(&place));
        verdicts.push(observed.verdict);
        at = place + 1;
    }
    verdicts.push(executor.run(&vec![b'x'; 3 << 20])?.verdict);
    verdicts.push(executor.run(b"after")?.verdict);
    let _ = (executor.dictionary(), executor.modules(), executor.ids());
    Ok(verdicts)
}

/// The most memory that this process has had, in MiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") / 1024
}

#[track_caller]
fn survives(program: PathBuf, mode: &'static str, trace: bool) -> Vec<Verdict> {
    let what = format!("{mode} of {}", program.display());
    let verdicts = ends(&what, move || drive(program, mode, trace));
    assert!(peak() < 1024, "{what}: {} MiB", peak());
    match verdicts {
        Ok(verdicts) => verdicts,
        // It may break its fork server for good, and then that is said.
        Err(error @ (Error::Lost { .. } | Error::TooManyIds { .. } | Error::Protocol(_))) => {
            eprintln!("{what}: {error}");
            Vec::new()
        }
        Err(error) => panic!("{what}: {error}"),
    }
}

#[test]
fn an_honest_server_is_heard_and_gets_longer_inputs() {
    for (program, mode) in [(plain(), "honest"), (afl(), "honest"), (afl(), "v1-honest")] {
        let verdicts = survives(program, mode, false);
        assert!(
            verdicts.len() >= 3 && verdicts.iter().all(|verdict| *verdict == Verdict::Ok),
            "{verdicts:?}"
        );
    }
}

#[test]
fn no_target_can_shorten_or_seal_the_board() {
    let verdicts = survives(plain(), "truncate", false);
    assert!(verdicts.iter().all(|verdict| *verdict == Verdict::Ok), "{verdicts:?}");
    survives(inside(), "truncate", false);
}

#[test]
fn whatever_stands_on_the_board_is_read() {
    for mode in ["figures", "head", "random", "ones"] {
        survives(plain(), mode, false);
        survives(plain(), mode, true);
        survives(inside(), mode, false);
    }
}

#[test]
fn progress_without_end_and_silence_are_timeouts() {
    for mode in ["progress", "progress-down", "progress-random", "deaf", "flood"] {
        let verdicts = survives(plain(), mode, false);
        assert!(verdicts.iter().all(|verdict| *verdict == Verdict::Timeout), "{mode}: {verdicts:?}");
        assert!(!verdicts.is_empty(), "{mode}");
    }
    for mode in ["deaf", "v1-deaf"] {
        let verdicts = survives(afl(), mode, false);
        assert!(!verdicts.is_empty() && verdicts.iter().all(|verdict| *verdict == Verdict::Timeout));
    }
}

#[test]
fn answers_that_nobody_asked_for_do_no_harm() {
    for mode in ["early", "half", "die", "status"] {
        survives(plain(), mode, false);
    }
    for mode in ["child", "status", "die", "v1-child", "v1-status", "v1-die"] {
        survives(afl(), mode, false);
    }
}

#[test]
fn a_handshake_without_end_is_given_up() {
    let cases = [(plain(), "full"), (plain(), "words"), (afl(), "v1-full"), (afl(), "v1-words")];
    for (program, mode) in cases {
        let what = format!("{mode} of {}", program.display());
        let error = ends(&what, move || drive(program, mode, false)).expect_err(mode);
        assert!(matches!(error, Error::Silent(_) | Error::Protocol(_)), "{what}: {error}");
    }
    // Here the last word of the handshake is the fuzzer's. Where targets run as
    // another user, they cannot fill the pipe.
    match ends("full", || drive(afl(), "full", false)) {
        Err(Error::Silent(_)) | Ok(_) => {}
        Err(error) => panic!("full: {error}"),
    }
    survives(afl(), "words", false);
}

#[test]
fn a_map_of_billions_of_ids_is_refused() {
    for (program, mode, limit) in [
        (plain(), "map", 1 << 24),
        (plain(), "map-board", 1 << 24),
        (plain(), "map-error", 1 << 24),
        (afl(), "v1-map", 1 << 23),
    ] {
        let error = ends(mode, move || drive(program, mode, false)).expect_err(mode);
        assert_eq!(
            error.to_string(),
            format!("the target claims a coverage map of 3000000000 ids: at most {limit} are taken"),
            "{mode}"
        );
    }
    survives(afl(), "map", false);
    assert!(peak() < 1024);
}
