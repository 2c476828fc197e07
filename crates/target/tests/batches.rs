//! Inputs that are run together tell what they tell one by one.

mod common;

use common::{build_native, has};
use std::path::PathBuf;
use std::time::Duration;
use wug_target::{Batch, Confinement, Executor, Kind, Options, Target, Verdict, coverage};

/// How a target gets its inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Persistent,
    /// A process for each, on standard input.
    Stdin,
    /// A process for each, in a file.
    File,
}

fn target(compiler: &str, mode: Mode) -> PathBuf {
    match mode {
        Mode::Persistent => {
            let flags = ["-O1", "-w", "-DPERSISTENT"];
            build_native(compiler, &flags, "hostile.c", &format!("hostile-batch-{compiler}"))
        }
        _ => build_native(compiler, &["-O1", "-w"], "hostile.c", &format!("hostile-fork-batch-{compiler}")),
    }
}

fn executor(program: &PathBuf, mode: Mode, timeout: u64) -> Executor {
    let timeout = Duration::from_millis(timeout);
    let options = Options { timeout, kind: Kind::Server, ..Options::default() };
    let mut target = Target::new(program);
    if mode == Mode::File {
        target = target.arguments(["@@"]);
    }
    let executor = Executor::new(target, options).expect("an executor");
    assert_eq!(executor.is_persistent(), mode == Mode::Persistent);
    executor
}

/// All that is of interest in a batch: places, verdicts, counts.
type Told = Vec<(usize, Verdict, Vec<u8>)>;

fn note(told: &mut Told, seen: &mut Vec<u8>, at: usize, verdict: Verdict, counts: &[u8]) {
    // That an input is rejected is not of interest.
    let ended = matches!(verdict, Verdict::Ok | Verdict::Exit(_));
    if !ended || coverage::has_news(counts, seen) {
        told.push((at, verdict, counts.to_vec()));
        let mut classes = counts.to_vec();
        coverage::classify(&mut classes);
        coverage::merge(&classes, seen);
    }
}

fn together(executor: &mut Executor, batch: &Batch) -> (Told, usize) {
    let (mut told, mut seen, mut at, mut words) = (Told::new(), Vec::new(), 0, 0);
    while at < batch.len() {
        let (place, observed) = executor.run_batch(batch, at, &seen).expect("a run");
        assert!((at..batch.len()).contains(&place));
        let (verdict, counts) = (observed.verdict, observed.coverage.to_vec());
        note(&mut told, &mut seen, place, verdict, &counts);
        at = place + 1;
        words += 1;
    }
    (told, words)
}

fn one_by_one(executor: &mut Executor, batch: &Batch) -> Told {
    let (mut told, mut seen) = (Told::new(), Vec::new());
    for at in 0..batch.len() {
        let observed = executor.run(batch.get(at)).expect("a run");
        note(&mut told, &mut seen, at, observed.verdict, observed.coverage);
    }
    told
}

#[test]
fn inputs_together_tell_what_they_tell_one_by_one() {
    for compiler in ["gcc", "clang"].into_iter().filter(|compiler| has(compiler)) {
        for mode in [Mode::Persistent, Mode::Stdin, Mode::File] {
            compare(compiler, mode);
        }
    }
}

fn compare(compiler: &str, mode: Mode) {
    let program = target(compiler, mode);
    let (mut fast, mut slow) = (executor(&program, mode, 20_000), executor(&program, mode, 20_000));
    let (mut inputs, mut words) = (0, 0);
    wug_property::check(|u| {
        let mut batch = Batch::default();
        for _ in 0..u.int_in_range(1..=60)? {
            match u.int_in_range(0..=30)? {
                30 => batch.push(b"e7"),
                29 => batch.push(b"a"),
                28 => batch.push(b"s"),
                27 => batch.push(b"q"),
                26 => batch.push(&vec![b'.'; u.int_in_range(0..=100_000)?]),
                _ => {
                    let mut input = vec![b'.'];
                    for _ in 0..u.int_in_range(0..=50)? {
                        input.push(*u.choose(b"..,,:")?);
                    }
                    batch.push(&input);
                }
            }
        }
        let (told, count) = together(&mut fast, &batch);
        assert_eq!(told, one_by_one(&mut slow, &batch), "{compiler} {mode:?}");
        inputs += batch.len();
        words += count;
        Ok(())
    })
    .sizes(512, 8_192)
    .for_cases(20);
    assert!(inputs > 200 && words * 4 < inputs * 3, "{mode:?}: {words} words for {inputs} inputs");
}

