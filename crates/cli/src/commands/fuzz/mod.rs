//! `wug fuzz`: coverage-guided fuzzing.

mod set_up;
mod status;
mod workers;

use crate::execution_arg::{ExecutionArg, target};
use crate::grammar_arg::GrammarArg;
use crate::interrupt::Interrupt;
use crate::{Failure, Outcome};
use clap::Args;
use set_up::Started;
use std::ffi::OsString;
use std::path::PathBuf;
use wug_campaign::fuzz::Mutators;

/// Fuzz a program: inputs from a grammar, guided by what they reach
#[derive(Args)]
#[command(
    override_usage = "wug fuzz [-g GRAMMAR] -o OUT [OPTIONS] -- ./TARGET [ARGS] [@@]",
    after_help = "Example:\n  wug cc -o target target.c\n  wug fuzz -g json -o out -- ./target @@\n  wug fuzz -g lua -i seeds -o out -j 2 -V 3600 -- ./target\n  wug fuzz -g json -i - -o out -- ./target @@     (goes on)\n  wug fuzz -o out -- ./target @@                  (learns structure)\n\nWithout @@ the target reads standard input. OUT is laid out as AFL++ does:\nafl-whatsup and afl-plot read it, and afl-fuzz beside exchanges finds.\nAFL_AUTORESUME, AFL_NO_UI, AFL_BENCH_UNTIL_CRASH, AFL_HANG_TMOUT and others\nare honoured; docs/campaigns.md tells all.\n\nExits 0 when it ends as asked, 1 if it cannot go on, 2 on wrong use."
)]
pub struct Fuzz {
    /// A built-in grammar or files that make up one
    #[arg(short = 'g', long, value_name = "GRAMMAR")]
    grammar: Vec<String>,
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
    #[arg(short = 's', long, value_parser = crate::number::wide)]
    seed: Option<u64>,
    /// End after so many seconds
    #[arg(short = 'V', value_name = "SECONDS")]
    seconds: Option<u64>,
    /// End after so many executions
    #[arg(short = 'E', value_name = "EXECS")]
    execs: Option<u64>,
    /// Traced build [default: TARGET.traced, if it is there]
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
    /// Trees, walks or both: spot, aggressive, both
    #[arg(
        long,
        default_value = "both",
        value_name = "WHICH",
        hide_possible_values = true,
        hide_default_value = true
    )]
    mutators: MutatorsArg,
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

/// Those on trees, on walks, or both.
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
        let interrupt = Interrupt::listen();
        if self.workers > 1 && workers::number().is_none() {
            return workers::run(&self, &interrupt);
        }
        let grammar = self.load()?;
        let started = Started::new(&self, grammar.as_ref().map(|loaded| &loaded.grammar), &interrupt)?;
        started.run(self.json)
    }

    fn load(&self) -> Result<Option<wug_grammar::Loaded>, Failure> {
        if self.grammar.is_empty() {
            return Ok(None);
        }
        GrammarArg::named(&self.grammar.join(",")).load_and_warn().map(Some)
    }

    /// The name of the campaign in OUT.
    fn id(&self) -> String {
        match (workers::number(), self.main.as_ref().or(self.secondary.as_ref())) {
            (Some(number), _) => workers::name(number),
            (None, Some(id)) => id.clone(),
            (None, None) => "default".into(),
        }
    }
}
