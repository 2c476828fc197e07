//! `wug minimize`: the smallest input that still does the same.
//!
//! What is kept is the verdict of a target, with the place where it
//! crashes, or that a command exits with 0. With a grammar, the input is
//! reduced along its tree; where it does not parse, in pieces; without one,
//! byte by byte.

mod check;
mod keep;
mod output;
mod target;

use super::{print_json, read};
use crate::cli::execution_arg::ExecutionArg;
use crate::cli::grammar_arg::GrammarOption;
use crate::cli::interrupt::Interrupt;
use crate::cli::{Failure, Outcome, number, terminal};
use clap::Args;
use keep::{Keep, Trouble};
use output::{Output, Progress};
use serde::Serialize;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;
use wug_grammar::Grammar;
use wug_parse::{Cache, Failure as Unparsed, Islands, Limits, Parser, place};
use wug_produce::reduce::{End, Options, Piece, Reducer, reduce_bytes};

/// Find the smallest input that still does the same
#[derive(Args)]
#[command(
    override_usage = "wug minimize [OPTIONS] FILE -- TARGET [ARGS] [@@]\n       wug minimize [OPTIONS] FILE --check CMD",
    after_help = "Example:\n  wug minimize -g json crash.json -o small.json -- ./target @@\n  wug minimize -g lua bug.lua -o small.lua --check './shows-bug @@'\n  wug minimize crash -- ./target > small\n\nOf a target, the verdict is kept, and where it crashes. A check is a command of\nthe shell; what is kept is that it exits with 0. It runs as you, not confined.\n@@ stands for the path of the input; without it, the input comes on standard\ninput. With -g every candidate is an input of the grammar, unless FILE is none.\n\nExits 1 if FILE itself does not do it: the check fails, or the target is fine."
)]
pub struct Minimize {
    #[command(flatten)]
    grammar: GrammarOption,
    /// The input; - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Where the result goes; if not given, to standard
    /// output
    #[arg(short = 'o', long, value_name = "FILE", verbatim_doc_comment)]
    output: Option<PathBuf>,
    /// A command that exits with 0 while its input is of
    /// interest; it has 10 seconds if -t says nothing else
    #[arg(long, value_name = "CMD", conflicts_with = "target", verbatim_doc_comment)]
    check: Option<OsString>,
    /// At most so many runs
    #[arg(long, default_value = "100000", value_parser = number::wide, value_name = "N")]
    max_runs: u64,
    /// Go on byte by byte in the end, though the result may
    /// no longer be an input of the grammar
    #[arg(long, verbatim_doc_comment)]
    bytes: bool,
    /// How many functions of a crash's stack must stay, the
    /// innermost first
    #[arg(long, default_value = "3", value_parser = number::small, value_name = "N", verbatim_doc_comment)]
    frames: u32,
    /// Print figures as JSON
    #[arg(long, requires = "output")]
    json: bool,
    #[command(flatten)]
    execution: ExecutionArg,
    /// The program and its arguments
    #[arg(last = true, value_name = "TARGET")]
    target: Vec<OsString>,
}

#[derive(Serialize)]
struct Report {
    file: String,
    input_bytes: usize,
    output_bytes: usize,
    runs: u64,
    seconds: f64,
    /// tree, pieces or bytes
    structure: &'static str,
    /// minimal, runs or interrupted
    end: &'static str,
    /// What was kept.
    kept: String,
}

