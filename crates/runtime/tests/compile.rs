//! `wug cc` in the place of a compiler: what builds and configure scripts do
//! with one.

mod support;

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use support::*;
use wug_runtime::compile::Build::{Fast, Traced};
use wug_runtime::compile::{self, Language};

const HELLO: &str = "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n";

fn output_of(path: &Path) -> String {
    let output = Command::new(path).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Ids hit by an input that the program reads from its standard input.
fn covers(path: &Path) -> usize {
    let mut target = Native::start(path, 0);
    assert_eq!(target.run(b""), 0);
    target.hits().len()
}

/// The wrapper as a program of its own, for what it prints and its exit code.
fn wug(folder: &Folder, compiler: &str, arguments: &[&str], input: &str) -> std::process::Output {
    // The test binary starts itself: see `as_a_program` below.
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "as_a_program", "--nocapture", "--test-threads=1"])
        .env("WUG_TEST_ARGUMENTS", arguments.join("\x1f"))
        .env("WUG_TEST_COMPILER", compiler)
        .current_dir(&folder.0)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    use std::io::Write;
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// Not a test: the body of the process that `wug` starts.
#[test]
fn as_a_program() {
    let Ok(arguments) = std::env::var("WUG_TEST_ARGUMENTS") else { return };
    let compiler = std::env::var("WUG_TEST_COMPILER").unwrap();
    let arguments: Vec<OsString> = arguments.split('\x1f').map(OsString::from).collect();
    let status = compile::compile(Language::C, &arguments, &options(&compiler, Fast)).unwrap();
    std::process::exit(status.code().unwrap());
}

#[test]
fn steps_of_a_build_work_one_by_one_and_at_once() {
    for compiler in compilers() {
        for build in [Fast, Traced] {
            let folder = Folder::new();
            folder.file("a.c", "int b(int);\nint main(int argc, char **argv) { return b(argc) - 1; }\n");
            folder.file("b.c", "int b(int n) { return n > 1 ? 2 : 1; }\n");
            for steps in [
                &["-O2 ./a.c ./b.c -o ./whole"][..],
                &["-O2 -c ./a.c -o ./a.o", "-c ./b.c -o ./b.o", "./a.o ./b.o -o ./whole"],
                &["-S ./a.c -o ./a.s", "-E ./b.c -o ./b.i", "./a.s ./b.i -o ./whole"],
                &[
                    "-O2 -S ./a.c -o ./a.s",
                    "-c ./a.s -o ./a.o",
                    "-S ./b.c -o ./b.s",
                    "./a.o ./b.s -o ./whole",
                ],
                &["-x c ./a.c ./b.c -o ./whole"],
                &["-static ./a.c ./b.c -o ./whole"],
                &["-pipe -g3 -O2 -fPIC -fno-plt ./a.c ./b.c -o ./whole"],
                &["-O2 -ffunction-sections -Wl,--gc-sections ./a.c ./b.c -o ./whole"],
                &[
                    "-O2 -flto -c ./a.c -o ./a.o",
                    "-O2 -flto -c ./b.c -o ./b.o",
                    "-O2 -flto ./a.o ./b.o -o ./whole",
                ],
                &[
                    "-c ./a.c -o ./a.o",
                    "-c ./b.c -o ./b.o",
                    "-r -nostdlib ./a.o ./b.o -o ./ab.o",
                    "./ab.o -o ./whole",
                ],
                &["-masm=intel -O1 ./a.c ./b.c -o ./whole"],
                &["-fuse-ld=gold ./a.c ./b.c -o ./whole"],
            ] {
                if compiler == "clang" && steps[0].contains("-flto") {
                    continue; // needs a plugin of the linker
                }
                for step in steps {
                    cc(&folder, compiler, build, step);
                }
                assert!(covers(&folder.path("whole")) >= 2, "{compiler} {build:?} {steps:?}");
            }
        }
    }
}

#[test]
fn every_linker_script_and_linker_gives_coverage() {
    let text = "int main(int argc, char **argv) { return argc > 1; }\n";
    for compiler in compilers() {
        for flags in
            ["-fuse-ld=gold", "-fuse-ld=bfd", "-Wl,-Ttext-segment=0x800000 -no-pie", "-Wl,--gc-sections"]
        {
            let (_folder, path) = build(compiler, Fast, flags, text);
            assert!(covers(&path) >= 1, "{compiler} {flags}");
        }
    }
}

#[test]
fn what_the_compiler_says_is_passed_on() {
    for compiler in compilers() {
        let folder = Folder::new();
        folder.file("bad.c", "int main(void) { return x; }\n");
        folder.file("good.c", HELLO);
        folder.file("no_main.c", "int f(void) { return 0; }\n");
        let bad = wug(&folder, compiler, &["bad.c"], "");
        let plain = Command::new(compiler).arg("bad.c").current_dir(&folder.0).output().unwrap();
        assert_eq!(bad.status.code(), plain.status.code());
        assert_eq!(bad.stderr, plain.stderr);
        for arguments in [&["--version"][..], &["-dumpversion"], &["-print-search-dirs"], &["-dumpmachine"]] {
            let ours = wug(&folder, compiler, arguments, "");
            let plain = Command::new(compiler).args(arguments).output().unwrap();
            let text = String::from_utf8(ours.stdout).unwrap();
            assert!(text.contains(String::from_utf8(plain.stdout).unwrap().as_str()), "{text}");
            assert_eq!(ours.status.code(), plain.status.code());
        }
        assert_ne!(wug(&folder, compiler, &["no_main.c"], "").status.code(), Some(0), "still no program");
        assert_ne!(wug(&folder, compiler, &["absent.c"], "").status.code(), Some(0));
        assert_ne!(wug(&folder, compiler, &["good.c", "-lno_such_library"], "").status.code(), Some(0));
        assert_ne!(wug(&folder, compiler, &["-c", "-Werror", "-Wall", "bad.c"], "").status.code(), Some(0));
        let clean =
            wug(&folder, compiler, &["-Werror", "-Wall", "-Wextra", "-pedantic", "good.c", "-o", "good"], "");
        assert_eq!(String::from_utf8_lossy(&clean.stderr), "", "no warning of ours");
        assert_eq!(output_of(&folder.path("good")), "hello\n");
        let empty = wug(&folder, compiler, &["-Werror", "-c", "good.c", "-o", "good.o"], "");
        assert_eq!(String::from_utf8_lossy(&empty.stderr), "");
        let link = wug(&folder, compiler, &["-Werror", "good.o", "-o", "good"], "");
        assert_eq!(String::from_utf8_lossy(&link.stderr), "");
    }
}

