//! `wug generate`.

use crate::grammar_arg::GrammarArg;
use crate::terminal::{self, without_number};
use crate::{Failure, Outcome, number, size};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use wug_grammar::facts::ClosingMode;
use wug_produce::{Options, Program, Scratch, Unfit, recursive};

/// Make inputs from a grammar
#[derive(Args)]
#[command(
    after_help = "Example:\n  wug generate json -n 10 -s 1\n  wug generate my.wug -n 1000 -o inputs --stats\n\nThe same grammar, options and seed give the same inputs."
)]
pub struct Generate {
    #[command(flatten)]
    grammar: GrammarArg,
    /// How many inputs
    #[arg(short = 'n', default_value = "1", value_parser = number::wide, value_name = "N")]
    count: u64,
    /// Seed, a number of 64 bits; if not given, a fresh one
    /// is drawn and shown
    #[arg(short, long, value_parser = number::wide, value_name = "SEED", verbatim_doc_comment)]
    seed: Option<u64>,
    /// Choices are free down to here; deeper, rules are
    /// brought to an end
    #[arg(short = 'd', long, default_value = "16", value_parser = number::small, value_name = "DEPTH", verbatim_doc_comment)]
    max_depth: u32,
    /// No input is longer than this
    #[arg(long, default_value = "1M", value_parser = size::parse, value_name = "BYTES")]
    max_size: u64,
    /// How rules are brought to an end: `min` takes the
    /// alternatives that end soonest, `cheap` all that do
    /// not lead back to a rule on the way
    #[arg(long, value_enum, default_value_t = ClosingArg::Min, value_name = "HOW", hide_possible_values = true, verbatim_doc_comment)]
    closing: ClosingArg,
    /// What makes the inputs: `recursive`, the plain way,
    /// or `auto`, the fastest that fits
    #[arg(long, value_enum, default_value_t = Engine::Auto, value_name = "NAME", hide_possible_values = true, verbatim_doc_comment)]
    engine: Engine,
    /// Write each input to a file of its own in this folder
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// What is printed behind each input; \n, \r, \t, \0 and
    /// \\ are understood
    #[arg(long, default_value = "\\n", value_parser = separator, value_name = "TEXT", verbatim_doc_comment)]
    separator: Separator,
    /// Print figures as JSON on standard error
    #[arg(long)]
    stats: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ClosingArg {
    Min,
    Cheap,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Engine {
    Recursive,
    Auto,
}

#[derive(Clone)]
struct Separator(Vec<u8>);

fn separator(text: &str) -> Result<Separator, String> {
    let mut out = Vec::new();
    let mut bytes = text.bytes();
    while let Some(b) = bytes.next() {
        out.push(match (b, b == b'\\') {
            (_, true) => match bytes.next() {
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                Some(b't') => b'\t',
                Some(b'0') => 0,
                Some(b'\\') => b'\\',
                _ => return Err("behind a backslash comes n, r, t, 0 or another backslash".to_string()),
            },
            (b, _) => b,
        });
    }
    Ok(Separator(out))
}

#[derive(Serialize)]
struct Stats {
    engine: &'static str,
    why: &'static str,
    seed: u64,
    inputs: usize,
    bytes: u64,
    seconds: f64,
    cpu_seconds: f64,
    setup_seconds: f64,
    mib_per_s: f64,
    mean: f64,
    p50: u64,
    p90: u64,
    p99: u64,
    max: u64,
    /// The mean that theory gives, the size limit aside; null beyond all numbers.
    expected_mean: Option<f64>,
    /// Share of the alternatives of the author's rules that were used.
    alternatives_used: f64,
    /// Inputs drawn again because their tokens ran together.
    redrawn: u64,
}

impl Generate {
    pub fn run(self) -> Outcome {
        let setup = Clock::start();
        let loaded = self.grammar.load_and_warn()?;
        let closing = match self.closing {
            ClosingArg::Min => ClosingMode::Min,
            ClosingArg::Cheap => ClosingMode::Cheap,
        };
        // An input is held in memory: a limit beyond this is none.
        let max_size = self.max_size.min(1 << 48);
        let options = Options { max_depth: self.max_depth, max_size, closing };
        let program = Program::new(&loaded.grammar, options).map_err(|unfit| match unfit {
            Unfit::Endless(diagnostic) => {
                terminal::diagnostics(&[*diagnostic], &loaded.sources);
                Failure::No
            }
            Unfit::Size { least, .. } => {
                Failure::usage(format!("{unfit}; allow more with --max-size {least}"))
            }
        })?;
        terminal::diagnostics(&program.warnings, &loaded.sources);
        let mut sink = Sink::open(self.output.as_deref(), self.separator.0.clone())?;
        let seed = self.seed.unwrap_or_else(fresh_seed);
        if self.seed.is_none() {
            terminal::say(&format!("seed: {seed}\n"));
        }
        let setup_seconds = setup.cpu().as_secs_f64();

        let mut scratch = Scratch::default();
        let mut input = Vec::new();
        let mut lengths: Vec<u64> = Vec::new();
        let clock = Clock::start();
        let mut cpu = Duration::ZERO;
        for index in 0..self.count {
            input.clear();
            if recursive::produce(&program, seed, index, &mut scratch, &mut input).is_none() {
                return Err(Failure::Message(
                    1,
                    "no input was found whose tokens do not run together; `wug check` names the tokens"
                        .into(),
                ));
            }
            if self.stats {
                lengths.push(input.len() as u64);
                if index % 256 == 0 || index + 1 == self.count {
                    cpu = clock.cpu();
                }
            }
            match sink.write(index, &input) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
                Err(error) => return Err(Failure::Message(1, sink.complain(index, &error))),
            }
        }
        match sink.finish() {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                return Err(Failure::Message(1, sink.complain(self.count, &error)));
            }
            _ => {}
        }
        if self.stats {
            let stats = stats(&program, &scratch, seed, lengths, clock.wall(), cpu, setup_seconds);
            let text = serde_json::to_string(&stats).map_err(|e| Failure::Message(1, e.to_string()))?;
            terminal::say(&format!("{text}\n"));
        }
        Ok(())
    }
}

