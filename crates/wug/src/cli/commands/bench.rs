//! `wug bench`: calls `wug-bench`, the benchmarks of the documentation, which
//! are a program of their own (`crates/bench`).

use crate::cli::{Failure, Outcome};
use clap::Args;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// Repeat a benchmark of the documentation (runs wug-bench)
#[derive(Args)]
#[command(
    after_help = "Example:\n  wug bench load\n\nThe benchmarks are a program of their own, wug-bench: `cargo run --release -p\nwug-bench -- --help` lists them; `cargo install --path crates/bench`\ninstalls it."
)]
pub struct Bench {
    /// Name of the benchmark, and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "NAME")]
    arguments: Vec<OsString>,
}

const PROGRAM: &str = "wug-bench";

impl Bench {
    pub fn run(self) -> Outcome {
        // The one that was built together with this program comes first.
        let beside = std::env::current_exe().ok().map(|own| own.with_file_name(PROGRAM));
        let beside = beside.filter(|path| path.is_file());
        let program = beside.unwrap_or_else(|| PathBuf::from(PROGRAM));
        let error = Command::new(&program).args(self.arguments).exec();
        Err(match error.kind() {
            ErrorKind::NotFound => Failure::usage(
                "benchmarks are a program of their own, `wug-bench`, which is not installed\n\n\
                 `cargo run --release -p wug-bench -- NAME` runs one in the sources of wug; \
                 `cargo install --path crates/bench` installs them",
            ),
            _ => Failure::usage(format!("cannot run `{}`: {}", program.display(), wug_files::reason(&error))),
        })
    }
}
