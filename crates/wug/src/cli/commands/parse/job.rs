//! Many files, several threads, one order.

use super::tree::{Line, island, tree};
use crate::cli::Outcome;
use crate::cli::commands::print;
use crate::cli::interrupt::Interrupt;
use crate::cli::terminal::{self};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use wug_files::reason;
use wug_files::regular;
use wug_grammar::Grammar;
use wug_parse::{Cache, Failure, Islands, Limit, Limits, MAX_INPUT, Parser, Piece, place};

/// What is to be parsed.
pub struct Job<'a> {
    pub grammar: &'a Grammar,
    pub parser: &'a Parser<'a>,
    pub islands: Option<&'a Islands<'a>>,
    pub files: &'a [PathBuf],
    pub limits: Limits,
    pub tree: bool,
    pub threads: u32,
}

/// What came of one file.
#[derive(Serialize)]
pub struct Report {
    pub file: String,
    pub accepted: bool,
    #[serde(flatten)]
    pub answer: Answer,
}

#[derive(Serialize)]
#[serde(untagged)]
pub enum Answer {
    Accepted {
        bytes: usize,
        nodes: usize,
        ambiguities: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        tree: Option<Vec<Line>>,
    },
    Rejected {
        line: usize,
        column: usize,
        /// Bytes of the longest valid prefix.
        byte: usize,
        found: Option<String>,
        expected: Vec<String>,
        terminals: Vec<String>,
        rules: Vec<String>,
        message: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        islands: Option<Vec<Line>>,
    },
    GivenUp {
        line: usize,
        column: usize,
        byte: usize,
        limit: &'static str,
        message: String,
    },
    Unread {
        message: String,
    },
}

