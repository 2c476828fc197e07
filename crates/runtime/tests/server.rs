//! The fork server and persistent mode, over our own protocol.

mod support;

use support::*;
use wug_runtime::abi::*;
use wug_runtime::compile::Build::Fast;

/// Exits, crashes, hangs or returns as the first byte says.
const PLAIN: &str = r#"
#include <stdlib.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
    int c = getchar();
    if (c == 'x') exit(7);
    if (c == 'a') abort();
    if (c == 'h') for (;;) pause();
    return 0;
}
"#;

const HARNESS: &str = r#"
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
static int runs;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    runs++;
    if (!size) return 0;
    switch (data[0]) {
    case 'x': exit(7);
    case 'a': abort();
    case 'h': for (;;) pause();
    case 'c': close(198); close(199); break;
    case 'i': close(198); break;
    case 'r': exit(runs & 127);
    case 'F': fork(); break;
    case 'e': if (size == 1 << 20 && data[size - 1] == '!') exit(3); break;
    }
    return 0;
}
"#;

/// The program reads standard input, which the fuzzer rewinds.
fn with_stdin(path: &std::path::Path, wants: u32) -> (Native, std::fs::File, Folder) {
    let folder = Folder::new();
    let file = std::fs::OpenOptions::new()
        .create(true)
        .truncate(true)
        .read(true)
        .write(true)
        .open(folder.path("input"))
        .unwrap();
    let mut command = std::process::Command::new(path);
    command.stdin(file.try_clone().unwrap());
    (Native::start_with(&mut command, wants), file, folder)
}

fn give(file: &std::fs::File, input: &[u8]) {
    use std::io::{Seek, Write};
    let mut file = file;
    file.set_len(0).unwrap();
    file.rewind().unwrap();
    file.write_all(input).unwrap();
    file.rewind().unwrap();
}

#[test]
fn a_plain_program_is_forked_for_each_run() {
    for compiler in compilers() {
        let (_folder, path) = build(compiler, Fast, "-O2", PLAIN);
        let (mut target, file, _input) = with_stdin(&path, 0);
        assert_eq!(target.board().features & (HAS_PERSISTENT | HAS_SHARED_INPUT), 0);
        let mut seen = Vec::new();
        for (input, status) in
            [(&b"x"[..], exited(7)), (b"", 0), (b"a", libc::SIGABRT), (b"z", 0), (b"x", exited(7)), (b"z", 0)]
        {
            give(&file, input);
            assert_eq!(target.run(b""), status, "{compiler} {input:?}");
            seen.push((input, target.map()));
        }
        assert_eq!(seen[0], seen[4], "the same input covers the same");
        assert_eq!(seen[3], seen[5]);
        assert_ne!(seen[0].1, seen[3].1, "another input covers something else");
        assert!(target.board().cpu_ns > 0);
        assert!((3..100).contains(&target.map_size), "dense: {}", target.map_size);
        assert_eq!(target.close().code(), Some(0));
    }
}

#[test]
fn a_harness_loops_in_one_process() {
    for compiler in compilers() {
        let (_folder, path) = build(compiler, Fast, "-O2", HARNESS);
        let mut target = Native::start(&path, WANT_CPU_TIME);
        assert_eq!(
            target.board().features & (HAS_PERSISTENT | HAS_SHARED_INPUT),
            HAS_PERSISTENT | HAS_SHARED_INPUT
        );
        assert_eq!(target.run(b""), 0);
        let empty = target.hits();
        assert_eq!(target.run(b"z"), 0);
        let other = target.hits();
        assert_ne!(empty, other);
        assert!(target.board().cpu_ns > 0);
        let pid = target.board().child_pid;
        assert_eq!(target.run(b""), 0);
        assert_eq!(target.hits(), empty, "nothing is left of the run before");
        assert_eq!(target.run(b"r"), exited(4), "the fourth run of one process");
        assert_eq!(target.run(b"r"), exited(1), "the first of a new one");
        assert_ne!(target.board().child_pid, pid);
        assert_eq!(target.run(b"a"), libc::SIGABRT);
        assert_eq!(target.run(b"x"), exited(7));
        assert_eq!(target.run(b"z"), 0);
        assert_eq!(target.hits(), other, "nor of the way to the first run");
        let mut long = vec![b'e'; 1 << 20];
        assert_eq!(target.run(&long), 0);
        *long.last_mut().unwrap() = b'!';
        assert_eq!(target.run(&long), exited(3), "no input is cut");
        assert_eq!(target.close().code(), Some(0));
    }
}

#[test]
fn a_persistent_target_can_be_run_in_fresh_processes() {
    let (_folder, path) = build("gcc", Fast, "-O2", HARNESS);
    let mut target = Native::start(&path, WANT_FORK);
    for _ in 0..3 {
        assert_eq!(target.run(b"r"), exited(1));
        assert_eq!(target.run(b"z"), 0);
    }
}

