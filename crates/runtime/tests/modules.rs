//! Programs of several parts: archives, shared libraries, libraries opened
//! later, and both builds at once.

mod support;

use std::ffi::OsString;
use std::process::Command;
use support::*;
use wug_runtime::abi::*;
use wug_runtime::compile::Build::{Fast, Traced};
use wug_runtime::compile::{self, Language, Options};

const MAIN: &str = r#"
#include <stdint.h>
#include <stddef.h>
int in_library(int);
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { return n && in_library(d[0]) == 3 ? 0 : 0; }
"#;

const LIBRARY: &str = r#"
#include <string.h>
int in_library(int c) {
    char text[2] = {(char)c, 0};
    if (c == 'a') return 1;
    if (c == 'b') return strcmp(text, "library");
    return 3;
}
"#;

/// Ids hit, apart by module.
fn by_module(target: &Native) -> Vec<Vec<usize>> {
    let modules = target.modules();
    let hits = target.hits();
    let of = |m: &Module| {
        let range = m.first_id as usize..(m.first_id + m.ids) as usize;
        hits.iter().copied().filter(|id| range.contains(id)).collect::<Vec<_>>()
    };
    let all: Vec<_> = modules.iter().map(of).collect();
    assert_eq!(all.iter().map(Vec::len).sum::<usize>(), hits.len(), "every hit belongs to a module");
    all
}

#[test]
fn a_shared_library_shares_the_map() {
    for compiler in compilers() {
        for build in [Fast, Traced] {
            for flags in ["", "-Wl,-z,defs", "-fno-plt", "-fuse-ld=gold"] {
                let folder = Folder::new();
                folder.file("main.c", MAIN);
                folder.file("library.c", LIBRARY);
                cc(
                    &folder,
                    compiler,
                    build,
                    &format!("-O1 {flags} -fPIC -shared ./library.c -o ./liblibrary.so"),
                );
                cc(&folder, compiler, build, &format!("-O1 {flags} ./main.c ./liblibrary.so -o ./main"));
                let mut command = Command::new(folder.path("main"));
                command.env("LD_LIBRARY_PATH", &folder.0);
                let mut target = Native::start_with(&mut command, WANT_EVENTS | WANT_PAIRS);
                let mut run = |input: &[u8]| {
                    assert_eq!(target.run(input), 0);
                    by_module(&target)
                };
                let (a, b, c) = (run(b"a"), run(b"b"), run(b"c"));
                let name = format!("{compiler} {build:?} {flags}");
                assert_eq!(a.len(), 2, "{name}");
                assert!(a.iter().all(|hits| !hits.is_empty()), "{name}: {a:?}");
                assert_eq!(run(b"a"), a, "{name}");
                assert!(a != b && b != c && a != c, "{name}: {a:?} {b:?} {c:?}");
                let modules = target.modules();
                let names: Vec<_> = modules
                    .iter()
                    .map(|m| String::from_utf8_lossy(&m.path).trim_end_matches('\0').to_string())
                    .collect();
                assert!(names.iter().any(String::is_empty), "{name}: {names:?}");
                let library = names.iter().position(|n| n.ends_with("/liblibrary.so")).expect(&name);
                if build == Traced {
                    assert_eq!(target.run(b"b"), 0);
                    let events = target.events();
                    let there =
                        events.iter().find(|e| e.kind == EVENT_COMPARE && e.a == u64::from(b'a')).unwrap();
                    assert_eq!(usize::from(there.module), library, "{name}");
                    let text = events.iter().find(|e| e.kind == EVENT_TEXT && e.y() == b"library").unwrap();
                    assert_eq!(usize::from(text.module), library, "{name}");
                    let size = modules[library].end - modules[library].base;
                    assert!(u64::from(there.site) < size && u64::from(text.site) < size);
                }
            }
        }
    }
}

const OPENER: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    int c = getchar();
    const char *first = c == 'y' ? "./two.so" : "./one.so", *second = c == 'y' ? "./one.so" : "./two.so";
    const char *names[] = {first, second};
    for (int i = 0; i < 2; i++) {
        if (c == 'n') return 0;
        void *library = dlopen(names[i], RTLD_NOW);
        if (!library) { puts(dlerror()); exit(9); }
        int (*function)(int) = (int (*)(int))dlsym(library, "in_library");
        function(c);
    }
    return 0;
}
"#;

