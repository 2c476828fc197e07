//! `wug generate`.

mod judge;
mod pieces;
mod sink;
mod stats;
mod uniform;
mod walks;
mod workers;

use super::ClosingArg;
use crate::cli::automaton_arg::{GrammarAutomaton, StackArg, file};
use crate::cli::grammar_arg::GrammarArg;
use crate::cli::interrupt::Interrupt;
use crate::cli::terminal::{self};
use crate::cli::{Failure, Outcome, number, size};
use crate::compiled::Compiled;
use clap::{Args, ValueEnum};
use judge::Judge;
use sink::{Sink, SinkArg, sink_arg};
use stats::{Clock, Lengths, Stats, used_share};
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;
use uniform::UniformInputs;
use walks::Walks;
use workers::{By, Choices, Maker};
use wug_automata::{Automaton, Sharing, Weight};
use wug_engines::Vm;
use wug_engines::tables::Tables;
use wug_files::reason;
use wug_grammar::transform::{beginnings, lower};
use wug_produce::{Engine, Options, Program, RanTogether, Scratch, Tape, Unfit};

/// Make inputs from a grammar
#[derive(Args)]
#[command(
    after_help = "Example:\n  wug generate json -n 10 -s 1\n  wug generate my.wug -n 1000 -o inputs --stats\n\nThe same grammar, options, engine and seed give the same inputs."
)]
pub struct Generate {
    #[command(flatten)]
    grammar: GrammarArg,
    /// How many inputs; 1 if neither this nor --bytes is
    /// given
    #[arg(short = 'n', value_parser = number::wide, value_name = "N", verbatim_doc_comment)]
    count: Option<u64>,
    /// Stop when the inputs have this many bytes together
    #[arg(long, value_parser = size::parse, value_name = "SIZE")]
    bytes: Option<u64>,
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
    /// What makes the inputs: `recursive` or `iterative`,
    /// the two plain ways, `vm` or `compiled`, faster and
    /// the same, `tables`, the fastest, with other inputs
    /// from a seed, `automaton`, random walks over the
    /// grammar automaton, or `auto`: `tables` for 8 MiB or
    /// more, else `vm`
    #[arg(long, value_enum, default_value_t = EngineArg::Auto, value_name = "NAME", hide_possible_values = true, verbatim_doc_comment)]
    engine: EngineArg,
    /// Make inputs of A to B bytes, all derivations equally
    /// likely: a text that has several is drawn more often
    #[arg(long, value_parser = uniform::sizes, value_name = "A..B", conflicts_with_all = ["engine", "max_depth", "closing"], verbatim_doc_comment)]
    uniform: Option<RangeInclusive<usize>>,
    /// What alternatives count: `one`, or `paper`, all ways
    /// to begin them, each character one, as in Gramatron;
    /// for --uniform what a class counts, there the default
    /// is `paper`
    #[arg(long, value_enum, value_name = "HOW", hide_possible_values = true, verbatim_doc_comment)]
    weight: Option<WeightArg>,
    #[command(flatten)]
    stack: StackArg,
    /// Threads that make inputs; the result is the same for
    /// any number
    #[arg(long, default_value = "1", value_parser = threads, value_name = "T", verbatim_doc_comment)]
    threads: usize,
    /// Write each input to a file of its own in this folder
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Where else inputs go: `stdout`, `null` (nowhere) or
    /// `mmap:FILE` (one file, in memory)
    #[arg(long, default_value = "stdout", value_parser = sink_arg, value_name = "WHERE", conflicts_with = "output", verbatim_doc_comment)]
    sink: SinkArg,
    /// Write the choices that make up the one input
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Begin the one input with the choices of this file;
    /// any bytes will do
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    choices: Option<PathBuf>,
    /// What is printed behind each input; \n, \r, \t, \0 and
    /// \\ are understood
    #[arg(long, default_value = "\\n", value_parser = separator, value_name = "TEXT", verbatim_doc_comment)]
    separator: Separator,
    /// Print figures as JSON on standard error
    #[arg(long)]
    stats: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EngineArg {
    Recursive,
    Iterative,
    Vm,
    Compiled,
    Tables,
    Automaton,
    Auto,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum WeightArg {
    One,
    Paper,
}

impl From<WeightArg> for Weight {
    fn from(weight: WeightArg) -> Weight {
        match weight {
            WeightArg::One => Weight::One,
            WeightArg::Paper => Weight::Members,
        }
    }
}

/// An engine, and why it is this one.
struct Pick {
    engine: EngineArg,
    why: &'static str,
}

impl Pick {
    fn name(&self) -> &'static str {
        match self.engine {
            EngineArg::Recursive | EngineArg::Auto => "recursive",
            EngineArg::Iterative => "iterative",
            EngineArg::Vm => "vm",
            EngineArg::Compiled => "compiled",
            EngineArg::Tables => "tables",
            EngineArg::Automaton => "automaton",
        }
    }

    /// What makes inputs choice by choice. The plain engine stands in for
    /// those that do not, where choices are recorded or replayed.
    fn choices(&self) -> Engine {
        match self.engine {
            EngineArg::Iterative => Engine::Iterative,
            _ => Engine::Recursive,
        }
    }
}

/// Where inputs go and are counted, and what stops them.
struct End<'a> {
    interrupt: &'a Interrupt,
    sink: &'a mut Sink,
    lengths: &'a mut Lengths,
}

