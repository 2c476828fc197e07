//! `wug automaton`.

use super::{print, print_json};
use crate::cli::automaton_arg::{GrammarAutomaton, StackArg, file};
use crate::cli::grammar_arg::GrammarArg;
use crate::cli::terminal::{self};
use crate::cli::{Failure, Outcome};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use wug_automata::{Automaton, MAX_CLASS, Sharing};
use wug_files::reason;

/// Build the automaton of a grammar
#[derive(Args)]
#[command(
    after_help = "Example:\n  wug automaton json\n  wug automaton my.wug --stack-limit 12 -o my-automaton.json\n\nThe file is in Gramatron's form, and GRAMMAR may be such a file. Walks over the\nautomaton are inputs: `wug generate GRAMMAR --engine automaton`."
)]
pub struct AutomatonCommand {
    #[command(flatten)]
    grammar: GrammarArg,
    #[command(flatten)]
    stack: StackArg,
    /// File to write, as JSON; equivalent states become one
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    states: usize,
    /// Each word or class is one.
    transitions: u64,
    /// Null for a file, which does not tell.
    exact: Option<bool>,
    /// The limit that was given, or the height of the highest stack.
    stack_limit: Option<u32>,
    /// How often a rule can stand inside itself, at most.
    nesting: Option<u32>,
    nesting_rule: Option<String>,
    /// A rule with a repetition that was cut short.
    cut: Option<String>,
    /// Bytes of the shortest input.
    min_length: u32,
    memory_bytes: usize,
    /// Of the file that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<Written>,
}

#[derive(Serialize)]
struct Written {
    states: u32,
    transitions: u64,
}

impl AutomatonCommand {
    pub fn run(self) -> Outcome {
        let (automaton, mut report) = match file(&self.grammar)? {
            Some(automaton) => {
                let report = describe(&automaton);
                (automaton, report)
            }
            None => {
                let built =
                    GrammarAutomaton::of(self.grammar.load_and_warn()?, self.stack, Sharing::Beginnings)?
                        .built;
                let (nesting_rule, nesting) = built.nesting.clone().unzip();
                let report = Report {
                    exact: Some(built.exact),
                    stack_limit: Some(built.stack_limit),
                    nesting,
                    nesting_rule,
                    cut: built.cut.clone(),
                    ..describe(&built.automaton)
                };
                (built.automaton, report)
            }
        };
        if let Some(path) = &self.output {
            let refused = |why| Failure::Message(1, format!("this automaton cannot be written: {why}"));
            let written = automaton.to_json().map_err(refused)?;
            if written.classes_cut {
                terminal::help(&format!(
                    "of classes with more than {MAX_CLASS} members, only the first are written"
                ));
            }
            if written.empty_lost {
                terminal::help("the empty input is left out: the file has no place for it");
            }
            std::fs::write(path, &written.json).map_err(|error| {
                let why = reason(&error);
                Failure::Message(1, format!("cannot write the automaton to `{}`: {why}", path.display()))
            })?;
            report.written = Some(Written { states: written.states, transitions: written.transitions });
        }
        if self.json { print_json(&report) } else { print(&text(&report, self.stack.stack_limit.is_some())) }
    }
}

fn describe(automaton: &Automaton) -> Report {
    Report {
        states: automaton.states().len(),
        transitions: automaton.unit_transitions(),
        exact: None,
        stack_limit: None,
        nesting: None,
        nesting_rule: None,
        cut: None,
        min_length: automaton.states()[automaton.start() as usize].least,
        memory_bytes: automaton.bytes(),
        written: None,
    }
}

fn text(report: &Report, limited: bool) -> String {
    let mut lines =
        vec![("states", report.states.to_string()), ("transitions", report.transitions.to_string())];
    match (report.exact, report.stack_limit) {
        (Some(true), _) => lines.push(("language", "exact: all inputs of the grammar".to_string())),
        (Some(false), Some(limit)) if limited => {
            lines.push(("language", format!("bounded: inputs with a stack of at most {limit}")));
        }
        (Some(false), Some(limit)) => {
            lines.push(("language", format!("bounded: likely inputs, with a stack of up to {limit}")));
        }
        _ => {}
    }
    if let (Some(rule), Some(times)) = (&report.nesting_rule, report.nesting) {
        lines.push(("nesting", format!("up to {times} levels of `{rule}`")));
    }
    if let Some(rule) = &report.cut {
        lines.push(("cut", format!("a repetition in `{rule}` at 256 more than its least count")));
    }
    let s = if report.min_length == 1 { "" } else { "s" };
    lines.push(("shortest", format!("{} byte{s}", report.min_length)));
    lines.push(("memory", format!("{} KiB", report.memory_bytes.div_ceil(1024))));
    if let Some(written) = &report.written {
        lines.push(("written", format!("{} states, {} transitions", written.states, written.transitions)));
    }
    lines.into_iter().map(|(name, value)| format!("{name:<12} {value}\n")).collect()
}