#[test]
fn libraries_opened_later_keep_their_ids() {
    for compiler in compilers() {
        let folder = Folder::new();
        folder.file("main.c", OPENER);
        folder.file("one.c", LIBRARY);
        folder.file("two.c", &format!("{LIBRARY}int more(int n) {{ return n > 3 ? n * 2 : n; }}\n"));
        for name in ["one", "two"] {
            cc(&folder, compiler, Fast, &format!("-O1 -fPIC -shared ./{name}.c -o ./{name}.so"));
        }
        cc(&folder, compiler, Fast, "-O1 ./main.c -o ./main -ldl");
        let input = folder.file("input", "n");
        let file = std::fs::File::open(&input).unwrap();
        let mut command = Command::new(folder.path("main"));
        command.current_dir(&folder.0).stdin(file.try_clone().unwrap());
        let mut target = Native::start_with(&mut command, 0);
        let mut run = |text: &str| {
            use std::io::Seek;
            std::fs::write(&input, text).unwrap();
            (&file).rewind().unwrap();
            assert_eq!(target.run(b""), 0, "{compiler}");
            let named: Vec<_> = target.modules().iter().map(|m| (m.path, m.first_id, m.ids)).collect();
            (named, by_module(&target))
        };
        assert_eq!(run("n").0.len(), 1, "nothing opened yet");
        let (modules, hits) = run("a");
        assert_eq!(modules.len(), 3, "{compiler}");
        assert!(hits.iter().all(|h| !h.is_empty()), "{hits:?}");
        let (again, swapped) = run("y");
        assert_eq!(again, modules, "opened in the other order, they keep their ids");
        assert!(swapped[1..].iter().all(|h| !h.is_empty()));
        assert_eq!(run("a").1, hits);
    }
}

#[test]
fn afl_sees_libraries_opened_later_when_asked_to_reserve() {
    if !has("afl-showmap") {
        return;
    }
    let folder = Folder::new();
    folder.file("main.c", OPENER);
    for name in ["one", "two"] {
        folder.file("lib.c", LIBRARY);
        cc(&folder, "gcc", Fast, &format!("-O1 -fPIC -shared ./lib.c -o ./{name}.so"));
    }
    cc(&folder, "gcc", Fast, "-O1 ./main.c -o ./main -ldl");
    std::fs::create_dir(folder.path("in")).unwrap();
    folder.file("in/a", "a");
    let ids = |reserve: &str| {
        let status = Command::new("afl-showmap")
            .args(["-q", "-i", "in", "-o", "out", "--", "./main"])
            .current_dir(&folder.0)
            .env(ENV_RESERVE, reserve)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .status()
            .unwrap();
        assert!(status.success());
        std::fs::read_to_string(folder.path("out/a")).unwrap().lines().count()
    };
    let (without, with) = (ids("0"), ids("8192"));
    assert!(with > without, "{with} {without}");
}

#[test]
fn a_library_of_ours_works_in_a_program_that_is_not() {
    for compiler in compilers() {
        let folder = Folder::new();
        folder.file("library.c", LIBRARY);
        folder.file("main.c", "int in_library(int);\nint main(void) { return in_library('a') - 1; }\n");
        for build in [Fast, Traced] {
            cc(&folder, compiler, build, "-fPIC -shared ./library.c -o ./liblibrary.so");
            let plain = Command::new("cc")
                .args(["main.c", "liblibrary.so", "-o", "main"])
                .current_dir(&folder.0)
                .status()
                .unwrap();
            assert!(plain.success());
            let status =
                Command::new(folder.path("main")).env("LD_LIBRARY_PATH", &folder.0).status().unwrap();
            assert!(status.success());
        }
    }
}

