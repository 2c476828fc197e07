//! Which flags make a compiler instrument.
//!
//! Fast builds: one counter per edge (clang) or block (gcc), incremented in
//! place; with clang by its inline counters, with gcc by macros of the
//! assembler. Traced builds: no optimisation, so that every comparison of the
//! source is one of the program, and calls of hooks.

use super::arguments::{Goal, Invocation, Kind};
use super::compiler::{Compiler, Family};
use super::library::Library;
use super::{Build, Error, Options, engine};
use crate::source;
use std::ffi::OsString;

/// What harnesses written for AFL++ use, and what it means here.
const MACROS: &[&str] = &[
    "-D__AFL_COMPILER=1",
    "-D__AFL_HAVE_MANUAL_CONTROL=1",
    "-D__AFL_LOOP(n)=(__extension__({ extern int __wug_loop_(unsigned) __asm__(\"__wug_persistent_loop\"); \
     __wug_loop_(n); }))",
    "-D__AFL_INIT()=do { extern void __wug_init_(void) __asm__(\"__wug_manual_init\"); __wug_init_(); } while (0)",
    "-D__AFL_FUZZ_INIT()=extern unsigned char *__wug_buf_(void) __asm__(\"__wug_testcase_buf\"); \
     extern unsigned __wug_len_(void) __asm__(\"__wug_testcase_len\"); \
     extern int __afl_sharedmem_fuzzing; __attribute__((weak)) int __afl_sharedmem_fuzzing = 1",
    "-D__AFL_FUZZ_TESTCASE_BUF=(__wug_buf_())",
    "-D__AFL_FUZZ_TESTCASE_LEN=(__wug_len_())",
];

/// Before the user's flags, which may say otherwise. Frame pointers let the
/// crash handler see the stack.
const FAST: &[&str] = &["-fno-omit-frame-pointer"];

/// After the user's flags: these decide.
const TRACED: &[&str] = &[
    "-O0",
    "-fno-builtin",
    "-D__NO_CTYPE",
    "-U_FORTIFY_SOURCE",
    "-fno-omit-frame-pointer",
    "-fno-optimize-sibling-calls",
    "-fno-lto",
];

/// The user's arguments with ours.
pub fn instrumented(
    compiler: &Compiler,
    invocation: &Invocation,
    options: &Options,
) -> Result<Vec<OsString>, Error> {
    let goal = invocation.goal;
    if goal == Goal::Tell {
        return Ok(invocation.arguments.clone());
    }
    let library = Library::get(compiler, &invocation.target, &options.cache)?;
    let links = matches!(goal, Goal::Executable | Goal::Library);
    let compiles = invocation.has(Kind::Source);
    let mut all: Vec<OsString> = Vec::new();
    if compiles {
        all.extend(MACROS.iter().map(OsString::from));
        all.extend(FAST.iter().map(OsString::from));
    }
    let padded = links && invocation.own_script;
    if padded {
        all.push(library.file("pad_first.o"));
    }
    // libtool looks at what a compiler links by itself, and names it later.
    let engine =
        if goal == Goal::Executable && !invocation.no_libc { engine::libfuzzer(invocation) } else { None };
    if engine.is_some() {
        runtime(invocation, options.build, &library, &mut all);
    }
    for (index, argument) in invocation.arguments.iter().enumerate() {
        if engine == Some(index) {
            // Not between `-l` and its value.
            let at = all.len() - usize::from(all.last().is_some_and(|last| last == "-l"));
            all.insert(at, library.file("libwug.a"));
        }
        if !library.contains(argument) {
            all.push(argument.clone());
        }
    }
    if compiles && goal != Goal::Preprocess || links && invocation.lto {
        instrument(compiler.family, invocation, options.build, &library, &mut all);
    } else if compiler.family == Family::Gcc && goal != Goal::Preprocess && came_from_us(invocation) {
        assemble(invocation, options.build, &library, &mut all);
    }
    if links {
        link(invocation, options.build, &library, engine.is_some(), &mut all);
    }
    Ok(all)
}

fn instrument(
    family: Family,
    invocation: &Invocation,
    build: Build,
    library: &Library,
    all: &mut Vec<OsString>,
) {
    let traced = build == Build::Traced;
    if traced {
        all.extend(TRACED.iter().map(OsString::from));
    }
    match (family, build) {
        (Family::Clang, Build::Fast) => cc1(&["type=3", "inline-8bit-counters"], all),
        (Family::Clang, Build::Traced) => cc1(&["type=2", "no-prune", "trace-pc-guard", "trace-cmp"], all),
        (Family::Gcc, Build::Fast) => all.push("-fsanitize-coverage=trace-pc".into()),
        (Family::Gcc, Build::Traced) => all.push("-fsanitize-coverage=trace-pc,trace-cmp".into()),
    }
    if family == Family::Gcc && !invocation.narrow {
        assemble(invocation, build, library, all);
    }
}

fn assemble(invocation: &Invocation, build: Build, library: &Library, all: &mut Vec<OsString>) {
    all.push("-Xassembler".into());
    all.push(library.prelude(build == Build::Traced, invocation.intel));
}

/// Whether some assembler file is what `wug cc -S` made with gcc: its calls
/// are still to become counters.
fn came_from_us(invocation: &Invocation) -> bool {
    invocation.inputs.iter().filter(|(_, kind)| *kind == Kind::Assembler).any(|(index, _)| {
        std::fs::read(&invocation.arguments[*index])
            .is_ok_and(|text| text.windows(24).any(|w| w == b"__sanitizer_cov_trace_pc"))
    })
}

/// Flags of clang's inner compiler. Its driver would take the outer ones as a
/// wish to link its own runtime.
fn cc1(flags: &[&str], all: &mut Vec<OsString>) {
    for flag in flags {
        all.push("-Xclang".into());
        all.push(format!("-fsanitize-coverage-{flag}").into());
    }
}

/// The objects that every executable gets.
fn runtime(invocation: &Invocation, build: Build, library: &Library, all: &mut Vec<OsString>) {
    all.extend(source::CORE.iter().map(|name| library.file(&format!("{name}.o"))));
    if build == Build::Traced && !invocation.sanitizer {
        all.push(library.file("strings.o"));
    }
}

/// `has_runtime`: its objects stand in front already.
fn link(
    invocation: &Invocation,
    build: Build,
    library: &Library,
    has_runtime: bool,
    all: &mut Vec<OsString>,
) {
    let traced = build == Build::Traced && !invocation.no_libc;
    // The user's last -x would hold for our objects too.
    all.extend(["-x", "none"].map(OsString::from));
    if invocation.goal == Goal::Library || invocation.no_libc {
        all.push(library.file("module.o"));
    } else if !has_runtime {
        runtime(invocation, build, library, all);
    }
    if traced {
        all.push(library.file("wraps.o"));
        let wraps: Vec<_> = source::wrapped().map(|name| format!("--wrap={name}")).collect();
        all.push(format!("-Wl,{}", wraps.join(",")).into());
    }
    if invocation.goal == Goal::Executable && !invocation.no_libc {
        all.push(library.file("libwug.a"));
        all.push(library.linker("--dynamic-list=", "exported.list"));
    }
    if invocation.own_script {
        all.push(library.file("pad_last.o"));
    } else {
        all.push(library.linker("-T", "sections.ld"));
    }
}
