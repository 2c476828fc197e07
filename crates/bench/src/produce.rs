//! `wug-bench produce`: how fast the engines make inputs, beside the emitted
//! C and a copy of as many bytes.
//!
//! All contestants make about as many bytes in each round, in memory, on one
//! core. A round is timed by the CPU time of this thread.

use super::{cpu, median, rivals};
use clap::Args;
use serde::Serialize;
use std::ffi::OsString;
use std::fmt::Write;
use std::time::Duration;
use wug::cli::commands::{print, print_json};
use wug::cli::grammar_arg::GrammarArg;
use wug::cli::{Failure, Outcome, size};
use wug::compiled::Compiled;
use wug_engines::tables::Tables;
use wug_engines::{Calls, Vm};
use wug_produce::{Engine, Options, Program, Scratch};

/// Make inputs with every engine, in turns, in memory
#[derive(Args)]
#[command(
    after_help = "Example:\n  wug-bench produce json expr --depths 8,32\n  wug-bench produce grammar.json --json"
)]
pub struct Produce {
    /// Names or files of grammars; all built-in ones if none
    /// are given
    #[arg(value_name = "GRAMMAR", verbatim_doc_comment)]
    grammars: Vec<String>,
    /// Depths that are measured
    #[arg(long, value_delimiter = ',', default_value = "8,32,128", value_name = "N,N…")]
    depths: Vec<u32>,
    /// Bytes of each engine in each round
    #[arg(long, value_parser = size::parse, default_value = "4M", value_name = "SIZE")]
    bytes: u64,
    /// Rounds
    #[arg(long, default_value = "7", value_name = "N")]
    rounds: usize,
    /// Beside them, grammarinator, dharma and gramfuzz
    /// on JSON, as far as PYTHON has them
    #[arg(
        long,
        value_name = "PYTHON",
        num_args = 0..=1,
        default_missing_value = "python3",
        verbatim_doc_comment
    )]
    rivals: Option<OsString>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A grammar at a depth.
#[derive(Serialize)]
struct Row {
    grammar: String,
    depth: u32,
    /// Mean length of the inputs, and the one that theory gives.
    mean: f64,
    expected_mean: Option<f64>,
    inputs_per_s: f64,
    /// MiB per CPU-second, medians.
    memcpy: f64,
    recursive: f64,
    vm: f64,
    compiled: Option<f64>,
    tables: Option<f64>,
    /// Tables over emitted C, median of rounds.
    ratio: Option<f64>,
    /// Tables over emitted C, each round.
    ratios: Vec<f64>,
}

impl Produce {
    pub fn run(self) -> Outcome {
        let mut names = self.grammars.clone();
        if names.is_empty() {
            names = wug_grammar::builtin::all().iter().map(|builtin| builtin.name.to_string()).collect();
        }
        let mut rows = Vec::new();
        for name in &names {
            for &depth in &self.depths {
                rows.push(self.measure(name, depth)?);
            }
        }
        let rivals = self.rivals.as_deref().map(|python| rivals::measure(python, &self.depths));
        if self.json {
            let all = serde_json::json!({ "benchmark": "produce", "rows": rows, "rivals": rivals });
            return print_json(&all);
        }
        let mut out = String::new();
        let heads = ["grammar", "depth", "mean", "memcpy", "recursive", "vm", "C", "tables", "tables/C"];
        let _ = writeln!(out, "MiB per CPU-second, median of {} rounds", self.rounds);
        let [a, b, c, d, e, f, g, h, i] = heads;
        let _ = writeln!(out, "{a:20} {b:>5} {c:>9} {d:>8} {e:>9} {f:>8} {g:>8} {h:>8} {i:>9}");
        for row in &rows {
            let name = row.grammar.rsplit('/').next().unwrap_or(&row.grammar);
            let maybe = |value: Option<f64>, digits| value.map_or("-".into(), |v| format!("{v:.digits$}"));
            let _ = writeln!(
                out,
                "{name:20} {:>5} {:>9.1} {:>8.0} {:>9.1} {:>8.1} {:>8} {:>8} {:>9}",
                row.depth,
                row.mean,
                row.memcpy,
                row.recursive,
                row.vm,
                maybe(row.compiled, 1),
                maybe(row.tables, 1),
                maybe(row.ratio, 2)
            );
        }
        if let Some(rivals) = &rivals {
            rivals::table(rivals, &mut out);
        }
        print(&out)
    }

