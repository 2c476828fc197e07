//! Crashes are told apart: twenty crashes in three functions of a program in
//! C, in C++ and in Rust, and programs that make it hard.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const LETTERS: &str = "abcdefghijklmnopqrst";

/// A folder that is new to a test; other users can look into it.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("crashes-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn planted(name: &str) -> String {
    format!("{}/../../bench/crashes/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn wug(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wug"))
        .args(arguments)
        .current_dir(folder)
        .env("WUG_CACHE", folder.join("cache"))
        .output()
        .expect("wug runs")
}

/// Whether a tool is there; with `WUG_REQUIRE_ALL` it must be.
fn has(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success());
    assert!(found || std::env::var_os("WUG_REQUIRE_ALL").is_none(), "{tool} is needed");
    if !found {
        eprintln!("skipped: {tool} is not there");
    }
    found
}

#[track_caller]
fn succeed(command: &mut Command) {
    let output = command.output().expect("a compiler");
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}

/// Compiles a program and gives its path.
fn compile(folder: &Path, compiler: &str, flags: &[&str], source: &str) -> String {
    let name = format!("{compiler}{}", flags.concat()).replace(['/', '=', ',', '+'], "_");
    let program = folder.join(name).to_string_lossy().into_owned();
    succeed(Command::new(compiler).args(flags).args(["-w", "-o", &program, source]));
    program
}

/// One input for each crash of a planted program.
fn inputs(language: &str) -> Vec<String> {
    let input = |letter: char| format!("!{letter}0");
    let mut all: Vec<String> = LETTERS.chars().map(input).collect();
    if language == "c" {
        // The last two are in one block.
        all[19] = "!s1".into();
    }
    all
}

/// Writes inputs to files of a folder and gives their paths.
fn write(folder: &Path, inputs: &[String]) -> Vec<String> {
    fs::create_dir_all(folder).expect("a folder");
    let file = |(number, input): (usize, &String)| {
        let path = folder.join(format!("{number:02}"));
        fs::write(&path, input).expect("an input");
        path.to_string_lossy().into_owned()
    };
    inputs.iter().enumerate().map(file).collect()
}

/// The sites of all inputs, by `wug run`.
#[track_caller]
fn sites(folder: &Path, program: &str, inputs: &[String]) -> Vec<String> {
    let files = write(&folder.join("inputs"), inputs);
    let mut arguments = vec!["run", "--json", "-t", "20000", program, "--"];
    arguments.extend(files.iter().map(String::as_str));
    let output = wug(folder, &arguments);
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{program}: {}", String::from_utf8_lossy(&output.stderr)));
    let runs = report["runs"].as_array().expect("runs").iter();
    runs.map(|run| run["site"].as_str().unwrap_or_else(|| panic!("{program}: {run}")).to_string()).collect()
}

/// Runs a campaign on all planted inputs: which of them were kept as crashes,
/// and how many sites there are.
#[track_caller]
fn campaign(folder: &Path, program: &str, inputs: &[String]) -> (BTreeSet<String>, usize) {
    write(&folder.join("seeds"), &[inputs, &["!z0".to_string()]].concat());
    let arguments =
        ["fuzz", "-i", "seeds", "-o", "out", "-s", "1", "-E", "400", "-t", "20000", "--", program];
    let output = wug(folder, &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let out = folder.join("out/default");
    let report: Value =
        serde_json::from_slice(&fs::read(out.join("report.json")).expect("a report")).expect("JSON");
    let buckets = report["crashes"].as_array().expect("crashes");
    let files = buckets.iter().map(|bucket| 1 + bucket["more"].as_array().expect("files").len());
    let kept: Vec<PathBuf> = fs::read_dir(out.join("crashes"))
        .expect("crashes")
        .map(|file| file.expect("a file").path())
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("id:")))
        .collect();
    assert_eq!(kept.len(), files.sum::<usize>(), "{report}");
    assert_eq!(report["saved_crashes"].as_u64(), Some(kept.len() as u64));
    let bytes = |path: &PathBuf| String::from_utf8_lossy(&fs::read(path).expect("a crash")).into_owned();
    (kept.iter().map(bytes).collect(), buckets.len())
}

#[track_caller]
fn check_campaign(folder: &Path, program: &str, language: &str, sites: usize) {
    let inputs = inputs(language);
    let (kept, found) = campaign(folder, program, &inputs);
    let lost: Vec<&String> = inputs.iter().filter(|input| !kept.contains(*input)).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    assert!(found >= sites, "{found} sites");
}

#[test]
fn a_campaign_keeps_all_crashes_of_a_c_program() {
    for compiler in ["gcc", "clang"].into_iter().filter(|compiler| has(compiler)) {
        let folder = folder(&format!("c-{compiler}"));
        let built = wug(
            &folder,
            &["cc", &format!("--wug-cc={compiler}"), "-O2", "-w", "-o", "target", &planted("planted.c")],
        );
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        // Two calls of abort are one instruction: edges tell them apart.
        check_campaign(&folder, "./target", "c", 19);
    }
}

