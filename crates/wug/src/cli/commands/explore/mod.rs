//! `wug explore`: valid inputs from nothing but the parser.

mod status;

use crate::cli::commands::print_json;
use crate::cli::execution_arg::{ExecutionArg, target};
use crate::cli::guard::Guard;
use crate::cli::interrupt::Interrupt;
use crate::cli::{Failure, Outcome, terminal};
use clap::Args;
use status::Status;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use wug_campaign::explore::{Explorer, Options, Parts, Traced};
use wug_campaign::fuzz::Error;
use wug_folder::report::Report;
use wug_folder::{Folder, Setup, Start};
use wug_target::End;
use wug_target::dictionary::{Sections, of_program};

/// Find valid inputs for a parser, from nothing but its traced build
#[derive(Args)]
#[command(
    override_usage = "wug explore -o OUT [OPTIONS] -- ./TARGET.traced [ARGS] [@@]",
    after_help = "Example:\n  wug cc --wug-traced -o target.traced target.c\n  wug explore -o out -V 60 -- ./target.traced\n  wug fuzz -i out/default/queue -x out/default/tokens.dict -o fuzz -- ./target\n\nThe target must exit with 0 exactly when it accepts its input; a harness in\nthe manner of libFuzzer returns 0 then. Without @@ it reads standard input.\nOUT is laid out as AFL++ does: valid inputs are in OUT/default/queue, and\nwords of the language in OUT/default/tokens.dict. docs/explore.md tells all.\n\nExits 0 when valid inputs were found, 1 if there are none, 2 on wrong use."
)]
pub struct Explore {
    /// Folder for all that is found
    #[arg(short = 'o', long = "output", value_name = "OUT")]
    output: PathBuf,
    /// Seed of all random choices; the search repeats
    #[arg(short = 's', long, value_parser = crate::cli::number::wide)]
    seed: Option<u64>,
    /// End after so many seconds
    #[arg(short = 'V', value_name = "SECONDS")]
    seconds: Option<u64>,
    /// End after so many executions
    #[arg(short = 'E', value_name = "EXECS")]
    execs: Option<u64>,
    /// Name of this search in OUT [default: default]
    #[arg(short = 'S', value_name = "ID")]
    secondary: Option<String>,
    /// Cores to run on; the result is the same
    #[arg(short = 'j', long = "workers", default_value = "1", value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=256))]
    workers: u32,
    /// Longest input, in bytes
    #[arg(long, default_value = "200", value_name = "BYTES", value_parser = crate::cli::number::small)]
    max_size: u32,
    /// Leave texts in the program's data alone
    #[arg(long)]
    no_texts: bool,
    /// Print a JSON object with all figures at the end
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    execution: ExecutionArg,
    /// The traced build and its arguments
    #[arg(value_name = "TARGET", required = true, num_args = 1.., last = true)]
    command: Vec<OsString>,
}

/// Time for each run. Parsers are quick, and inputs are short; but some of
/// them are programs that never end.
const TIMEOUT: Duration = Duration::from_millis(200);

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Message(1, error.to_string())
}

impl Explore {
    pub fn run(self) -> Outcome {
        let Some(target) = target(self.command.iter().cloned()) else {
            return Err(Failure::usage("no program: wug explore -o OUT -- ./TARGET.traced [ARGS] [@@]"));
        };
        let interrupt = Interrupt::listen();
        let end = End::default().or_asked(interrupt.flag());
        let end = match self.seconds {
            Some(seconds) => end.within(Duration::from_secs(seconds)),
            None => end,
        };
        let id = self.secondary.clone().unwrap_or_else(|| "default".into());
        // First of all: it keeps the time whatever follows.
        let guard = Guard::new(end.clone(), last_words(self.output.join(&id).join("queue"), self.json));
        // Before the folder is opened, which may make room for a new search.
        let program = target.locate().map_err(|error| Failure::usage(error.to_string()))?;
        let timeout = self.execution.timeout_or(TIMEOUT);
        let execution = wug_target::Options { timeout, end, ..self.execution.options()? };
        let seed = self.seed.unwrap_or_else(crate::cli::number::fresh_seed);
        let options =
            Options { seed, max_execs: self.execs, max_time: None, max_size: self.max_size as usize };
        // The same: a build that is not traced shall not cost an old search.
        let traced = match Traced::start(target.clone(), execution, self.workers as usize) {
            // It ended before it began.
            Err(Error::Executor(wug_target::Error::Ended)) => return guard.tell(),
            traced => traced.map_err(|error| Failure::usage(error.to_string()))?,
        };
        let command_line: Vec<_> = std::env::args_os().collect();
        let setup = Setup { target: self.command.clone(), command_line: command_line.clone(), main: false };
        let folder = Folder::open(&self.output, &id, Start::New, &setup).map_err(failed)?;
        let words = command_line.iter().map(|word| word.to_string_lossy());
        let report = Report {
            afl_banner: target.program.to_string_lossy().into_owned(),
            afl_version: format!("wug-{}", env!("CARGO_PKG_VERSION")),
            command_line: words.collect::<Vec<_>>().join(" "),
            workers: self.workers.into(),
            cpu_affinity: -1,
            ..Report::default()
        };
        let texts = match self.no_texts {
            true => Vec::new(),
            false => of_program(&program, Sections::ReadOnly).unwrap_or_default(),
        };
        let mut status = Status::new(interrupt, seed, guard.clone());
        let parts = Parts { traced, folder, report, texts, watch: &mut status };
        let outcome = Explorer::new(parts, options).run();
        status.end();
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => {
                // What there is, then why there is no more.
                if guard.report().execs_done > 0 {
                    let _ = guard.tell();
                }
                return Err(failed(error));
            }
        };
        guard.update(&outcome.report);
        let told = guard.tell();
        match outcome.remark {
            Some(remark) if outcome.report.corpus_count == 0 => Err(Failure::Message(1, remark)),
            Some(remark) => {
                terminal::warning(&remark);
                told
            }
            None => told,
        }
    }
}

/// Says what came of a search; no valid input is a failure.
fn last_words(place: PathBuf, json: bool) -> impl Fn(&Report) -> Outcome {
    move |report| {
        if json {
            print_json(report)?;
        }
        terminal::say(&format!(
            "{} valid inputs in {}, after {} executions\n",
            report.corpus_count,
            terminal::clean_line(&place.to_string_lossy()),
            report.execs_done
        ));
        if report.corpus_count == 0 { Err(Failure::No) } else { Ok(()) }
    }
}
