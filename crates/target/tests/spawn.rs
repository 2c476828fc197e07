//! Plain runs of an uninstrumented program that does its worst.

mod common;

use common::build;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;
use wug_target::{Confinement, Executor, Options, Output, Target, Verdict};

fn hostile() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| build("cc", &["-O1", "-w"], "hostile.c", "hostile-plain")).clone()
}

fn executor(options: Options) -> Executor {
    Executor::new(Target::new(hostile()), options).expect("an executor")
}

/// A machine under load may be slow; nothing here should come near.
fn patient() -> Options {
    Options { timeout: Duration::from_secs(20), ..Options::default() }
}

fn captured() -> Options {
    Options { output: Output::Capture(1000), ..patient() }
}

#[track_caller]
fn check(executor: &mut Executor, input: &str, expected: Verdict) {
    let seen = executor.run(input.as_bytes()).expect("a run");
    assert_eq!(seen.verdict, expected, "{input}");
}

#[test]
fn verdicts_are_told_apart() {
    let mut executor = executor(patient());
    check(&mut executor, "", Verdict::Ok);
    check(&mut executor, "e7", Verdict::Exit(7));
    check(&mut executor, "a", Verdict::Signal(libc::SIGABRT));
    check(&mut executor, "s", Verdict::Signal(libc::SIGSEGV));
    check(&mut executor, "r9", Verdict::Signal(libc::SIGKILL));
    check(&mut executor, "r15", Verdict::Signal(libc::SIGTERM));
    check(&mut executor, "l", Verdict::Ok);
    check(&mut executor, "c", Verdict::Ok);
    check(&mut executor, "S", Verdict::Ok);
    check(&mut executor, "O", Verdict::Ok);
    check(&mut executor, "e0", Verdict::Ok);
}

#[test]
fn executors_can_move_to_other_threads() {
    let mut executor = executor(patient());
    let verdict = std::thread::spawn(move || executor.run(b"e7").expect("a run").verdict).join();
    assert_eq!(verdict.expect("a thread"), Verdict::Exit(7));
}

#[test]
fn exit_codes_can_be_crashes() {
    let mut executor = executor(Options { crash_codes: vec![7], ..patient() });
    check(&mut executor, "e7", Verdict::CrashExit(7));
    check(&mut executor, "e8", Verdict::Exit(8));
}

#[test]
fn hangs_end_even_if_they_hear_no_signal() {
    let mut executor = executor(Options { timeout: Duration::from_millis(100), ..Options::default() });
    check(&mut executor, "h", Verdict::Timeout);
    check(&mut executor, "H", Verdict::Timeout);
    let mut executor = self::executor(patient());
    check(&mut executor, "", Verdict::Ok);
}

#[test]
fn what_a_target_starts_ends_with_its_run() {
    let program = common::copy(&hostile(), "starts");
    for confinement in [Confinement::default(), Confinement { namespaces: false, ..Confinement::default() }] {
        let options = Options { confinement, ..patient() };
        let mut executor = Executor::new(Target::new(&program), options).expect("an executor");
        for input in ["f", "k", "b1", "f"] {
            let seen = executor.run(input.as_bytes()).expect("a run");
            assert_eq!(seen.verdict, Verdict::Ok, "{input}");
            assert_eq!(common::alive(&program), 0, "after {input}");
        }
        check(&mut executor, "", Verdict::Ok);
    }
}

#[test]
fn inputs_arrive_whole() {
    let mut by_stdin = executor(captured());
    let mut by_file =
        Executor::new(Target::new(hostile()).arguments(["@@"]), captured()).expect("an executor");
    for executor in [&mut by_stdin, &mut by_file] {
        for length in [0, 1, 2, 4095, 4096, 70_000, 3, 1 << 20, (1 << 20) + 1, 9_000_001, 5] {
            let mut input = vec![b'L'; length];
            input.iter_mut().skip(1).step_by(7).for_each(|byte| *byte = 0);
            let seen = executor.run(&input).expect("a run");
            let expected = if length == 0 { String::new() } else { format!("{length}\n") };
            assert_eq!(String::from_utf8_lossy(seen.output), expected);
        }
    }
}

#[test]
fn output_is_kept_up_to_its_bound() {
    let mut executor = executor(captured());
    let seen = executor.run(b"O").expect("a run");
    assert_eq!(seen.verdict, Verdict::Ok);
    assert_eq!(seen.output, [b'y'; 1000]);
    assert_eq!(executor.run(b"").expect("a run").output, b"");
}

#[test]
fn the_environment_is_the_targets_alone() {
    let target =
        Target::new(hostile()).variable("WUG_TEST_VALUE", "blue").variable("ASAN_OPTIONS", "symbolize=1");
    let mut executor = Executor::new(target, captured()).expect("an executor");
    assert_eq!(executor.run(b"EWUG_TEST_VALUE").expect("a run").output, b"blue\n");
    let options = executor.run(b"EASAN_OPTIONS").expect("a run").output.to_vec();
    assert!(options.starts_with(b"symbolize=1:abort_on_error=1"), "{}", String::from_utf8_lossy(&options));
    assert!(std::env::var_os("WUG_TEST_VALUE").is_none());
}

#[test]
fn times_are_measured() {
    let mut executor = executor(Options { timeout: Duration::from_secs(2), ..Options::default() });
    let seen = executor.run(b"H").expect("a run");
    assert!(seen.wall >= Duration::from_secs(2));
    assert!(seen.cpu.is_some_and(|cpu| cpu > Duration::from_millis(1)), "{seen:?}");
}

#[test]
fn programs_that_cannot_run_are_told() {
    let message = |program: &str| {
        let mut executor = match Executor::new(Target::new(program), patient()) {
            Ok(executor) => executor,
            Err(error) => return error.to_string(),
        };
        executor.run(b"").err().map_or(String::new(), |error| error.to_string())
    };
    assert_eq!(message("no-such-program-here"), "there is no program `no-such-program-here`");
    assert_eq!(message("./no/such/program"), "there is no program `./no/such/program`");
    assert_eq!(message("/etc/passwd"), "`/etc/passwd` is not executable");
    let broken = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("broken-program");
    std::fs::write(&broken, b"\x7fELF no").expect("a file");
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&broken, std::fs::Permissions::from_mode(0o755)).expect("rights");
    assert_eq!(
        message(&broken.to_string_lossy()),
        "cannot execute the program: Exec format error (os error 8)"
    );
}