#[test]
fn a_campaign_keeps_all_crashes_of_a_cpp_program() {
    let folder = folder("cc");
    let built = wug(&folder, &["c++", "-O2", "-w", "-std=c++17", "-o", "target", &planted("planted.cc")]);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    check_campaign(&folder, "./target", "cc", 20);
}

#[test]
fn a_campaign_keeps_all_crashes_of_a_rust_program() {
    for panic in ["abort", "unwind"] {
        let folder = folder(&format!("rs-{panic}"));
        let flags = wug(&folder, &["rustflags"]);
        let flags = String::from_utf8(flags.stdout).expect("flags");
        let target = folder.join("target");
        succeed(
            Command::new("rustc")
                .args(["--edition", "2021", "-O", "-Coverflow-checks=on", &format!("-Cpanic={panic}"), "-o"])
                .arg(&target)
                .arg(planted("planted.rs"))
                .args(flags.split_whitespace()),
        );
        check_campaign(&folder, "./target", "rs", 20);
    }
}

/// All crashes of a build have sites of their own, but for those that the
/// compiler has merged; and the sites are the same each time, wherever the
/// program is loaded.
#[track_caller]
fn check_build(folder: &Path, program: &str, language: &str) {
    let inputs = inputs(language);
    let first = sites(folder, program, &inputs);
    let distinct: BTreeSet<&String> = first.iter().collect();
    let merged = usize::from(language == "c" && first[2] == first[3]);
    assert_eq!(distinct.len() + merged, inputs.len(), "{program}: {first:#?}");
    assert_eq!(sites(folder, program, &inputs), first, "{program}");
}

#[test]
fn builds_of_all_kinds_have_sites() {
    let folder = folder("builds");
    let c: [&[&str]; 7] = [
        &["-O0"],
        &["-O2", "-no-pie"],
        &["-O2", "-s"],
        &["-O2", "-static"],
        &["-O2", "-static", "-s"],
        &["-O1", "-g", "-fsanitize=address"],
        &["-O1", "-s", "-fsanitize=address,undefined"],
    ];
    let cpp: [&[&str]; 4] =
        [&["-O0"], &["-O2", "-s"], &["-O2", "-static", "-s"], &["-O1", "-fsanitize=address"]];
    for compiler in ["gcc", "clang"].into_iter().filter(|compiler| has(compiler)) {
        for flags in c {
            check_build(&folder, &compile(&folder, compiler, flags, &planted("planted.c")), "c");
        }
        let compiler = if compiler == "gcc" { "g++" } else { "clang++" };
        for flags in cpp {
            let flags = [flags, &["-std=c++17"]].concat();
            check_build(&folder, &compile(&folder, compiler, &flags, &planted("planted.cc")), "cc");
        }
    }
    let rust: [&[&str]; 4] = [
        &["-Cpanic=abort"],
        &["-Cpanic=abort", "-Copt-level=3", "-Cstrip=symbols"],
        &["-Cpanic=unwind", "-Copt-level=3"],
        &["-Cpanic=unwind", "-Cstrip=symbols"],
    ];
    for flags in rust {
        let flags = [flags, &["--edition=2021", "-Coverflow-checks=on", "-Awarnings"]].concat();
        let program = folder.join(flags.concat().replace('=', "_")).to_string_lossy().into_owned();
        succeed(Command::new("rustc").args(&flags).args(["-o", &program, &planted("planted.rs")]));
        check_build(&folder, &program, "rs");
    }
}

/// The sites of inputs of a C program.
#[track_caller]
fn sites_of(name: &str, source: &str, flags: &[&str], inputs: &[&str]) -> Vec<String> {
    let folder = folder(name);
    let path = folder.join("source.c");
    fs::write(&path, source).expect("a source");
    let program = compile(&folder, "cc", flags, &path.to_string_lossy());
    let inputs: Vec<String> = inputs.iter().map(|input| input.to_string()).collect();
    sites(&folder, &program, &inputs)
}

