//! `wug-bench diversity`: how different inputs are that were drawn by plain
//! choice, as walks, and uniformly: over derivations, and over derivations
//! up to the characters of classes (`shapes`).
//!
//! All inputs are judged alike: parsed by the grammar as it was written, they
//! give the alternatives that occur, and the paths of two and three of them
//! from a node down.

use clap::Args;
use serde::Serialize;
use std::collections::HashSet;
use std::fmt::Write;
use wug::cli::automaton_arg::{GrammarAutomaton, StackArg};
use wug::cli::commands::{print, print_json};
use wug::cli::grammar_arg::GrammarArg;
use wug::cli::{Failure, Outcome, number};
use wug_automata::uniform::Uniform;
use wug_automata::{Sharing, Walker, Weight};
use wug_grammar::derivation::{Derivation, Node};
use wug_parse::{Cache, Limits, Parser};
use wug_produce::{Engine, Options, Program, Scratch};
use wug_random::Rng;

/// Compare inputs by plain choice, by walks and uniform ones
#[derive(Args)]
#[command(after_help = "Example:\n  wug-bench diversity\n  wug-bench diversity json,lua -n 2000")]
pub struct Diversity {
    /// Built-in grammars, joined by commas
    #[arg(value_delimiter = ',', default_values = ["expr", "json", "lua", "sql"], value_name = "GRAMMAR")]
    grammars: Vec<String>,
    /// Inputs by each way
    #[arg(short = 'n', default_value = "2000", value_parser = number::wide, value_name = "N")]
    count: u64,
    /// Seed
    #[arg(short, long, default_value = "1", value_parser = number::wide, value_name = "SEED")]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// No input is longer than this, whichever way it is drawn.
const MAX_SIZE: usize = 2_000;
/// Sizes of uniform inputs.
const SIZES: std::ops::RangeInclusive<usize> = 1..=100;

#[derive(Serialize)]
struct Row {
    grammar: String,
    way: &'static str,
    inputs: u64,
    mean_bytes: f64,
    distinct: usize,
    alternatives: usize,
    /// Paths of two and of three alternatives.
    paths_2: usize,
    paths_3: usize,
}

impl Diversity {
    pub fn run(self) -> Outcome {
        let mut rows = Vec::new();
        for name in &self.grammars {
            self.measure(name, &mut rows)?;
        }
        if self.json {
            return print_json(&serde_json::json!({ "benchmark": "diversity", "rows": rows }));
        }
        let mut out = format!(
            "{:>8} {:>8} {:>8} {:>11} {:>9} {:>13} {:>8} {:>8}\n",
            "grammar", "way", "inputs", "mean bytes", "distinct", "alternatives", "2-paths", "3-paths"
        );
        for row in &rows {
            let _ = writeln!(
                out,
                "{:>8} {:>8} {:>8} {:>11.1} {:>9} {:>13} {:>8} {:>8}",
                row.grammar,
                row.way,
                row.inputs,
                row.mean_bytes,
                row.distinct,
                row.alternatives,
                row.paths_2,
                row.paths_3
            );
        }
        print(&out)
    }

    fn measure(&self, name: &str, rows: &mut Vec<Row>) -> Outcome {
        let loaded = GrammarArg::named(name).load_and_warn()?;
        let grammar = loaded.grammar.clone();
        let options = Options { max_size: MAX_SIZE as u64, ..Options::default() };
        let refuse = |why: String| Failure::Message(1, why);
        let program = Program::new(&grammar, options).map_err(|unfit| refuse(unfit.to_string()))?;
        let automaton = GrammarAutomaton::of(loaded, StackArg { stack_limit: None }, Sharing::Beginnings)?;
        let walker = Walker::new(&automaton.built.automaton, Weight::One);
        let uniform = |weight| {
            Uniform::new(&automaton.built.form, SIZES, weight)
                .map_err(|_| refuse(format!("`{name}` has no inputs of these sizes that can be counted")))
        };
        let uniforms = [("uniform", uniform(Weight::Members)?), ("shapes", uniform(Weight::One)?)];
        let (mut scratch, mut walk) = (Scratch::default(), Vec::new());
        let seed = self.seed;
        rows.push(self.judge(name, "choice", &grammar, |index, out| {
            program.produce(Engine::Recursive, seed, index, &mut scratch, out).is_some()
        })?);
        rows.push(self.judge(name, "walks", &grammar, |index, out| {
            let mut rng = Rng::new(seed, index);
            walker.walk(&mut || rng.wide(), MAX_SIZE as u32, &mut walk, out).is_ok()
        })?);
        for (way, uniform) in uniforms {
            rows.push(self.judge(name, way, &grammar, |index, out| {
                let mut rng = Rng::new(seed, index);
                uniform.sample(&mut || rng.wide(), out);
                true
            })?);
        }
        Ok(())
    }

    fn judge(
        &self,
        name: &str,
        way: &'static str,
        grammar: &wug_grammar::Grammar,
        mut produce: impl FnMut(u64, &mut Vec<u8>) -> bool,
    ) -> Result<Row, Failure> {
        let parser = Parser::new(grammar).map_err(|unfit| Failure::Message(1, unfit.to_string()))?;
        let mut cache = Cache::new(&parser);
        let mut inputs = HashSet::new();
        let mut paths = Paths::default();
        let (mut made, mut bytes) = (0, 0);
        for index in 0..self.count {
            let mut input = Vec::new();
            if !produce(index, &mut input) {
                continue;
            }
            made += 1;
            bytes += input.len();
            if let Ok(parsed) = parser.parse(&input, &mut cache, Limits::default()) {
                paths.add(&parsed.derivation);
            }
            inputs.insert(input);
        }
        Ok(Row {
            grammar: name.to_string(),
            way,
            inputs: made,
            mean_bytes: bytes as f64 / made.max(1) as f64,
            distinct: inputs.len(),
            alternatives: paths.ones.len(),
            paths_2: paths.twos.len(),
            paths_3: paths.threes.len(),
        })
    }
}

/// Alternatives, and paths of them.
#[derive(Default)]
struct Paths {
    ones: HashSet<u32>,
    twos: HashSet<(u32, u32)>,
    threes: HashSet<(u32, u32, u32)>,
}

impl Paths {
    fn add(&mut self, derivation: &Derivation) {
        // The alternatives above, each with the end of its subtree.
        let mut above: Vec<(usize, u32)> = Vec::new();
        for at in 0..derivation.len() {
            while above.last().is_some_and(|&(end, _)| end <= at) {
                above.pop();
            }
            let Node::Alternative(alternative) = derivation.node(at) else { continue };
            self.ones.insert(alternative.0);
            if let [.., (_, parent)] = above[..] {
                self.twos.insert((parent, alternative.0));
            }
            if let [.., (_, grandparent), (_, parent)] = above[..] {
                self.threes.insert((grandparent, parent, alternative.0));
            }
            above.push((derivation.end(at), alternative.0));
        }
    }
}
