//! The command line: arguments, terminal, exit codes. Each command has a
//! file of its own under `commands`.
//!
//! Public for the benchmarks of this workspace alone, which take the same
//! arguments; nothing in it is promised to stay.

pub mod automaton_arg;
pub mod commands;
pub mod execution_arg;
pub mod grammar_arg;
mod guard;
mod interrupt;
pub mod number;
pub mod size;
pub mod terminal;
mod ticker;
mod wrong_use;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Tests programs that read structured input, with inputs made from a grammar.
#[derive(Parser)]
#[command(
    name = "wug",
    version,
    arg_required_else_help = true,
    after_help = "Example:\n  wug demo\n  wug generate json -n 10\n\n`wug COMMAND --help` tells more of a command."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(commands::demo::Demo),
    Grammars(commands::grammars::Grammars),
    Check(commands::check::Check),
    Show(commands::show::Show),
    Generate(commands::generate::Generate),
    Emit(commands::emit::Emit),
    Automaton(commands::automaton::AutomatonCommand),
    Parse(commands::parse::Parse),
    Cc(commands::cc::Cc),
    #[command(name = "c++")]
    Cxx(commands::cc::Cxx),
    Rustflags(commands::rustflags::Rustflags),
    Run(commands::run::Run),
    Fuzz(commands::fuzz::Fuzz),
    Explore(commands::explore::Explore),
    Minimize(commands::minimize::Minimize),
    Bench(commands::bench::Bench),
}

/// How a command ends when it does not succeed.
pub enum Failure {
    /// The answer is no: exit 1.
    No,
    /// All was said; exit with this code.
    Quiet(u8),
    /// Something is wrong that the user can mend; exit with this code.
    Message(u8, String),
}

impl From<crate::compiled::Error> for Failure {
    fn from(error: crate::compiled::Error) -> Failure {
        Failure::Message(1, error.to_string())
    }
}

impl Failure {
    /// Wrong use.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure::Message(2, message.into())
    }
}

/// How a command ends.
pub type Outcome = Result<(), Failure>;

/// Runs the command that the arguments of this process name.
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return wrong_use::explain(error),
    };
    let outcome = match arguments.command {
        Command::Demo(demo) => demo.run(),
        Command::Grammars(grammars) => grammars.run(),
        Command::Check(check) => check.run(),
        Command::Show(show) => show.run(),
        Command::Generate(generate) => generate.run(),
        Command::Emit(emit) => emit.run(),
        Command::Automaton(automaton) => automaton.run(),
        Command::Parse(parse) => parse.run(),
        Command::Cc(cc) => cc.run(),
        Command::Cxx(cxx) => cxx.run(),
        Command::Rustflags(rustflags) => rustflags.run(),
        Command::Run(run) => run.run(),
        Command::Fuzz(fuzz) => fuzz.run(),
        Command::Explore(explore) => explore.run(),
        Command::Minimize(minimize) => minimize.run(),
        Command::Bench(bench) => bench.run(),
    };
    exit_code(outcome)
}

/// Says what went wrong, and gives the exit code for it.
pub fn exit_code(outcome: Outcome) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::No) => ExitCode::from(1),
        Err(Failure::Quiet(code)) => ExitCode::from(code),
        Err(Failure::Message(code, message)) => {
            terminal::error(message.trim_end());
            ExitCode::from(code)
        }
    }
}
