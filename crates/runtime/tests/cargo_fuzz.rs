//! Targets of cargo-fuzz: `libfuzzer-sys` with libFuzzer in it and without, and
//! what a harness in C may ask of libFuzzer.

mod support;

use std::path::PathBuf;
use std::process::Command;
use support::*;
use wug_runtime::abi::*;
use wug_runtime::compile::Build::{self, Fast, Traced};

const MANIFEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cargo-fuzz/Cargo.toml");

/// Whether the crates are here, or can be fetched.
fn has_crates() -> bool {
    let fetch = |more: &[&str]| {
        let mut cargo = Command::new(env!("CARGO"));
        let output =
            cargo.args(["fetch", "--locked", "--manifest-path", MANIFEST]).args(more).output().unwrap();
        output.status.success()
    };
    let found = fetch(&["--offline"]) || fetch(&[]);
    if !found {
        assert!(std::env::var_os("WUG_REQUIRE_ALL").is_none(), "libfuzzer-sys cannot be fetched");
        eprintln!("skipped: libfuzzer-sys cannot be fetched");
    }
    found
}

/// Builds the targets; the folder of their programs.
fn cargo(build: Build, more: &[&str], folder: &Folder) -> PathBuf {
    let flags = rust_flags(build);
    let output = Command::new(env!("CARGO"))
        .args(["build", "--release", "--offline", "--locked", "--manifest-path", MANIFEST])
        .args(more)
        .arg("--target-dir")
        .arg(&folder.0)
        .env("RUSTFLAGS", format!("{} --cfg fuzzing", flags.join(" ")))
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder.path("release")
}

fn check(folder: PathBuf) {
    let mut bytes = Native::start(&folder.join("bytes"), WANT_CRASH);
    let expected = HAS_PERSISTENT | HAS_SHARED_INPUT;
    assert_eq!(bytes.board().features & expected, expected);
    assert_eq!(bytes.run(b"[]"), 0);
    let accepted = bytes.hits();
    assert_eq!(bytes.run(b"x"), exited(1), "Corpus::Reject");
    assert_ne!(bytes.hits(), accepted);
    assert_eq!(bytes.run(b"[bug]") & 0x7f, libc::SIGABRT, "a panic");
    assert_eq!(bytes.run(b"[]"), 0);
    let mut mutator = Native::start(&folder.join("mutator"), 0);
    assert_eq!(mutator.run(b"\0abcd"), exited(1), "nothing is changed");
    assert_eq!(mutator.run(b"\xffabcd"), 0, "changed, and not too long");
    assert_eq!(mutator.run(b"ab"), exited(1), "too short for an order");
}

#[test]
fn libfuzzer_sys_links_and_runs_with_its_default_features() {
    if has_crates() {
        let folder = Folder::new();
        check(cargo(Fast, &[], &folder));
    }
}

#[test]
fn libfuzzer_sys_links_and_runs_without_default_features() {
    if has_crates() {
        let folder = Folder::new();
        check(cargo(Fast, &["--no-default-features"], &folder));
    }
}

#[test]
fn traced_targets_of_libfuzzer_sys_tell_comparisons() {
    if has_crates() {
        let folder = Folder::new();
        let programs = cargo(Traced, &["--no-default-features"], &folder);
        let mut bytes = Native::start(&programs.join("bytes"), WANT_EVENTS | WANT_PAIRS);
        assert_eq!(bytes.run(b"[bag]"), 0);
        let told = |e: &Event| e.kind == EVENT_TEXT && [e.x(), e.y()].contains(&&b"[bug]"[..]);
        assert!(bytes.events().iter().any(told), "the text");
    }
}

/// What a target may do with `LLVMFuzzerMutate`; exits with 1 if it breaks a
/// promise.
const MUTATES: &str = r#"
    #include <stdint.h>
    #include <stdlib.h>
    #include <string.h>
    size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
    static int check(void) {
        uint8_t data[24], before[24];
        unsigned longer = 0, shorter = 0, same = 0;
        for (size_t max = 0; max <= 16; max++)
            for (size_t size = 0; size <= max; size++)
                for (int i = 0; i < 50; i++) {
                    memset(data, 'x', sizeof data);
                    for (size_t k = 0; k < size; k++) data[k] = (uint8_t)k;
                    memcpy(before, data, sizeof data);
                    size_t n = LLVMFuzzerMutate(data, size, max);
                    if (n > max || (n == 0) != (max == 0)) return 1;
                    if (max && n == size && !memcmp(data, before, n)) return 1;
                    if (memcmp(data + max, before + max, sizeof data - max)) return 1;
                    longer += n > size, shorter += n < size, same += n == size;
                }
        return !longer || !shorter || !same;
    }
