//! `wug rustflags`.

use super::print;
use crate::cli::{Failure, Outcome};
use clap::Args;
use wug_runtime::compile::{Build, Language, Options};
use wug_runtime::rust;

/// Print what to put into RUSTFLAGS for a Rust target
#[derive(Args)]
#[command(after_help = "A stable toolchain is enough. With --target, flags go to the\n\
                  program and not to build scripts:\n  \
                  RUSTFLAGS=\"$(wug rustflags)\" cargo build --target x86_64-unknown-linux-gnu\n\
                  A panic is a crash, also if it unwinds (exit code 101); with\n\
                  `panic = \"abort\"` in the profile its stack is known as well.\n\n\
                  Example:\n  wug rustflags\n  wug rustflags --traced")]
pub struct Rustflags {
    /// For the build that logs comparisons
    #[arg(long)]
    traced: bool,
}

impl Rustflags {
    pub fn run(self) -> Outcome {
        let mut options = Options::take(Language::C, &mut Vec::new());
        if self.traced {
            options.build = Build::Traced;
        }
        let failure = |message: String| Failure::Message(1, message);
        if !options.cache.as_os_str().is_empty() {
            options.cache =
                std::path::absolute(&options.cache).map_err(|error| failure(error.to_string()))?;
        }
        let wug = std::env::current_exe()
            .map_err(|error| failure(format!("cannot tell where this program is: {error}")))?;
        let flags = rust::flags(&options, &wug).map_err(|error| failure(error.to_string()))?;
        print(&flags.join(" "))
    }
}