fn stats(
    program: &Program,
    scratch: &Scratch,
    seed: u64,
    mut lengths: Vec<u64>,
    wall: Duration,
    cpu: Duration,
    setup_seconds: f64,
) -> Stats {
    lengths.sort_unstable();
    let bytes: u64 = lengths.iter().sum();
    let quantile =
        |q: f64| lengths.get(((lengths.len() as f64 - 1.0) * q).round() as usize).copied().unwrap_or(0);
    let cpu_seconds = cpu.as_secs_f64();
    Stats {
        engine: "recursive",
        why: "the reference engine is the only one so far",
        seed,
        inputs: lengths.len(),
        bytes,
        seconds: wall.as_secs_f64(),
        cpu_seconds,
        setup_seconds,
        mib_per_s: bytes as f64 / f64::from(1 << 20) / cpu_seconds.max(1e-9),
        mean: bytes as f64 / lengths.len().max(1) as f64,
        p50: quantile(0.5),
        p90: quantile(0.9),
        p99: quantile(0.99),
        max: quantile(1.0),
        expected_mean: Some(program.expected_length()).filter(|m| m.is_finite()),
        alternatives_used: used_share(program, scratch),
        redrawn: scratch.redrawn,
    }
}

/// Share of the alternatives, groups included, of rules that a person wrote.
fn used_share(program: &Program, scratch: &Scratch) -> f64 {
    let (mut used, mut all) = (0u64, 0u64);
    let grammar = &program.grammar;
    for rule in grammar.rules().filter(|&r| grammar.rule(r).costs_depth()) {
        grammar.bodies_within(grammar.rule(rule).body, &mut |body| {
            for alt in grammar.alternatives(body) {
                all += 1;
                used += u64::from(scratch.used.get(alt.index()).copied().unwrap_or(false));
            }
        });
    }
    used as f64 / all.max(1) as f64
}

/// Where inputs go.
enum Sink {
    Stream { out: io::BufWriter<io::StdoutLock<'static>>, separator: Vec<u8> },
    Folder(PathBuf),
}

impl Sink {
    fn open(folder: Option<&Path>, separator: Vec<u8>) -> Result<Sink, Failure> {
        let Some(folder) = folder else {
            let out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
            return Ok(Sink::Stream { out, separator });
        };
        if folder.is_file() {
            let message = format!("`{}` is a file; -o takes a folder", folder.display());
            return Err(Failure::usage(message));
        }
        std::fs::create_dir_all(folder).map_err(|error| {
            let why = without_number(&error);
            Failure::usage(format!("cannot make the folder `{}`: {why}", folder.display()))
        })?;
        Ok(Sink::Folder(folder.to_path_buf()))
    }

    fn write(&mut self, index: u64, input: &[u8]) -> io::Result<()> {
        match self {
            Sink::Stream { out, separator } => {
                out.write_all(input)?;
                out.write_all(separator)
            }
            Sink::Folder(folder) => {
                let path = folder.join(format!("{index:06}"));
                // A half-written input is worse than none.
                std::fs::write(&path, input).inspect_err(|_| {
                    let _ = std::fs::remove_file(&path);
                })
            }
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        match self {
            Sink::Stream { out, .. } => out.flush(),
            Sink::Folder(_) => Ok(()),
        }
    }

    fn complain(&self, index: u64, error: &io::Error) -> String {
        let error = without_number(error);
        match self {
            Sink::Stream { .. } => format!("cannot write to standard output: {error}"),
            Sink::Folder(folder) => {
                format!(
                    "cannot write input {index} to `{}`: {error}; the ones before it are whole",
                    folder.display()
                )
            }
        }
    }
}

/// Wall and CPU time since a moment.
struct Clock {
    wall: std::time::Instant,
    cpu: Duration,
}

impl Clock {
    fn start() -> Clock {
        Clock { wall: std::time::Instant::now(), cpu: cpu_time() }
    }

    fn wall(&self) -> Duration {
        self.wall.elapsed()
    }

    fn cpu(&self) -> Duration {
        cpu_time().saturating_sub(self.cpu)
    }
}

fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// 64 bits from the system's own source, by way of the hash map's keys.
fn fresh_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}
