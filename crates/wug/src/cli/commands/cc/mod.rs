//! `wug cc` and `wug c++`: the machine's compilers, instrumenting.
//!
//! All arguments are the compiler's, so none is read here but a lone `--help`.

use crate::cli::{Failure, Outcome};
use clap::Args;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use wug_runtime::compile::{self, Language, Options};

const MORE: &str = "\
Every other argument goes to the compiler. `--wug-traced`, or WUG_TRACED=1,
makes the build that logs comparisons; `--wug-both`, or WUG_BOTH=1, writes
TARGET and TARGET.traced. WUG_CC and WUG_CXX name the compiler, which must be
gcc or clang. AFL_USE_ASAN=1 and AFL_USE_UBSAN=1 add sanitizers. The runtime
that is linked in is compiled once, into WUG_CACHE or the user's cache folder.

A harness with LLVMFuzzerTestOneInput needs no main. __AFL_LOOP, __AFL_INIT and
__AFL_FUZZ_TESTCASE_BUF work as in AFL++, and afl-fuzz runs what is built here.";

/// Compile C for fuzzing: like cc, and every flag passes on
#[derive(Args)]
#[command(
    disable_help_flag = true,
    disable_version_flag = true,
    override_usage = "wug cc [ARGUMENT OF CC]...",
    after_help = format!("{MORE}\n\nExample:\n  wug cc -O2 -o target target.c\n  CC=\"wug cc\" ./configure && make")
)]
pub struct Cc {
    /// Arguments of the compiler
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

/// Compile C++ for fuzzing: like c++, and every flag passes on
#[derive(Args)]
#[command(
    disable_help_flag = true,
    disable_version_flag = true,
    override_usage = "wug c++ [ARGUMENT OF C++]...",
    after_help = format!("{MORE}\n\nExample:\n  wug c++ -O2 -o target target.cc\n  CXX=\"wug c++\" cmake -B build && make -C build")
)]
pub struct Cxx {
    /// Arguments of the compiler
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

impl Cc {
    pub fn run(self) -> Outcome {
        run::<Cc>(Language::C, "cc", self.arguments)
    }
}

impl Cxx {
    pub fn run(self) -> Outcome {
        run::<Cxx>(Language::Cxx, "c++", self.arguments)
    }
}

fn run<A: Args>(language: Language, name: &'static str, mut arguments: Vec<OsString>) -> Outcome {
    if let [only] = arguments.as_slice()
        && only == "--help"
    {
        return super::print(&A::augment_args(clap::Command::new(name)).render_help().to_string());
    }
    let options = Options::take(language, &mut arguments);
    match compile::compile(language, &arguments, &options) {
        Ok(status) if status.success() => Ok(()),
        // The compiler has said what is wrong.
        Ok(status) => Err(Failure::Quiet(status.code().unwrap_or(128 + status.signal().unwrap_or(0)) as u8)),
        Err(error) => Err(Failure::Message(1, error.to_string())),
    }
}