#[test]
fn what_libtool_copies_from_our_command_line_is_not_linked_twice() {
    let folder = Folder::new();
    folder.file("library.c", LIBRARY);
    cc(&folder, "gcc", Fast, "-fPIC -c ./library.c -o ./library.o");
    let ours = std::fs::read_dir(cache())
        .unwrap()
        .map(|e| e.unwrap().path().join("module.o"))
        .filter(|path| path.is_file());
    for module in ours {
        let arguments = format!("-shared -nostdlib ./library.o {} -lc -o ./liblibrary.so", module.display());
        let code = try_cc(&folder, "gcc", Fast, &arguments);
        if code == 0 {
            return;
        }
    }
    panic!("no runtime of the cache could be named");
}

/// Runs steps with both builds at once, in the folder.
fn both(folder: &Folder, compiler: &str, steps: &[&str]) {
    for step in steps {
        if let Some(rest) = step.strip_prefix("ar ") {
            let status = Command::new("ar").args(rest.split(' ')).current_dir(&folder.0).status().unwrap();
            assert!(status.success());
            continue;
        }
        let options = Options { both: true, ..options(compiler, Fast) };
        let arguments: Vec<OsString> = step
            .split(' ')
            .map(|a| match a.strip_prefix("./") {
                Some(name) => folder.path(name).into_os_string(),
                None if a == "-L." => format!("-L{}", folder.0.display()).into(),
                None => a.into(),
            })
            .collect();
        let status = compile::compile(Language::C, &arguments, &options).unwrap();
        assert!(status.success(), "{compiler} {step}");
    }
}

#[test]
fn both_builds_come_out_of_one() {
    for compiler in compilers() {
        for steps in [
            &["-O2 ./main.c ./library.c -o ./main"][..],
            &[
                "-O2 -c ./main.c -o ./main.o",
                "-c ./library.c -o ./library.o",
                "./main.o ./library.o -o ./main",
            ],
            &[
                "-c ./main.c -o ./main.o",
                "-c ./library.c -o ./x.o",
                "ar rcs libx.a x.o",
                "./main.o ./libx.a -o ./main",
            ],
            &[
                "-c ./main.c -o ./main.o",
                "-c ./library.c -o ./x.o",
                "ar rcs libx.a x.o",
                "./main.o -L. -lx -o ./main",
            ],
            &[
                "-c ./main.c -o ./main.o",
                "-c ./library.c -o ./x.o",
                "ar rcsT libx.a x.o",
                "./main.o ./libx.a -o ./main",
            ],
            &[
                "-c ./main.c -o ./m.o",
                "-c ./library.c -o ./x.o",
                "-r -nostdlib ./m.o ./x.o -o ./j.o",
                "./j.o -o ./main",
            ],
        ] {
            let folder = Folder::new();
            folder.file("main.c", MAIN);
            folder.file("library.c", LIBRARY);
            both(&folder, compiler, steps);
            let mut fast = Native::start(&folder.path("main"), WANT_EVENTS);
            let mut traced = Native::start(&folder.path("main.traced"), WANT_EVENTS);
            assert_eq!((fast.run(b"b"), traced.run(b"b")), (0, 0));
            assert_eq!(fast.board().features & HAS_TRACE, 0);
            assert_eq!(fast.board().event_count, 0);
            let text = traced.events().iter().any(|e| e.kind == EVENT_TEXT && e.y() == b"library");
            assert!(text, "{compiler} {steps:?}");
            let binary = std::fs::read(folder.path("main")).unwrap();
            assert!(!binary.windows(7).any(|w| w == b"WUGTWIN"), "the twin stays out of what is linked");
        }
    }
}

#[test]
fn dependencies_are_those_of_the_first_build() {
    let folder = Folder::new();
    folder.file("library.c", LIBRARY);
    let options = Options { both: true, ..options("gcc", Fast) };
    let path = |name: &str| folder.path(name).into_os_string();
    let arguments = vec![
        "-MD".into(),
        "-MF".into(),
        path("d"),
        "-c".into(),
        path("library.c"),
        "-o".into(),
        path("library.o"),
    ];
    assert!(compile::compile(Language::C, &arguments, &options).unwrap().success());
    let text = std::fs::read_to_string(folder.path("d")).unwrap();
    assert!(text.contains("library.o:") && !text.contains("wug-both"), "{text}");
}
