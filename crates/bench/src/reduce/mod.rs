//! `wug-bench reduce`: reduction along the tree beside delta debugging of
//! bytes, on the same inputs and predicates.

mod cases;

use cases::{CASES, Case, Judge};
use clap::Args;
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use wug::cli::commands::{print, print_json};
use wug::cli::{Failure, Outcome, number, terminal};
use wug_grammar::Grammar;
use wug_parse::{Cache, Limits, Parser};
use wug_produce::reduce::{End, Options, Piece, Reduced, Reducer, reduce_bytes};
use wug_produce::{Engine, Program, Scratch};

/// Reduce inputs along the tree and byte by byte; sizes and runs
#[derive(Args)]
#[command(
    after_help = "Example:\n  wug-bench reduce\n  wug-bench reduce --inputs 3 --json\n\nNeeds a C compiler, luac5.4, sqlite3 and xmllint; what is not there is left\nout."
)]
pub struct Reduce {
    /// Inputs of each kind
    #[arg(long, default_value = "10", value_parser = number::wide, value_name = "N")]
    inputs: u64,
    /// The seed of the inputs
    #[arg(short = 's', long, default_value = "1", value_parser = number::wide)]
    seed: u64,
    /// Runs that each reduction may take
    #[arg(long, default_value = "100000", value_parser = number::wide, value_name = "N")]
    max_runs: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Inputs are of this length.
const LENGTHS: std::ops::RangeInclusive<usize> = 200..=4_000;
/// So many are made before a case is given up.
const TRIES: u64 = 3_000;

/// Sums over all inputs of a case.
#[derive(Serialize)]
struct Row {
    grammar: &'static str,
    kept: &'static str,
    inputs: usize,
    bytes: usize,
    tree_bytes: usize,
    tree_runs: u64,
    ddmin_bytes: usize,
    ddmin_runs: u64,
    /// Inputs of which the tree gave a result that is not larger, in fewer
    /// runs.
    better: usize,
    /// Of these, those with a smaller result.
    smaller: usize,
    /// Reductions by bytes that met the bound on runs.
    unfinished: usize,
}

impl Reduce {
    pub fn run(self) -> Outcome {
        let failed = |message: String| Failure::Message(1, message);
        let folder = Folder::new().map_err(failed)?;
        let mut rows = Vec::new();
        for case in &CASES {
            match self.case(case, &folder.0).map_err(failed)? {
                Some(row) => rows.push(row),
                None => terminal::warning(&format!("left out, for want of a program: {}", case.what)),
            }
        }
        if self.json {
            return print_json(&serde_json::json!({ "benchmark": "reduce", "rows": rows }));
        }
        print(&table(&rows))
    }

    fn case(&self, case: &Case, folder: &Path) -> Result<Option<Row>, String> {
        let grammar = case.grammar()?;
        let Some(mut judge) = case.judge(&grammar, folder)? else { return Ok(None) };
        let program = Program::new(&grammar, wug_produce::Options::default()).map_err(|e| e.to_string())?;
        let parser = Parser::new(&grammar).map_err(|unfit| unfit.to_string())?;
        let reducer = Reducer::new(&grammar).map_err(|_| "too many tokens")?;
        let mut cache = Cache::new(&parser);
        let mut scratch = Scratch::default();
        let mut row = Row::new(case);
        for index in 0..TRIES {
            if row.inputs as u64 == self.inputs {
                break;
            }
            let mut input = Vec::new();
            let made = program.produce(Engine::Recursive, self.seed, index, &mut scratch, &mut input);
            if made.is_none() || !LENGTHS.contains(&input.len()) || !judge.holds(&input)? {
                continue;
            }
            let Ok(parsed) = parser.parse(&input, &mut cache, Limits::default()) else { continue };
            let tree = self.tree(&grammar, &reducer, &mut judge, parsed.derivation)?;
            let options = Options { runs: self.max_runs, pairs: false, ..Options::default() };
            let bytes = ended(reduce_bytes(&input, options, |bytes| judge.holds(bytes)))?;
            row.add(&input, &tree, &bytes);
        }
        Ok(Some(row))
    }

    fn tree(
        &self,
        grammar: &Grammar,
        reducer: &Reducer<'_>,
        judge: &mut Judge<'_>,
        derivation: wug_grammar::Derivation,
    ) -> Result<Reduced<String>, String> {
        let options = Options { runs: self.max_runs, ..Options::default() };
        let pieces = vec![Piece::Tree(grammar.start(), derivation)];
        ended(reducer.reduce(pieces, options, |bytes| judge.holds(bytes)))
    }
}

/// The result, or why there is none.
fn ended(reduced: Reduced<String>) -> Result<Reduced<String>, String> {
    match reduced.end {
        End::Stopped(error) => Err(error),
        _ => Ok(reduced),
    }
}

impl Row {
    fn new(case: &Case) -> Row {
        Row {
            grammar: case.grammar,
            kept: case.what,
            inputs: 0,
            bytes: 0,
            tree_bytes: 0,
            tree_runs: 0,
            ddmin_bytes: 0,
            ddmin_runs: 0,
            better: 0,
            smaller: 0,
            unfinished: 0,
        }
    }

    fn add(&mut self, input: &[u8], tree: &Reduced<String>, bytes: &Reduced<String>) {
        self.inputs += 1;
        self.bytes += input.len();
        self.tree_bytes += tree.bytes.len();
        self.tree_runs += tree.runs;
        self.ddmin_bytes += bytes.bytes.len();
        self.ddmin_runs += bytes.runs;
        let better = tree.bytes.len() <= bytes.bytes.len() && tree.runs < bytes.runs;
        self.better += usize::from(better);
        self.smaller += usize::from(better && tree.bytes.len() < bytes.bytes.len());
        self.unfinished += usize::from(bytes.end == End::Runs);
    }
}

fn table(rows: &[Row]) -> String {
    let mut out = String::new();
    for [a, b, c, d, e, f, g, h] in [
        ["", "", "", "tree", "", "ddmin", "", "tree"],
        ["grammar and what is kept", "inputs", "bytes", "bytes", "runs", "bytes", "runs", "better"],
    ] {
        let _ = writeln!(out, "{a:<52} {b:>6} {c:>7} {d:>6} {e:>6} {f:>6} {g:>7} {h:>6}");
    }
    for row in rows {
        let mean = |sum: u64| sum as f64 / row.inputs.max(1) as f64;
        let _ = writeln!(
            out,
            "{:<52} {:>6} {:>7.0} {:>6.1} {:>6.0} {:>6.1} {:>7.0} {:>6}",
            format!("{}: {}", row.grammar, row.kept),
            row.inputs,
            mean(row.bytes as u64),
            mean(row.tree_bytes as u64),
            mean(row.tree_runs),
            mean(row.ddmin_bytes as u64),
            mean(row.ddmin_runs),
            row.better
        );
    }
    out
}

/// A folder for the calculator, which other users can look into.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, String> {
        let path = std::env::temp_dir().join(format!("wug-bench-reduce-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|error| error.to_string())?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