impl Minimize {
    pub fn run(self) -> Outcome {
        let begin = Instant::now();
        let loaded = self.grammar.load_and_warn()?;
        let input = read(&self.file).map_err(Failure::usage)?;
        let mut output = Output::new(self.output.as_deref(), &self.file)?;
        let interrupt = Interrupt::listen();
        let mut keep = self.keep(&input, &interrupt)?;
        let grammar = loaded.as_ref().map(|loaded| &loaded.grammar);
        let (structure, pieces) = match grammar {
            Some(grammar) => pieces(grammar, &input)?,
            None => ("bytes", vec![Piece::Raw(input.clone())]),
        };
        let mut progress = Progress::new(input.len());
        let mut runs = 0;
        let mut best = input.len();
        let mut test = |bytes: &[u8]| {
            if interrupt.asked() {
                return Err(Trouble::Interrupted);
            }
            let holds = keep.holds(bytes)?;
            runs += 1;
            if holds {
                best = bytes.len();
                output.save(bytes).map_err(Trouble::Failed)?;
            }
            progress.show(best, runs);
            Ok(holds)
        };
        // What is no input of the grammar need not become one.
        let bytes = self.bytes || structure == "pieces";
        let options = Options { runs: self.max_runs, bytes, pairs: true };
        let reduced = match grammar {
            Some(grammar) => {
                let reducer = Reducer::new(grammar)
                    .map_err(|_| Failure::Message(1, "the tokens of this grammar are too many".into()))?;
                reducer.reduce(pieces, options, &mut test)
            }
            None => reduce_bytes(&input, options, &mut test),
        };
        progress.clear();
        let report = Report {
            file: self.file.to_string_lossy().into_owned(),
            input_bytes: input.len(),
            output_bytes: reduced.bytes.len(),
            runs: reduced.runs,
            seconds: begin.elapsed().as_secs_f64(),
            structure,
            end: match &reduced.end {
                End::Runs => "runs",
                End::Stopped(_) => "interrupted",
                End::Minimal | End::Boring => "minimal",
            },
            kept: keep.kept(),
        };
        match reduced.end {
            End::Boring => return Err(Failure::Message(1, keep.refusal())),
            End::Stopped(Trouble::Failed(message)) => {
                output.finish(&reduced.bytes)?;
                return Err(Failure::Message(1, message));
            }
            _ => output.finish(&reduced.bytes)?,
        }
        terminal::say(&report.text(self.max_runs));
        if self.json {
            print_json(&report)?;
        }
        match report.end {
            "interrupted" => Err(Failure::Quiet(interrupt.exit_code())),
            _ => Ok(()),
        }
    }

    /// What is to be kept.
    fn keep(&self, input: &[u8], interrupt: &Interrupt) -> Result<Box<dyn Keep>, Failure> {
        match &self.check {
            Some(command) => {
                let timeout = self.execution.timeout_or(check::TIMEOUT);
                Ok(Box::new(check::Check::new(command, &self.file, timeout, interrupt.clone())?))
            }
            None if self.target.is_empty() => Err(Failure::usage(
                "what is to be kept? name a program behind `--`, or a command with --check",
            )),
            None => {
                let frames = self.frames as usize;
                Ok(Box::new(target::Same::new(&self.target, &self.execution, frames, input)?))
            }
        }
    }
}

impl Report {
    fn text(&self, max_runs: u64) -> String {
        let Report { input_bytes, output_bytes, runs, kept, .. } = self;
        let ended = match self.end {
            "runs" => format!("; not minimal, since --max-runs is {max_runs}"),
            "interrupted" => "; stopped, the smallest so far is kept".to_string(),
            _ => String::new(),
        };
        let runs = if *runs == 1 { "1 run".to_string() } else { format!("{runs} runs") };
        format!("{input_bytes} -> {output_bytes} bytes in {runs} ({kept}){ended}\n")
    }
}

/// An input as a tree, or in pieces if it is none of the grammar.
fn pieces(grammar: &Grammar, input: &[u8]) -> Result<(&'static str, Vec<Piece>), Failure> {
    let unfit = |unfit: wug_parse::Unfit| Failure::Message(1, unfit.to_string());
    let parser = Parser::new(grammar).map_err(unfit)?;
    let why = match parser.parse(input, &mut Cache::new(&parser), Limits::default()) {
        Ok(parsed) => return Ok(("tree", vec![Piece::Tree(grammar.start(), parsed.derivation)])),
        Err(Unparsed::Rejected(rejected)) => {
            let (line, column) = place(input, rejected.valid);
            format!("it does not parse: line {line}, column {column}: {rejected}")
        }
        Err(Unparsed::Limit(..)) => "it takes too long to parse".to_string(),
    };
    let islands = Islands::new(grammar).map_err(unfit)?;
    let Ok(found) = islands.cover(input, &mut islands.cache(), Limits::default()) else {
        terminal::warning(&format!("the input is reduced byte by byte, since {why}"));
        return Ok(("bytes", vec![Piece::Raw(input.to_vec())]));
    };
    terminal::warning(&format!("the input is reduced in pieces, since {why}"));
    let piece = |piece| match piece {
        wug_parse::Piece::Island { rule, derivation, .. } => Piece::Tree(rule, derivation),
        wug_parse::Piece::Raw(span) => Piece::Raw(input[span].to_vec()),
    };
    Ok(("pieces", found.into_iter().map(piece).collect()))
}
