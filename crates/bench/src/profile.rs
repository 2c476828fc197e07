//! `wug-bench profile`: size against throughput, one point for each seed, as
//! in section 7 of "Developing Grammar Fuzzers".
//!
//! Every engine makes the input of every seed once in each run, one seed
//! after the other: an input that is made several times in a row would be
//! one that the processor's branch prediction knows by heart. A point is the
//! median over the runs, without what reading the clock costs.

use super::median;
use super::plot::{Plot, Series};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;
use wug::cli::commands::{print, print_json};
use wug::cli::grammar_arg::GrammarArg;
use wug::cli::{Failure, Outcome, number};
use wug::compiled::Compiled;
use wug_engines::tables::Tables;
use wug_engines::{Calls, Vm};
use wug_files::reason;
use wug_produce::{Engine, Options, Program, Scratch};

/// Draw the size of inputs against the speed of making them
#[derive(Args)]
#[command(
    after_help = "Example:\n  wug-bench profile json -o plot.svg\n  wug-bench profile grammar.json -o plot.svg --engines vm,compiled -n 5000"
)]
pub struct Profile {
    /// Name or file of a grammar
    #[arg(value_name = "GRAMMAR")]
    grammar: String,
    /// The picture, an SVG file
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// `recursive`, `iterative`, `vm`, `compiled`,
    /// `tables`
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "recursive,vm,compiled",
        value_name = "NAMES",
        hide_possible_values = true,
        verbatim_doc_comment
    )]
    engines: Vec<Contestant>,
    /// Depth limit
    #[arg(long, default_value = "16", value_name = "N")]
    depth: u32,
    /// Seeds, from 1 on
    #[arg(short = 'n', long, default_value = "1000", value_parser = number::wide, value_name = "N")]
    seeds: u64,
    /// Runs of each
    #[arg(long, default_value = "5", value_name = "N")]
    runs: usize,
    /// Print JSON, with all points
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Contestant {
    Recursive,
    Iterative,
    Vm,
    Compiled,
    Tables,
}

/// The inputs of the paper's comparison: so many of the largest.
const LARGEST: usize = 10;

#[derive(Serialize)]
struct Row {
    engine: &'static str,
    /// Bytes and MiB per second of each input.
    points: Vec<(usize, f64)>,
    /// Mean MiB per second of the largest inputs.
    largest: f64,
}

type Make<'a> = Box<dyn FnMut(u64, &mut Vec<u8>) -> Option<()> + 'a>;

impl Profile {
    pub fn run(self) -> Outcome {
        let grammar = GrammarArg::named(&self.grammar).load_and_warn()?.grammar;
        let options = Options { max_depth: self.depth, ..Options::default() };
        let program =
            Program::new(&grammar, options).map_err(|unfit| Failure::Message(1, unfit.to_string()))?;
        let mut rows = Vec::new();
        for &engine in &self.engines {
            let make = maker(engine, &program)?;
            rows.push(self.measure(name(engine), make)?);
        }
        let series = rows.iter().map(|row| Series {
            name: row.engine.to_string(),
            points: row.points.iter().map(|&(size, speed)| (size as f64, speed)).collect(),
        });
        let plot = Plot {
            title: format!("{}, depth {}: size and speed of {} seeds", self.grammar, self.depth, self.seeds),
            x_label: "bytes of the input".into(),
            y_label: "MiB per second".into(),
            series: series.collect(),
        };
        let refuse = |error| {
            let place = self.output.display();
            Failure::Message(1, format!("cannot write `{place}`: {}", reason(&error)))
        };
        std::fs::write(&self.output, plot.svg().map_err(|why| Failure::Message(1, why))?).map_err(refuse)?;
        if self.json {
            return print_json(&serde_json::json!({ "benchmark": "profile", "rows": rows }));
        }
        let mut out = format!("Mean MiB per second of the {LARGEST} largest inputs\n");
        for row in &rows {
            let _ = writeln!(out, "{:10} {:8.1}", row.engine, row.largest);
        }
        print(&out)
    }

    fn measure(&self, engine: &'static str, mut make: Make) -> Result<Row, Failure> {
        let clock = clock_cost();
        let mut times = vec![Vec::with_capacity(self.runs); self.seeds as usize];
        let mut sizes = vec![0; self.seeds as usize];
        let mut out = Vec::new();
        // The first run warms up and is not counted.
        for run in 0..=self.runs {
            for (at, seed) in (1..=self.seeds).enumerate() {
                out.clear();
                let start = Instant::now();
                let made = make(seed, &mut out);
                let time = start.elapsed().as_secs_f64();
                if made.is_none() {
                    return Err(Failure::Message(
                        1,
                        format!("{engine} cannot make the input of seed {seed}"),
                    ));
                }
                sizes[at] = std::hint::black_box(&out).len();
                if run > 0 {
                    times[at].push(time);
                }
            }
        }
        // An empty input has a time, but no speed.
        let mut points: Vec<(usize, f64)> = sizes
            .into_iter()
            .zip(times)
            .filter(|(size, _)| *size > 0)
            .map(|(size, times)| {
                let time = (median(times) - clock).max(1e-9);
                (size, size as f64 / f64::from(1 << 20) / time)
            })
            .collect();
        points.sort_by_key(|point| std::cmp::Reverse(point.0));
        let largest = &points[..points.len().min(LARGEST)];
        let largest = largest.iter().map(|point| point.1).sum::<f64>() / largest.len().max(1) as f64;
        Ok(Row { engine, points, largest })
    }
}

/// What reading the clock twice takes, in seconds.
fn clock_cost() -> f64 {
    median((0..1001).map(|_| Instant::now().elapsed().as_secs_f64()).collect())
}

fn name(engine: Contestant) -> &'static str {
    match engine {
        Contestant::Recursive => "recursive",
        Contestant::Iterative => "iterative",
        Contestant::Vm => "vm",
        Contestant::Compiled => "compiled",
        Contestant::Tables => "tables",
    }
}

/// What makes the first input of a seed.
fn maker<'a>(engine: Contestant, program: &'a Program) -> Result<Make<'a>, Failure> {
    let by = |engine| -> Make<'a> {
        let mut scratch = Scratch::default();
        Box::new(move |seed, out| program.produce(engine, seed, 0, &mut scratch, out))
    };
    Ok(match engine {
        Contestant::Recursive => by(Engine::Recursive),
        Contestant::Iterative => by(Engine::Iterative),
        Contestant::Vm => {
            let (vm, mut calls, mut scratch) = (Vm::new(program), Calls::default(), Scratch::default());
            Box::new(move |seed, out| vm.produce(seed, 0, &mut calls, &mut scratch, out))
        }
        Contestant::Compiled => {
            let compiled = Compiled::new(program)?;
            Box::new(move |seed, out| compiled.produce(seed, 0, out))
        }
        Contestant::Tables => {
            let mut tables =
                Tables::new(program, b"").map_err(|misfit| Failure::Message(1, misfit.to_string()))?;
            Box::new(move |seed, out| {
                tables.one(seed, 0, out);
                Some(())
            })
        }
    })
}
