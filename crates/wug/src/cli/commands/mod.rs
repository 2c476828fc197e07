//! One file for each command.

pub mod automaton;
pub mod bench;
pub mod cc;
pub mod check;
pub mod demo;
pub mod emit;
pub mod explore;
pub mod fuzz;
pub mod generate;
pub mod grammars;
pub mod minimize;
pub mod parse;
pub mod run;
pub mod rustflags;
pub mod show;

use crate::cli::Failure;
use crate::cli::terminal::{Screen, clean, clean_json};
use clap::ValueEnum;
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::path::Path;
use wug_files::reason;
use wug_files::regular;
use wug_grammar::facts::ClosingMode;

/// What `--closing` says.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ClosingArg {
    Min,
    Cheap,
}

impl From<ClosingArg> for ClosingMode {
    fn from(closing: ClosingArg) -> ClosingMode {
        match closing {
            ClosingArg::Min => ClosingMode::Min,
            ClosingArg::Cheap => ClosingMode::Cheap,
        }
    }
}

/// Prints one JSON object on standard output.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|e| Failure::Message(1, e.to_string()))?;
    write_line(&clean_json(&text))
}

/// Prints a report and a line break on standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    write_line(&clean(text))
}

/// Prints a file that a command makes, byte by byte unless it goes to a
/// terminal.
fn print_file(text: &str) -> Result<(), Failure> {
    if std::io::stdout().is_terminal() { print(text) } else { write_line(text) }
}

/// Standard output for inputs: as they are, unless it is a terminal.
fn standard_output() -> Box<dyn Write> {
    let out = std::io::stdout().lock();
    if out.is_terminal() { Box::new(Screen(out)) } else { Box::new(out) }
}

/// A reader that has gone away has seen enough.
fn write_line(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{}", text.trim_end()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::Message(1, format!("cannot write to standard output: {}", reason(&error))))
        }
        _ => Ok(()),
    }
}

/// Reads an input; `-` is standard input.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    let limit = wug_parse::MAX_INPUT as u64;
    if path.as_os_str() == "-" {
        return regular::bounded(std::io::stdin().lock(), limit).map_err(|error| cannot_read(path, &error));
    }
    regular::read_named(path, limit).map_err(|error| cannot_read(path, &error))
}

fn cannot_read(path: &Path, error: &std::io::Error) -> String {
    format!("cannot read `{}`: {}", path.display(), reason(error))
}
