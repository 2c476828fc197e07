//! `wug-bench campaign`: what a campaign itself costs, beside its target.
//!
//! A campaign runs on inputs of about 200 bytes, with everything that belongs
//! to it; after a warm-up, CPU time of its own process is divided by
//! executions. Beside it stands what handing inputs to the same target and
//! looking at its coverage takes alone.

use super::executor::cost;
use anyhow::{Context, ensure};
use clap::Args;
use serde::Serialize;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use wug::cli::commands::{print, print_json};
use wug::cli::execution_arg::target;
use wug::cli::grammar_arg::GrammarArg;
use wug::cli::{Failure, Outcome};
use wug_campaign::fuzz::{Campaign, Event, Options, Parts, Seeds, Watch};
use wug_campaign::structure::Structure;
use wug_folder::report::Report;
use wug_folder::{Folder, Setup, Start};
use wug_grammar::Grammar;
use wug_produce::{Engine, Program, Scratch};
use wug_target::{Executor, Target};

/// What a campaign costs for each execution, besides the target
#[derive(Args)]
#[command(
    after_help = "Example:\n  wug-bench campaign\n  wug-bench campaign -g lua -- ./target @@\n\nWithout a target, a small reader of JSON is built with the machine's compiler."
)]
pub struct CampaignBench {
    /// A built-in grammar or files
    #[arg(short = 'g', long, default_value = "json", value_name = "GRAMMAR")]
    grammar: String,
    /// Executions before the count begins
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    warm_up: u64,
    /// Least executions that are counted
    #[arg(long, default_value_t = 300_000, value_name = "N")]
    runs: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The program and its arguments
    #[arg(value_name = "TARGET", last = true)]
    command: Vec<OsString>,
}

#[derive(Serialize)]
struct Row {
    benchmark: &'static str,
    grammar: String,
    executions: u64,
    /// Mean length of inputs.
    bytes: f64,
    /// CPU time of the campaign's own process for each execution, in
    /// microseconds.
    own_us: f64,
    /// Of which handing over the input and looking at coverage, measured by
    /// itself.
    executor_us: f64,
}

const SOURCE: &str = include_str!("json.c");
/// Lengths of the first inputs.
const LENGTHS: std::ops::RangeInclusive<usize> = 150..=250;
const SEEDS: usize = 200;
/// Longer inputs are not run: mutated ones would grow.
const LONGEST: usize = 320;

impl CampaignBench {
    pub fn run(self) -> Outcome {
        let loaded = GrammarArg::named(&self.grammar).load_and_warn()?;
        let place = std::env::temp_dir().join(format!("wug-bench-campaign-{}", std::process::id()));
        let row = self.measure(&loaded.grammar, &place);
        let _ = fs::remove_dir_all(&place);
        let row = row.map_err(|error| Failure::Message(1, format!("{error:#}")))?;
        if self.json {
            return print_json(&row);
        }
        let Row { grammar, executions, bytes, own_us, executor_us, .. } = row;
        print(&format!(
            "{grammar}: {executions} executions of {bytes:.0} bytes\n\
             the campaign itself   {own_us:6.2} us for each\n\
             of which the executor {executor_us:6.2} us\n"
        ))
    }

    fn measure(&self, grammar: &Grammar, place: &Path) -> anyhow::Result<Row> {
        cost::bind_to_one_core().map_err(anyhow::Error::msg)?;
        fs::create_dir_all(place.join("seeds"))?;
        let seeds = inputs(grammar)?;
        for (index, seed) in seeds.iter().enumerate() {
            fs::write(place.join(format!("seeds/{index}")), seed)?;
        }
        let target = match target(self.command.iter().cloned()) {
            Some(target) => target,
            None => Target::new(build(place)?),
        };
        let executor_us = self.executor(target.clone(), &seeds)?;
        let mut watch = Count { begin: self.warm_up, end: self.warm_up + self.runs, first: None, last: None };
        let parts = Parts {
            target,
            traced: None,
            checked: None,
            execution: wug_target::Options::default(),
            structure: Some(Structure::new(grammar)?),
            folder: Folder::open(&place.join("out"), "default", Start::New, &Setup::default())?,
            sync: None,
            report: Report::default(),
            tokens: Vec::new(),
            watch: &mut watch,
        };
        let options = Options { trim: false, seed: 1, max_size: LONGEST, ..Options::default() };
        Campaign::new(parts, options)?.run(Seeds::Folder(place.join("seeds")))?;
        let (first, last) = watch.first.zip(watch.last).context("it ended before the warm-up did")?;
        let executions = last.execs - first.execs;
        let each = |amount: f64| amount / executions.max(1) as f64;
        Ok(Row {
            benchmark: "campaign",
            grammar: self.grammar.clone(),
            executions,
            bytes: each((last.bytes - first.bytes) as f64),
            own_us: each(last.own - first.own),
            executor_us,
        })
    }

    /// The same target without a campaign.
    fn executor(&self, target: Target, inputs: &[Vec<u8>]) -> anyhow::Result<f64> {
        let mut executor = Executor::new(target, wug_target::Options::default())?;
        let runs = self.runs.min(100_000);
        let run = |executor: &mut Executor| {
            cost::campaign(executor, inputs, runs as usize).map_err(anyhow::Error::msg)
        };
        run(&mut executor)?;
        let own = cost::own_micros();
        run(&mut executor)?;
        Ok((cost::own_micros() - own) / runs as f64)
    }
}

/// The state of things at some time.
#[derive(Clone, Copy)]
struct Mark {
    execs: u64,
    bytes: u64,
    own: f64,
}

struct Count {
    begin: u64,
    end: u64,
    first: Option<Mark>,
    last: Option<Mark>,
}

impl Watch for Count {
    fn event(&mut self, event: Event<'_>) {
        let Event::Report(report) = event else { return };
        if report.execs_done < self.begin {
            return;
        }
        let mark = Mark { execs: report.execs_done, bytes: report.input_bytes, own: cost::own_micros() };
        match self.first {
            None => self.first = Some(mark),
            Some(_) => self.last = Some(mark),
        }
    }

    fn stops(&mut self) -> bool {
        self.last.is_some_and(|last| last.execs >= self.end)
    }
}

fn inputs(grammar: &Grammar) -> anyhow::Result<Vec<Vec<u8>>> {
    let program = Program::new(grammar, wug_produce::Options::default())
        .map_err(|_| anyhow::anyhow!("the grammar derives nothing"))?;
    let mut scratch = Scratch::default();
    let mut out = Vec::new();
    for index in 0..1_000_000 {
        let mut input = Vec::new();
        let made = program.produce(Engine::Recursive, 1, index, &mut scratch, &mut input);
        if made.is_some() && LENGTHS.contains(&input.len()) {
            out.push(input);
        }
        if out.len() == SEEDS {
            break;
        }
    }
    ensure!(!out.is_empty(), "the grammar has no inputs of {LENGTHS:?} bytes");
    Ok(out)
}

fn build(place: &Path) -> anyhow::Result<PathBuf> {
    let (source, program) = (place.join("json.c"), place.join("json"));
    fs::write(&source, SOURCE)?;
    let own = crate::wug()?;
    let output = Command::new(own).arg("cc").arg("-O2").arg(&source).arg("-o").arg(&program).output()?;
    ensure!(output.status.success(), "wug cc: {}", String::from_utf8_lossy(&output.stderr));
    Ok(program)
}