/// Below this many bytes the time to make tables is more than they save.
const WORTH_TABLES: f64 = 8.0 * 1024.0 * 1024.0;

fn threads(text: &str) -> Result<usize, String> {
    match number::wide(text)? {
        threads @ 1..=1024 => Ok(threads as usize),
        _ => Err("give a number from 1 to 1024".to_string()),
    }
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

impl Generate {
    pub fn run(self) -> Outcome {
        let setup = Clock::start();
        let single = self.record.is_some() || self.choices.is_some();
        if single && (self.count.unwrap_or(1) != 1 || self.bytes.is_some()) {
            return Err(Failure::usage("--record and --choices are for one input; leave -n and --bytes out"));
        }
        // A file may hold an automaton in place of a grammar.
        let file = match (&self.uniform, self.engine) {
            (None, EngineArg::Auto | EngineArg::Automaton) => file(&self.grammar)?,
            _ => None,
        };
        if self.uniform.is_some() || self.engine == EngineArg::Automaton || file.is_some() {
            if single {
                return Err(Failure::usage("there are no choices to record or replay; use --engine vm"));
            }
            return match &self.uniform {
                Some(sizes) => self.uniformly(sizes, &setup),
                None => self.walks(file, &setup),
            };
        }
        let mut loaded = self.grammar.load_and_warn()?;
        if self.weight == Some(WeightArg::Paper) {
            loaded.grammar = beginnings::by_beginnings(&loaded.grammar);
        }
        let closing = self.closing.into();
        let options =
            Options { max_depth: self.max_depth, max_size: self.max_size, closing, printable: false };
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
        let pick = self.pick(&program, single)?;
        let compiled = match pick.engine {
            EngineArg::Compiled => Some(Compiled::new(&program)?),
            _ => None,
        };
        let vm = (pick.engine == EngineArg::Vm && !single).then(|| Vm::new(&program));
        let tape = self.choices.as_deref().map(read_choices).transpose()?;
        let (mut sink, seed) = self.sink_and_seed()?;
        // The compiler's time is not this process's.
        let build = compiled.as_ref().map_or(Duration::ZERO, |compiled| compiled.build);
        let setup_seconds = (setup.cpu() + build).as_secs_f64();

        let interrupt = Interrupt::listen();
        let clock = Clock::start();
        let mut lengths = Lengths::default();
        let scratches = match single {
            true => {
                let tape = tape.unwrap_or_default();
                vec![self.one(&program, pick.choices(), seed, tape, &mut sink, &mut lengths)?]
            }
            false if pick.engine == EngineArg::Tables => {
                let mut end = End { interrupt: &interrupt, sink: &mut sink, lengths: &mut lengths };
                self.many_by_tables(&program, seed, &mut end)?;
                Vec::new()
            }
            false => {
                let by = match (&vm, &compiled) {
                    (Some(vm), _) => By::Vm(vm),
                    (_, Some(compiled)) => By::Compiled(compiled),
                    _ => By::Walk(pick.choices()),
                };
                let mut end = End { interrupt: &interrupt, sink: &mut sink, lengths: &mut lengths };
                let scratches = self.many(&Choices { program: &program, by }, seed, &mut end)?;
                scratches.into_iter().map(|(scratch, _)| scratch).collect()
            }
        };
        let used = match pick.engine {
            EngineArg::Vm | EngineArg::Compiled | EngineArg::Tables => None,
            _ => Some(used_share(&program, &scratches)),
        };
        let stats = Stats {
            setup_seconds,
            expected_mean: Some(program.expected_length()).filter(|m| m.is_finite()),
            alternatives_used: used,
            redrawn: scratches.iter().map(|s| s.redrawn).sum(),
            ..self.stats(pick.name(), pick.why, seed, &lengths, &clock)
        };
        self.finish(sink, &interrupt, &stats)
    }

    /// Makes inputs as walks over an automaton: that of a file, or of the
    /// grammar.
    fn walks(&self, file: Option<Automaton>, setup: &Clock) -> Outcome {
        let (built, read);
        let (automaton, judge) = match file {
            Some(automaton) => {
                read = automaton;
                (&read, None)
            }
            None => {
                let sharing = match self.weight {
                    Some(WeightArg::Paper) => Sharing::None,
                    _ => Sharing::Beginnings,
                };
                built = GrammarAutomaton::of(self.grammar.load_and_warn()?, self.stack, sharing)?;
                (&built.built.automaton, built.judge())
            }
        };
        let walks = Walks::new(automaton, Judge::new(judge)?, self.weight(WeightArg::One), self.max_size)?;
        self.make(&walks, "automaton", setup)
    }

    /// Makes inputs of some sizes, all derivations equally likely.
    fn uniformly(&self, sizes: &RangeInclusive<usize>, setup: &Clock) -> Outcome {
        let loaded = self.grammar.load_and_warn()?;
        let lowered = lower::lower(&loaded.grammar);
        let form = uniform::form(&loaded, &lowered)?;
        let judge = Judge::new((!lowered.unproven.is_empty()).then_some(&loaded.grammar))?;
        let weight = self.weight(WeightArg::Paper);
        self.make(&UniformInputs::new(&form, sizes.clone(), weight, judge)?, "uniform", setup)
    }

    fn weight(&self, usual: WeightArg) -> Weight {
        self.weight.unwrap_or(usual).into()
    }

    /// Makes all inputs by something that makes no choices.
    fn make<M: Maker>(&self, maker: &M, engine: &'static str, setup: &Clock) -> Outcome {
        let (mut sink, seed) = self.sink_and_seed()?;
        let setup_seconds = setup.cpu().as_secs_f64();
        let interrupt = Interrupt::listen();
        let clock = Clock::start();
        let mut lengths = Lengths::default();
        let mut end = End { interrupt: &interrupt, sink: &mut sink, lengths: &mut lengths };
        let scratches = self.many(maker, seed, &mut end)?;
        let redrawn = scratches.iter().map(M::redrawn).sum();
        let stats =
            Stats { setup_seconds, redrawn, ..self.stats(engine, "asked for", seed, &lengths, &clock) };
        self.finish(sink, &interrupt, &stats)
    }

    /// Where inputs go, and the seed that they come from.
    fn sink_and_seed(&self) -> Result<(Sink, u64), Failure> {
        let sink = Sink::open(&self.sink, self.output.as_deref(), self.separator.0.clone())?;
        let seed = self.seed.unwrap_or_else(crate::cli::number::fresh_seed);
        if self.seed.is_none() {
            terminal::say(&format!("seed: {seed}\n"));
        }
        Ok((sink, seed))
    }

    /// Ends the sink and tells the figures.
    fn finish(&self, mut sink: Sink, interrupt: &Interrupt, stats: &Stats) -> Outcome {
        match sink.finish() {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                return Err(Failure::Message(1, sink.complain(stats.inputs, &error)));
            }
            _ => {}
        }
        if self.stats {
            let text = serde_json::to_string(stats).map_err(|e| Failure::Message(1, e.to_string()))?;
            terminal::say(&format!("{}\n", terminal::clean_json(&text)));
        }
        if interrupt.asked() {
            let s = if stats.inputs == 1 { "" } else { "s" };
            let message = format!("stopped after {} whole input{s}", stats.inputs);
            return Err(Failure::Message(interrupt.exit_code(), message));
        }
        Ok(())
    }

    /// Which engine it is.
    fn pick(&self, program: &Program, single: bool) -> Result<Pick, Failure> {
        let misfit = Tables::misfit(program, &self.separator.0);
        if self.engine != EngineArg::Auto {
            if let (EngineArg::Tables, Some(misfit)) = (self.engine, misfit) {
                return Err(Failure::usage(format!("{misfit}; use --engine vm")));
            }
            if single && self.engine == EngineArg::Tables {
                return Err(Failure::usage("tables make no choices to record or replay; use --engine vm"));
            }
            return Ok(Pick { engine: self.engine, why: "asked for" });
        }
        let bytes = match self.bytes {
            Some(bytes) => bytes as f64,
            None => self.count.unwrap_or(1) as f64 * program.expected_length(),
        };
        let (engine, why) = if single {
            (EngineArg::Vm, "choices are recorded or replayed")
        } else if misfit.is_some() {
            (EngineArg::Vm, "the grammar or the options do not fit tables")
        } else if bytes < WORTH_TABLES {
            (EngineArg::Vm, "for less than 8 MiB, tables do not pay")
        } else {
            (EngineArg::Tables, "the fastest, for 8 MiB or more")
        };
        Ok(Pick { engine, why })
    }

    /// Makes all inputs, in order, by tables.
    fn many_by_tables(&self, program: &Program, seed: u64, end: &mut End) -> Result<(), Failure> {
        let End { interrupt, sink, lengths } = end;
        let (indices, enough) = self.amount();
        let (program, separator, threads) = (program, &self.separator.0[..], self.threads);
        let mut failure = None;
        let done = pieces::Job { program, separator, seed, indices, threads }.run(|piece| {
            let count = piece.inputs_within(enough - lengths.bytes);
            if let Err((index, error)) = sink.write_piece(piece, count) {
                failure = Some((index, error));
                return false;
            }
            piece.lengths().take(count).for_each(|length| lengths.add(length as u64));
            lengths.bytes < enough && !interrupt.asked()
        });
        match failure {
            Some((index, error)) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::Message(1, sink.complain(index, &error)))
            }
            _ => done.map_err(|misfit| Failure::Message(1, misfit.to_string())),
        }
    }

    /// Which inputs, and with how many bytes there are enough.
    fn amount(&self) -> (std::ops::Range<u64>, u64) {
        let count = self.count.unwrap_or(if self.bytes.is_some() { u64::MAX } else { 1 });
        let enough = self.bytes.unwrap_or(u64::MAX);
        (0..if enough == 0 { 0 } else { count }, enough)
    }

    /// Makes all inputs, in order.
    fn many<M: Maker>(&self, maker: &M, seed: u64, end: &mut End) -> Result<Vec<M::Scratch>, Failure> {
        let End { interrupt, sink, lengths } = end;
        let (indices, enough) = self.amount();
        let mut failure = None;
        let job = workers::Job { maker, seed, indices, threads: self.threads };
        let scratches = job.run(|index, input| {
            if let Err(error) = sink.write(index, input) {
                failure = Some((index, error));
                return false;
            }
            lengths.add(input.len() as u64);
            lengths.bytes < enough && !interrupt.asked()
        });
        match failure {
            Some((index, error)) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::Message(1, sink.complain(index, &error)))
            }
            _ => scratches.map_err(|ran| {
                let _ = sink.finish();
                ran_together(ran)
            }),
        }
    }

    /// Makes one input from choices, or notes them.
    fn one(
        &self,
        program: &Program,
        engine: Engine,
        seed: u64,
        tape: Tape,
        sink: &mut Sink,
        lengths: &mut Lengths,
    ) -> Result<Scratch, Failure> {
        let (mut scratch, mut input) = (Scratch::default(), Vec::new());
        let mut tape = tape.recording();
        let made = program.produce_with(engine, seed, 0, &mut tape, &mut scratch, &mut input);
        made.ok_or_else(|| ran_together(RanTogether { index: 0 }))?;
        lengths.add(input.len() as u64);
        if let Some(path) = &self.record {
            std::fs::write(path, tape.recorded()).map_err(|error| {
                let why = reason(&error);
                Failure::Message(1, format!("cannot write the choices to `{}`: {why}", path.display()))
            })?;
        }
        match sink.write(0, &input) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::Message(1, sink.complain(0, &error)))
            }
            _ => Ok(scratch),
        }
    }

    /// The figures that every engine has.
    fn stats(
        &self,
        engine: &'static str,
        why: &'static str,
        seed: u64,
        lengths: &Lengths,
        clock: &Clock,
    ) -> Stats {
        let (wall, cpu): (Duration, Duration) = (clock.wall(), clock.cpu());
        let cpu_seconds = cpu.as_secs_f64();
        Stats {
            engine,
            why,
            seed,
            threads: self.threads,
            inputs: lengths.inputs,
            bytes: lengths.bytes,
            seconds: wall.as_secs_f64(),
            cpu_seconds,
            setup_seconds: 0.0,
            mib_per_s: lengths.bytes as f64 / f64::from(1 << 20) / cpu_seconds.max(1e-9),
            mean: lengths.bytes as f64 / lengths.inputs.max(1) as f64,
            p50: lengths.quantile(0.5),
            p90: lengths.quantile(0.9),
            p99: lengths.quantile(0.99),
            max: lengths.quantile(1.0),
            expected_mean: None,
            alternatives_used: None,
            redrawn: 0,
        }
    }
}

fn ran_together(ran: RanTogether) -> Failure {
    let index = ran.index;
    let what = format!("input {index} was drawn again and again, but its tokens always run together");
    Failure::Message(1, format!("{what}; the ones before it are whole, and `wug check` names the tokens"))
}

/// Choices of one input, in bytes.
const MAX_CHOICES: u64 = 1 << 28;

fn read_choices(path: &Path) -> Result<Tape, Failure> {
    match wug_files::regular::read_named(path, MAX_CHOICES) {
        Ok(bytes) => Ok(Tape::replay(bytes)),
        Err(error) => {
            let why = reason(&error);
            Err(Failure::usage(format!("cannot read the choices in `{}`: {why}", path.display())))
        }
    }
}