#[test]
fn a_harness_can_reject_its_input() {
    let text = r#"
#include <stdint.h>
#include <stddef.h>
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { return n && d[0] == 'x' ? -1 : 0; }
"#;
    let (_folder, path) = build("gcc", Fast, "-O2", text);
    for wants in [0, WANT_FORK] {
        let mut target = Native::start(&path, wants);
        for (input, status) in [(b"a", 0), (b"x", 1 << 8), (b"x", 1 << 8), (b"b", 0)] {
            assert_eq!(target.run(input), status, "{wants}");
        }
    }
}

#[test]
fn a_target_that_closes_the_pipes_gets_its_verdict() {
    let (_folder, path) = build("gcc", Fast, "-O2", HARNESS);
    let mut target = Native::start(&path, 0);
    assert_eq!(target.run(b"c"), 0, "the run itself went well");
    assert_eq!(target.run(b"r"), exited(1), "and the next has a new process");
    assert_eq!(target.run(b"i"), 0);
    assert_eq!(target.run(b"r"), exited(1));
    assert!(target.silent(), "one reply for each run");
}

#[test]
fn copies_of_a_persistent_target_do_not_answer() {
    for compiler in compilers() {
        let (_folder, path) = build(compiler, Fast, "-O2", HARNESS);
        let mut target = Native::start(&path, 0);
        for run in 1..=5 {
            assert_eq!(target.run(b"F"), 0);
            assert!(target.silent(), "one reply for each run");
            assert_eq!(target.run(b"z"), 0);
            assert_eq!(target.run(b"r"), exited(3), "{compiler} {run}: the same process made all of them");
        }
        assert_eq!(target.close().code(), Some(0));
    }
}

#[test]
fn a_run_can_be_stopped_without_its_pid() {
    for (text, wants) in [(HARNESS, 0), (HARNESS, WANT_FORK), (PLAIN, 0)] {
        let (_folder, path) = build("gcc", Fast, "-O2", text);
        let (mut target, file, _input) = with_stdin(&path, wants);
        for _ in 0..4 {
            give(&file, b"h");
            let run = target.send(b"h");
            assert!(target.silent() || wants == WANT_FORK);
            target.stop(run);
            assert_eq!(target.reply(), (run, libc::SIGKILL));
            give(&file, b"z");
            assert_eq!(target.run(b"z"), 0);
        }
        // Late: the run is over, and the next must not suffer.
        for _ in 0..1000 {
            give(&file, b"z");
            let run = target.send(b"z");
            target.stop(run);
            let status = loop {
                // Killed while it replied, a child may have replied already.
                let (number, status) = target.reply();
                if number == run {
                    break status;
                }
                assert_eq!(number, run - 1);
            };
            assert!(status == 0 || status == libc::SIGKILL);
        }
        give(&file, b"x");
        let mut last = target.run(b"x");
        if last == libc::SIGKILL {
            last = target.run(b"x");
        }
        assert_eq!(last, exited(7));
    }
}

#[test]
fn a_child_that_dies_on_its_way_answers_the_next_run() {
    let text = r#"
#include <stdlib.h>
#include <unistd.h>
__AFL_FUZZ_INIT();
int main(int argc, char **argv) {
    __AFL_INIT();
    if (argc > 1) exit(9);
    while (__AFL_LOOP(3)) {
        if (__AFL_FUZZ_TESTCASE_LEN && __AFL_FUZZ_TESTCASE_BUF[0] == 'x') exit(7);
    }
    return 5;
}
"#;
    let (_folder, path) = build("gcc", Fast, "-O2", text);
    let mut command = std::process::Command::new(&path);
    let mut target = Native::start_with(command.arg("die"), 0);
    assert_eq!(target.board().features & HAS_DEFERRED, HAS_DEFERRED);
    for _ in 0..3 {
        assert_eq!(target.run(b""), exited(9));
    }
    let mut target = Native::start(&path, 0);
    let verdicts: Vec<i32> = (0..7).map(|_| target.run(b"y")).collect();
    assert_eq!(verdicts, [0, 0, exited(5), 0, 0, exited(5), 0], "the last run of a process ends with it");
    assert_eq!(target.run(b"x"), exited(7));
}