impl Job<'_> {
    /// Parses all files; gives what came of them in order, until `take`
    /// says no.
    pub fn run(&self, interrupt: &Interrupt, mut take: impl FnMut(Report) -> bool) {
        let next = AtomicUsize::new(0);
        let threads = (self.threads as usize).min(self.files.len());
        std::thread::scope(|scope| {
            // Few wait for their turn, so that trees do not pile up.
            let (send, receive) = sync_channel(threads);
            for _ in 0..threads {
                let (send, next) = (send.clone(), &next);
                scope.spawn(move || {
                    let mut cache = Cache::new(self.parser);
                    let mut islands_cache = self.islands.map(Islands::cache);
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(file) = self.files.get(index).filter(|_| !interrupt.asked()) else { return };
                        if send.send((index, self.one(file, &mut cache, islands_cache.as_mut()))).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(send);
            let progress = Progress::new(self.files.len());
            let mut waiting = BTreeMap::new();
            let mut due = 0;
            while let Ok((index, report)) = receive.recv() {
                waiting.insert(index, report);
                while let Some(report) = waiting.remove(&due) {
                    due += 1;
                    progress.clear();
                    if !take(report) {
                        next.store(self.files.len(), Ordering::Relaxed);
                        return;
                    }
                    progress.show(due);
                }
            }
            progress.clear();
        });
    }

    fn one(&self, file: &Path, cache: &mut Cache, islands: Option<&mut Cache>) -> Report {
        let name = if file == Path::new("-") { "standard input".into() } else { file.to_string_lossy() };
        let answer = match read(file) {
            Ok(text) => self.parse(&text, cache, islands),
            Err(error) => {
                let why = if file.is_dir() { "it is a folder".into() } else { reason(&error) };
                Answer::Unread { message: format!("cannot be read: {why}") }
            }
        };
        Report { file: name.into_owned(), accepted: matches!(answer, Answer::Accepted { .. }), answer }
    }

    fn parse(&self, text: &[u8], cache: &mut Cache, islands: Option<&mut Cache>) -> Answer {
        match self.parser.parse(text, cache, self.limits) {
            Ok(parsed) => Answer::Accepted {
                bytes: text.len(),
                nodes: parsed.derivation.len(),
                ambiguities: parsed.ambiguities,
                tree: self.tree.then(|| tree(self.grammar, &parsed.derivation, text)),
            },
            Err(Failure::Rejected(rejected)) => {
                let (line, column) = place(text, rejected.valid);
                let message = rejected.to_string();
                Answer::Rejected {
                    line,
                    column,
                    byte: rejected.valid,
                    found: rejected.found,
                    expected: rejected.expected,
                    terminals: rejected.terminals,
                    rules: rejected.rules,
                    message,
                    islands: self.cover(text, islands),
                }
            }
            Err(Failure::Limit(limit, byte)) => {
                let (line, column) = place(text, byte);
                let (limit, message) = match limit {
                    Limit::Memory => ("memory", "given up: it takes more memory than --max-memory allows".to_string()),
                    Limit::Steps => {
                        ("steps", "given up: it takes more steps than --max-steps allows; the grammar is very ambiguous here".to_string())
                    }
                    Limit::Length => ("length", format!("given up: no input may have more than {MAX_INPUT} bytes")),
                };
                Answer::GivenUp { line, column, byte, limit, message }
            }
        }
    }
}

impl Job<'_> {
    /// What can be read of a text; all of it is raw where a limit is passed.
    fn cover(&self, text: &[u8], cache: Option<&mut Cache>) -> Option<Vec<Line>> {
        let pieces = self.islands?.cover(text, cache?, self.limits);
        let pieces = pieces.unwrap_or_else(|_| vec![Piece::Raw(0..text.len())]);
        Some(pieces.iter().map(|piece| island(self.grammar, piece, text)).collect())
    }
}

impl Report {
    /// What is wrong, with its place.
    pub fn message(&self) -> Option<String> {
        let file = &self.file;
        match &self.answer {
            Answer::Accepted { .. } => None,
            Answer::Rejected { line, column, message, .. }
            | Answer::GivenUp { line, column, message, .. } => {
                Some(format!("{file}:{line}:{column}: {message}"))
            }
            Answer::Unread { message } => Some(format!("{file} {message}")),
        }
    }

    /// The same as a part of the summary.
    pub fn first(&self) -> String {
        match &self.answer {
            Answer::Rejected { line, message, .. } => match message.split_once(": ") {
                Some((stops, expected)) => format!("{stops}, line {line}: {expected}"),
                None => message.clone(),
            },
            Answer::GivenUp { line, message, .. } => format!("is {message}, line {line}"),
            _ => String::new(),
        }
    }

    /// Prints the tree or the islands; the file before it if there are several.
    pub fn show(&self, named: bool) -> Outcome {
        let lines = match &self.answer {
            Answer::Accepted { tree: Some(lines), .. } | Answer::Rejected { islands: Some(lines), .. } => {
                lines
            }
            _ => return Ok(()),
        };
        let mut out = String::new();
        if named {
            out += &format!("{}:\n", self.file);
        }
        lines.iter().for_each(|line| line.write(&mut out));
        print(&out)
    }
}

fn read(file: &Path) -> std::io::Result<Vec<u8>> {
    // One byte more than there may be: then the parser says so.
    let limit = MAX_INPUT as u64 + 1;
    if file != Path::new("-") {
        return regular::read_start(file, limit);
    }
    let mut text = Vec::new();
    std::io::stdin().lock().take(limit).read_to_end(&mut text)?;
    Ok(text)
}

/// How many files are done, on a terminal.
struct Progress {
    files: usize,
    shown: bool,
}

impl Progress {
    fn new(files: usize) -> Progress {
        Progress { files, shown: files > 1 && std::io::stderr().is_terminal() }
    }

    fn show(&self, done: usize) {
        if self.shown && done < self.files {
            terminal::overwrite(&format!("{done} of {} files", self.files));
        }
    }

    fn clear(&self) {
        if self.shown {
            terminal::erase();
        }
    }
}
