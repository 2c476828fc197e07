//! `wug-bench parse`: how fast inputs are parsed, and what memory that takes.
//!
//! Inputs are files, or made by the reference engine. A round parses all of
//! them once, on one core, timed by the CPU time of this thread: with a cache
//! that has seen them, and with an empty one. Memory is told for three inputs
//! of about n, 2n and 4n bytes, where 4n is the longest: linear means that it
//! takes as much for each byte of all three.

use super::{cpu, median};
use clap::Args;
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;
use wug::cli::commands::{print, print_json};
use wug::cli::grammar_arg::GrammarArg;
use wug::cli::{Failure, Outcome, size};
use wug_grammar::Grammar;
use wug_parse::{Cache, Limits, Parser};
use wug_produce::{Engine, Options, Program, Scratch};

/// Parse files or made-up inputs, in memory
#[derive(Args)]
#[command(
    after_help = "Example:\n  wug-bench parse\n  wug-bench parse lua src/*.lua\n  wug-bench parse sql --bytes 8M --json"
)]
pub struct Parse {
    /// Name or file of a grammar; all built-in ones if none
    /// is given
    #[arg(value_name = "GRAMMAR", verbatim_doc_comment)]
    grammar: Option<String>,
    /// Inputs; if none are given, they are made
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Bytes of inputs to make for each grammar
    #[arg(long, value_parser = size::parse, default_value = "1M", value_name = "SIZE")]
    bytes: u64,
    /// Rounds
    #[arg(long, default_value = "7", value_name = "N")]
    rounds: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    grammar: String,
    inputs: usize,
    bytes: usize,
    /// Inputs that do not parse; they are left out.
    refused: usize,
    nodes: usize,
    ambiguities: u64,
    /// MiB per CPU-second, medians: with a cache that knows the inputs, and
    /// with an empty one.
    mib_per_s: f64,
    cold_mib_per_s: f64,
    /// The lengths of three inputs, and the bytes of memory for each byte.
    memory: [Memory; 3],
}

#[derive(Clone, Copy, Default, Serialize)]
struct Memory {
    bytes: usize,
    per_byte: f64,
}

impl Parse {
    pub fn run(self) -> Outcome {
        let names = match &self.grammar {
            Some(name) => vec![name.clone()],
            None => wug_grammar::builtin::all().iter().map(|builtin| builtin.name.to_string()).collect(),
        };
        let rows = names.iter().map(|name| self.measure(name)).collect::<Result<Vec<_>, _>>()?;
        if self.json {
            return print_json(&serde_json::json!({ "benchmark": "parse", "rows": rows }));
        }
        let mut out = String::new();
        let _ = writeln!(out, "MiB per CPU-second, median of {} rounds; memory for each byte", self.rounds);
        for [a, b, c, d, e, f, g, h] in [
            ["grammar", "inputs", "bytes", "nodes", "MiB/s", "MiB/s", "memory at", ""],
            ["", "", "", "/byte", "", "cold", "longest", "n, 2n, 4n"],
        ] {
            let _ = writeln!(out, "{a:12} {b:>7} {c:>10} {d:>6} {e:>7} {f:>7} {g:>9} {h:>16}");
        }
        for row in &rows {
            let name = row.grammar.rsplit('/').next().unwrap_or(&row.grammar);
            let memory = row.memory.map(|m| format!("{:.1}", m.per_byte)).join(", ");
            let _ = writeln!(
                out,
                "{name:12} {:>7} {:>10} {:>6.2} {:>7.1} {:>7.1} {:>9} {memory:>16}",
                row.inputs,
                row.bytes,
                row.nodes as f64 / row.bytes.max(1) as f64,
                row.mib_per_s,
                row.cold_mib_per_s,
                row.memory[2].bytes
            );
            if row.refused > 0 {
                let _ = writeln!(out, "  {} more do not parse", row.refused);
            }
        }
        print(&out)
    }

    fn measure(&self, name: &str) -> Result<Row, Failure> {
        let grammar = GrammarArg::named(name).load_and_warn()?.grammar;
        let parser = Parser::new(&grammar).map_err(|unfit| Failure::Message(1, unfit.to_string()))?;
        let mut inputs = if self.files.is_empty() { self.make(&grammar)? } else { self.read()? };
        let mut cache = Cache::new(&parser);
        let (mut nodes, mut ambiguities, mut memory) = (0, 0, Vec::new());
        let all = inputs.len();
        inputs.retain(|input| match parser.parse(input, &mut cache, Limits::default()) {
            Ok(parsed) => {
                nodes += parsed.derivation.len();
                ambiguities += parsed.ambiguities;
                memory.push((input.len(), parsed.memory));
                true
            }
            Err(_) => false,
        });
        let bytes: usize = inputs.iter().map(Vec::len).sum();
        let round = |cache: &mut Cache| {
            let clock = cpu();
            for input in &inputs {
                let _ = std::hint::black_box(parser.parse(input, cache, Limits::default()));
            }
            bytes as f64 / f64::from(1 << 20) / (cpu() - clock).as_secs_f64().max(1e-9)
        };
        let (mut warm, mut cold) = (Vec::new(), Vec::new());
        for _ in 0..self.rounds.max(1) {
            warm.push(round(&mut cache));
            cold.push(round(&mut Cache::new(&parser)));
        }
        Ok(Row {
            grammar: name.to_string(),
            inputs: inputs.len(),
            bytes,
            refused: all - inputs.len(),
            nodes,
            ambiguities,
            mib_per_s: median(warm),
            cold_mib_per_s: median(cold),
            memory: growth(&memory),
        })
    }

    /// Inputs by the reference engine.
    fn make(&self, grammar: &Grammar) -> Result<Vec<Vec<u8>>, Failure> {
        let program = Program::new(grammar, Options::default());
        let program = program.map_err(|unfit| Failure::Message(1, unfit.to_string()))?;
        let (mut inputs, mut bytes) = (Vec::new(), 0);
        let mut scratch = Scratch::default();
        for index in 0..MAX_INPUTS {
            let mut input = Vec::new();
            if program.produce(Engine::Recursive, 1, index, &mut scratch, &mut input).is_none() {
                break;
            }
            bytes += input.len() as u64;
            inputs.push(input);
            if bytes >= self.bytes {
                break;
            }
        }
        Ok(inputs)
    }

    fn read(&self) -> Result<Vec<Vec<u8>>, Failure> {
        let read = |path: &PathBuf| {
            std::fs::read(path).map_err(|error| {
                let why = wug_files::reason(&error);
                Failure::usage(format!("{} cannot be read: {why}", path.display()))
            })
        };
        self.files.iter().map(read).collect()
    }
}

/// A grammar may derive only the empty text.
const MAX_INPUTS: u64 = 1 << 20;

/// What the longest input takes for each of its bytes, and before it those
/// nearest to half and to a quarter of its length.
fn growth(inputs: &[(usize, usize)]) -> [Memory; 3] {
    let longest = inputs.iter().map(|&(bytes, _)| bytes).max().unwrap_or(0);
    [longest / 4, longest / 2, longest].map(|wanted| {
        let nearest = inputs.iter().min_by_key(|&&(bytes, _)| bytes.abs_diff(wanted));
        nearest.map_or(Memory::default(), |&(bytes, memory)| Memory {
            bytes,
            per_byte: memory as f64 / bytes.max(1) as f64,
        })
    })
}