/// A fork server stops a batch where a run started something else; what it
/// left is gone before the next.
#[test]
fn what_a_run_of_a_batch_leaves_behind_ends_the_batch() {
    let program = target("gcc", Mode::Stdin);
    let mut executor = executor(&program, Mode::Stdin, 20_000);
    let seen = vec![u8::MAX; 1 << 16];
    let mut batch = Batch::default();
    ["", ".", "D.", ".", ".", "."].iter().for_each(|input| batch.push(input.as_bytes()));
    let mut at = 0;
    let mut places = Vec::new();
    while at < batch.len() {
        let (place, observed) = executor.run_batch(&batch, at, &seen).expect("a run");
        assert_eq!(observed.verdict, Verdict::Ok);
        places.push(place);
        at = place + 1;
    }
    // The run after the one with the daemon tells.
    assert_eq!(places.first(), Some(&3), "{places:?}");
    assert_eq!(places.last(), Some(&5));
}

/// Files of one run are not there in the next, but for the first batch.
#[test]
fn a_target_that_leaves_files_behind_is_run_one_by_one() {
    let program = target("gcc", Mode::Stdin);
    let mut executor = executor(&program, Mode::Stdin, 20_000);
    let seen = vec![u8::MAX; 1 << 16];
    let mut batch = Batch::default();
    ["t", "q", "q", "q"].iter().for_each(|input| batch.push(input.as_bytes()));
    executor.run_batch(&batch, 0, &seen).expect("a run");
    for at in 0..4 {
        let (place, observed) = executor.run_batch(&batch, at, &seen).expect("a run");
        assert_eq!((place, observed.verdict), (at, Verdict::Ok));
    }
}

/// The same of a persistent target, whose process lives on: no run finds what
/// another left, neither alone nor in a batch.
#[test]
fn files_of_a_persistent_run_are_gone_before_the_next() {
    let flags = ["-O1", "-w"];
    let program = build_native("gcc", &flags, "litter.c", "litter-batch");
    for namespaces in [true, false] {
        let confinement = Confinement { namespaces, ..Confinement::default() };
        let options = Options { kind: Kind::Server, confinement, ..Options::default() };
        let mut executor = Executor::new(Target::new(&program), options).expect("an executor");
        assert!(executor.is_persistent());
        // Alone: `l` leaves a file, `d` a folder; `q` is rejected if it finds
        // anything, and so is `l`, since it must be the first.
        for turn in 0..50 {
            for input in [&b"l"[..], b"l", b"q", b"d", b"q", b"q"] {
                let observed = executor.run(input).expect("a run");
                assert_eq!(observed.verdict, Verdict::Ok, "{namespaces} {turn} {input:?}");
            }
        }
        // Long enough without files for batches to begin anew.
        for _ in 0..300 {
            executor.run(b"q").expect("a run");
        }
        let seen = vec![u8::MAX; 1 << 16];
        let mut batch = Batch::default();
        ["q", "q", "l", "q", "l", "q", "q", "d", "q"].iter().for_each(|input| batch.push(input.as_bytes()));
        let mut at = 0;
        while at < batch.len() {
            let (place, observed) = executor.run_batch(&batch, at, &seen).expect("a run");
            // From the first on, one by one: what was found together was lost.
            assert_eq!((place, observed.verdict), (at, Verdict::Ok), "{namespaces}");
            at = place + 1;
        }
    }
}

/// Without files, a persistent target gets its batches.
#[test]
fn a_persistent_target_without_files_is_run_in_batches() {
    let program = build_native("gcc", &["-O1", "-w"], "litter.c", "litter-quiet");
    let options = Options { kind: Kind::Server, ..Options::default() };
    let mut executor = Executor::new(Target::new(&program), options).expect("an executor");
    executor.run(b"q").expect("a run");
    let seen = vec![u8::MAX; 1 << 16];
    let mut batch = Batch::default();
    // `r` makes a file and removes it, which is nobody's business.
    ["q", "r", "q", "r"].iter().for_each(|input| batch.push(input.as_bytes()));
    let (place, observed) = executor.run_batch(&batch, 0, &seen).expect("a run");
    assert_eq!((place, observed.verdict), (3, Verdict::Ok));
}

#[test]
fn a_batch_may_take_longer_than_a_run() {
    for mode in [Mode::Persistent, Mode::Stdin] {
        takes_longer(mode);
    }
}

fn takes_longer(mode: Mode) {
    let program = target("gcc", mode);
    // Longer than a run may take in all, and one that never ends.
    let mut executor = executor(&program, mode, 4_000);
    let mut batch = Batch::default();
    for _ in 0..100 {
        batch.push(b"z50");
    }
    batch.push(b"h");
    batch.push(b"");
    let seen = vec![u8::MAX; 1 << 16];
    // A batch ends after twice the time of a run, wherever it is then; the
    // next are as long as fits.
    let mut at = 0;
    while at < batch.len() {
        let (place, observed) = executor.run_batch(&batch, at, &seen).expect("a run");
        let expected = if place == 100 { Verdict::Timeout } else { Verdict::Ok };
        assert_eq!(observed.verdict, expected, "{place}");
        assert!(at > 100 || place <= 100);
        at = place + 1;
    }
}
