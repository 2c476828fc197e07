//! Many runs of a target that does its worst at random: no wrong verdict,
//! and nothing is left behind. `WUG_SOAK_RUNS` says how many; the whole
//! million is for `.ci/long`.

mod common;

use common::{alive, build_native, copy, has};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use wug_target::{Batch, Confinement, Executor, Kind, Options, Target, Verdict};

fn runs() -> u64 {
    std::env::var("WUG_SOAK_RUNS").ok().and_then(|text| text.parse().ok()).unwrap_or(12_000)
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }
}

/// A deed and the verdict it deserves. What is slow is rare, so that a
/// million runs end.
fn deed(random: &mut Random, persistent: bool) -> (String, Verdict) {
    let signal = |number| Verdict::Signal(number);
    let (text, verdict) = match random.below(100_000) {
        0..5 => ("h".into(), Verdict::Timeout),
        5..8 => ("H".into(), Verdict::Timeout),
        8..60 => ("l".into(), Verdict::Ok),
        60..160 => ("w".into(), signal(libc::SIGXFSZ)),
        160..200 => ("W".into(), if persistent { Verdict::Ok } else { Verdict::Exit(28) }),
        200..260 => ("O".into(), Verdict::Ok),
        260..300 if !persistent => ("b1".into(), Verdict::Ok),
        300..400 => ("K".into(), Verdict::Ok),
        400..1_000 => ("k".into(), Verdict::Ok),
        1_000..2_000 => ("f".into(), Verdict::Ok),
        2_000..2_200 => ("t".into(), Verdict::Ok),
        // The scratch folder is empty unless the last run of a persistent
        // process used it.
        2_200..2_400 if !persistent => ("q".into(), Verdict::Ok),
        2_400..6_000 => ("c".into(), Verdict::Ok),
        6_000..8_000 => ("S".into(), Verdict::Ok),
        8_000..11_000 => ("a".into(), signal(libc::SIGABRT)),
        11_000..14_000 => ("s".into(), signal(libc::SIGSEGV)),
        14_000..16_000 => ("r9".into(), signal(libc::SIGKILL)),
        16_000..18_000 => ("r15".into(), signal(libc::SIGTERM)),
        18_000..26_000 => {
            let code = 1 + random.below(120) as i32;
            (format!("e{code}"), Verdict::Exit(code))
        }
        26_000..28_000 => ("e0".into(), Verdict::Ok),
        28_000..30_000 => (String::new(), Verdict::Ok),
        _ => ("x".repeat(1 + random.below(3000) as usize), Verdict::Ok),
    };
    (text, verdict)
}

/// What must not grow.
#[derive(Debug, PartialEq, Eq)]
struct Held {
    descriptors: usize,
    segments: usize,
    folders: usize,
}

fn held() -> Held {
    let count = |path: &str| Path::new(path).read_dir().map_or(0, |entries| entries.count());
    let own = format!("wug-{}-", std::process::id());
    let segments = std::fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let mine = std::process::id().to_string();
    let of_mine = |line: &&str| line.split_whitespace().nth(4) == Some(mine.as_str());
    let shm = Path::new("/dev/shm").read_dir().map(|entries| {
        entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(&own)).count()
    });
    Held {
        descriptors: count("/proc/self/fd"),
        segments: segments.lines().filter(of_mine).count(),
        folders: shm.unwrap_or(0),
    }
}

/// Resident memory of this process, in KiB.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Runs deeds together and checks that each got its verdict.
fn run_together(executor: &mut Executor, deeds: &[(String, Verdict)]) {
    let seen = vec![u8::MAX; 1 << 16];
    let mut batch = Batch::default();
    deeds.iter().for_each(|(input, _)| batch.push(input.as_bytes()));
    let mut at = 0;
    while at < deeds.len() {
        let (place, observed) =
            executor.run_batch(&batch, at, &seen).unwrap_or_else(|error| panic!("{deeds:?}: {error}"));
        assert_eq!(observed.verdict, deeds[place].1, "{place} of {deeds:?}, {observed:?}");
        // What is not told of ended well, or was rejected.
        let passed = |(_, verdict): &(String, Verdict)| matches!(verdict, Verdict::Ok | Verdict::Exit(_));
        assert!(deeds[at..place].iter().all(passed), "{at} to {place} of {deeds:?}");
        at = place + 1;
    }
}

