//! What is linked into a target, and how a fuzzer talks to it.
//!
//! [`abi`] is the agreement between the two. The runtime itself is C, in
//! `c/`, embedded as text ([`source`]) and compiled by the user's compiler:
//! [`compile`] stands in for that compiler, adds the flags that make it
//! instrument, and links the runtime into what it builds. [`rust`] does the
//! same for rustc.
//!
//! # The way of a target
//!
//! 1. `wug cc` and `wug c++` (`crates/wug/src/cli/commands/cc/mod.rs`) stand
//!    in for the machine's compiler: `src/compile/mod.rs` reads the command
//!    line only to learn what it does, passes every argument on, and adds
//!    flags that gcc and clang already have (`src/compile/flags.rs`).
//! 2. The runtime is C in `c`, compiled once for each compiler into a cache
//!    (`src/compile/library.rs`). Every module gets `c/module.c`, all hidden;
//!    executables also get the core, which speaks to the fuzzer as
//!    `include/wug.h` says.
//! 3. Blocks count in place. clang does that by itself; for gcc, macros that
//!    the assembler reads first (`c/calls.s`) turn its call per block into
//!    one increment. The linker gives the counters pages of their own
//!    (`c/sections.ld`), onto which `c/core.c` maps the fuzzer's memory.
//! 4. `c/server.c` forks for each run, or loops over runs in one process; it
//!    speaks our protocol and both of AFL++'s. Most of a short run is page
//!    faults of the new process, so the server learns which pages runs touch:
//!    `c/pages.c` makes fork copy the page tables of code, and `c/pins.c` the
//!    data that runs write.
//! 5. Traced builds are compiled without optimisation and call hooks:
//!    `c/trace.c` writes comparisons, texts, classes, ends of files and pairs
//!    of blocks into a ring that the fuzzer reads. `c/strings.c` and
//!    `c/wraps.c` stand before the functions of libc that compilers do not
//!    report.
//! 6. `WUG_BOTH=1` makes both builds in one pass (`src/compile/both.rs`):
//!    each object carries its traced twin in a section that linkers leave
//!    out, through archives and renames, until a link takes the twins out
//!    again.
//! 7. `src/rust.rs` does the same for rustc, whose linker becomes `wug cc`.
//!    Harnesses in the manner of libFuzzer get a loop of ours (`c/engine.c`),
//!    which stands before libFuzzer where an archive holds that
//!    (`src/compile/engine.rs`), as `libfuzzer-sys` does.

pub mod abi;
pub mod compile;
pub mod rust;
pub mod source;