"#;

#[test]
fn a_program_in_c_gets_changed_inputs_from_the_mutator() {
    let own = format!("{MUTATES} int main(void) {{ return check(); }}");
    let harness = format!(
        "{MUTATES}
        size_t LLVMFuzzerCustomMutator(uint8_t *d, size_t n, size_t most, unsigned seed) {{
            return (void)seed, LLVMFuzzerMutate(d, n, most);
        }}
        size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b, size_t nb, uint8_t *to,
                                         size_t most, unsigned seed) {{
            return (void)a, (void)na, (void)b, (void)nb, (void)to, (void)most, (void)seed, (size_t)0;
        }}
        int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {{
            return size && data[0] == 'm' ? check() : -1;
        }}"
    );
    for compiler in compilers() {
        let (_folder, own) = build(compiler, Fast, "", &own);
        assert!(Command::new(own).status().unwrap().success(), "{compiler}");
        let (_folder, harness) = build(compiler, Fast, "", &harness);
        let mut target = Native::start(&harness, 0);
        assert_eq!((target.run(b"m"), target.run(b"x")), (0, exited(1)), "{compiler}");
    }
}

/// As much of libFuzzer as can stand in our way: each of its objects needs
/// the others.
const LIBFUZZER: [(&str, &str); 3] = [
    ("main.c", "int LLVMFuzzerRunDriver(void *, void *, void *); int LLVMFuzzerTestOneInput(const unsigned char *, unsigned long);
        int main(int n, char **v) { return LLVMFuzzerRunDriver(&n, &v, LLVMFuzzerTestOneInput); }"),
    ("loop.c", "extern int coverage; int LLVMFuzzerRunDriver(void *a, void *b, void *c) { return coverage; }
        unsigned long LLVMFuzzerMutate(unsigned char *d, unsigned long n, unsigned long most) { return coverage; }"),
    ("trace.c", "int coverage = 77; void __sanitizer_cov_8bit_counters_init(char *a, char *b) {}
        void __sanitizer_cov_trace_pc_guard_init(char *a, char *b) {} void __sanitizer_cov_trace_pc_guard(char *a) {}
        void __sanitizer_cov_trace_pc(void) {} void __sanitizer_cov_trace_const_cmp4(int a, int b) {}
        void __sanitizer_cov_trace_cmp8(long a, long b) {} void __sanitizer_cov_pcs_init(char *a, char *b) {}"),
];

#[test]
fn our_driver_stands_before_an_archive_of_libfuzzer() {
    let folder = Folder::new();
    let mut archiver = Command::new("ar");
    archiver.current_dir(&folder.0).args(["rcs", "libengine.a"]);
    for (name, text) in LIBFUZZER {
        let object = format!("{name}.o");
        let source = folder.file(name, text);
        let mut gcc = Command::new("gcc");
        let compiled = gcc.args(["-w", "-c", "-o"]).arg(folder.path(&object)).arg(source).status().unwrap();
        assert!(compiled.success());
        archiver.arg(object);
    }
    assert!(archiver.status().unwrap().success());
    let test = "#include <stddef.h>
        size_t LLVMFuzzerMutate(unsigned char *, size_t, size_t);
        int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
            unsigned char room[2] = {1};
            return LLVMFuzzerMutate(room, 1, 2) > 2 || size != 3 || data[0] != 'y';
        }";
    let main = "int LLVMFuzzerRunDriver(int *, char ***, int (*)(const unsigned char *, size_t));
        int main(int n, char **v) { return LLVMFuzzerRunDriver(&n, &v, LLVMFuzzerTestOneInput); }";
    let sources = [test.to_string(), format!("{test}\n{main}")];
    for compiler in compilers() {
        for (number, source) in sources.iter().enumerate() {
            folder.file("test.c", source);
            for way in ["./libengine.a", "-L./ -lengine", "-L./ -l engine"] {
                for build in [Fast, Traced] {
                    cc(&folder, compiler, build, &format!("-o ./test ./test.c {way}"));
                    let mut target = Native::start(&folder.path("test"), 0);
                    let answers = (target.run(b"yes"), target.run(b"no"));
                    assert_eq!(answers, (0, exited(1)), "{compiler} {way} {build:?} source {number}");
                }
            }
        }
    }
}