/// A fork server whose runs leave no files, and often several by one word.
fn soak_together(program: PathBuf, runs: u64) {
    let confinement = Confinement { max_processes: 100, ..Confinement::default() };
    let options =
        Options { confinement, timeout: Duration::from_secs(3), kind: Kind::Server, ..Options::default() };
    let mut executor = Executor::new(Target::new(&program), options).expect("an executor");
    let mut random = Random(0x1234_5678_9ABC_DEF1);
    let mut done = 0;
    while done < runs {
        let count = 1 + random.below(40);
        let leaves_files = |(text, _): &(String, Verdict)| text.starts_with(['w', 'W', 't']);
        let deeds: Vec<_> = std::iter::repeat_with(|| deed(&mut random, false))
            .filter(|deed| !leaves_files(deed))
            .take(count as usize)
            .collect();
        run_together(&mut executor, &deeds);
        done += count;
    }
    drop(executor);
    assert_eq!(alive(&program), 0, "no process is left");
}

fn soak(program: PathBuf, persistent: bool, by_afl: bool, runs: u64) {
    let before = held();
    let confinement = Confinement { scratch_bytes: 2 << 20, max_processes: 100, ..Confinement::default() };
    // Long enough for a machine under load: no run but a hang takes so long.
    let timeout = Duration::from_secs(3);
    let options = Options { confinement, timeout, kind: Kind::Server, ..Options::default() };
    let mut executor = Executor::new(Target::new(&program), options).expect("an executor");
    assert_eq!(executor.is_persistent(), persistent);
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut during: Option<(Held, u64)> = None;
    let mut most = 0;
    let begin = Instant::now();
    for run in 0..runs {
        let (mut input, mut expected) = deed(&mut random, persistent);
        if by_afl && expected == Verdict::Signal(libc::SIGTERM) {
            // AFL++'s runtime catches it where it does not serve, and exits with 0.
            (input, expected) = ("r10".into(), Verdict::Signal(libc::SIGUSR1));
        }
        let seen =
            executor.run(input.as_bytes()).unwrap_or_else(|error| panic!("run {run}, {input}: {error}"));
        assert_eq!(seen.verdict, expected, "run {run}, {input:.20}, {seen:?}");
        if run == runs / 10 {
            during = Some((held(), resident()));
        }
        if run % 5_000 == 4_999 {
            most = most.max(alive(&program));
        }
        if run % 100_000 == 99_999 {
            eprintln!("{} runs in {:?}, {} KiB", run + 1, begin.elapsed(), resident());
        }
    }
    let (held_then, resident_then) = during.expect("enough runs");
    assert_eq!(held(), held_then, "no descriptor, segment or folder more than after a tenth of the runs");
    assert!(resident() < resident_then + 4096, "{} KiB, before {resident_then}", resident());
    assert!(most <= 110, "{most} processes at a time");
    drop(executor);
    assert_eq!(alive(&program), 0, "no process is left");
    assert_eq!(held(), before);
}

#[test]
fn a_hostile_target_gets_true_verdicts_and_leaves_nothing() {
    // One after the other: they count the descriptors of this process.
    let compiler = if has("clang") { "clang" } else { "gcc" };
    let fork = build_native(compiler, &["-O1", "-w"], "hostile.c", "soak-fork");
    soak(copy(&fork, "soaked-fork"), false, false, runs());
    soak_together(copy(&fork, "soaked-together"), runs() / 2);
    let looping = build_native(compiler, &["-O1", "-w", "-DPERSISTENT"], "hostile.c", "soak-loop");
    soak(copy(&looping, "soaked-loop"), true, false, runs());
    if has("afl-clang-fast") {
        let afl = common::build("afl-clang-fast", &["-O1", "-w"], "hostile.c", "soak-afl");
        soak(copy(&afl, "soaked-afl"), false, true, runs() / 4);
    }
}
