//! `wug parse`.

mod job;
mod tree;

use super::{print, print_json};
use crate::cli::grammar_arg::GrammarArg;
use crate::cli::interrupt::Interrupt;
use crate::cli::{Failure, Outcome, number, size, terminal};
use clap::Args;
use job::{Answer, Job, Report};
use serde::Serialize;
use std::path::PathBuf;
use wug_parse::{Islands, Limits, Parser, Unfit};

/// Tell whether a grammar derives inputs, and how
#[derive(Args)]
#[command(
    after_help = "Example:\n  wug parse json data.json\n  wug parse lua src/*.lua --json\n  echo '[1, 2' | wug parse json\n\nExits 1 if an input is rejected."
)]
pub struct Parse {
    #[command(flatten)]
    grammar: GrammarArg,
    /// The inputs; standard input if none is given, or for -
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print how each input is derived: rules and tokens
    /// with the bytes they span
    #[arg(long, verbatim_doc_comment)]
    tree: bool,
    /// Print what can be read of an input that is rejected:
    /// the largest subtrees of rules, and the bytes between
    #[arg(long, verbatim_doc_comment)]
    islands: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Threads that parse; if not given, one for each core
    #[arg(long, value_parser = number::small, value_name = "T")]
    threads: Option<u32>,
    /// Give up on an input that takes more memory than
    /// this
    #[arg(long, default_value = "1G", value_parser = size::parse, value_name = "SIZE", verbatim_doc_comment)]
    max_memory: u64,
    /// Give up on an input that takes more steps than this
    /// where the grammar leaves a choice
    /// [default: 100000000]
    #[arg(long, default_value = "100000000", value_parser = number::wide, value_name = "N", hide_default_value = true, verbatim_doc_comment)]
    max_steps: u64,
}

#[derive(Serialize)]
struct Summary {
    files: usize,
    accepted: usize,
    rejected: usize,
    /// Neither: a limit was passed.
    given_up: usize,
    /// Files that could not be read.
    unread: usize,
    results: Vec<Report>,
}

impl Parse {
    pub fn run(self) -> Outcome {
        let loaded = self.grammar.load_and_warn()?;
        let parser =
            Parser::new(&loaded.grammar).map_err(|unfit: Unfit| Failure::Message(1, unfit.to_string()))?;
        let islands = self.islands.then(|| Islands::new(&loaded.grammar)).transpose();
        let islands = islands.map_err(|unfit| Failure::Message(1, unfit.to_string()))?;
        let files = if self.files.is_empty() { vec![PathBuf::from("-")] } else { self.files.clone() };
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        let interrupt = Interrupt::listen();
        let limits =
            Limits { memory: usize::try_from(self.max_memory).unwrap_or(usize::MAX), steps: self.max_steps };
        let job = Job {
            grammar: &loaded.grammar,
            parser: &parser,
            files: &files,
            islands: islands.as_ref(),
            limits,
            tree: self.tree,
            threads: self.threads.unwrap_or(cores).max(1),
        };
        let mut summary = Summary {
            files: files.len(),
            accepted: 0,
            rejected: 0,
            given_up: 0,
            unread: 0,
            results: Vec::new(),
        };
        let mut first = None;
        let mut trouble = Ok(());
        job.run(&interrupt, |report| {
            match &report.answer {
                Answer::Accepted { .. } => summary.accepted += 1,
                Answer::Rejected { .. } => summary.rejected += 1,
                Answer::GivenUp { .. } => summary.given_up += 1,
                Answer::Unread { .. } => summary.unread += 1,
            }
            if let Some(message) = report.message() {
                terminal::error(&terminal::clean_line(&message));
                if !matches!(report.answer, Answer::Unread { .. }) {
                    first.get_or_insert_with(|| report.first());
                }
            }
            if self.json {
                summary.results.push(report);
            } else if (self.tree || self.islands) && trouble.is_ok() {
                trouble = report.show(files.len() > 1);
            }
            trouble.is_ok()
        });
        trouble?;
        if interrupt.asked() {
            let done = summary.accepted + summary.rejected + summary.given_up + summary.unread;
            let message = format!("stopped after {done} of {}", count(summary.files));
            return Err(Failure::Message(interrupt.exit_code(), message));
        }
        if self.json {
            print_json(&summary)?;
        } else if !self.tree {
            print(&summary.text(first))?;
        }
        match (summary.unread, summary.rejected + summary.given_up) {
            (0, 0) => Ok(()),
            (0, _) => Err(Failure::No),
            (n, _) => {
                let what = if n == 1 { "a file".to_string() } else { count(n) };
                Err(Failure::usage(format!("{what} could not be read")))
            }
        }
    }
}

impl Summary {
    fn text(&self, first: Option<String>) -> String {
        let failed = self.rejected + self.given_up;
        let read = self.files - self.unread;
        let mut text = match failed {
            0 if read == 1 => "the input parses".to_string(),
            0 => format!("all of {} parse", count(read)),
            _ if self.files == 1 && self.given_up == 1 => "the input was given up".to_string(),
            _ if self.files == 1 => "the input does not parse".to_string(),
            _ => format!(
                "{failed} of {} {}",
                count(read),
                if failed == 1 { "does not parse" } else { "do not parse" }
            ),
        };
        if let Some(first) = first.filter(|_| self.files > 1) {
            text += &format!("; the first {first}");
            if self.given_up > 0 {
                text += &format!("; {} given up", self.given_up);
            }
        }
        text
    }
}

fn count(n: usize) -> String {
    format!("{n} file{}", if n == 1 { "" } else { "s" })
}
