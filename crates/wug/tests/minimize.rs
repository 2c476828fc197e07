//! `wug minimize` on targets: the verdict and the place of a crash are
//! kept, Ctrl-C loses nothing.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Two bugs: brackets that are closed too often, and a `null` in an array in
/// an object. Which one comes first depends on the input.
const TARGET: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) static void unbalanced(void) { abort(); }
__attribute__((noinline)) static void null_found(void) { abort(); }
static int in_object, in_array;
__attribute__((noinline)) static void character(const char *at) {
    if (*at == '{') in_object++;
    if (*at == '[') in_array++;
    if (*at == '}') in_object--;
    if (*at == ']') in_array--;
    if (in_object < 0 || in_array < 0) unbalanced();
    if (in_object && in_array && !strncmp(at, "null", 4)) null_found();
}
int main(int count, char **arguments) {
    static char text[65536];
    FILE *file = count > 1 ? fopen(arguments[1], "r") : stdin;
    if (!file) return 1;
    size_t size = fread(text, 1, sizeof text - 1, file);
    for (size_t i = 0; i < size; i++) character(text + i);
    return strstr(text, "exit") ? 7 : 0;
}
"#;

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("minimize-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Builds the target in a folder that other users can look into.
fn build(folder: &Path, compiler: &[&str]) -> PathBuf {
    let (source, program) = (folder.join("target.c"), folder.join("target"));
    fs::write(&source, TARGET).expect("a source");
    let built = Command::new(compiler[0])
        .args(&compiler[1..])
        .args(["-O1", "-g", "-o"])
        .env("WUG_CACHE", folder.join("cache"))
        .args([&program, &source])
        .status()
        .expect("a compiler");
    assert!(built.success());
    program
}

fn wug(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wug")).args(arguments).current_dir(folder).output().expect("wug runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const INPUT: &str = r#"{"some": [1, {"key": [2.5, [true, null], "text"]}], "exit": {"c": "d"}}"#;

#[test]
fn the_verdict_and_the_place_of_a_crash_are_kept() {
    for compiler in [&["cc"][..], &[env!("CARGO_BIN_EXE_wug"), "cc"]] {
        let folder = folder(&format!("crash-{}", compiler.len()));
        build(&folder, compiler);
        fs::write(folder.join("in.json"), INPUT).expect("an input");
        let all = ["minimize", "-g", "json", "in.json", "-o", "out.json", "--json", "--", "./target", "@@"];
        let output = wug(&folder, &all);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let report: Value = serde_json::from_slice(&output.stdout).expect("one object");
        assert_eq!(text(&fs::read(folder.join("out.json")).expect("a result")), r#"{"":[null]}"#);
        assert_eq!(report["output_bytes"], 11, "{report}");
        assert_eq!((&report["structure"], &report["end"]), (&"tree".into(), &"minimal".into()));
        // Each with the offset in the function, which is the compiler's.
        let kept = report["kept"].as_str().expect("a site").split("+0x").map(|part| part.split(' ').skip(1));
        let kept: Vec<&str> = kept.flatten().filter(|word| *word != "<").collect();
        assert_eq!(kept, ["SIGABRT", "in", "null_found", "character", "main"], "{report}");
        assert!(report["runs"].as_u64().is_some_and(|runs| runs < 100), "{report}");
        // Byte by byte on standard input. Without the place, the other bug
        // does as well, and has less to it.
        let output = wug(&folder, &["minimize", "in.json", "--", "./target"]);
        assert_eq!(text(&output.stdout), "{[null", "{}", text(&output.stderr));
        let output = wug(&folder, &["minimize", "in.json", "--frames", "0", "--", "./target"]);
        assert_eq!(text(&output.stdout).len(), 1, "{}", text(&output.stderr));
    }
}

#[test]
fn an_exit_code_is_kept_too() {
    let folder = folder("exit");
    build(&folder, &["cc"]);
    fs::write(folder.join("in.json"), INPUT.replace("null", "false")).expect("an input");
    let output = wug(&folder, &["minimize", "-g", "json", "in.json", "--", "./target"]);
    assert_eq!(text(&output.stdout), r#""exit""#, "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("(exit 7)"), "{}", text(&output.stderr));
    fs::write(folder.join("in.json"), "[]").expect("an input");
    let output = wug(&folder, &["minimize", "-g", "json", "in.json", "--", "./target"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("nothing to keep"), "{}", text(&output.stderr));
    let output = wug(&folder, &["minimize", "in.json", "--", "./no-target"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
}

#[test]
fn an_interrupt_keeps_the_smallest_so_far() {
    let folder = folder("interrupt");
    // All candidates are different, and there are hundreds.
    let input: String = (0..300).map(|number| format!("{number} ")).collect();
    fs::write(folder.join("in"), &input).expect("an input");
    // Each run leaves a process behind, too.
    let check = "sleep 77 & sleep 0.02; test $(wc -c < @@) -ge 300";
    let child = Command::new(env!("CARGO_BIN_EXE_wug"))
        .args(["minimize", "in", "-o", "out", "--check", check])
        .current_dir(&folder)
        .env("TMPDIR", &folder)
        .stderr(Stdio::piped())
        .spawn()
        .expect("wug runs");
    let begin = Instant::now();
    while !folder.join("out").exists() && begin.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("a signal");
    let output = child.wait_with_output().expect("an end");
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("the smallest so far is kept"), "{}", text(&output.stderr));
    let kept = fs::read(folder.join("out")).expect("a result");
    assert!((300..input.len()).contains(&kept.len()), "{} bytes", kept.len());
    // Nothing is left but these files.
    let mut left: Vec<String> = fs::read_dir(&folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    left.sort();
    assert_eq!(left, ["in", "out"]);
}