const HARD: &str = r#"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define APART __attribute__((noinline))
static char text[1 << 20];
static int *volatile nothing;
static volatile int sink;
APART static void fault(int which) {
    if (which == '1') *nothing = 1;
    sink++;
    if (which == '2') *nothing = 2;
    sink++;
}
APART static int value(const char *at);
APART static int list(const char *at) { int n = value(at + 1); sink++; return n + 1; }
APART static int value(const char *at) {
    if (*at == '(') { int n = list(at); sink++; return n; }
    if (*at == '!') fault('1');
    return 0;
}
APART static int odd(int n);
APART static int even(int n) { volatile char room[64]; room[n & 63] = 1; return odd(n + 1) + room[3]; }
APART static int odd(int n) { volatile char room[999]; room[n & 63] = 1; return even(n + 1) + room[3]; }
static void *thread(void *which) { fault(*(char *)which); return 0; }
static void handler(int number) { (void)number; sink++; abort(); }
APART static void smash(int length) { volatile char room[8]; for (int i = 0; i < length; i++) room[i] = 'A'; }
int main(void) {
    if (!fread(text, 1, sizeof text - 1, stdin)) return 0;
    if (text[0] == 't') { pthread_t id; pthread_create(&id, 0, thread, text + 1); pthread_join(id, 0); }
    if (text[0] == 'h') { signal(SIGSEGV, handler); fault(text[1]); }
    if (text[0] == 'e') sink = text[1] == '1' ? even(0) : even(1) + odd(0);
    if (text[0] == 'm') smash(64);
    value(text);
    return 0;
}
"#;

#[test]
fn depth_threads_and_handlers_do_not_hide_a_site() {
    let flags = ["-O1", "-fno-optimize-sibling-calls", "-fno-stack-protector", "-pthread"];
    let inputs = ["(!", "((((!", "((((((((((((((((((!", "t1", "t2", "h1", "h2", "e1", "e22", "m"];
    for more in [&[][..], &["-static"], &["-s"]] {
        let flags = [&flags[..], more].concat();
        let sites = sites_of("hard", HARD, &flags, &inputs);
        // However deep it is nested.
        assert!(sites[0] == sites[1] && sites[1] == sites[2], "{flags:?} {sites:#?}");
        // In a thread, and where a handler ends the program.
        for (one, other) in [(3, 4), (5, 6)] {
            assert_ne!(sites[one], sites[other], "{flags:?} {sites:#?}");
        }
        if !flags.contains(&"-s") {
            assert!(sites[3].contains("fault+") && sites[3].contains("thread+"), "{sites:#?}");
            assert!(sites[5].contains("fault+") && !sites[5].contains("handler"), "{sites:#?}");
        }
        // Wherever the stack ended.
        assert!(sites[7].starts_with("stack overflow in ") && sites[7] == sites[8], "{flags:?} {sites:#?}");
        assert!(!sites[9].contains("0x4141"), "{sites:#?}");
    }
}

#[test]
fn minimize_keeps_the_site_of_a_campaign() {
    let source = r#"
        #include <assert.h>
        #include <stdio.h>
        __attribute__((noinline)) static void check(int length) {
            if (length > 5) assert(length < 0);
            if (length > 0) assert(length < -1);
        }
        int main(void) { char text[64]; check((int)fread(text, 1, 64, stdin)); return 0; }
    "#;
    let folder = folder("minimize");
    fs::write(folder.join("source.c"), source).expect("a source");
    let program = compile(&folder, "cc", &["-O2"], &folder.join("source.c").to_string_lossy());
    fs::write(folder.join("crash"), "aaaaaaaaaaaaaaaa").expect("an input");
    let output = wug(&folder, &["minimize", "crash", "-o", "small", "--json", "-t", "20000", "--", &program]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Less would fail the other assertion of the same function.
    let small = fs::read_to_string(folder.join("small")).expect("a result");
    assert_eq!(small.len(), 6);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["kept"].as_str(), Some(sites(&folder, &program, &[small])[0].as_str()));
}

#[test]
fn crashes_that_do_not_happen_again_have_the_site_that_the_runtime_saw() {
    let source = r#"
        #include <stddef.h>
        #include <stdint.h>
        static int runs;
        static int *volatile nothing;
        __attribute__((noinline)) static void check(int which) {
            if (which == 'a') *nothing = 1;
            if (which == 'b') *nothing = 2;
        }
        int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
            /* Not the first run of a process. */
            if (runs++ && size) check(data[0]);
            return 0;
        }
    "#;
    let folder = folder("once");
    fs::write(folder.join("source.c"), source).expect("a source");
    let built = wug(&folder, &["cc", "-O1", "-o", "target", "source.c"]);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    // Small seeds are run first.
    let inputs = ["z", "a", "zz", "bb"].map(str::to_string);
    let arguments =
        ["fuzz", "-i", "seeds", "-o", "out", "-s", "1", "-E", "40", "-t", "20000", "--", "./target"];
    write(&folder.join("seeds"), &inputs);
    let output = wug(&folder, &arguments);
    let report = fs::read(folder.join("out/default/report.json")).expect("a report");
    let report: Value = serde_json::from_slice(&report).expect("JSON");
    let places: BTreeSet<&str> = report["crashes"]
        .as_array()
        .expect("crashes")
        .iter()
        .filter_map(|crash| crash["place"].as_str())
        .collect();
    assert_eq!(places.len(), 2, "{places:?}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(places.iter().all(|place| place.contains("SIGSEGV in check+")), "{places:?}");
}
