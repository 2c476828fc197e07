//! Rust targets, built by cargo with a stable toolchain.

mod support;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use support::*;
use wug_runtime::abi::*;
use wug_runtime::compile::Build::{self, Fast, Traced};

/// Builds the crate `rust-target`; the folder of its programs.
fn cargo(build: Build, folder: &Folder) -> PathBuf {
    let flags = rust_flags(build);
    let output = Command::new(env!("CARGO"))
        .args(["build", "--release", "--offline", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rust-target/Cargo.toml"))
        .arg("--target-dir")
        .arg(&folder.0)
        .env("RUSTFLAGS", flags.join(" "))
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder.path("release")
}

#[test]
fn a_rust_program_runs_under_the_fork_server() {
    let folder = Folder::new();
    let path = cargo(Fast, &folder).join("rust-target");
    let input = folder.file("input", "");
    let file = std::fs::File::open(&input).unwrap();
    let mut command = Command::new(&path);
    command.stdin(file.try_clone().unwrap()).stderr(Stdio::null());
    let mut target = Native::start_with(&mut command, WANT_CRASH);
    let mut run = |text: &str| {
        use std::io::Seek;
        std::fs::write(&input, text).unwrap();
        (&file).rewind().unwrap();
        let status = target.run(b"");
        (status, target.hits())
    };
    let (good, covered) = run("[[]]");
    assert_eq!(good, 0);
    let (bad, less) = run("[[");
    assert_eq!(bad, exited(1));
    assert_ne!(covered, less);
    assert_eq!(run("!ab").0 & 0x7f, libc::SIGABRT, "a panic");
    assert_eq!(run("[[]]"), (0, covered));
    assert!(target.map_size < 4096, "only the program is counted: {}", target.map_size);
}

#[test]
fn a_rust_harness_loops_and_tells_comparisons() {
    let folder = Folder::new();
    let path = cargo(Traced, &folder).join("harness");
    let mut target = Native::start(&path, WANT_EVENTS | WANT_PAIRS);
    let expected = HAS_PERSISTENT | HAS_SHARED_INPUT | HAS_TRACE;
    assert_eq!(target.board().features & expected, expected);
    assert_eq!(target.run(b"kaboard"), 0);
    let events = target.events();
    let text = events.iter().any(|e| e.kind == EVENT_TEXT && e.x() == b"kaboard" && e.y() == b"keyword");
    assert!(text, "the keyword");
    let bracket = events.iter().any(|e| {
        e.a == u64::from(b'[') && e.b == u64::from(b'k')
            || e.kind == EVENT_SWITCH && e.cases().contains(&u64::from(b'['))
    });
    assert!(bracket, "the bracket");
    assert!(!target.pairs().is_empty());
    assert_eq!(target.run(b"[[[[[[[]]]]]]]"), exited(7));
    assert_eq!(target.run(b"!abcdef"), 0);
    assert_eq!(target.run(b"!abcd"), 0);
    assert_eq!(target.run(b"!ab") & 0x7f, libc::SIGABRT);
}
