//! `wug fuzz`: coverage-guided fuzzing.

mod afl;
mod pin;
mod set_up;
mod status;
mod summary;
mod word;
mod workers;

pub use afl::instead_of;

use crate::cli::execution_arg::{ExecutionArg, target};
use crate::cli::grammar_arg::GrammarOption;
use crate::cli::interrupt::Interrupt;
use crate::cli::{Failure, Outcome};
use clap::Args;
use set_up::Started;
use status::Status;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use wug_campaign::fuzz::Mutators;
use wug_target::End;

/// Fuzz a program: inputs from a grammar, guided by what they reach
#[derive(Args)]
#[command(
    override_usage = "wug fuzz [-g GRAMMAR] -o OUT [OPTIONS] -- ./TARGET [ARGS] [@@]",
    after_help = "Example:\n  wug cc -o target target.c\n  wug fuzz -g json -o out -- ./target @@\n  wug fuzz -g lua -i seeds -o out -j 2 -V 3600 -- ./target\n  wug fuzz -g json -i - -o out -- ./target @@     (goes on)\n  wug fuzz -o out -- ./target @@                  (learns structure)\n\nWithout @@ the target reads standard input. OUT is laid out as AFL++ does:\nafl-whatsup and afl-plot read it, and afl-fuzz beside exchanges finds.\nAFL_AUTORESUME, AFL_NO_UI, AFL_BENCH_UNTIL_CRASH, AFL_HANG_TMOUT and others\nare honoured; docs/campaigns.md tells all.\n\nExits 0 when it ends as asked (with --exit-code CODE and crashes: CODE), 1 if\nit cannot go on, 2 on wrong use."
)]
pub struct Fuzz {
    #[command(flatten)]
    grammar: GrammarOption,
    /// Folder of seeds; `-` goes on with what is in OUT
    #[arg(short = 'i', long = "input", value_name = "DIR")]
    input: Option<PathBuf>,
    /// Folder for all that is found
    #[arg(short = 'o', long = "output", value_name = "OUT")]
    output: PathBuf,
    /// Dictionary of AFL++ or libFuzzer; several are fine
    #[arg(short = 'x', value_name = "DICT")]
    dictionary: Vec<OsString>,
    /// Seed of all random choices; the campaign repeats
    #[arg(short = 's', long, value_parser = crate::cli::number::wide)]
    seed: Option<u64>,
    /// End after so many seconds
    #[arg(short = 'V', value_name = "SECONDS")]
    seconds: Option<u64>,
    /// End after so many executions
    #[arg(short = 'E', value_name = "EXECS")]
    execs: Option<u64>,
    /// Traced build [default: TARGET.traced, if any]
    #[arg(long, value_name = "BUILD")]
    traced: Option<PathBuf>,
    /// Build with a sanitizer, which runs finds as well
    #[arg(long, value_name = "BUILD")]
    asan: Option<PathBuf>,
    /// Fuzz a target that is not instrumented
    #[arg(short = 'n', long)]
    plain: bool,
    /// Import from another fuzzer's folder as well
    #[arg(short = 'F', value_name = "DIR")]
    foreign: Vec<PathBuf>,
    /// Workers, each on a core of its own
    #[arg(short = 'j', long = "workers", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=256))]
    workers: u32,
    /// Name of this campaign in OUT, as the main one
    #[arg(short = 'M', value_name = "ID", conflicts_with = "secondary")]
    main: Option<String>,
    /// Name of this campaign in OUT, beside others
    #[arg(short = 'S', value_name = "ID")]
    secondary: Option<String>,
    /// Most turns for what does not parse
    #[arg(long, default_value = "20", value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    invalid: u8,
    /// Learn structure from finds also with a grammar
    #[arg(long)]
    generalise: bool,
    /// Learn no structure, even without a grammar
    #[arg(long, conflicts_with = "generalise")]
    no_generalise: bool,
    /// Learn no words that have to be the same
    #[arg(long)]
    no_links: bool,
    /// Mutators: bandit, or uniform
    #[arg(long, default_value = "bandit", value_name = "HOW", hide_possible_values = true)]
    schedule: Schedule,
    /// Structural mutators: spot, aggressive, both
    #[arg(
        long,
        default_value = "both",
        value_name = "WHICH",
        hide_possible_values = true,
        hide_default_value = true
    )]
    mutators: MutatorsArg,
    /// Exit code if there were crashes [default: 0]
    #[arg(long, value_name = "CODE", default_value = "0", hide_default_value = true)]
    exit_code: u8,
    /// Print a JSON object with all figures at the end
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    execution: ExecutionArg,
    /// The program and its arguments
    #[arg(value_name = "TARGET", required = true, num_args = 1.., last = true)]
    command: Vec<OsString>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Schedule {
    Bandit,
    Uniform,
}

