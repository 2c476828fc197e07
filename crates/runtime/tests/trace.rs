//! What a traced build tells of a program's way through its input.
//!
//! The golden files hold what gcc 12 and clang 14 report for each construct of
//! `golden/probe.c` on the text `Qux`. Other versions may merge ranges in
//! other ways: `UPDATE_EXPECT=1` shows how.

mod support;

use expect_test::expect_file;
use std::fmt::Write;
use std::path::Path;
use support::*;
use wug_runtime::abi::*;
use wug_runtime::compile::Build::{Fast, Traced};

const PROBE: &str = include_str!("golden/probe.c");
const WANTS: u32 = WANT_EVENTS | WANT_PAIRS;

/// Names of the probes, in the order of their table.
fn names() -> Vec<&'static str> {
    let table = PROBE.split("probes[])(unsigned char) = {").nth(1).unwrap().split('}').next().unwrap();
    table.split(',').map(str::trim).filter(|name| !name.is_empty()).collect()
}

fn show(event: &Event) -> String {
    let value = |v: u64| {
        if event.size == 1 && (0x21..0x7f).contains(&v) {
            format!("'{}'", v as u8 as char)
        } else {
            format!("{v:#x}")
        }
    };
    let equal = if event.flags & FLAG_EQUAL != 0 { " yes" } else { "" };
    match event.kind {
        EVENT_COMPARE => {
            let constant = if event.flags & FLAG_CONSTANT != 0 { "constant " } else { "" };
            format!("compare{} {constant}{} {}{equal}", event.size, value(event.a), value(event.b))
        }
        EVENT_SWITCH => {
            let cases: Vec<_> = event.cases().iter().map(|c| format!("{c:#x}")).collect();
            format!("switch{} {:#x} in {} of {}", event.size, event.a, cases.join(" "), event.b)
        }
        EVENT_TEXT => {
            let name = [
                "",
                "strcmp",
                "strncmp",
                "strcasecmp",
                "strncasecmp",
                "memcmp",
                "strstr",
                "strcasestr",
                "memmem",
            ][event.function as usize];
            let (x, y) = (event.x().escape_ascii(), event.y().escape_ascii());
            format!("{name} \"{x}\" \"{y}\"{equal}")
        }
        EVENT_CLASS => format!("class{} {}{equal}", event.function, value(event.a)),
        EVENT_SET => {
            format!("set{} {} in \"{}\"{equal}", event.function, value(event.a), event.x().escape_ascii())
        }
        EVENT_FOLD => format!("fold {} {}{equal}", value(event.a), value(event.b)),
        EVENT_END => format!("end{} {}", event.function, event.a),
        EVENT_FLOAT => format!("float {} {}{equal}", f64::from_bits(event.a), f64::from_bits(event.b)),
        kind => format!("unknown {kind}"),
    }
}

/// Events of each probe on `Qux`, a line each.
fn transcript(path: &Path) -> String {
    let mut command = std::process::Command::new(path);
    command.stdin(std::process::Stdio::null());
    let mut target = Native::start_with(&mut command, WANTS);
    assert_ne!(target.board().features & HAS_TRACE, 0);
    let mut all = String::new();
    for (i, name) in names().iter().enumerate() {
        let mut input = vec![i as u8];
        input.extend(b"Qux");
        assert_eq!(target.run(&input), 0, "{name}");
        let events: Vec<_> = target.events().iter().map(show).collect();
        writeln!(all, "{name}: {}", events.join("; ")).unwrap();
    }
    all
}

fn probe(compiler: &str, flags: &str) -> String {
    let (_folder, path) = build(compiler, Traced, flags, PROBE);
    transcript(&path)
}

#[test]
fn gcc_tells_every_construct() {
    // A build's own optimisation must not matter.
    let plain = probe("gcc", "");
    assert_eq!(plain, probe("gcc", "-O3 -D_FORTIFY_SOURCE=2 -flto"));
    expect_file!["golden/probe.gcc.txt"].assert_eq(&plain);
}

#[test]
fn clang_tells_every_construct() {
    if !has("clang") {
        return;
    }
    let plain = probe("clang", "");
    assert_eq!(plain, probe("clang", "-O3"));
    expect_file!["golden/probe.clang.txt"].assert_eq(&plain);
}

/// What texts and sets a transcript tells.
fn texts(transcript: &str) -> Vec<&str> {
    let kinds = ["str", "mem"];
    transcript
        .split(['\n', ';', ':'])
        .map(str::trim)
        .filter(|e| kinds.iter().any(|k| e.starts_with(k)))
        .collect()
}