#[test]
fn preprocessing_and_dependencies_name_no_file_of_ours() {
    for compiler in compilers() {
        let folder = Folder::new();
        folder.file("good.c", HELLO);
        for arguments in [&["-M", "good.c"][..], &["-E", "good.c"], &["-MD", "-MF", "d", "-c", "good.c"]] {
            let output = wug(&folder, compiler, arguments, "");
            assert!(output.status.success());
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(!text.contains("wug"), "{text}");
        }
        assert!(!std::fs::read_to_string(folder.path("d")).unwrap().contains("wug"));
        let macros = wug(&folder, compiler, &["-dM", "-E", "-x", "c", "-"], "");
        assert!(String::from_utf8(macros.stdout).unwrap().contains("#define __AFL_COMPILER 1"));
        let assembly =
            wug(&folder, compiler, &["-S", "-o", "-", "-x", "c", "-"], "int f(void) { return 42; }");
        assert!(String::from_utf8(assembly.stdout).unwrap().contains("42"));
    }
}

#[test]
fn response_files_are_read() {
    let folder = Folder::new();
    folder.file("with space.c", HELLO);
    folder.file("inner", "-o\nresult\n");
    folder.file("outer", "-O2 'with space.c' @inner -DX=\\\"quoted\\\"");
    let output = wug(&folder, "gcc", &["@outer"], "");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(output_of(&folder.path("result")), "hello\n");
    // So many arguments that they are passed on by a file, too.
    folder.file("t.c", "#include <stdio.h>\nint main(void) { puts(LAST); return N_5999 - 5999; }\n");
    folder.file("last", "-DLAST='\"a \\\\\\\\b\"' t.c -o t");
    folder.file("defines", &(0..6_000).map(|i| format!("-DN_{i}={i}\n")).collect::<String>());
    let output = wug(&folder, "gcc", &["@defines", "@last"], "");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(output_of(&folder.path("t")), "a \\b\n");
    folder.file("loop", "@loop");
    let endless = wug(&folder, "gcc", &["@loop"], "");
    assert!(!endless.status.success());
}

#[test]
fn programs_without_libc_link() {
    for compiler in compilers() {
        let folder = Folder::new();
        folder.file(
            "bare.c",
            "void _start(void) { __asm__ volatile(\"mov $60,%eax; xor %edi,%edi; syscall\"); }\n",
        );
        cc(&folder, compiler, Fast, "-nostdlib -static -ffreestanding ./bare.c -o ./bare");
        assert!(Command::new(folder.path("bare")).status().unwrap().success());
    }
}

#[test]
fn parallel_builds_share_one_runtime() {
    let folder = Folder::new();
    folder.file("good.c", HELLO);
    let cache = folder.path("cache");
    let options = compile::Options { cache: cache.clone(), ..options("gcc", Fast) };
    std::thread::scope(|scope| {
        for i in 0..6 {
            let (options, folder) = (&options, &folder);
            scope.spawn(move || {
                let to = folder.path(&format!("good{i}"));
                let arguments: Vec<OsString> =
                    vec![folder.path("good.c").into(), "-o".into(), to.clone().into_os_string()];
                let status = compile::compile(Language::C, &arguments, options).unwrap();
                assert!(status.success());
                assert_eq!(output_of(&to), "hello\n");
            });
        }
    });
    let left: Vec<_> = std::fs::read_dir(&cache).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 1, "one library and nothing half done: {left:?}");
}

#[test]
fn a_cache_that_others_can_write_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder.file("good.c", HELLO);
    let cache = folder.path("open");
    std::fs::create_dir(&cache).unwrap();
    std::fs::set_permissions(&cache, std::fs::Permissions::from_mode(0o777)).unwrap();
    let options = compile::Options { cache, ..options("gcc", Fast) };
    let error = compile::compile(Language::C, &[folder.path("good.c").into()], &options).unwrap_err();
    assert!(error.to_string().contains("WUG_CACHE"), "{error}");
}

#[test]
fn a_compiler_that_is_none_is_told() {
    let error = compile::compile(Language::C, &["x.c".into()], &options("no-such-cc", Fast)).unwrap_err();
    assert!(error.to_string().contains("no-such-cc"), "{error}");
    let folder = Folder::new();
    let fake = folder.file("fake", "#!/bin/sh\necho neither\n");
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&fake, std::fs::Permissions::from_mode(0o755)).unwrap();
    let error =
        compile::compile(Language::C, &["x.c".into()], &options(fake.to_str().unwrap(), Fast)).unwrap_err();
    assert!(error.to_string().contains("neither gcc nor clang"), "{error}");
}