#[test]
fn harnesses_of_afl_work_in_cxx() {
    for compiler in ["g++", "clang++"] {
        if !has(compiler) {
            continue;
        }
        let folder = Folder::new();
        folder.file(
            "h.cc",
            r#"
#include <string>
#include <cstdlib>
#include <unistd.h>
__AFL_FUZZ_INIT();
int main() {
    __AFL_INIT();
    unsigned char *buf = __AFL_FUZZ_TESTCASE_BUF;
    while (__AFL_LOOP(1000)) {
        std::string s((const char *)buf, __AFL_FUZZ_TESTCASE_LEN);
        if (s == "while") std::abort();
    }
}
"#,
        );
        cc(&folder, compiler, Fast, "-O2 -o ./h ./h.cc");
        let mut target = Native::start(&folder.path("h"), 0);
        assert_eq!(target.run(b"whale"), 0);
        assert_eq!(target.run(b"while"), libc::SIGABRT);
    }
}

#[test]
fn without_a_fuzzer_a_program_runs_once() {
    let (folder, path) = build("gcc", Fast, "-O2", HARNESS);
    let good = folder.file("good", "z");
    let bad = folder.file("bad", "x");
    let code = |file: &std::path::Path| std::process::Command::new(&path).arg(file).status().unwrap().code();
    assert_eq!(code(&good), Some(0));
    assert_eq!(code(&bad), Some(7));
    assert_eq!(code(&folder.path("absent")), Some(1));
    let status = std::process::Command::new(&path).stdin(std::fs::File::open(bad).unwrap()).status().unwrap();
    assert_eq!(status.code(), Some(7));
}

#[test]
fn a_crash_leaves_its_stack() {
    let text = r#"
#include <stdint.h>
#include <stdlib.h>
#include <signal.h>
__attribute__((noinline)) int deep(int n, volatile char *p) { return n ? deep(n - 1, p) + 1 : *p; }
__attribute__((noinline)) int endless(volatile int *n) { volatile char room[4096]; room[0] = 1; *n += 1; return endless(n) + room[0]; }
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    volatile int n = 0;
    if (!size) return 0;
    if (data[0] == 's') return deep(data[1], 0);
    if (data[0] == 'o') return endless(&n);
    if (data[0] == 'a') abort();
    if (data[0] == 'f') return 100000 / n;
    if (data[0] == 't') __builtin_trap();
    return 0;
}
"#;
    for compiler in compilers() {
        let (_folder, path) = build(compiler, Fast, "-O1 -fno-optimize-sibling-calls", text);
        let mut target = Native::start(&path, WANT_CRASH);
        let mut depth = |input: &[u8], signal: i32| {
            assert_eq!(target.run(input) & 0x7f, signal, "{compiler} {input:?}");
            let crash = target.board().crash;
            assert_eq!(crash.signal, signal as u32, "{compiler} {input:?}");
            let module = target.modules()[0];
            assert_eq!(module.path[0], 0, "the executable");
            let inside = |pc: u64| pc >= module.base && pc < module.end;
            let frames = &crash.frames[..crash.frame_count as usize];
            assert!(frames.iter().any(|&pc| inside(pc)), "{frames:x?}");
            (crash.depth, crash.address, frames.len())
        };
        let (shallow, address, _) = depth(b"s\x01", libc::SIGSEGV);
        assert_eq!(address, 0);
        let (deeper, _, _) = depth(b"s\x0b", libc::SIGSEGV);
        assert_eq!(deeper - shallow, 10, "{compiler}");
        let (endless, _, kept) = depth(b"o", libc::SIGSEGV);
        assert!(endless > 1000 && kept == MAX_FRAMES, "{compiler}: {endless}, {kept}");
        depth(b"a", libc::SIGABRT);
        depth(b"f", libc::SIGFPE);
        depth(b"t", libc::SIGILL);
        let mut without = Native::start(&path, 0);
        assert_eq!(without.run(b"a") & 0x7f, libc::SIGABRT);
        assert_eq!(without.board().crash.signal, 0);
    }
}

#[test]
fn words_of_the_program_are_told() {
    let text = r#"
#include <stdint.h>
#include <string.h>
static const char *const keywords[] = {"while", "for", "x", "while", "a text that is much too long to be a keyword"};
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    volatile int found = 0;
    char word[8] = {0};
    memcpy(word, data, size < 7 ? size : 7);
    for (int i = 0; i < 5; i++) found += !strcmp(word, keywords[i]);
    return 0;
}
"#;
    for compiler in compilers() {
        for flags in ["-O2 -fno-builtin", "-O2 -fno-builtin -static", "-O2 -fno-builtin -no-pie"] {
            let (_folder, path) = build(compiler, Fast, flags, text);
            let target = Native::start(&path, 0);
            let words = target.dictionary();
            let count = |word: &[u8]| words.iter().filter(|w| *w == word).count();
            assert_eq!((count(b"while"), count(b"for")), (1, 1), "{compiler} {flags}: once each");
            assert!(words.iter().all(|w| (2..=32).contains(&w.len())), "{compiler} {flags}");
            assert!(words.len() <= 1024 && !words.iter().any(|w| w.starts_with(b"__AFL")));
        }
    }
}
