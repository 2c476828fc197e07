//! Inputs that are run together tell what they tell one by one.

mod common;

use common::{build_native, has};
use std::path::PathBuf;
use std::time::Duration;
use wug_campaign::executor::{Batch, Executor, Kind, Options, Target, Verdict, coverage};

fn target(compiler: &str) -> PathBuf {
    build_native(compiler, &["-O1", "-w", "-DPERSISTENT"], "hostile.c", &format!("hostile-batch-{compiler}"))
}

fn executor(program: &PathBuf, timeout: u64) -> Executor {
    let timeout = Duration::from_millis(timeout);
    let options = Options { timeout, kind: Kind::Server, ..Options::default() };
    Executor::new(Target::new(program), options).expect("an executor")
}

/// All that is of interest in a batch: places, verdicts, counts.
type Told = Vec<(usize, Verdict, Vec<u8>)>;

fn note(told: &mut Told, seen: &mut Vec<u8>, at: usize, verdict: Verdict, counts: &[u8]) {
    if verdict != Verdict::Ok || coverage::has_news(counts, seen) {
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
        let program = target(compiler);
        let (mut fast, mut slow) = (executor(&program, 20_000), executor(&program, 20_000));
        assert!(fast.is_persistent());
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
            assert_eq!(told, one_by_one(&mut slow, &batch));
            inputs += batch.len();
            words += count;
            Ok(())
        })
        .sizes(512, 8_192)
        .for_ms(1_500);
        assert!(inputs > 200 && words * 4 < inputs * 3, "{words} words for {inputs} inputs");
    }
}

#[test]
fn a_batch_may_take_longer_than_a_run() {
    let program = target("gcc");
    // Longer than a run may take in all, and one that never ends.
    let mut executor = executor(&program, 1_000);
    let mut batch = Batch::default();
    for _ in 0..40 {
        batch.push(b"z50");
    }
    batch.push(b"h");
    batch.push(b"");
    let seen = vec![u8::MAX; 1 << 16];
    let (at, observed) = executor.run_batch(&batch, 0, &seen).expect("a run");
    assert_eq!((at, observed.verdict), (40, Verdict::Timeout));
    let (at, observed) = executor.run_batch(&batch, 41, &seen).expect("a run");
    assert_eq!((at, observed.verdict), (41, Verdict::Ok));
}