#[test]
fn a_sanitizer_tells_of_its_own_string_functions() {
    for compiler in compilers() {
        let with = probe(compiler, "-fsanitize=address,undefined -g");
        let without = probe(compiler, "");
        // ASan has no bcmp of its own in all versions.
        let known = |t: &&str| t.contains('"') && !t.contains("false");
        let (with, without): (Vec<_>, Vec<_>) = (
            texts(&with).into_iter().filter(known).collect(),
            texts(&without).into_iter().filter(known).collect(),
        );
        assert_eq!(with, without, "{compiler}");
    }
}

#[test]
fn a_static_program_tells_the_same() {
    let (_folder, path) = build("gcc", Traced, "-static", PROBE);
    let told = transcript(&path);
    assert!(told.contains("strcmp \"Qux\" \"while\"") && told.contains("class5 'Q'"), "{told}");
}

#[test]
fn a_fast_build_logs_nothing() {
    let (_folder, path) = build("gcc", Fast, "-O2", PROBE);
    let mut target = Native::start(&path, WANTS);
    assert_eq!(target.board().features & HAS_TRACE, 0);
    assert_eq!(target.run(b"\x01Qux"), 0);
    assert_eq!((target.board().event_count, target.board().pair_count), (0, 0));
    assert!(!target.hits().is_empty());
}

#[test]
fn nothing_is_logged_that_is_not_wanted() {
    let (_folder, path) = build("gcc", Traced, "", PROBE);
    for (wants, events, pairs) in [(0, false, false), (WANT_EVENTS, true, false), (WANT_PAIRS, false, true)] {
        let mut target = Native::start(&path, wants);
        assert_eq!(target.run(b"\x01Qux"), 0);
        assert_eq!((target.board().event_count > 0, target.board().pair_count > 0), (events, pairs));
        assert!(!target.hits().is_empty());
    }
}

const RECURSION: &str = r#"
#include <stdint.h>
#include <stddef.h>
static volatile int sink;
static void a(int);
static void b(int n) { if (n == 'b') sink++; }
static void a(int n) { if (n == 'a') sink++; }
static void nest(const uint8_t *d, size_t n) {
    if (n && d[0] == '(') nest(d + 1, n - 1);
    else if (n && d[0] == '!') sink++;
}
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
    if (n && d[0] == '1') { a(0); b(0); a(0); }
    else if (n && d[0] == '2') { b(0); a(0); b(0); }
    else nest(d, n);
    return 0;
}
"#;

#[test]
fn depth_counts_calls() {
    for compiler in compilers() {
        let (_folder, path) = build(compiler, Traced, "-O2", RECURSION);
        let mut target = Native::start(&path, WANTS);
        let mut depth = |input: &str| {
            assert_eq!(target.run(input.as_bytes()), 0);
            let events = target.events();
            let at = events.iter().find(|e| e.a == u64::from(b'!')).unwrap();
            assert_eq!(target.board().max_depth, u32::from(at.depth));
            at.depth
        };
        let base = depth("x");
        for n in [1, 7, 300] {
            assert_eq!(depth(&format!("{}x", "(".repeat(n))), base + n as u16, "{compiler}");
        }
    }
}

/// The way to a place is the same in every process, and another one by
/// another call; the innermost calls forget what is far out.
#[test]
fn contexts_tell_by_which_calls_a_place_was_reached() {
    let text = r#"
#include <stdint.h>
#include <stddef.h>
static int leaf(int c) { return c == '!'; }
static int one(int c) { return leaf(c); }
static int two(int c) { int r = one(c); return r; }
static int three(int c) { int r = two(c); return r; }
static int left(int c) { int r = three(c); return r; }
static int right(int c) { int r = three(c); return r; }
static int deep(int c, int n) { if (n) { int r = deep(c, n - 1); return r; } return left(c); }
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
    if (n && d[0] == 'l') left(d[0]);
    else if (n && d[0] == 'r') right(d[0]);
    else if (n) deep(d[0], d[0] - '0');
    return 0;
}
"#;
    for compiler in compilers() {
        let (_folder, path) = build(compiler, Traced, "", text);
        let mut first = Native::start(&path, WANTS);
        let mut second = Native::start(&path, WANTS);
        let at = |target: &mut Native, input: &[u8]| {
            assert_eq!(target.run(input), 0);
            let event = *target.events().iter().find(|e| e.a == u64::from(b'!')).unwrap();
            (event.near, event.context)
        };
        for input in [b"l", b"r", b"0", b"7"] {
            assert_eq!(at(&mut first, input), at(&mut second, input), "{compiler}");
        }
        let [l, r, shallow, deep] = [b"l", b"r", b"2", b"7"].map(|input| at(&mut first, input));
        assert_eq!(l.0[0], r.0[0], "{compiler}: one, two and three");
        assert!(l.0[1] != r.0[1] && l.1 != r.1, "{compiler}: left or right");
        assert_eq!(shallow.0, deep.0, "{compiler}: both by deep");
        assert_ne!(shallow.1, deep.1, "{compiler}: how deep");
    }
}

