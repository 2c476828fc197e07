//! `wug bench`: the figures of docs/performance.md, measured here.
//!
//! Each benchmark runs its contestants in turns, round by round, and gives
//! medians of per-round ratios: machines are noisy, and noise hits both.

mod automata;
mod campaign;
mod diversity;
mod executor;
mod folder;
mod fork;
mod load;
mod overhead;
mod parse;
mod plot;
mod produce;
mod profile;
mod reduce;
mod rivals;
mod sinks;
mod walks;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Repeats the benchmarks of the documentation on this machine
#[derive(Parser)]
#[command(
    name = "wug-bench",
    version,
    arg_required_else_help = true,
    after_help = "Example:\n  wug-bench load"
)]
struct Arguments {
    #[command(subcommand)]
    name: Name,
}

#[derive(Subcommand)]
enum Name {
    #[command(alias = "automaton")]
    Automata(automata::AutomataBench),
    Diversity(diversity::Diversity),
    Campaign(campaign::CampaignBench),
    Executor(executor::Executor),
    Folder(folder::FolderBench),
    Fork(fork::ForkBench),
    Load(load::Load),
    Overhead(overhead::Overhead),
    Parse(parse::Parse),
    Produce(produce::Produce),
    Profile(profile::Profile),
    Reduce(reduce::Reduce),
    Sinks(sinks::Sinks),
    Walks(walks::WalksBench),
}

fn main() -> ExitCode {
    wug::cli::exit_code(match Arguments::parse().name {
        Name::Automata(automata) => automata.run(),
        Name::Diversity(diversity) => diversity.run(),
        Name::Campaign(campaign) => campaign.run(),
        Name::Executor(executor) => executor.run(),
        Name::Folder(folder) => folder.run(),
        Name::Fork(fork) => fork.run(),
        Name::Load(load) => load.run(),
        Name::Overhead(overhead) => overhead.run(),
        Name::Parse(parse) => parse.run(),
        Name::Produce(produce) => produce.run(),
        Name::Profile(profile) => profile.run(),
        Name::Reduce(reduce) => reduce.run(),
        Name::Sinks(sinks) => sinks.run(),
        Name::Walks(walks) => walks.run(),
    })
}

/// The program that is measured: the one that was built together with this.
fn wug() -> std::io::Result<PathBuf> {
    let beside = std::env::current_exe()?.with_file_name("wug");
    match beside.is_file() {
        true => Ok(beside),
        false => {
            let way_out =
                format!("there is no `{}`: build it, with `cargo build --release`", beside.display());
            Err(std::io::Error::new(std::io::ErrorKind::NotFound, way_out))
        }
    }
}

/// CPU time of this thread.
fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The middle value; 0 of none.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}