/// Structural mutators by how much they change.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum MutatorsArg {
    Both,
    Spot,
    Aggressive,
}

impl From<MutatorsArg> for Mutators {
    fn from(mutators: MutatorsArg) -> Mutators {
        match mutators {
            MutatorsArg::Both => Mutators::Both,
            MutatorsArg::Spot => Mutators::Spot,
            MutatorsArg::Aggressive => Mutators::Aggressive,
        }
    }
}

impl Fuzz {
    pub fn run(self) -> Outcome {
        if target(self.command.iter().cloned()).is_none() {
            return Err(Failure::usage("no program: wug fuzz -o OUT -- ./TARGET [ARGS] [@@]"));
        }
        let until = |time: Duration| Instant::now().checked_add(time);
        match workers::place() {
            Some(place) => {
                place.follow_parent()?;
                let interrupt = Interrupt::listen_to_parent();
                let end = end(&interrupt, place.time);
                self.campaign(interrupt, end, Some(place.number)).map_err(|failure| match failure {
                    // Others may say the same: who started this says it once.
                    Failure::Message(code, message) => {
                        word::Word::Failed(message).say();
                        Failure::Quiet(code)
                    }
                    other => other,
                })
            }
            None => {
                let time = self.seconds.map(Duration::from_secs);
                let interrupt = Interrupt::listen();
                let end = end(&interrupt, time);
                afl::tell_unknown();
                match self.workers {
                    1 => self.campaign(interrupt, end, None),
                    _ => workers::run(&self, &interrupt, &end, time.and_then(until)),
                }
            }
        }
    }

    fn campaign(&self, interrupt: Interrupt, end: End, worker: Option<u32>) -> Outcome {
        // First of all: it also keeps the time while grammars are read.
        let status = match worker {
            None => Status::alone(self, interrupt, end.clone()),
            Some(_) => Status::of_worker(interrupt),
        };
        let grammar = match worker {
            None => self.grammar.load_and_warn()?,
            Some(_) => self.grammar.load_quietly()?,
        };
        let grammar = grammar.as_ref().map(|loaded| &loaded.grammar);
        Started::new(self, grammar, status, end, worker)?.run()
    }

    /// The name in OUT of the campaign, or of a worker.
    fn id_of(&self, worker: Option<u32>) -> String {
        match (worker, self.main.as_ref().or(self.secondary.as_ref())) {
            (None | Some(0), Some(id)) => id.clone(),
            (Some(number), Some(id)) => format!("{id}-{number}"),
            (Some(number), None) => format!("worker{number}"),
            (None, None) => "default".into(),
        }
    }

    /// Whether the campaign, or a worker, is the main one in OUT.
    fn is_main(&self, worker: Option<u32>) -> bool {
        match worker {
            None => self.main.is_some(),
            Some(number) => number == 0 && self.secondary.is_none(),
        }
    }
}

/// The end of a campaign that has this time.
fn end(interrupt: &Interrupt, time: Option<Duration>) -> End {
    let end = End::default().or_asked(interrupt.flag());
    match time {
        Some(time) => end.within(time),
        None => end,
    }
}