    fn measure(&self, name: &str, depth: u32) -> Result<Row, Failure> {
        let grammar = GrammarArg::named(name).load_and_warn()?.grammar;
        let options = Options { max_depth: depth, ..Options::default() };
        let program =
            Program::new(&grammar, options).map_err(|unfit| Failure::Message(1, unfit.to_string()))?;
        let compiled = Compiled::new(&program).ok();
        let vm = Vm::new(&program);
        let mut tables = Tables::new(&program, b"").ok();
        let mut times = Times::default();
        let (mut inputs, mut bytes) = (0u64, 0u64);
        // The first round warms up and is not counted: neither that the C is
        // compiled, nor that most tables are made.
        for round in 0..=self.rounds as u64 {
            let count = |made: Made| if round > 0 { Some(made.mib_per_s()) } else { None };
            let reference = self.by_choices(&program, Engine::Recursive, round);
            (inputs, bytes) = (inputs + reference.inputs, bytes + reference.bytes);
            times.recursive.extend(count(reference));
            times.vm.extend(count(self.by_vm(&vm, round)));
            if let Some(compiled) = &compiled {
                times
                    .compiled
                    .extend(count(self.by(round, |index, out| compiled.produce(round, index, out))));
            }
            if let Some(tables) = &mut tables {
                let bytes = if round > 0 { self.bytes } else { self.bytes.max(WARM) };
                times.tables.extend(count(by_tables(tables, round, bytes)));
            }
            times.memcpy.extend(count(self.copied()));
        }
        let ratios: Vec<f64> = times.tables.iter().zip(&times.compiled).map(|(t, c)| t / c).collect();
        let some = |values: &[f64]| (!values.is_empty()).then(|| median(values.to_vec()));
        let mean = bytes as f64 / inputs.max(1) as f64;
        let best = some(&times.tables).or(some(&times.compiled)).unwrap_or(0.0);
        Ok(Row {
            grammar: name.to_string(),
            depth,
            mean,
            expected_mean: Some(program.expected_length()).filter(|mean| mean.is_finite()),
            inputs_per_s: best * f64::from(1 << 20) / mean.max(1.0),
            memcpy: median(times.memcpy),
            recursive: median(times.recursive),
            vm: median(times.vm),
            compiled: some(&times.compiled),
            tables: some(&times.tables),
            ratio: some(&ratios),
            ratios,
        })
    }

    fn by_choices(&self, program: &Program, engine: Engine, seed: u64) -> Made {
        let mut scratch = Scratch::default();
        self.by(seed, |index, out| program.produce(engine, seed, index, &mut scratch, out))
    }

    fn by_vm(&self, vm: &Vm<'_>, seed: u64) -> Made {
        let (mut calls, mut scratch) = (Calls::default(), Scratch::default());
        self.by(seed, |index, out| vm.produce(seed, index, &mut calls, &mut scratch, out))
    }

    /// Inputs one by one into a buffer that is emptied now and then.
    fn by(&self, seed: u64, mut produce: impl FnMut(u64, &mut Vec<u8>) -> Option<()>) -> Made {
        let mut out = Vec::with_capacity(BUFFER * 2);
        let mut made = Made::default();
        let clock = cpu();
        for index in 0.. {
            if produce(index, &mut out).is_none() {
                break;
            }
            made.inputs += 1;
            if out.len() >= BUFFER {
                made.bytes += std::hint::black_box(&out).len() as u64;
                out.clear();
                // Long inputs by slow engines: a fraction will do.
                let slow = (cpu() - clock).as_secs_f64() > 0.3;
                if made.bytes >= self.bytes || slow {
                    break;
                }
            }
        }
        made.bytes += out.len() as u64;
        made.time = cpu() - clock;
        std::hint::black_box(seed);
        made
    }

    /// As many bytes copied within the second-level cache.
    fn copied(&self) -> Made {
        let (from, mut to) = (vec![1u8; COPY], vec![0u8; COPY + PAGE]);
        // Half a page apart: some processors copy slowly between places that
        // lie nearly alike in their pages.
        let skip = (from.as_ptr() as usize + PAGE / 2).wrapping_sub(to.as_ptr() as usize) % PAGE;
        let to = &mut to[skip..][..COPY];
        let mut made = Made::default();
        let clock = cpu();
        while made.bytes < self.bytes.max(64 << 20) {
            to.copy_from_slice(std::hint::black_box(&from));
            std::hint::black_box(&to);
            made.bytes += COPY as u64;
        }
        made.time = cpu() - clock;
        made
    }
}

/// Inputs of tables, piece by piece.
fn by_tables(tables: &mut Tables, seed: u64, bytes: u64) -> Made {
    let mut made = Made::default();
    let inputs = tables.piece_inputs();
    let clock = cpu();
    let mut pieces = tables.pieces(seed, (0..).map(|piece: u64| piece * inputs..(piece + 1) * inputs));
    while let Some(piece) = pieces.next() {
        made.bytes += std::hint::black_box(piece.bytes()).len() as u64;
        made.inputs += piece.len() as u64;
        pieces.recycle(piece);
        if made.bytes >= bytes {
            break;
        }
    }
    made.time = cpu() - clock;
    made
}

/// Bytes after which few tables are left to be made.
const WARM: u64 = 16 << 20;
/// Bytes after which a buffer is emptied.
const BUFFER: usize = 128 << 10;
/// Bytes that are copied at once: with their copy in the second-level cache.
const COPY: usize = 96 << 10;
const PAGE: usize = 4096;

#[derive(Default)]
struct Times {
    recursive: Vec<f64>,
    vm: Vec<f64>,
    compiled: Vec<f64>,
    tables: Vec<f64>,
    memcpy: Vec<f64>,
}

/// What was made in a round.
#[derive(Default)]
struct Made {
    inputs: u64,
    bytes: u64,
    time: Duration,
}

impl Made {
    fn mib_per_s(&self) -> f64 {
        self.bytes as f64 / f64::from(1 << 20) / self.time.as_secs_f64().max(1e-9)
    }
}