#[test]
fn pairs_tell_orders_apart_that_blocks_do_not() {
    for compiler in compilers() {
        let (_folder, path) = build(compiler, Traced, "", RECURSION);
        let mut target = Native::start(&path, WANTS);
        let mut run = |input: &[u8]| {
            assert_eq!(target.run(input), 0);
            let mut order = target.pairs();
            let events = target.events();
            let counts: Vec<u32> = events.iter().map(|e| e.pairs).collect();
            assert!(counts.is_sorted() && *counts.last().unwrap() <= order.len() as u32);
            order.sort_unstable();
            let distinct = order.windows(2).all(|w| w[0] != w[1]);
            assert!(distinct, "each pair once");
            order
        };
        let (aba, bab) = (run(b"1"), run(b"2"));
        assert_eq!(run(b"1"), aba);
        let only = aba.iter().filter(|p| !bab.contains(p)).count();
        assert!(only >= 2, "{compiler}: {only} of {}", aba.len());
    }
}

#[test]
fn the_ring_keeps_the_last_events() {
    let text = r#"
#include <stdint.h>
#include <stddef.h>
static volatile int sink;
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
    for (uint32_t i = 0; i < 100000; i++) if (i == 99999u) sink++;
    return 0;
}
"#;
    let (_folder, path) = build("gcc", Traced, "", text);
    let mut target = Native::start(&path, WANTS);
    assert_eq!(target.run(b""), 0);
    assert!(target.board().event_count >= 200_000);
    let events = target.events();
    assert!(events.len() < 100_000);
    let last = events.iter().rev().find(|e| e.flags & FLAG_EQUAL != 0).unwrap();
    assert_eq!((last.a, last.b), (99_999, 99_999));
}

#[test]
fn threads_log_without_losing_each_other() {
    let text = r#"
#include <pthread.h>
#include <stdint.h>
#include <stddef.h>
#include <string.h>
static void *work(void *name) {
    volatile int equal = 0;
    for (int i = 0; i < 500; i++) equal += strcmp(name, "nobody") == 0;
    return NULL;
}
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
    pthread_t threads[4];
    static char names[4][4] = {"t0", "t1", "t2", "t3"};
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, names[i]);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    return 0;
}
"#;
    for compiler in compilers() {
        let (_folder, path) = build(compiler, Traced, "-pthread", text);
        let mut target = Native::start(&path, WANTS);
        assert_eq!(target.run(b""), 0);
        let events = target.events();
        for name in [b"t0", b"t1", b"t2", b"t3"] {
            let count =
                events.iter().filter(|e| e.kind == EVENT_TEXT && e.x() == name && e.y() == b"nobody").count();
            assert_eq!(count, 500, "{compiler}");
        }
        assert!(events.iter().all(|e| e.kind != 0), "no torn record");
    }
}

#[test]
fn comparisons_of_std_string_are_seen() {
    for compiler in ["g++", "clang++"] {
        if !has(compiler) {
            continue;
        }
        let folder = Folder::new();
        folder.file(
            "h.cc",
            r#"
#include <string>
#include <cstdint>
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static volatile int sink;
    std::string s((const char *)data, size);
    if (s == "keyword") sink = 1;
    return 0;
}
"#,
        );
        cc(&folder, compiler, Traced, "-O2 -o ./h ./h.cc");
        let mut target = Native::start(&folder.path("h"), WANTS);
        assert_eq!(target.run(b"keyw0rd"), 0);
        let seen = target
            .events()
            .iter()
            .any(|e| e.kind == EVENT_TEXT && e.x() == b"keyw0rd" && e.y() == b"keyword");
        assert!(seen, "{compiler}");
    }
}
